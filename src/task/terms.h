// Extension point: the terms of a task. A term is a small immutable class shared by all envs, with one row in
// terms.cpp. Its state is in EnvState. A term belongs to one agent; its functions receive the env and this
// agent.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/geometry.h"
#include "model/model.h"
#include "sim/sim_state.h"
#include "task/env_state.h"
#include "task/observation_spec.h"
#include "task/term_reader.h"
#include "task/track/tracker.h"
#include "views/draw_views.h"

namespace mvsim {

// The quantities that the terms of an agent need; each term adds its needs when it is made.
struct TaskNeeds {
  bool path = false;                      // Measurements::path_distance and AgentState::field
  double clearance_limit = 0;             // m, Measurements::clearance up to here
  std::vector<size_t> scheduled_sensors;  // sensors that keep their own period
  std::vector<std::string> warnings;      // "path:line:column: text"
  Trackers trackers;                      // trackers of the agent alone
  size_t memory_size = 0;                 // of AgentState::memory
  bool localization = false;              // an observation depends on the agent's localization

  // Adds a tracker of the agent alone. It lives as long as the task.
  template <class T, class... Args>
  const T& track(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    const T& added = *made;
    made->set_first(memory_size);
    memory_size += made->memory_size();
    trackers.push_back(std::move(made));
    return added;
  }
};

// Poses among which the goals of episodes are drawn. A goal is a point (AgentState::goal); its heading is
// that of the nearest of these poses, so it follows from the point alone, also where a caller sets the goal.
class GoalPoses {
 public:
  explicit GoalPoses(std::vector<Pose2> poses);  // at least one

  const std::vector<Pose2>& poses() const { return poses_; }
  // Yaw of the pose that is nearest to the goal, rad; the first one of several.
  double heading(Vec2 goal) const;

 private:
  std::vector<Pose2> poses_;
};

// The data that a term may read while it is made.
struct TaskContext {
  const Model& model;
  size_t vehicle;
  std::span<const size_t> agents;  // the vehicles of all agents of an env, in their order
  double control_period;
  bool has_goal = false, has_goal_termination = false;
  double goal_radius = 0;                                 // of the termination; 0: none
  std::shared_ptr<const GoalPoses> goal_poses = nullptr;  // null: the goal has no heading
  // Largest magnitudes that the action commands, 0 if it is no twist.
  double vx_max = 0, omega_max = 0;
  size_t action_size = 0;
  // The action's component `steer`: its index, and its largest command; 0 without one.
  size_t steer_component = 0;
  double steer_max = 0;      // rad
  const Trackers& trackers;  // trackers of the task
  TaskNeeds& needs;
};

// The name that terms and infos give to a kind of bodies that a robot can touch.
struct ContactKind {
  std::string_view name;
  Contact bit;
};

inline constexpr std::array<ContactKind, 4> kContactKinds{{{"wall", kTouchesWall},
                                                           {"block", kTouchesBlock},
                                                           {"agent", kTouchesVehicle},
                                                           {"person", kTouchesPerson}}};

// Reads the attribute `with`, names of such kinds, as bits of Contact. Without the attribute all bits are set
// (track/contacts.cpp).
uint8_t read_contact_kinds(TermReader& reader);

// Buffers of one call, no state.
struct Scratch {
  std::vector<float> values;
};

class Picture;

// Base of observations. Derive from ObservationOf<T> below, or from Picture.
class Observation {
 public:
  virtual ~Observation() = default;
  // Finite bounds of one frame, row-major; their count is its size.
  virtual std::vector<Interval> bounds() const = 0;
  virtual DType dtype() const = 0;
  // Whether frames are always within the bounds, so that they need not be clipped.
  virtual bool keeps_bounds() const { return false; }
  // The shape of one frame.
  virtual std::vector<size_t> shape() const { return {bounds().size()}; }
  // Writes one frame of dtype(); the caller clips it. Reading a sensor advances its noise, so the state is
  // mutable.
  virtual void write_frame(EnvState& env, AgentState& agent, Scratch& scratch, std::byte* out) const = 0;
  // The sensor of the observation, if any: its reading may be late or drop out (episode/episode.h).
  virtual std::optional<size_t> sensor() const { return std::nullopt; }
  // This term if its frames are drawn, else null.
  virtual const Picture* picture() const { return nullptr; }
};

template <typename T>
class ObservationOf : public Observation {
 public:
  DType dtype() const final { return kDTypeOf<T>; }
  void write_frame(EnvState& env, AgentState& agent, Scratch& scratch, std::byte* out) const final {
    write(env, agent, scratch, reinterpret_cast<T*>(out));
  }
  virtual void write(EnvState& env, AgentState& agent, Scratch& scratch, T* out) const = 0;
};

// One of the images of a sensor (ViewSensor::images).
struct ViewImageIndex {
  size_t sensor, image;
};

// An observation that is drawn from views, in one call for all envs of a phase.
//
// Workers only record a recipe: numbers (poses, keys of noise...) from which the frame can be drawn again bit
// for bit, with the env's Model alone. A snapshot holds the recipes of the frames and no pixels; restoring it
// draws them again.
class Picture : public Observation {
 public:
  using Frame = ViewFrame;

  virtual size_t recipe_size() const = 0;  // > 0, numbers of a Frame::recipe
  virtual void record(EnvState& env, AgentState& agent, double* recipe) const = 0;
  // Runs on the thread that called the batch. A frame must not depend on the others that are drawn with it.
  virtual void draw(std::span<const Frame> frames) const = 0;
  // The image of a sensor that draw() draws, if any: images of an agent are drawn in one call.
  virtual std::optional<ViewImageIndex> image() const { return std::nullopt; }
  // For images of distances: the value of pixels without a return, if not 0.
  virtual std::optional<float> in_place_of_zero() const { return std::nullopt; }

  const Picture* picture() const final { return this; }
  void write_frame(EnvState& env, AgentState& agent, Scratch&, std::byte* out) const final {
    std::vector<double> recipe(recipe_size());
    record(env, agent, recipe.data());
    const Frame frame{&env.simulation.model(), recipe.data(), out};
    draw({&frame, 1});
  }
};

struct ActionComponent {
  std::string name;
  double low = 0, high = 0;  // physical values of -1 and 1
};

class Action {
 public:
  virtual ~Action() = default;
  virtual std::vector<ActionComponent> components() const = 0;
  // Passes physical values to the vehicle's controller.
  virtual void apply(Simulation& simulation, const double* values) const = 0;
};

class Reward {
 public:
  virtual ~Reward() = default;
  // Returns the reward of the last control period, without its weight.
  virtual double value(const EnvState& env, const AgentState& agent) const = 0;
};

enum class Verdict { kSuccess, kFailure };

class Termination {
 public:
  virtual ~Termination() = default;
  virtual bool holds(const EnvState& env, const AgentState& agent) const = 0;
  virtual Verdict verdict() const = 0;
};

// A change of the world at the start of an episode, before the agents are placed.
class ResetTerm {
 public:
  virtual ~ResetTerm() = default;
  // `poll` (if any) is called before each try and may throw.
  virtual void apply(EnvState& env, RandomStream& random, const Poll& poll) const = 0;
};

// Makes a term of class T. The file of T instantiates or specialises it (task/make_term.h).
template <class T, class Term>
std::unique_ptr<const Term> term(TermReader& reader, TaskContext& context);

template <typename Term>
struct TermClass {
  std::string_view name;
  std::unique_ptr<const Term> (*make)(TermReader& reader, TaskContext& context);
};

// The inputs of an observation on a real robot (episode/pipeline_sources.h).
struct RobotNeeds {
  const char* inputs = nullptr;        // names of inputs, separated by blanks; null: not known
  std::string_view privileged{};       // reason why a robot cannot provide it; "": it can
  std::string_view instead{};          // possible replacement of a privileged one
  bool reads_bodies_of_world = false;  // bodies that differ between the worlds of an environment
};

template <>
struct TermClass<Observation> {
  std::string_view name;
  std::unique_ptr<const Observation> (*make)(TermReader& reader, TaskContext& context);
  RobotNeeds needs{};
};

std::span<const TermClass<Observation>> observation_classes();
// Further observations, none in the package. A build of the tests links its own classes instead of
// more_observations.cpp.
std::span<const TermClass<Observation>> more_observation_classes();
std::span<const TermClass<Action>> action_classes();
std::span<const TermClass<Reward>> reward_classes();
std::span<const TermClass<Termination>> termination_classes();
std::span<const TermClass<ResetTerm>> reset_classes();  // by tag, beside <spawn> and <goal>

// Makes the term of `reader` by its class (for reset terms: by its tag). Throws with the name of the nearest
// class if there is no such class.
template <typename Term>
std::unique_ptr<const Term> make_term(TermReader& reader, TaskContext& context,
                                      std::span<const TermClass<Term>> classes,
                                      std::span<const TermClass<Term>> more = {}) {
  const ParamSet& params = reader.term().params;
  const std::string& wanted = params.class_name.empty() ? params.tag : params.class_name;
  std::vector<std::string> known;
  for (const auto& some : {classes, more}) {
    for (const TermClass<Term>& c : some) {
      if (c.name == wanted) return c.make(reader, context);
      known.emplace_back(c.name);
    }
  }
  throw WorldFileError(params.where, describe(reader.term()) + ": found the unknown class '" + wanted +
                                         "', " + expected_one_of(wanted, known));
}

}  // namespace mvsim
