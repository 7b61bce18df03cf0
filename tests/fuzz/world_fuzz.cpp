// The world language: the input is a world and, after lines "%%%", the files a.xml, b.xml... beside it. It
// loads, compiles and moves, or is a WorldFileError with a place.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "assets/zip_writer.h"
#include "fuzz.h"
#include "model/compile.h"
#include "sim/simulation.h"
#include "source_dir.h"

namespace {

namespace fs = std::filesystem;

constexpr int kMaxPolls = 20000;

// Where worlds may read: a map, meshes, and what the input brings. It stays: libFuzzer runs no destructors at
// its end; ./dev takes it away.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("mvsim_fuzz_" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "worlds");
    fs::copy(source_dir() + "/tests/data/meshes", path_ / "worlds",
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    for (const char* side : {"Front", "Back", "Down", "Up", "Left", "Right"})
      fs::copy(path_ / "worlds/paint.png", path_ / "worlds" / ("sky" + std::string(side) + ".png"),
               fs::copy_options::overwrite_existing);
    std::ofstream(path_ / "worlds/z.zip", std::ios::binary)
        << mvsim::zip_of({{"m/box.ply", bytes_of("box.ply")}, {"m/paint.png", bytes_of("paint.png"), false}});
    std::ofstream(path_ / "worlds/m.pgm") << "P2 4 4 255 0 0 0 0 0 255 255 0 0 255 255 0 0 0 0 0";
    std::ofstream(path_ / "worlds/m.yaml") << "image: m.pgm\nresolution: 0.5\norigin: [-1, -1, 0]\n";
    std::ofstream(path_ / "worlds/d.txt") << "0 0 1 255 0 0\n3 3 2 0 255 0\n1 2 1.5 0 0 255\n";
  }
  std::string worlds() const { return path_ / "worlds"; }
  void write(size_t index, const std::string& text) const {
    const std::string name = {static_cast<char>('a' + index), '.', 'x', 'm', 'l'};
    std::ofstream(path_ / "worlds" / name, std::ios::binary) << text;
  }

 private:
  std::string bytes_of(const std::string& name) const {
    std::ifstream file(path_ / "worlds" / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path path_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  static const Folder folder;
  const std::vector<std::string> parts = fuzz::parts_of(fuzz::text_of(data, size));
  for (size_t i = 0; i < 4; ++i) folder.write(i, i + 1 < parts.size() ? parts[i + 1] : "");
  WorldLoadOptions options;
  options.assets = source_dir();
  options.memory_limit = fuzz::kMemory;
  options.resources.prefixes = {{"https://a.b/", folder.worlds()}};
  options.resources.cache = folder.worlds();
  options.poll = fuzz::stop_after(kMaxPolls);
  try {
    const auto model = compile_world(load_world_text(parts[0], folder.worlds(), options), {});
    if (model->bodies.size() > 200) return 0;
    Simulation sim(model, 1);
    for (int i = 0; i < 3; ++i) sim.step();
  } catch (const WorldFileError& e) {
    fuzz::require(!e.where().text().empty());
  } catch (const fuzz::Stop&) {
  }
  return 0;
}
