// Ctrl-C during a long call that has released the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace mvsim {

// Throws error_already_set when a signal handler of Python raised, e.g. KeyboardInterrupt. Takes the GIL.
inline void check_signals() {
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

// check_signals() at most every 20 ms, for callers that come by more often than the GIL is cheap.
class SignalPoll {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(20);
    check_signals();
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace mvsim
