// The episode of one env: creation, start, and control periods with measurements, rewards and end.
#pragma once

#include <functional>
#include <span>

#include "task/task.h"

namespace mvsim {

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

}  // namespace mvsim
