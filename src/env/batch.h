// N copies of one environment stepped by a pool of threads: actions in, arrays of observations, rewards and
// flags out. They have a row for each agent of each env, row = env * num_agents + agent.
//
// All arrays belong to the batch, keep their address, and are rewritten by reset(), step() and set_state().
// One thread at a time calls a batch (a second one gets an Error); different batches are independent. The
// episodes of env k depend on its key, its episode count and its actions alone, and not on num_envs, threads,
// other envs or history.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/geometry.h"
#include "env/env_spec.h"
#include "env/observation_spec.h"

namespace mvsim {

class Simulation;
struct GivenStart;
struct Model;
struct Task;

// step() or reset() was stopped by should_stop. The batch stays usable; envs may be inside a control period.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// The way in which an env whose episode has ended is reset, as in Gymnasium.
enum class AutoresetMode {
  kNextStep,  // its next step ignores the action and resets it: reward 0, flags false
  kSameStep,  // reset at once: `observation` is the first of the new episode, `final_observation` the last of
              // the old
  kDisabled,  // the caller resets it; stepping it before is an Error
};

struct BatchOptions {
  int num_envs = 1;     // >= 1
  int num_rows = 0;     // instead of num_envs: env x agent, a multiple of the agents of an env; 0: not given
  int num_threads = 0;  // 0: default_threads(); the calling thread is one of them
  bool pin = false;     // binds each worker thread to a processor of its own
  AutoresetMode autoreset = AutoresetMode::kNextStep;
  bool strict_actions =
      false;            // a non-finite action is an Error before any env steps, instead of a zero action
  bool spl = false;     // compute optimal_length and spl of successful episodes (evaluation)
  Device device{};      // memory of observed camera images; all else is on the host
  EnvLoadOptions load;  // folders for the world's files
};

enum class InfoType { kBool, kInt, kNumber };

// One info key for all rows: `mask[i]` says whether row i has it in this step.
struct InfoColumn {
  std::string key;
  InfoType type;
  std::vector<double> values;
  std::vector<uint8_t> mask;
};

class Batch {
 public:
  // Polled on the calling thread at least every 50 ms; true makes the call throw Interrupted after the
  // running substeps. May throw.
  using ShouldStop = std::function<bool()>;
  // The caller's callback within a step. It runs after all envs have been advanced and sensed, and before any
  // is reset. It may change rewards() and returns a flag for each row whose episode it ends as a failure, or
  // an empty span. If it throws, step() throws the same exception when its work is complete.
  using Between = std::function<std::span<const uint8_t>()>;

  Batch(const EnvSpec& spec, const BatchOptions& options);
  Batch(std::shared_ptr<const Task> task, const BatchOptions& options);  // from a compiled task
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const EnvSpec& spec() const;
  const std::vector<std::string>& warnings() const;  // of the world, each once
  int num_envs() const;
  int num_agents() const;  // agents of an env
  int num_threads() const;
  double control_period() const;  // s
  AutoresetMode autoreset() const;
  size_t action_size() const;  // an action is Box[-1, 1]^action_size
  // Physical values of -1 and 1, such as {0, -2} and {0.22, 2}, and the names of the components.
  const std::vector<double>& action_low() const;
  const std::vector<double>& action_high() const;
  const std::vector<std::string>& action_names() const;

  // Sets env i's key; its next reset starts episode 0. Unseeded envs have key i.
  void seed_env(int env, uint64_t key);

  // Starts a new episode in every env, or in those whose mask is not 0. Clears rewards and flags of those.
  // `starts`: empty, or one for each row, with the start and the goal of the agent's episode.
  void reset(std::span<const uint8_t> mask = {}, const ShouldStop& should_stop = {},
             std::span<const GivenStart> starts = {});
  // actions: rows x action_size, row-major; clipped to [-1, 1].
  void step(std::span<const float> actions, const ShouldStop& should_stop = {}, const Between& between = {});

  // Ends the worker threads; the calling thread steps alone from then on. Does nothing while another thread
  // is in a call.
  void stop_threads();

  // -- snapshots (sim/snapshot.h)
  // Returns one env's state, its episode and its observations as bytes. A batch with the same layout of
  // worlds, observations, actions and rewards continues from them bit for bit.
  std::string state(int env) const;
  // Restores such states: one for each env, or one for all. Clears the rewards and flags of these envs.
  // Throws Error, and changes nothing, if a state is not valid.
  void set_state(std::span<const int> envs, std::span<const std::string_view> states);
  // Returns a batch that continues like this one. The two share the immutable parts.
  std::unique_ptr<Batch> clone() const;
  bool started(int env) const;  // reset at least once
  bool ended(int env) const;    // must be reset before it can step

  // -- changes from outside, between steps. On an Error nothing is changed.
  // Values of a name (env/quantities.h) in some envs, ordered by env and item; `shape` is that of one env.
  struct Reading {
    std::vector<double> values;
    std::vector<size_t> shape;
  };
  std::vector<std::string> names(int env) const;
  // A body that a policy of the environment moves: its name, the name of its element, and its policy.
  struct MovedBody {
    std::string name, group, policy;
  };
  std::vector<MovedBody> bodies() const;
  Reading read(std::span<const int> envs, const std::string& name) const;
  // The same for each row. Goals and actions are those of the row's agent; all else is that of its env.
  Reading read_rows(const std::string& name) const;
  // Takes as many values as read() returns. Parameters keep them until the end of the episode.
  void write(std::span<const int> envs, const std::string& name, std::span<const double> values);
  // Sets the parameters that a pattern matches, one value an env, now and at the start of every coming
  // episode.
  void hold(std::span<const int> envs, const std::string& pattern, std::span<const double> values);
  // Releases held parameters. From the next episode on they have the values of the file or of a
  // randomisation.
  void release(std::span<const int> envs);
  // Sets the <knob>s for the envs from their next episode on, like keywords; empty: those of the constructor.
  // `poll` is called often while a world is compiled, and may throw.
  void set_knobs(std::span<const int> envs, const std::vector<Override>& knobs,
                 const std::function<void()>& poll = {});
  const std::vector<Override>& knobs(int env) const;
  // Returns the value of a name of a parameter that is a choice.
  double choice_value(const std::string& pattern, const std::string& name) const;

  // -- in the caller's callback of a step (Between), or between steps
  // Adds a value for each row to its reward and to `sums`, except for rows that took no step or diverged.
  // Throws Error if a value is not finite, and then adds nothing.
  void add_rewards(std::span<const double> values, std::span<double> sums);
  // Flags of the rows that took a step before the latest call of Between and did not diverge.
  std::span<uint8_t> live();
  // Flags of the rows whose agent ended in an earlier step and waits for the others of its env.
  std::vector<uint8_t> waiting() const;
  // `count` random numbers a row: uniform in [0, 1), or normal. They depend on the row's key, episode and
  // step and on `stream` alone.
  std::vector<double> draw(uint32_t stream, size_t count, bool normal) const;

  // -- results
  const std::vector<ObservationSpec>& observations() const;
  ObservationBuffer& observation_buffer(size_t key);
  // Last observations of the rows with finished() set, in kSameStep; in other modes it has no rows.
  ObservationBuffer& final_observation_buffer(size_t key);
  // Counter of the calls that rewrite observations on a GPU (BatchOptions::device). An array on the GPU
  // compares it to know whether its values are still those of its step. It is shared, so it outlives the
  // batch.
  std::shared_ptr<const std::atomic<uint64_t>> device_moment() const;
  // The elements of an observation, rows x size. Throws Error if they are not float32.
  std::span<float> observation(size_t key) { return observation_buffer(key).values<float>(); }
  std::span<float> final_observation(size_t key) { return final_observation_buffer(key).values<float>(); }
  // Copies the observations of all rows to `to`, arrays of the same layout. Each thread copies its own rows,
  // which are in its cache. A pair is a key and its array.
  void copy_observations(std::span<const std::pair<size_t, std::byte*>> to);
  std::span<double> rewards();
  std::span<uint8_t> terminated();
  std::span<uint8_t> truncated();
  std::span<uint8_t> finished();   // episode ended in this step
  std::span<uint8_t> was_reset();  // a new episode began in this call
  // Rows whose agent has a running episode, so that its next action counts. Where agents wait for each other,
  // the observations of the waiting agents are zero until their env is reset.
  std::span<uint8_t> alive();
  // Fixed set of keys. At an episode's end: success, collision, timeout, diverged, time, path_length,
  // min_clearance, bad_action, reward/<term>..., and with spl also spl and (only on success) optimal_length;
  // bad_action also in any step whose action was bad. In kSameStep they belong to final_info.
  const std::vector<InfoColumn>& infos() const;
  // Whether any env has an info: false in most steps.
  bool has_infos() const;

  // Fills env's infos as if a time limit had ended its episode in this step: for an episode that is cut short
  // from outside. They last until the next reset or step, which are not affected.
  void report_cut(int env);

  // Writes CSV files of all vehicles from now on (record/vehicle_log.h). For one env they are in `folder`,
  // for several in its subfolders env_0, env_1... A session is an episode. Throws Error.
  void log_to(const std::string& folder);

  // -- one env, for drawing and tests
  const Simulation& simulation(int env) const;
  std::shared_ptr<const Model> model(int env) const;
  // The worlds of the env's episodes, including model(env).
  const std::vector<std::shared_ptr<const Model>>& models(int env) const;
  // Points on the shortest path that an agent's terms measure, from its position to its goal, `spacing` m
  // apart, at most `most`. Empty if no term needs a path, or if there is none.
  std::vector<Vec2> path(int env, size_t agent, double spacing, size_t most) const;
  size_t vehicle(size_t agent = 0) const;  // the agent's index in the model
  std::optional<Vec2> goal(int env, size_t agent = 0) const;
  double goal_radius(size_t agent = 0) const;  // m
  uint32_t episode(int env) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mvsim
