// One env's episode: its making, its start, and a control period with its measurements, rewards and end.
#pragma once

#include <functional>
#include <span>

#include "task/task.h"

namespace mvsim {

// An env, and an agent, before their first episode.
EnvState make_env(const Task& task, uint64_t key);
AgentState make_agent(const AgentTask& task);

// Starts the env's next episode. `poll` is called often and may throw; the env then needs another start.
void start_episode(const Task& task, EnvState& env, const Poll& poll = {});

// Runs one control period with the action of each agent. `keep_going` is asked before each substep; false
// ends the call early with false, the env left between two substeps. Else measures, sets the success and end
// of each agent and whether the episode is finished, and sums up the rewards of each agent into `rewards`.
bool step_period(const Task& task, EnvState& env, const std::function<bool()>& keep_going,
                 std::span<double> rewards);

// Ends the episode of an env whose agents have ended, or whose time is up: once its agents are checked.
void end_episode(const Task& task, EnvState& env);

// Whether an agent that has ended begins anew while others go on.
bool respawns(const Task& task);
// Gives such an agent another start and goal. `poll` as in start_episode().
void respawn(const Task& task, EnvState& env, size_t agent, const Poll& poll);

// Changes between control periods. After others than set_goal() the agents are measured again, so that what a
// caller moves is nobody's progress.
void set_goal(const Task& task, EnvState& env, size_t agent, Vec2 goal);
void measure_again(const Task& task, EnvState& env);

// Parts of a control period that readings of a real robot go through too (episode/pipeline.h).
// Takes over an action clipped to [-1, 1]. One that is not finite counts as zero as a whole: returns false.
bool take_action(AgentState& agent, const float* action);
// Hands an agent's action to its vehicle's controller as physical values.
void apply_action(const AgentTask& task, const AgentState& agent, Simulation& simulation);
// Fills those measurements of an agent that follow from its pose (world frame) and its twist (body frame).
void measure_motion(const AgentTask& task, const Pose2& pose, const Twist2& twist, AgentState& agent);

// Sets the parameters of the env's simulation that are held. Those that this world has not are left out.
void apply_held(EnvState& env);

// Length of the shortest path from the agent's start to its goal (m), for SPL. `poll` is called often and may
// throw.
double optimal_length(const AgentTask& task, const EnvState& env, const AgentState& agent,
                      const Poll& poll = {});

}  // namespace mvsim
