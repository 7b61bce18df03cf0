// Long calls without the GIL: they give it back for as long as they last and look for Ctrl-C now and then.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cstdint>

#include "base/load_guard.h"

namespace mvsim {

inline bool interpreter_is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// As py::gil_scoped_release, but fit for daemon threads: one that comes back while the interpreter shuts down
// waits for the end of the process. (Python would end the thread by unwinding its stack, and a destructor
// that must not throw would turn that into an abort.)
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() noexcept(false) {
    while (interpreter_is_finalizing()) pause();
    PyEval_RestoreThread(state_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Throws error_already_set when a signal handler of Python raised, e.g. KeyboardInterrupt. Takes the GIL.
inline void check_signals() {
  if (interpreter_is_finalizing()) return;
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

// check_signals() about every 20 ms, for callers that come by more often than the GIL is cheap.
class SignalPoll {
 public:
  void operator()() {
    const int64_t now = coarse_ms();
    if (now < next_) return;
    next_ = now + kEvery;
    check_signals();
  }

 private:
  static constexpr int64_t kEvery = 20;  // ms

  int64_t next_ = coarse_ms() + kEvery;
};

}  // namespace mvsim
