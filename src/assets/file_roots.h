// The only opener of files that a world or an environment names. What is checked is the file that was opened,
// not its name; readers take bytes or the opened file, never a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

// A regular file, open for reading; closed at the end of its life.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string path, uint64_t size)
      : descriptor_(descriptor), path_(std::move(path)), size_(size) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) = delete;
  OpenFile(const OpenFile&) = delete;

  const std::string& path() const { return path_; }  // real when it was opened below roots, else as given
  uint64_t size() const { return size_; }            // bytes, when it was opened
  int descriptor() const { return descriptor_; }

  // Its content; throws Error if it has more than `max_bytes`.
  std::string read(size_t max_bytes) const;
  // The same, unpacked if it is a gzip file; `max_bytes` bounds what comes out.
  std::string read_unpacked(size_t max_bytes, const LoadGuard& guard) const;

 private:
  int descriptor_;
  std::string path_;
  uint64_t size_;
};

// A file that the caller chose, wherever it lies. Throws Error for all but regular files.
OpenFile open_file(const std::string& path);

// Folders below which a world may read.
//
// Links, ".." and absolute paths are followed step by step, each step from the folder opened before, and no
// step may leave the roots and the folders above them: a world learns nothing of what lies outside, and
// nothing changes between the check and the reading.
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
  bool may_pass(const std::string& folder) const;  // below a root, or above one
  bool is_inside(const std::string& path) const;

  std::vector<Root> roots_;
};

}  // namespace mvsim
