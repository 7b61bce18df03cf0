// Files that were damaged at random: they load, or are refused with a place, within 2 s and 512 MB; nothing
// else happens.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "base/memory.h"
#include "base/random.h"
#include "fuzz_count.h"
#include "model/compile.h"
#include "peak_memory.h"
#include "source_dir.h"
#include "worldfile/tags.h"
#include "worldfile/world_text.h"

namespace mvsim::mutation_test {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

// Range [begin, end) of a tag with its content, or of a tag without content.
struct Span {
  size_t begin = 0, end = 0;
};

std::vector<Span> tags_of(const std::string& text) {
  std::vector<Span> out;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    if (text.compare(at, 2, "</") == 0 || text.compare(at, 2, "<!") == 0 || text.compare(at, 2, "<?") == 0)
      continue;
    const size_t close = text.find('>', at);
    if (close == std::string::npos) break;
    if (text[close - 1] == '/') {
      out.push_back({at, close + 1});
      continue;
    }
    const size_t name_end = text.find_first_of(" \n>", at);
    const std::string closing = "</" + text.substr(at + 1, name_end - at - 1) + ">";
    const size_t end = text.find(closing, close);
    if (end != std::string::npos) out.push_back({at, end + closing.size()});
  }
  return out;
}

// The values: texts between quotes, and between a tag and its end.
std::vector<Span> values_of(const std::string& text) {
  std::vector<Span> out;
  for (size_t at = text.find('"'); at != std::string::npos;) {
    const size_t end = text.find('"', at + 1);
    if (end == std::string::npos) break;
    out.push_back({at + 1, end});
    at = text.find('"', end + 1);
  }
  for (size_t at = text.find('>'); at != std::string::npos; at = text.find('>', at + 1)) {
    const size_t end = text.find('<', at);
    if (end != std::string::npos && end > at + 1) out.push_back({at + 1, end});
  }
  return out;
}

const char* const kValues[] = {"",
                               "nan",
                               "-1",
                               "0",
                               "1e308",
                               "1e-320",
                               "-inf",
                               "99999999",
                               "true",
                               "../../x",
                               "${x}",
                               "${x|${x}}",
                               "$f{1/0}",
                               "$f{",
                               "$(touch x)",
                               "a b c d",
                               "#12345678",
                               "&lt;&amp;",
                               "\xff\xfe",
                               "1 2 3",
                               "6",
                               "0.5",
                               "$f{2^9}",
                               "%s%s",
                               "a.zip/../b",
                               "https://a.b/c.zip/d.dae",
                               "file:///etc/passwd",
                               "package://a/b"};

// Those that the language knows, of any element.
const std::vector<std::string>& names() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> out{"block",         "vehicle", "for",     "if",       "include",  "variable",
                                 "walls",         "element", "joint",   "actor",    "sensor",   "visual",
                                 "vehicle:class", "shape",   "pt",      "dynamics", "geometry", "controller",
                                 "gui",           "lights",  "friction"};
    for (const TagRow& row : all_tags()) out.emplace_back(row.tag.name());
    return out;
  }();
  return kAll;
}

std::string mutated(std::string text, RandomStream& random) {
  const auto pick = [&](size_t n) { return random.below(static_cast<uint32_t>(n)); };
  const auto tags = tags_of(text);
  const auto values = values_of(text);
  if (tags.empty() || values.empty()) return text;
  const Span tag = tags.at(pick(tags.size())), other = tags.at(pick(tags.size()));
  const Span value = values.at(pick(values.size()));
  switch (pick(7)) {
    case 0:
      return text.erase(tag.begin, tag.end - tag.begin);
    case 1:
      return text.insert(tag.end, text.substr(tag.begin, tag.end - tag.begin));
    case 2:
      return text.insert(other.begin, text.substr(tag.begin, tag.end - tag.begin));
    case 3: {
      const size_t end = text.find_first_of(" \n>/", tag.begin + 1);
      return text.replace(tag.begin + 1, end - tag.begin - 1, names()[pick(names().size())]);
    }
    case 4:
      return text.erase(pick(text.size()), 1 + pick(3));
    case 5:
      return text.substr(0, pick(text.size()));
    default:
      return text.replace(value.begin, value.end - value.begin, kValues[pick(std::size(kValues))]);
  }
}

// A file of a world, or a world of the vehicle that a file defines.
std::string world_with(const fs::path& file) {
  const std::string text = read(file.string());
  const size_t name = text.find("vehicle:class name=\"");
  if (file.string().ends_with(".world.xml") || name == std::string::npos) return text;
  const size_t begin = text.find('"', name) + 1,
               declared = text.starts_with("<?xml") ? text.find("?>") + 2 : 0;
  return world_of(text.substr(declared) + "<vehicle name=\"r\" class=\"" +
                  text.substr(begin, text.find('"', begin) - begin) +
                  "\"><init_pose>0 0 0</init_pose></vehicle>");
}

// Worlds and vehicles below a folder.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (const std::string path = entry.path().string();
        path.ends_with(".world.xml") || path.ends_with(".vehicle.xml"))
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// Returns the processor time of this process and of the children that read meshes for it.
double processor_seconds() {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

// Returns how many of the damaged texts still loaded.
int check_mutants(const fs::path& file, const WorldLoadOptions& options, int count) {
  constexpr double kMaxSeconds = kIsSanitized ? 20 : 2, kMaxMegabytes = 512;
  const std::string original = world_with(file), folder = file.parent_path().string();
  const PeakMemory memory;
  int loaded = 0;
  for (int i = 0; i < count; ++i) {
    RandomStream random(fuzz_seed(), static_cast<uint32_t>(i), StreamPurpose::kActionNoise);
    std::string text = original;
    const uint32_t changes = 1 + random.below(3);
    for (uint32_t k = 0; k < changes; ++k) text = mutated(text, random);
    const bool is_measured = memory.reset() && !kIsSanitized;
    const double start = processor_seconds();
    try {
      compile_world(load_world_text(text, folder, options), {});
      ++loaded;
    } catch (const WorldFileError& e) {
      EXPECT_FALSE(e.where().text().empty()) << e.what();
    } catch (const Error& e) {
      ADD_FAILURE() << "without a place: " << e.what() << "\n" << text;
    }
    EXPECT_LT(processor_seconds() - start, kMaxSeconds) << text;
    if (is_measured) {
      EXPECT_LT(memory.grown_mb(), kMaxMegabytes) << text;
    }
  }
  return loaded;
}

fs::path worlds() {
  return fs::path(source_dir()) / "worlds";
}

TEST(Mutation, DamagedWorldsLoadOrAreRefused) {
  for (const char* name :
       {"nav_arena.world.xml", "definitions/jackal.vehicle.xml", "definitions/agricobiot2.vehicle.xml"}) {
    const int loaded = check_mutants(worlds() / name, options_with(source_dir()), 150);
    EXPECT_GT(loaded, 10) << name;
    EXPECT_LT(loaded, 140) << name;
  }
}

// With the two tests below some 10,000 in CI.
TEST(Mutation, SlowDamagedWorldsLoadOrAreRefused) {
  for (const fs::path& file : files_below(worlds())) {
    SCOPED_TRACE(file.string());
    const bool is_light = file.filename() == "nav_arena.world.xml" || file.string().ends_with(".vehicle.xml");
    check_mutants(file, options_with(source_dir()), fuzz_count(is_light ? 450 : 20));
  }
}

// The worlds and vehicles that come with MVSim, where these are at hand: their language often, their meshes
// seldom (a world may take 2 s).
class DamagedWorldsOfMvsim : public testing::Test {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("MVSIM_WORLDS");
    folder_ = named ? fs::path(named) : fs::path(source_dir()) / "../shared/mvsim-worlds";
    files_ = files_below(folder_);
    if (files_.empty()) GTEST_SKIP() << "no worlds of MVSim in " << folder_;
  }
  void check(const WorldLoadOptions& options, int count) const {
    for (const fs::path& file : files_) {
      SCOPED_TRACE(file.string());
      check_mutants(file, options, count);
    }
  }
  fs::path folder_;
  std::vector<fs::path> files_;
};

TEST_F(DamagedWorldsOfMvsim, SlowWithoutMeshes) {
  check(options_with(source_dir()), fuzz_count(200));
}
TEST_F(DamagedWorldsOfMvsim, SlowWithMeshes) {
  WorldLoadOptions options = options_with(source_dir());
  options.resources.prefixes = {
      {"https://mrpt.github.io/mvsim-models/", (folder_ / "../mvsim-models").lexically_normal().string()}};
  check(options, fuzz_count(2));
}

}  // namespace
}  // namespace mvsim::mutation_test
