#include "assets/file_roots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace fs = std::filesystem;

namespace mvsim {
namespace {

constexpr const char* kMissing = "does not exist";
constexpr const char* kNoFile = "is not a regular file";
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
constexpr int kMaxLinks = 40;  // followed on the way to one file, as the kernel does

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void reset(int number) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

// Whether `path` is `root` or lies below it; both are absolute, without "." and "..".
bool is_below(const std::string& path, const std::string& root) {
  if (root == "/") return true;
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::string child_of(const std::string& folder, const std::string& name) {
  return (folder == "/" ? "/" : folder + "/") + name;
}

// The parts of `path` in reverse, so that the next one is the last. A slash at the end asks for a folder.
void push_parts(const std::string& path, std::vector<std::string>& parts) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) found.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (path.ends_with('/')) found.emplace_back(".");
  parts.insert(parts.end(), found.rbegin(), found.rend());
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::error_code error;
  return (fs::current_path(error) / path).string();
}

// Whether a part of an absolute path is "." or "..".
bool has_dots(const std::string& path) {
  for (size_t at = path.find("/."); at != std::string::npos; at = path.find("/.", at + 1)) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    if (const size_t length = end - at - 1; length == 1 || (length == 2 && path[at + 2] == '.')) return true;
  }
  return false;
}

}  // namespace

FileRoots::FileRoots(const std::vector<std::string>& roots) {
  for (auto it = roots.begin(); it != roots.end(); ++it) {
    const std::string& root = *it;
    if (root.empty() || root.find('\0') != std::string::npos) continue;
    if (std::find(roots.begin(), it, root) != it) continue;
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(root.c_str(), nullptr), std::free);
    if (!real) continue;
    std::string given = absolute(root);
    if (has_dots(given)) given = real.get();
    while (given.size() > 1 && given.ends_with('/')) given.pop_back();
    const bool is_known = std::any_of(roots_.begin(), roots_.end(), [&](const Root& known) {
      return known.given == given && known.real == real.get();
    });
    if (!is_known) roots_.push_back({std::move(given), real.get()});
  }
}

// A root that the caller named by a link may be named so by the world too.
std::string FileRoots::with_real_root(std::string path) const {
  path = absolute(path);
  for (const Root& root : roots_)
    if (root.given != root.real && is_below(path, root.given))
      return root.real + path.substr(root.given.size());
  return path;
}

// The deepest root that a path lies below, "/" if there is none.
std::string FileRoots::longest_start(const std::string& path) const {
  std::string longest = "/";
  for (const Root& root : roots_)
    if (root.real.size() > longest.size() && is_below(path, root.real)) longest = root.real;
  return longest;
}

bool FileRoots::is_inside(const std::string& path) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const Root& root) { return is_below(path, root.real); });
}

bool FileRoots::may_pass(const std::string& folder) const {
  return is_inside(folder) || std::any_of(roots_.begin(), roots_.end(),
                                          [&](const Root& root) { return is_below(root.real, folder); });
}

// From the root that a path begins with, or from "/", towards one file, a folder at a time.
class FileRoots::Walk {
 public:
  Walk(const FileRoots& roots, const std::string& path) : roots_(roots) {
    start_at(roots.longest_start(path));
    push_parts(path.substr(place_.size()), parts_);
  }

  std::optional<OpenFile> file(std::string& reason) {
    const bool arrived = advance();
    if (arrived && file_.get() >= 0) return finish(reason);
    if (arrived) reason_ = kNoFile;
    reason = roots_.is_inside(place_) ? reason_ : outside();
    return std::nullopt;
  }

  // Where a folder is, or would be: what is not there is a name only, if nothing leads up again behind it.
  std::optional<std::string> folder() {
    const bool arrived = advance();
    if (!roots_.is_inside(place_) || file_.get() >= 0) return std::nullopt;
    if (arrived) return place_;
    if (reason_ != kMissing || std::find(parts_.begin(), parts_.end(), "..") != parts_.end())
      return std::nullopt;
    std::string out = place_;
    for (; !parts_.empty(); parts_.pop_back())
      if (parts_.back() != ".") out = child_of(out, parts_.back());
    return out;
  }

 private:
  // To the end of the path; false: it goes no further, for `reason_` or since it left where a world may look.
  bool advance() {
    while (!parts_.empty()) {
      const std::string name = std::move(parts_.back());
      parts_.pop_back();
      if (name == ".") continue;
      if (name == "..")
        leave();
      else if (!enter(name))
        return false;
      if (!roots_.may_pass(place_)) return false;
    }
    return true;
  }

  void start_at(const std::string& folder) {
    folder_.reset(::open(folder.c_str(), kFolderFlags));
    place_ = folder;
  }

  std::string outside() const {
    std::string listed;
    for (const Root& root : roots_.roots_) listed += (listed.empty() ? "" : ", ") + shortened(root.real, 200);
    return "is outside of the folders that this world may read (" + listed +
           "): roots= or --roots adds a folder";
  }

  void leave() {
    folder_.reset(openat(folder_.get(), "..", kFolderFlags));
    const size_t slash = place_.rfind('/');
    place_ = slash == 0 ? "/" : place_.substr(0, slash);
  }

  // One step; false: it is impossible, for `reason_`. Looks at nothing where a world may not look.
  bool enter(const std::string& name) {
    const std::string next = child_of(place_, name);
    if (!roots_.may_pass(next)) {
      place_ = next;
      return false;
    }
    if (!parts_.empty()) {  // most likely a folder, which takes one call of the system
      const int folder = openat(folder_.get(), name.c_str(), kFolderFlags | O_NOFOLLOW);
      if (folder >= 0) return go_to(folder, next);
    }
    Descriptor found(openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (found.get() < 0 || fstat(found.get(), &status) != 0) return fail(errno, next);
    if (S_ISLNK(status.st_mode)) return follow(found.get());
    if (S_ISDIR(status.st_mode)) return go_to(found.release(), next);
    place_ = next;
    if (!parts_.empty()) return fail(ENOTDIR, next);
    if (!S_ISREG(status.st_mode)) return fail(0, next);
    // what is opened for reading may be another file than the one looked at: finish() judges it again
    file_.reset(openat(folder_.get(), name.c_str(), kReadFlags | O_NOFOLLOW));
    return file_.get() >= 0 || fail(errno, next);
  }

  bool go_to(int folder, const std::string& where) {
    folder_.reset(folder);
    place_ = where;
    return true;
  }

  bool follow(int link) {
    char target[PATH_MAX];
    const ssize_t length = readlinkat(link, "", target, sizeof target);
    if (length <= 0) return fail(ENOENT, place_);
    if (++links_ > kMaxLinks) return fail(ELOOP, place_);
    const std::string text(target, static_cast<size_t>(length));
    push_parts(text, parts_);
    if (text.starts_with('/')) start_at("/");
    return true;
  }

  bool fail(int error, const std::string& where) {
    place_ = where;
    reason_ = error == 0                            ? kNoFile
              : error == ENOENT || error == ENOTDIR ? kMissing
              : error == ELOOP                      ? "is a circle of links"
                                                    : std::string("cannot be read: ") + std::strerror(error);
    return false;
  }

  std::optional<OpenFile> finish(std::string& reason) {
    struct stat status {};
    if (!roots_.is_inside(place_)) {
      reason = outside();
    } else if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      reason = kNoFile;
    } else {
      return OpenFile(file_.release(), place_, static_cast<uint64_t>(status.st_size));
    }
    return std::nullopt;
  }

  const FileRoots& roots_;
  Descriptor folder_, file_;
  std::string place_;  // of folder_, without links; at the end that of the file
  std::vector<std::string> parts_;
  std::string reason_;
  int links_ = 0;
};

std::optional<OpenFile> FileRoots::open(const std::string& path, std::string& reason) const {
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string::npos) {
    reason = "is not a file name";
    return std::nullopt;
  }
  return Walk(*this, with_real_root(path)).file(reason);
}

std::optional<std::string> FileRoots::folder(const std::string& path) const {
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string::npos) return std::nullopt;
  return Walk(*this, with_real_root(path)).folder();
}

}  // namespace mvsim
