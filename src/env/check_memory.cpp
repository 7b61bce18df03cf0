#include "env/compile_parts.h"

#include <unistd.h>

#include <cstdio>

namespace mvsim {
namespace {

// A lower bound of the bytes of one env: its state and its rows of results.
double bytes_of_env(const Task& task) {
  const Model& m = *task.models.front();
  size_t bytes = sizeof(EnvState);
  bytes += m.params.size() * sizeof(double) + m.memory_size * sizeof(double);
  bytes += m.bodies.size() * (sizeof(BodyState) + sizeof(BodyInertia));
  bytes += m.vehicles.size() * sizeof(VehicleState) + m.wheel_count * sizeof(WheelState);
  bytes += m.blocks.size() * (sizeof(Pose2) + sizeof(double)) + m.sensors.size() * sizeof(SensorState);
  bytes += m.reading_bytes + m.reading_count;
  for (const AgentTask& agent : task.agents)
    bytes +=
        sizeof(AgentState) + agent.frames_size + (agent.recipes_size + agent.memory_size) * sizeof(double);
  for (const ObservationSpec& o : task.observation_specs) bytes += task.agents.size() * o.bytes();
  return static_cast<double>(bytes);
}

std::string gigabytes(double bytes) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g GB", bytes / 1e9);
  return buffer;
}

}  // namespace

void check_memory(const Task& task, int num_envs, uint64_t memory_limit) {
  const double needed = num_envs * bytes_of_env(task);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (there > 0 && needed > there)
    throw Error("num_envs: found " + std::to_string(num_envs) + ", which takes more than " +
                gigabytes(needed) + "; this machine has " + gigabytes(there));
  const double limit = static_cast<double>(memory_limit);
  if (task.memory_used + needed > limit)
    throw Error("num_envs: found " + std::to_string(num_envs) + ", which takes " + gigabytes(needed) +
                " beside the worlds' " + gigabytes(task.memory_used) + ", expected at most memory_limit, " +
                gigabytes(limit));
}

}  // namespace mvsim
