#include "assets/file_roots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

namespace fs = std::filesystem;

namespace mvsim {
namespace {

constexpr const char* kMissing = "does not exist";
constexpr const char* kNoFile = "is not a regular file";
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

}  // namespace

FileRoots::FileRoots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    if (root.empty() || root.find('\0') != std::string::npos) continue;
    std::error_code error;
    const fs::path real = fs::canonical(root, error);
    if (error) continue;
    const fs::path given = fs::absolute(root, error);
    const bool is_plain = std::none_of(given.begin(), given.end(),
                                       [](const fs::path& part) { return part == ".." || part == "."; });
    std::string name = is_plain && !error ? given.string() : real.string();
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    const bool is_known = std::any_of(roots_.begin(), roots_.end(), [&](const Root& known) {
      return known.given == name && known.real == real.string();
    });
    if (!is_known) roots_.push_back({std::move(name), real.string()});
  }
}

// A root that the caller named by a link may be named so by the world too.
std::string FileRoots::with_real_root(std::string path) const {
  if (!path.starts_with('/')) {
    std::error_code error;
    path = (fs::current_path(error) / path).string();
  }
  for (const Root& root : roots_)
    if (root.given != root.real && is_below(path, root.given))
      return root.real + path.substr(root.given.size());
  return path;
}

bool FileRoots::is_inside(const std::string& path) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const Root& root) { return is_below(path, root.real); });
}

bool FileRoots::may_pass(const std::string& folder) const {
  return is_inside(folder) || std::any_of(roots_.begin(), roots_.end(),
                                          [&](const Root& root) { return is_below(root.real, folder); });
}

// From "/" towards one file, a folder at a time.
class FileRoots::Walk {
 public:
  Walk(const FileRoots& roots, const std::string& path) : roots_(roots) {
    folder_.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    push_parts(path, parts_);
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

  std::string outside() const {
    std::string listed;
    for (const Root& root : roots_.roots_) listed += (listed.empty() ? "" : ", ") + shortened(root.real, 200);
    return "is outside of the folders that this world may read (" + listed + ")";
  }

  void leave() {
    folder_.reset(openat(folder_.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
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
    Descriptor found(openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (found.get() < 0 || fstat(found.get(), &status) != 0) return fail(errno, next);
    if (S_ISLNK(status.st_mode)) return follow(found.get());
    if (S_ISDIR(status.st_mode)) {
      folder_.reset(found.release());
      place_ = next;
      return true;
    }
    place_ = next;
    if (!parts_.empty()) return fail(ENOTDIR, next);
    if (!S_ISREG(status.st_mode)) return fail(0, next);
    // what is opened for reading may be another file than the one looked at: finish() judges it again
    file_.reset(openat(folder_.get(), name.c_str(), kReadFlags | O_NOFOLLOW));
    return file_.get() >= 0 || fail(errno, next);
  }

  bool follow(int link) {
    char target[PATH_MAX];
    const ssize_t length = readlinkat(link, "", target, sizeof target);
    if (length <= 0) return fail(ENOENT, place_);
    if (++links_ > kMaxLinks) return fail(ELOOP, place_);
    const std::string text(target, static_cast<size_t>(length));
    push_parts(text, parts_);
    if (text.starts_with('/')) {
      folder_.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
      place_ = "/";
    }
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
  std::string place_ = "/";  // of folder_, without links; at the end that of the file
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
