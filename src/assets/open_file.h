// Opening of files: members of archives, and files beside another one.
#pragma once

#include <fcntl.h>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

// A file as bytes: one on the disk, or a member of a zip file, unpacked in memory. Readers take this or
// bytes, never a path. Reading is thread-safe.

// Opening must not block at a pipe or a device, and none may become the terminal of the process.
inline constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Unpacked content of a member of a zip file.
class PackedBytes {
 public:
  virtual ~PackedBytes() = default;
  virtual std::string unpack() const = 0;  // throws Error
};

// A file open for reading; the destructor closes it.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string path, uint64_t size)
      : descriptor_(descriptor), path_(std::move(path)), size_(size) {}
  OpenFile(std::shared_ptr<const PackedBytes> member, std::string path, uint64_t size)
      : descriptor_(-1), path_(std::move(path)), size_(size), member_(std::move(member)) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) = delete;
  OpenFile(const OpenFile&) = delete;

  // Real when it was opened below roots, else as given; of a member "/a/b.zip/inner/name". Two files of one
  // path are the same within a load: a key for caches.
  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // bytes, when it was opened; of a member, unpacked

  // Its content; throws Error if it has more than `max_bytes`.
  std::string read(size_t max_bytes) const;
  // The same, unpacked if it is a gzip file; `max_bytes` bounds what comes out.
  std::string read_unpacked(size_t max_bytes, const LoadGuard& guard) const;
  // `count` bytes from `offset` on, fewer at the end; of a file on the disk.
  std::string read_at(uint64_t offset, size_t count) const;

 private:
  int descriptor_;
  std::string path_;
  uint64_t size_;
  std::shared_ptr<const PackedBytes> member_;
};

// A file that the caller chose, wherever it lies. Throws Error for all but regular files.
OpenFile open_file(const std::string& path);

// Suggestions for the name of a file that does not exist. Thread-safe.

class FileRoots;

// ", did you mean 'x.xml'? Looked in /a/b, /c" for files that were looked for: the nearest name in their
// folders (its folder with it, where that is another one than asked for) and these folders; of folders
// outside of the roots nothing is said. "" where there is none.
std::string nearby_file(const FileRoots& roots, const std::vector<std::string>& candidates);

// Throws WorldFileError, with the path as its place, if a file that the caller names does not exist; `what`
// is "world" or "environment".
void require_file(const std::string& path, const char* what);

}  // namespace mvsim
