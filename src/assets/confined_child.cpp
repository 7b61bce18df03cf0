#include "assets/confined_child.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/memory.h"

namespace mvsim {
namespace {

enum Answer : char { kResult = 'R', kError = 'E', kNoMemory = 'M' };  // the first byte of an answer

class ChildDescriptor {
 public:
  explicit ChildDescriptor(int number) : number_(number) {}
  ~ChildDescriptor() {
    if (number_ >= 0) close(number_);
  }
  ChildDescriptor(const ChildDescriptor&) = delete;
  ChildDescriptor& operator=(const ChildDescriptor&) = delete;
  int get() const { return number_; }

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

// Returns the address space of the process, bytes. The child begins with as much, to which its limit is
// added.
uint64_t mapped_bytes() {
  uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    char line[128];
    if (std::fgets(line, sizeof line, file)) pages = std::strtoull(line, nullptr, 10);
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

// Closes every descriptor of the parent but `kept`, which gets a new number above the standard streams. So a
// decoder that is taken over reaches no log, no socket and no device.
void keep_open_only(int& kept, int nothing) {
  kept = fcntl(kept, F_DUPFD, 3);
  for (int stream = 0; stream <= 2; ++stream) dup2(nothing, stream);
  const unsigned number = kept < 0 ? 2 : static_cast<unsigned>(kept);
  if (number > 3) close_range(3, number - 1, 0);
  close_range(number + 1, ~0U, 0);
}

#if defined(__x86_64__)
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kMachine = 0;
#endif

// The allowed system calls: memory and its locks, open files, the clock, exit.
constexpr int kAllowed[] = {SYS_write,       SYS_brk,           SYS_mmap,         SYS_munmap,
                            SYS_mremap,      SYS_mprotect,      SYS_madvise,      SYS_futex,
                            SYS_exit,        SYS_exit_group,    SYS_rt_sigreturn, SYS_rt_sigprocmask,
                            SYS_sched_yield, SYS_clock_gettime, SYS_getrandom,    SYS_restart_syscall};

constexpr unsigned kCalls = std::size(kAllowed);

// Restricts this process for ever: it may take memory, write to open files and end. All other calls (opening
// files, sockets, programs, signals to others) fail with EPERM. Does nothing where the kernel has no such
// filters.
void confine_system_calls() {
  if (kMachine == 0 || kIsSanitized) return;
  sock_filter program[kCalls + 5];
  unsigned n = 0;
  const auto add = [&](unsigned code, unsigned value, unsigned if_true, unsigned if_false) {
    program[n++] = {static_cast<__u16>(code), static_cast<__u8>(if_true), static_cast<__u8>(if_false), value};
  };
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch), 0, 0);
  add(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 0, kCalls + 1);  // of another machine: refused
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0, 0);
  for (unsigned i = 0; i < kCalls; ++i)
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(kAllowed[i]), kCalls - i, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  const sock_fprog filter{static_cast<unsigned short>(n), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

// Applies the limits, filters system calls and resets signal handlers. So a crash runs no handler of the
// parent and leaves no core file.
void confine(const ChildLimits& limits, uint64_t mapped) {
  for (const int number :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGPROF, SIGXFSZ, SIGTERM, SIGALRM, SIGPIPE})
    std::signal(number, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // the parent hears it and stops the child
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.max_output);
  limit(RLIMIT_CPU, static_cast<uint64_t>(limits.cpu_seconds) + 2);
  const double whole = std::floor(limits.cpu_seconds);
  const auto rest = static_cast<suseconds_t>((limits.cpu_seconds - whole) * 1e6);
  const itimerval alarm{{}, {static_cast<time_t>(whole), rest}};
  setitimer(ITIMER_PROF, &alarm, nullptr);  // finer than the limit above
  if (mapped > 0 && !kIsSanitized) limit(RLIMIT_AS, mapped + limits.memory);
  confine_system_calls();
}

bool write_all(int file, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

void answer(int file, Answer kind, const char* bytes, size_t size) {
  const char first = kind;
  if (write_all(file, &first, 1)) write_all(file, bytes, size);
}

void run(int file, const std::function<std::string()>& work) {
  try {
    const std::string result = work();
    answer(file, kResult, result.data(), result.size());
  } catch (const std::bad_alloc&) {
    answer(file, kNoMemory, nullptr, 0);
  } catch (const std::exception& e) {
    answer(file, kError, e.what(), std::strlen(e.what()));
  } catch (...) {
    answer(file, kError, "unknown error", 13);
  }
}

// --- In the parent ---

// A descriptor that is readable when the process has ended; negative where the kernel has none.
int open_process(pid_t id) {
  return static_cast<int>(syscall(SYS_pidfd_open, id, 0));
}

// Whether the child has ended; it stays to be waited for.
bool has_ended(pid_t id) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;  // others have waited for it
  return info.si_pid == id;
}

// Until the child itself has ended. A pipe of the child's would not do: a process that another thread forks
// in the meantime holds its end open, too.
void wait_for_end(pid_t id, const ChildLimits& limits, const LoadGuard& guard) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limits.seconds);
  const ChildDescriptor process(open_process(id));
  while (!has_ended(id)) {
    guard.poll();
    if (Clock::now() > end) throw Error("its reader does not come to an end");
    pollfd wait{process.get(), POLLIN, 0};  // a negative one only waits
    ::poll(&wait, 1, process.get() >= 0 ? 20 : 1);
  }
}

std::string read_all(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return "";
  std::string out(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = pread(file, out.data() + done, out.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    done += static_cast<size_t>(got);
  }
  return out;
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
  if (signal == SIGXFSZ) throw Error("unpacks to more than " + megabytes(limits.max_output));
  if (signal == SIGPROF || signal == SIGXCPU || signal == SIGKILL)
    throw Error("takes more than " + tenths(limits.cpu_seconds) + " s to read");
  throw Error("makes its reader crash (signal " + std::to_string(signal) +
              "): the file is damaged, or needs more than " + megabytes(limits.memory) + " to read");
}

}  // namespace

std::string run_in_confined_child(const ChildLimits& limits, const LoadGuard& guard,
                                  const std::function<std::string()>& work) {
  // memory that both have; a pipe would make them wait for each other at every 64 KB
  const ChildDescriptor answers(memfd_create("answer", MFD_CLOEXEC));
  if (answers.get() < 0)
    throw Error("cannot be read: no memory to share: " + std::string(std::strerror(errno)));
  const ChildDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const uint64_t mapped = mapped_bytes();
  const pid_t id = fork();
  if (id < 0) throw Error("cannot be read: no process: " + std::string(std::strerror(errno)));
  if (id == 0) {
    int answer_to = answers.get();
    keep_open_only(answer_to, nothing.get());
    confine(limits, mapped);
    run(answer_to, work);
    _exit(0);
  }
  Child child(id);
  wait_for_end(id, limits, guard);
  const int signal = child.wait();
  std::string said = signal == 0 ? read_all(answers.get()) : "";
  if (signal != 0 || said.empty()) fail(signal, limits);
  if (said[0] == kNoMemory) throw Error("needs more than " + megabytes(limits.memory) + " to read");
  if (said[0] != kResult) throw Error(shortened(std::string_view(said).substr(1), 200));
  said.erase(0, 1);
  return said;
}

}  // namespace mvsim
