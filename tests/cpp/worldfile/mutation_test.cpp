// Files that were damaged at random: they load, or are refused with a place; nothing else happens.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "base/random.h"
#include "fuzz_count.h"
#include "model/compile.h"
#include "source_dir.h"
#include "worldfile/world_text.h"

namespace mvsim {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

// A tag with what is inside of it, or one without content: [begin, end).
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

const char* const kValues[] = {"",        "nan",       "-1",        "0",        "1e308",
                               "1e-320",  "-inf",      "99999999",  "true",     "../../x",
                               "${x}",    "${x|${x}}", "$f{1/0}",   "$f{",      "$(touch x)",
                               "a b c d", "#12345678", "&lt;&amp;", "\xff\xfe", "1 2 3"};
const char* const kNames[] = {"block",    "vehicle", "for",  "if",     "include",
                              "variable", "walls",   "mass", "element"};

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
      return text.replace(tag.begin + 1, end - tag.begin - 1, kNames[pick(std::size(kNames))]);
    }
    case 4:
      return text.erase(pick(text.size()), 1 + pick(3));
    case 5:
      return text.substr(0, pick(text.size()));
    default:
      return text.replace(value.begin, value.end - value.begin, kValues[pick(std::size(kValues))]);
  }
}

// The world, or a world of one vehicle of the class `name`.
std::string world_with(const std::string& name) {
  const std::string folder = source_dir() + "/worlds/";
  if (name.ends_with(".world.xml")) return read(folder + name);
  return world_of(read(folder + "definitions/" + name + ".vehicle.xml") + "<vehicle name=\"r\" class=\"" +
                  name + "\"><init_pose>0 0 0</init_pose></vehicle>");
}

// Returns how many of the damaged texts still loaded.
int check_mutants(const std::string& original, const std::string& folder, const WorldLoadOptions& options,
                  int count) {
  int loaded = 0;
  for (int i = 0; i < count; ++i) {
    RandomStream random(17, static_cast<uint32_t>(i), StreamPurpose::kActionNoise);
    std::string text = original;
    const uint32_t changes = 1 + random.below(3);
    for (uint32_t k = 0; k < changes; ++k) text = mutated(text, random);
    const auto start = std::chrono::steady_clock::now();
    try {
      compile_world(load_world_text(text, folder, options), {});
      ++loaded;
    } catch (const WorldFileError& e) {
      EXPECT_FALSE(e.where().text().empty()) << e.what();
    } catch (const Error& e) {
      ADD_FAILURE() << "without a place: " << e.what() << "\n" << text;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, 5) << text;
  }
  return loaded;
}

// The same of a world of ours, or of a vehicle's definition.
int check_mutants(const std::string& name, int count) {
  const std::string worlds = source_dir() + "/worlds";
  const std::string folder = name.ends_with(".world.xml") ? worlds : worlds + "/definitions";
  return check_mutants(world_with(name), folder, options_with(source_dir()), count);
}

TEST(Mutation, DamagedWorldsLoadOrAreRefused) {
  for (const char* name : {"nav_arena.world.xml", "jackal", "agricobiot2"}) {
    const int loaded = check_mutants(name, 150);
    EXPECT_GT(loaded, 10) << name;
    EXPECT_LT(loaded, 140) << name;
  }
}
TEST(Mutation, SlowDamagedWorldsLoadOrAreRefused) {
  check_mutants("nav_arena.world.xml", fuzz_count(3000));
}

// The worlds that come with MVSim, where these are at hand: their language often, their meshes seldom (a
// world may take 2 s).
TEST(Mutation, SlowDamagedWorldsOfMvsimLoadOrAreRefused) {
  namespace fs = std::filesystem;
  const char* const named = std::getenv("MVSIM_WORLDS");
  const fs::path folder = named ? fs::path(named) : fs::path(source_dir()) / "../shared/mvsim-worlds";
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.path().string().ends_with(".world.xml")) files.push_back(entry.path());
  if (files.empty()) GTEST_SKIP() << "no worlds of MVSim in " << folder;
  std::sort(files.begin(), files.end());
  const WorldLoadOptions without_meshes = options_with(source_dir());
  WorldLoadOptions with_meshes = without_meshes;
  with_meshes.resources.prefixes = {
      {"https://mrpt.github.io/mvsim-models/", (folder / "../mvsim-models").lexically_normal().string()}};
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    check_mutants(read(file.string()), file.parent_path().string(), without_meshes, fuzz_count(60));
    check_mutants(read(file.string()), file.parent_path().string(), with_meshes, fuzz_count(2));
  }
}

}  // namespace
}  // namespace mvsim
