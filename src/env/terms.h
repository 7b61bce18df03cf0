// Seam: the terms of a task. One family a file, each term a small immutable class shared by all envs, one
// line in its family's table; whatever changes lies in EnvState.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/env_state.h"
#include "env/term_reader.h"
#include "model/model.h"

namespace mvsim {

// What the terms together need computed; each term says so when it is made.
struct TaskNeeds {
  bool path = false;                      // Facts::path_distance and EnvState::field
  double clearance_limit = 0;             // m, Facts::clearance up to here
  double stuck_distance = 0;              // m, what counts as getting away from Facts::anchor
  std::vector<size_t> scheduled_sensors;  // that keep their own period
};

// What a term may look at while it is made.
struct TaskContext {
  const Model& model;
  size_t vehicle;
  double control_period;
  bool has_goal = false, has_goal_termination = false;
  double goal_radius = 0;  // of the termination; 0: none
  // Largest magnitudes that the action commands, 0 if it is no twist.
  double vx_max = 0, omega_max = 0;
  size_t action_size = 0;
  TaskNeeds& needs;
};

// Buffers of one call, no state.
struct Scratch {
  std::vector<float> values;
};

class Observation {
 public:
  virtual ~Observation() = default;
  // Finite bounds of one frame; their count is its size.
  virtual std::vector<Interval> bounds() const = 0;
  // Writes one frame; the caller clips it. Reading a sensor advances its noise, hence the mutable state.
  virtual void write(EnvState& env, Scratch& scratch, float* out) const = 0;
};

struct ActionComponent {
  std::string name;
  double low = 0, high = 0;  // physical values of -1 and 1
};

class Action {
 public:
  virtual ~Action() = default;
  virtual std::vector<ActionComponent> components() const = 0;
  // Hands physical values to the vehicle's controller.
  virtual void apply(Simulation& simulation, const double* values) const = 0;
};

class Reward {
 public:
  virtual ~Reward() = default;
  virtual double value(const EnvState& env) const = 0;  // of the last control period, without its weight
};

enum class Verdict { kSuccess, kFailure };

class Termination {
 public:
  virtual ~Termination() = default;
  virtual bool holds(const EnvState& env) const = 0;
  virtual Verdict verdict() const = 0;
};

// A change of the world at the start of an episode, before the agent is put into it.
class ResetTerm {
 public:
  virtual ~ResetTerm() = default;
  // `poll` (if any) is called before each try and may throw.
  virtual void apply(EnvState& env, RandomStream& random, const Poll& poll) const = 0;
};

template <typename Term>
struct TermClass {
  std::string_view name;
  std::unique_ptr<const Term> (*make)(TermReader& reader, TaskContext& context);
};

std::span<const TermClass<Observation>> observation_classes();
std::span<const TermClass<Action>> action_classes();
std::span<const TermClass<Reward>> reward_classes();
std::span<const TermClass<Termination>> termination_classes();
std::span<const TermClass<ResetTerm>> reset_classes();  // by tag, beside <spawn> and <goal>

// Makes the term that `reader` holds by its class (reset terms: its tag), or throws with the nearest class.
template <typename Term>
std::unique_ptr<const Term> make_term(TermReader& reader, TaskContext& context,
                                      std::span<const TermClass<Term>> classes) {
  const ParamSet& params = reader.term().params;
  const std::string& wanted = params.class_name.empty() ? params.tag : params.class_name;
  std::vector<std::string> known;
  for (const TermClass<Term>& c : classes) {
    if (c.name == wanted) return c.make(reader, context);
    known.emplace_back(c.name);
  }
  std::string expected;
  for (const std::string& k : known) expected += (expected.empty() ? "" : ", ") + k;
  throw WorldFileError(params.where, describe(reader.term()) + ": found the unknown class '" + wanted +
                                         "', expected one of " + expected + did_you_mean(wanted, known));
}

}  // namespace mvsim
