// The state of late actions, late readings and pushes of an agent (episode/transfer.h). Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace mvsim {

// A delay in control periods plus time steps.
struct Delay {
  uint32_t periods = 0, steps = 0;

  bool any() const { return periods > 0 || steps > 0; }
};

// Actions that have not arrived yet: a ring of the latest Delay::periods + 1, with their noise.
struct LateActions {
  bool active = false;  // false: actions are applied at once
  Delay delay;
  uint64_t count = 0;  // number of actions so far
  std::vector<double> values;
};

// Frames of one observation that have not arrived yet: a ring of the latest Delay::periods + 1 frames, or
// recipes of pictures.
struct LateFrames {
  bool active = false;
  Delay delay;
  uint64_t count = 0;  // number of frames so far
  std::vector<uint8_t> frames;
  std::vector<double> recipes;
};

struct Pushes {
  bool active = false;
  uint32_t count = 0;  // number of pushes so far
  double due = 0;      // s in the episode, time of the next push
};

struct TransferState {
  LateActions actions;
  std::vector<LateFrames> frames;  // by observation; empty if none is late
  Pushes pushes;
};

}  // namespace mvsim
