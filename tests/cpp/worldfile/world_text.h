// Helpers of the world file tests: a folder that goes away, and worlds written in place.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "worldfile/load_world.h"

namespace mvsim {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mvsim_world_XXXXXX").string();
    path_ = std::filesystem::canonical(mkdtemp(pattern.data())).string();
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file, making its folders; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  std::string path_;
};

inline std::string world_of(const std::string& body) {
  return "<mvsim_world>\n" + body + "\n</mvsim_world>";
}

inline WorldLoadOptions options_with(const std::string& assets, uint64_t seed = 0) {
  WorldLoadOptions out;
  out.assets = assets;
  out.world_seed = seed;
  return out;
}

inline WorldSpec load_body(const std::string& body, uint64_t seed = 0) {
  const TempFolder folder;
  return load_world_text(world_of(body), folder.path(), options_with("", seed));
}

// The message with which the world is refused, "" when it loads.
inline std::string error_of_text(const std::string& text) {
  const TempFolder folder;
  try {
    load_world_text(text, folder.path(), {});
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0) << e.what();
    EXPECT_GT(e.where().column, 0) << e.what();
    return e.what();
  }
  return "";
}
inline std::string error_of(const std::string& body) {
  return error_of_text(world_of(body));
}

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace mvsim
