// An env from its task to its snapshots: the checks of the task, the episode (start, control periods with
// measurements, rewards and end), what comes late, and the bytes of a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/archive.h"
#include "model/scene_view.h"
#include "task/task.h"

namespace mvsim {

// Compiles an environment to a task and checks it; explains which keyword an error comes from.

// Loads the worlds, makes the terms, and adds warnings. An error that occurs only with the caller's keywords
// is reported at these. Throws WorldFileError, or Error where options.strict refuses a warning.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options);
// The same with a drawer of the caller's for the views of its sensors.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer);

// Adds a warning for each randomisation of driving parameters that changes nothing in the task. Finds them by
// driving short episodes without sensors.
void warn_of_no_effect(Task& task, const Poll& poll);

// Returns the error of an episode that cannot start. If keywords of the caller cause it, it is reported at
// these.
WorldFileError explain_start(const EnvSpec& spec, const EnvLoadOptions& options, uint64_t key,
                             uint32_t episode, const WorldFileError& error);

// Makes an env before its first episode, with its agents.
EnvState make_env(const Task& task, uint64_t key);
AgentState make_agent(const AgentTask& task);

// Starts the env's next episode. `poll` is called often and may throw; the env then needs another start.
void start_episode(const Task& task, EnvState& env, const Poll& poll = {});

// Runs one control period with the action of each agent. `keep_going` is called before each substep. If it
// returns false, the call returns false early, with the env between two substeps. Otherwise the call
// measures, and sets success and end of each agent and whether the episode is finished. It sums up the
// rewards of each agent into `rewards`.
bool step_period(const Task& task, EnvState& env, const std::function<bool()>& keep_going,
                 std::span<double> rewards);

// Ends the episode of an env whose agents have ended, or whose time is up. Call it after the checks of the
// agents.
void end_episode(const Task& task, EnvState& env);

// Whether an agent that has ended starts again while others go on.
bool respawns(const Task& task);
// Gives such an agent another start and goal. `poll` as in start_episode().
void respawn(const Task& task, EnvState& env, size_t agent, const Poll& poll);

// Changes between control periods. After all but set_goal() the agents are measured again, so that a move by
// the caller does not count as progress.
void set_goal(const Task& task, EnvState& env, size_t agent, Vec2 goal);
void measure_again(const Task& task, EnvState& env);

// Parts of a control period that also process readings of a real robot (episode/pipeline.h).
// Takes over an action clipped to [-1, 1]. If a component is not finite, the whole action becomes zero:
// returns false.
bool take_action(AgentState& agent, const float* action);
// Passes an agent's action to its vehicle's controller as physical values.
void apply_action(const AgentTask& task, const AgentState& agent, Simulation& simulation);
// Computes the measurements of an agent that follow from its pose (world frame) and its twist (body frame).
void measure_motion(const AgentTask& task, const Pose2& pose, const Twist2& twist, AgentState& agent);

// Sets the parameters of the env's simulation that are held. Those that its world does not have are left out.
void apply_held(EnvState& env);

// Length of the shortest path from the agent's start to its goal (m), for SPL. `poll` is called often and may
// throw.
double optimal_length(const AgentTask& task, const EnvState& env, const AgentState& agent,
                      const Poll& poll = {});

// Late and noisy actions, late readings and readings that drop out, and pushes, by the parameters of
// model/transfer_params.h. The parameters are read at the start of an agent's episode. An agent without any
// costs nothing.

// Sets AgentState::transfer at the start of the agent's episode. Throws Error for a delay that is too long.
void start_transfer(const Task& task, const EnvState& env, size_t agent, TransferState& transfer);

// Sends an agent's action to its robot at the start of a period, or starts its delay.
void send_action(const Task& task, EnvState& env, size_t agent);

// Runs before time step `step` of a period: applies actions that arrive and pushes that are due.
void act_between(const Task& task, EnvState& env, size_t agent, int step);
// Runs after that time step: takes the readings that are delivered later.
void look_between(const Task& task, EnvState& env, size_t agent, int step);
// Whether an agent needs act_between() and look_between().
bool has_between(const AgentState& agent);

// Writes the frame of observation `slot` at the end of a period, or (`first`) at the start of an episode; for
// a picture its recipe.
void arriving_frame(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first,
                    Scratch& scratch, std::byte* out);
void arriving_recipe(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first, double* out);

// Whether the state that a snapshot holds could come from start_transfer().
bool fits(const TransferState& transfer, const Task& task, const AgentTask& agent);

// Writes and reads one env of a batch as part of a snapshot. Like a Simulation's state, an env that is read
// continues bit for bit from the end of a control period.

// Returns a hash of the properties of an environment that a snapshot must match: its worlds, the layout and
// bounds of its observations and actions, the names of its rewards. Weights, time limits and periods may
// differ.
uint64_t fingerprint(const Task& task);

void write_env(ArchiveWriter& archive, const EnvState& env, const Task& task);

// Reads elements of a type; float32 elements must be finite, unless the archive allows others.
void read_values(ArchiveReader& archive, DType dtype, std::span<uint8_t> out);

// Whether values are within their bounds, of which there is one for each; `values` may hold several frames.
bool in_bounds(DType dtype, std::span<const uint8_t> values, std::span<const float> low,
               std::span<const float> high);

// Reads an env. Throws Error. `like` is an env whose goal field is shared if the new one would be the same.
EnvState read_env(ArchiveReader& archive, const Task& task, const EnvState& like);

}  // namespace mvsim
