// FNV-1a over the bits of everything that a user can see of a simulation.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/simulation.h"

namespace mvsim::test {

class Hash {
 public:
  void mix(double v) {
    const auto bits = std::bit_cast<uint64_t>(v);
    for (int i = 0; i < 8; ++i) value_ = (value_ ^ (bits >> (8 * i) & 0xff)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

inline void mix_state(const Simulation& sim, Hash& hash) {
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
    const Pose3 p = vehicle_pose(sim, v);
    const Twist2 t = vehicle_twist(sim, v);
    for (double x : {p.x, p.y, p.z, p.yaw, t.vx, t.vy, t.omega}) hash.mix(x);
    for (const WheelState& w : wheel_states(sim, v)) hash.mix(w.spin);
    hash.mix(sim.state().vehicles[v].in_collision);
  }
  for (size_t b = 0; b < sim.model().blocks.size(); ++b)
    hash.mix(block_pose(sim, b).x + block_pose(sim, b).yaw);
  for (size_t s = 0; s < sim.model().sensors.size(); ++s)
    for (float r : sim.reading(s)) hash.mix(r);
}

}  // namespace mvsim::test
