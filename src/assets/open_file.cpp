#include "assets/open_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "assets/file_roots.h"
#include "base/error.h"
#include "base/text.h"

namespace mvsim {

namespace fs = std::filesystem;

namespace {

Error error_of(const std::string& path, const std::string& why) {
  return Error(shortened(path, 500) + ": " + why);
}

// All of a gzip stream that `get(out, bytes)` reads piece by piece.
template <typename Get>
std::string read_all(const std::string& path, size_t max_bytes, const LoadGuard& guard, const Get& get) {
  constexpr unsigned kPiece = 1 << 20;
  std::string out;
  for (;;) {
    guard.poll();
    const size_t before = out.size();
    out.resize(before + kPiece);
    const int got = get(out.data() + before, kPiece);
    if (got < 0) throw error_of(path, "not a readable gzip file");
    out.resize(before + static_cast<size_t>(got));
    if (out.size() > max_bytes)
      throw error_of(path, "larger than " + std::to_string(max_bytes) + " bytes unpacked");
    if (got == 0) return out;
  }
}

std::string unpack_gzip(const std::string& path, std::string bytes, size_t max_bytes,
                        const LoadGuard& guard) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) throw error_of(path, "cannot be unpacked");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  bool at_end = false;
  return read_all(path, max_bytes, guard, [&](char* out, unsigned count) {
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = count;
    while (!at_end && stream.avail_out > 0) {
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END) return -1;
      at_end = status == Z_STREAM_END;
    }
    return static_cast<int>(count - stream.avail_out);
  });
}

constexpr int kMaxEntries = 2000;  // looked at in a folder

// Names of the files of a folder, in order.
std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (int n = 0; !error && entry != fs::directory_iterator() && n < kMaxEntries; ++n, entry.increment(error))
    if (std::error_code ignored; fs::is_regular_file(entry->symlink_status(ignored)))
      names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string suggestion(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders)
    if (const std::string near = nearest_name(name, files_of(folder)); !near.empty() && near != name)
      return ", did you mean '" + (folders.size() > 1 ? join_path(folder, near) : near) + "'?";
  return "";
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_),
      member_(std::move(other.member_)) {}

std::string OpenFile::read_at(uint64_t offset, size_t count) const {
  std::string content(count, '\0');
  size_t done = 0;
  while (done < count) {
    const ssize_t got =
        pread(descriptor_, content.data() + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw error_of(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;  // someone made it shorter
    done += static_cast<size_t>(got);
  }
  content.resize(done);
  return content;
}

std::string OpenFile::read(size_t max_bytes) const {
  if (size_ > max_bytes)
    throw error_of(path_,
                   "has " + std::to_string(size_) + " bytes, expected at most " + std::to_string(max_bytes));
  return member_ ? member_->unpack() : read_at(0, static_cast<size_t>(size_));
}

std::string OpenFile::read_unpacked(size_t max_bytes, const LoadGuard& guard) const {
  if (member_) {
    std::string bytes = read(max_bytes);
    const bool is_gzip = bytes.starts_with("\x1f\x8b");
    return is_gzip ? unpack_gzip(path_, std::move(bytes), max_bytes, guard) : bytes;
  }
  lseek(descriptor_, 0, SEEK_SET);
  const int own = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  const gzFile file = own < 0 ? nullptr : gzdopen(own, "rb");  // reads plain files as they are
  if (!file) {
    if (own >= 0) close(own);
    throw error_of(path_, "cannot be read");
  }
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> closer(file, gzclose);
  gzbuffer(file, 1 << 18);
  return read_all(path_, max_bytes, guard, [&](char* out, unsigned count) {
    const int got = gzread(file, out, count);
    int status = Z_OK;
    gzerror(file, &status);
    return status == Z_BUF_ERROR ? -1 : got;
  });
}

OpenFile open_file(const std::string& path) {
  const auto fail = [&](const std::string& why) { return error_of(path, "cannot be read: " + why); };
  if (path.empty() || path.find('\0') != std::string::npos) throw fail("is not a file name");
  const int descriptor = ::open(path.c_str(), kReadFlags);
  if (descriptor < 0) throw fail(errno == ENXIO ? "not a regular file" : std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    throw fail("not a regular file");
  }
  return {descriptor, path, static_cast<uint64_t>(status.st_size)};
}

std::string nearby_file(const FileRoots& roots, const std::vector<std::string>& candidates) {
  std::vector<std::string> folders;
  std::string name;
  for (const std::string& candidate : candidates) {
    name = fs::path(candidate).filename().string();
    const std::optional<std::string> folder = roots.folder(folder_of(candidate));
    if (folder && std::find(folders.begin(), folders.end(), *folder) == folders.end())
      folders.push_back(*folder);
  }
  if (folders.empty() || name.empty()) return "";
  std::string looked;
  for (const std::string& folder : folders) {
    std::error_code error;
    looked += (looked.empty() ? "" : ", ") + folder;
    if (!fs::is_directory(folder, error)) looked += " (which does not exist)";
  }
  const std::string meant = suggestion(folders, name);
  return meant + (meant.empty() ? "; looked in " : " Looked in ") + looked;
}

void require_file(const std::string& path, const char* what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::regular) return;
  const SourceLocation where{std::make_shared<const std::string>(path), 0, 0};
  if (status.type() == fs::file_type::directory)
    throw WorldFileError(where, std::string("is a folder, expected ") + what + " file");
  if (status.type() != fs::file_type::not_found && !error)
    throw WorldFileError(where, std::string("is not a regular file, expected ") + what + " file");
  const std::string folder = fs::absolute(folder_of(path), error).lexically_normal().string();
  const std::string meant = suggestion({folder}, fs::path(path).filename().string());
  const bool there = fs::is_directory(folder, error);
  throw WorldFileError(where, std::string("no such ") + what + " file" + meant +
                                  (meant.empty() ? "; looked in " : " Looked in ") + folder +
                                  (there ? "" : " (which does not exist)"));
}

}  // namespace mvsim
