#include "assets/confined_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "assets/confined_system_calls.h"
#include "base/sanitized.h"

namespace mvsim {
namespace {

enum Answer : char { kResult = 'R', kError = 'E', kNoMemory = 'M' };  // the first byte of what a child writes

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void close_now() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

// A child that is gone when this is.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The signal that ended it, or 0: also where others have waited for it.
  int wait() {
    int status = 0;
    pid_t got;
    do got = waitpid(id_, &status, 0);
    while (got < 0 && errno == EINTR);
    id_ = -1;
    return got > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t id_;
};

// --- In the child ---

// Address space that the process has now: a limit on the child's counts from here.
uint64_t mapped_bytes() {
  uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    unsigned long long value = 0;
    if (std::fscanf(file, "%llu", &value) == 1) pages = value;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_CPU) what, uint64_t value) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = now.rlim_max = std::min<rlim_t>(value, now.rlim_max);
  setrlimit(what, &now);
}

// A crash ends the child and tells nobody: no handler of the parent's, no core, no word on its streams.
void confine(const ChildLimits& limits, uint64_t mapped, int nothing) {
  for (const int number :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGPROF, SIGTERM, SIGALRM, SIGPIPE})
    std::signal(number, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // the parent hears it and stops the child
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int stream = 0; stream <= 2; ++stream) dup2(nothing, stream);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<uint64_t>(limits.cpu_seconds) + 2);
  const double whole = std::floor(limits.cpu_seconds);
  const auto rest = static_cast<suseconds_t>((limits.cpu_seconds - whole) * 1e6);
  const itimerval alarm{{}, {static_cast<time_t>(whole), rest}};
  setitimer(ITIMER_PROF, &alarm, nullptr);  // finer than the limit above
  if (mapped > 0 && !kIsSanitized) limit(RLIMIT_AS, mapped + limits.memory);
  confine_system_calls();
}

bool write_all(int pipe, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(pipe, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

void answer(int pipe, Answer kind, const char* bytes, size_t size) {
  const char first = kind;
  if (write_all(pipe, &first, 1)) write_all(pipe, bytes, size);
}

void run(int pipe, const std::function<std::string()>& work) {
  try {
    const std::string result = work();
    answer(pipe, kResult, result.data(), result.size());
  } catch (const std::bad_alloc&) {
    answer(pipe, kNoMemory, nullptr, 0);
  } catch (const std::exception& e) {
    answer(pipe, kError, e.what(), std::strlen(e.what()));
  } catch (...) {
    answer(pipe, kError, "unknown error", 13);
  }
}

// --- In the parent ---

// All that the child writes until it closes its pipe.
std::string read_all(int pipe, const ChildLimits& limits, const LoadGuard& guard) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limits.seconds);
  std::string out;
  std::vector<char> buffer(1 << 18);
  for (;;) {
    guard.poll();
    if (Clock::now() > end) throw Error("its reader does not come to an end");
    pollfd wait{pipe, POLLIN, 0};
    if (::poll(&wait, 1, 20) <= 0) continue;  // a signal or nothing yet
    const ssize_t got = read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(buffer.data(), static_cast<size_t>(got));
    if (out.size() > limits.max_output) throw Error("unpacks to too much data");
  }
}

std::string megabytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MB";
}

std::string tenths(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", seconds);
  return text;
}

[[noreturn]] void fail(int signal, const ChildLimits& limits) {
  if (signal == SIGPROF || signal == SIGXCPU || signal == SIGKILL)
    throw Error("takes more than " + tenths(limits.cpu_seconds) + " s to read");
  throw Error("makes its reader crash (signal " + std::to_string(signal) +
              "): the file is damaged, or needs more than " + megabytes(limits.memory) + " to read");
}

}  // namespace

std::string run_in_confined_child(const ChildLimits& limits, const LoadGuard& guard,
                                  const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error("cannot be read: no pipe: " + std::string(std::strerror(errno)));
  Descriptor from_child(ends[0]), to_parent(ends[1]);
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const uint64_t mapped = mapped_bytes();
  const pid_t id = fork();
  if (id < 0) throw Error("cannot be read: no process: " + std::string(std::strerror(errno)));
  if (id == 0) {
    confine(limits, mapped, nothing.get());
    run(to_parent.get(), work);
    _exit(0);
  }
  Child child(id);
  to_parent.close_now();
  const std::string said = read_all(from_child.get(), limits, guard);
  const int signal = child.wait();
  if (signal != 0 || said.empty()) fail(signal, limits);
  if (said[0] == kNoMemory) throw Error("needs more than " + megabytes(limits.memory) + " to read");
  if (said[0] != kResult) throw Error(shortened(std::string_view(said).substr(1), 200));
  return said.substr(1);
}

}  // namespace mvsim
