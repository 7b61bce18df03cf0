#include "assets/confined_system_calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

#include "base/sanitized.h"

namespace mvsim {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kMachine = 0;
#endif

// Memory, its locks, what is open, the clock, an end.
constexpr int kAllowed[] = {SYS_write,       SYS_brk,           SYS_mmap,         SYS_munmap,
                            SYS_mremap,      SYS_mprotect,      SYS_madvise,      SYS_futex,
                            SYS_exit,        SYS_exit_group,    SYS_rt_sigreturn, SYS_rt_sigprocmask,
                            SYS_sched_yield, SYS_clock_gettime, SYS_getrandom,    SYS_restart_syscall};

constexpr unsigned kCalls = std::size(kAllowed);

}  // namespace

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

}  // namespace mvsim
