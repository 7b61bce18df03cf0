// What an agent keeps of late actions, late readings and pushes (episode/transfer.h). Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace mvsim {

// A delay as control periods, and time steps beside them.
struct Delay {
  uint32_t periods = 0, steps = 0;

  bool any() const { return periods > 0 || steps > 0; }
};

// Actions on their way to the robot: a ring of the latest Delay::periods + 1, with their noise.
struct LateActions {
  bool active = false;  // else actions go to the robot as they come
  Delay delay;
  uint64_t count = 0;  // of actions so far
  std::vector<double> values;
};

// Frames of one observation on their way: a ring of the latest Delay::periods + 1, or the recipes of
// pictures.
struct LateFrames {
  bool active = false;
  Delay delay;
  uint64_t count = 0;  // of frames so far
  std::vector<uint8_t> frames;
  std::vector<double> recipes;
};

struct Pushes {
  bool active = false;
  uint32_t count = 0;  // of pushes so far
  double due = 0;      // s of the episode, the next one
};

struct TransferState {
  LateActions actions;
  std::vector<LateFrames> frames;  // by observation; empty if all arrive at once
  Pushes pushes;
};

}  // namespace mvsim
