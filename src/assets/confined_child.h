// Runs a decoder that is not to be trusted in a child of this process: a fork without another program, under
// limits of time and memory, without the means to open, write or start anything and without what this process
// has open. The result is bytes, to be checked like those of a file. Any thread; one call forks,
// waits, and leaves nothing behind.
//
// The child is a copy of a process that may have other threads: it takes memory (the C library keeps its
// allocator usable after fork()), runs the decoder, writes its answer into shared memory and leaves by
// _exit(). It never enters Python, lets no exception escape, and runs no handler of signals or of exit.
#pragma once

#include <functional>
#include <string>

#include "base/load_guard.h"

namespace mvsim {

struct ChildLimits {
  double cpu_seconds = 1.5;
  double seconds = 60;               // on the clock, for a child that waits
  uint64_t memory = 512ULL << 20;    // bytes beyond what the process has mapped
  uint64_t max_output = 1ULL << 30;  // bytes
};

// Runs `work` in the child and returns its result. Throws Error with the cause if it fails: "the reader
// crashed (signal 11)", "takes more than 1.5 s", or the message of the exception. Stops when the guard's poll
// does.
std::string run_in_confined_child(const ChildLimits& limits, const LoadGuard& guard,
                                  const std::function<std::string()>& work);

}  // namespace mvsim
