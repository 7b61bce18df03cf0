// Helpers of the tests of batch/: a batch run to a trace, and its results as bytes.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "batch/batch.h"
#include "task/task_test_util.h"

namespace mvsim::testing {

inline BatchOptions options(int num_envs, int num_threads = 1,
                            AutoresetMode mode = AutoresetMode::kNextStep) {
  BatchOptions o;
  o.num_envs = num_envs;
  o.num_threads = num_threads;
  o.autoreset = mode;
  o.load = load_options();
  return o;
}

// Random actions of row `env` at step `step`: a function of these alone.
inline void random_action(uint64_t env, uint32_t step, float* action, size_t size) {
  RandomStream random(env, step, StreamPurpose::kActionNoise);
  for (size_t i = 0; i < size; ++i) action[i] = static_cast<float>(random.uniform(-1, 1));
}

inline std::vector<float> random_actions(const Batch& batch, uint32_t step, uint64_t first_env = 0) {
  const size_t size = batch.action_size();
  const size_t rows = static_cast<size_t>(batch.num_envs()) * static_cast<size_t>(batch.num_agents());
  std::vector<float> out(rows * size);
  for (size_t i = 0; i < rows; ++i) random_action(first_env + i, step, out.data() + i * size, size);
  return out;
}

// All observations of env i, or those that its last episode ended with.
inline std::string observation_bytes(Batch& batch, int i, bool final = false) {
  std::string out;
  for (size_t k = 0; k < batch.observations().size(); ++k) {
    const size_t size = batch.observations()[k].low.size();
    const float* data = (final ? batch.final_observation(k) : batch.observation(k)).data();
    out.append(reinterpret_cast<const char*>(data + static_cast<size_t>(i) * size), size * sizeof(float));
  }
  return out;
}

// All results of row i as bytes.
inline std::string row_of(Batch& batch, int i) {
  std::string out;
  const auto add = [&](const void* data, size_t size) { out.append(static_cast<const char*>(data), size); };
  for (size_t k = 0; k < batch.observations().size(); ++k) {
    const ObservationBuffer& buffer = batch.observation_buffer(k);
    add(buffer.row(static_cast<size_t>(i)), buffer.row_bytes());
  }
  add(&batch.rewards()[i], sizeof(double));
  for (const auto& flags : {batch.terminated(), batch.truncated(), batch.finished(), batch.was_reset()})
    add(&flags[i], 1);
  for (const InfoColumn& c : batch.infos()) {
    add(&c.mask[i], 1);
    if (c.mask[i]) add(&c.values[i], sizeof(double));
  }
  return out;
}

// Returns the output of each env over `steps` steps with its own random actions, as bytes.
inline std::vector<std::string> traces(Batch& batch, int steps, uint64_t first_env = 0) {
  for (int i = 0; i < batch.num_envs(); ++i) batch.seed_env(i, 1000 + first_env + i);
  batch.reset();
  std::vector<std::string> out(batch.num_envs());
  for (int i = 0; i < batch.num_envs(); ++i) out[i] = row_of(batch, i);
  for (int s = 0; s < steps; ++s) {
    batch.step(random_actions(batch, s, first_env));
    for (int i = 0; i < batch.num_envs(); ++i) out[i] += row_of(batch, i);
  }
  return out;
}

inline const InfoColumn& info(const Batch& batch, const std::string& key) {
  for (const InfoColumn& c : batch.infos())
    if (c.key == key) return c;
  throw Error("no info " + key);
}

inline size_t observation_index(const Batch& batch, const std::string& key) {
  for (size_t k = 0; k < batch.observations().size(); ++k)
    if (batch.observations()[k].key == key) return k;
  throw Error("no observation " + key);
}

}  // namespace mvsim::testing
