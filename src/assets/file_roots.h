// The only opener of files that a world or an environment names. It checks the file that was opened,
// not its name. Readers take bytes or the opened file, never a path.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assets/open_file.h"

namespace mvsim {

// Folders below which a world may read.
//
// Links, ".." and absolute paths are followed step by step, each step from the folder opened before. No step
// may leave the roots and the folders above them, so a world can find out nothing about other folders. The
// file that was checked is the one that is read.
class FileRoots {
 public:
  // `roots` need not exist; those that do not are dropped.
  explicit FileRoots(const std::vector<std::string>& roots);

  // Opens a regular file below a root; on failure sets `reason` ("does not exist", "is outside of the folders
  // that this world may read (a, b)", "is not a regular file"...) and returns nothing.
  std::optional<OpenFile> open(const std::string& path, std::string& reason) const;
  // The real path of a folder, where it lies below a root; it need not exist, but its last part that does
  // must.
  std::optional<std::string> folder(const std::string& path) const;

 private:
  struct Root {
    std::string given, real;  // as the caller wrote it, made absolute; without links
  };
  class Walk;

  std::string with_real_root(std::string path) const;
  std::string longest_start(const std::string& path) const;
  bool may_pass(const std::string& folder) const;  // below a root, or above one
  bool is_inside(const std::string& path) const;

  std::vector<Root> roots_;
};

}  // namespace mvsim
