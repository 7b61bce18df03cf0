#include "sim/rigid_body_solver.h"

#include <box2d/box2d.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/rig_motion.h"
#include "sim/sim_state.h"
#include "sim/solver_bodies.h"
#include "sim/solver_pairs.h"
#include "sim/solver_passage.h"
#include "sim/solver_surroundings.h"

namespace mvsim {
namespace {

constexpr size_t kNotMoving = ~size_t{0};
constexpr double kSlowTravel = 0.02;  // m a step; less cannot carry a body through a cell

// A step that carried a body through something is taken again as two halves, and these likewise. 2 m, the
// most that Box2D moves a body in a step, become pieces of 8 mm.
constexpr int kMaxHalvings = 8;
constexpr int kVelocityIterationsInPart = 64;  // many, so that squeezed bodies yield in no part

void give_velocity(b2Body& body, const BodyState& state) {
  body.SetLinearVelocity({state.vx, state.vy});
  body.SetAngularVelocity(state.omega);
}

}  // namespace

struct RigidBodySolver::Impl {
  Impl(const Model& m, const SimState& state, SolverWorld place)
      : owned(std::move(place)),
        world(owned.get()),
        model(m),
        frame(m, state.solver_origin),
        filter(world),
        pairs(world),
        figures(m.vehicles.size()),
        surroundings(m, state.solver_origin, world),
        rig(RigMotion::of(m, state)),
        has_shapes(!rig) {
    use_own_box2d_functions();
    world.SetContactFilter(&filter);
    world.SetContactListener(&overlaps);
  }

  b2Body& create(size_t index, b2BodyType type, const SolverPose& pose) {
    b2BodyDef def;
    def.type = type;
    def.position = pose.position;
    def.angle = pose.angle;
    return *(bodies[index] = world.CreateBody(&def));
  }

  void add_movable(size_t index, const MovingBody& moving, const BodyState& state) {
    moving.body->GetUserData().pointer = movable_of[index] = movable.size();
    movable.push_back(moving);
    forces.emplace_back();
    give_velocity(*moving.body, state);
  }

  void add_vehicle(const SimState& state, size_t index) {
    const BodyModel& kind = model.bodies[index];
    const VehicleModel& vehicle = model.vehicles[kind.index];
    std::optional<VehicleFigures>& known = figures[kind.index];
    if (!known) known = figures_of(vehicle, state.params);
    b2Body& body = create(index, b2_dynamicBody, frame.of(state, index));
    if (has_shapes) add_shapes(state, index);
    body.SetMassData(&known->mass);
    body.SetLinearDamping(state.inertias[index].linear_damping);
    body.SetAngularDamping(state.inertias[index].angular_damping);
    add_movable(index, {&body, static_cast<float>(vehicle.radius), known->thickness, kTouchesVehicle},
                state.bodies[index]);
  }

  void add_shapes(const SimState& state, size_t index) {
    add_vehicle_shapes(model.vehicles[model.bodies[index].index], state.wheels, bodies[index], wheels);
    rank_fixtures(index, *bodies[index]);
  }

  void add_block(const SimState& state, size_t index) {
    const std::vector<double>& params = state.params;
    const BodyModel& kind = model.bodies[index];
    const BlockModel& block = model.blocks[kind.index];
    const Contact contact = block.is_wall ? kTouchesWall : kTouchesBlock;
    const bool is_static = block.traits.is_static;
    b2Body& body = create(index, is_static ? b2_staticBody : b2_dynamicBody, frame.of(state, index));
    if (is_static)
      body.GetUserData().pointer = block.is_person            ? kStaticPerson
                                   : contact == kTouchesBlock ? kStaticBlock
                                                              : 0;
    if (is_far(block)) {
      body.SetTransform({0, 0}, 0);
      add_far_block(block, state.bodies[index], frame.origin(), params, &body);
    } else {
      mvsim::add_block(block, params, model.gravity, &body, ground);
    }
    rank_fixtures(index, body);
    if (is_static) return;
    const auto radius = static_cast<float>(block.shape.radius * params[block.params + kBlockScale]);
    add_movable(index, {&body, radius, thickness_of(block, params), contact}, state.bodies[index]);
  }

  // Adds a body that Box2D must hold from the start.
  void add_needed(const SimState& state, size_t index) {
    const BodyModel& kind = model.bodies[index];
    if (kind.kind == BodyKind::kVehicle) {
      if (state.vehicles[kind.index].by_solver) add_vehicle(state, index);
    } else if (!can_be_left_out(model, kind.index)) {
      add_block(state, index);
    }
  }

  // Removes the bodies whose poses may have changed since the last step.
  void clear_movable() {
    for (const size_t i : model.moving_bodies) {
      if (!bodies[i]) continue;
      world.DestroyBody(bodies[i]);
      bodies[i] = nullptr;
      movable_of[i] = kNotMoving;
    }
    movable.clear();
    forces.clear();
  }

  void remove(size_t index) {
    world.DestroyBody(bodies[index]);
    bodies[index] = nullptr;
    const size_t place = movable_of[index];
    movable.erase(movable.begin() + static_cast<std::ptrdiff_t>(place));
    forces.erase(forces.begin() + static_cast<std::ptrdiff_t>(place));
    movable_of[index] = kNotMoving;
    for (size_t& other : movable_of)
      if (other != kNotMoving && other > place) --other;
    for (size_t i = place; i < movable.size(); ++i) movable[i].body->GetUserData().pointer = i;
  }

  // One call of Box2D. Dear where it is not needed: the cells, and the search for the time of impact.
  void step_once(double dt, bool are_slow, int velocity_iterations) {
    if (surroundings.has_cells()) surroundings.refresh_cells(movers(dt));
    pairs.find();
    const bool may_pass = !are_slow || !touches_squares_only(world);
    const bool is_alone = may_pass && world.GetJointCount() == 0 && nothing_meets(world, movable, forces, dt);
    world.SetContinuousPhysics(may_pass && !is_alone);
    for (size_t i = 0; i < movable.size(); ++i) {
      b2Body* b = movable[i].body;
      if (forces[i]) {
        b->ApplyForceToCenter(to_b2(forces[i]->force()), true);
        b->ApplyTorque(forces[i]->torque, true);
      }
      // Box2D would put a slow body to sleep and lose its velocity; setting the velocity keeps it awake
      b->SetLinearVelocity(b->GetLinearVelocity());
      b->SetAngularVelocity(b->GetAngularVelocity());
    }
    filter.accepted = 0;
    moves.before_step(movable);
    overlaps.rounds.begin_step(world.GetContinuousPhysics() ? movable.size() : 0);
    world.Step(static_cast<float>(dt), velocity_iterations, model.position_iterations);
    moves.after_step(movable, dt);
    pairs.arrange_latest(filter.accepted);
  }

  void follow_state(const SimState& state) {
    for (const size_t i : model.moving_bodies)
      if (movable_of[i] != kNotMoving) follow(*bodies[i], frame.of(state, i));
  }

  // As step_once(), in parts where a body would jump.
  void step(double dt, int halvings) {
    std::vector<BodyStart>& before = starts[static_cast<size_t>(halvings)];
    before.clear();
    for (const MovingBody& moving : movable) before.push_back(start_of(*moving.body));
    const bool whole = halvings == 0;
    std::vector<BodyMove>& earlier = earlier_moves[static_cast<size_t>(halvings)];
    if (!whole) earlier = moves.all();
    if (whole) overlaps.is_slow.clear();
    bool are_slow = true;
    for (const MovingBody& moving : movable) {
      const bool slow = travel_of(moving, dt) <= kSlowTravel;
      are_slow = are_slow && slow;
      if (whole) overlaps.is_slow.push_back(slow ? 1 : 0);
    }
    step_once(
        dt, are_slow,
        whole ? model.velocity_iterations : std::max(model.velocity_iterations, kVelocityIterationsInPart));
    if (halvings < kMaxHalvings &&
        has_passage(world, movable, before, static_cast<float>(dt), whole ? kInStep : kInPart)) {
      for (size_t i = 0; i < movable.size(); ++i) put_back(*movable[i].body, before[i]);
      if (whole)
        moves.begin(movable.size());
      else
        moves.put_back(earlier);
      if (whole)
        for (const MovingBody& moving : movable) limit_speed(*moving.body, static_cast<float>(dt));
      step(dt / 2, halvings + 1);
      step(dt / 2, halvings + 1);
      return;
    }
    if (!whole)
      for (size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i]) collided[i] |= kinds_near(*bodies[i], movable, model.collision_threshold);
  }

  // Returns the bodies that move in the next step, with the longest possible way of each.
  std::span<const Mover> movers(double dt) {
    find_movers(model.moving_bodies, movable_of, movable, forces, dt, ways);
    return ways;
  }

  void add_joints() {
    for (const JointModel& joint : model.joints)
      add_joint(model, joint, frame.origin(), bodies[joint.body_a], bodies[joint.body_b]);
  }

  // Brings joined vehicles to the state of a newly made solver, in which they have no shapes.
  void refill_rig(const SimState& state) {
    if (has_shapes) {
      has_shapes = false;
      clear_movable();
      for (const size_t i : model.moving_bodies) add_vehicle(state, i);
    }
    rig->begin(state, frame);
  }

  // Moves joined vehicles without Box2D. Returns false where they could touch anything in the next steps:
  // then they have shapes and are Box2D's.
  bool step_rig(double dt, SimState& state) {
    if (step_squares.empty() && rig->step(dt, frame, forces, movable, state)) return true;
    has_shapes = true;
    rig->hand_over(world, movable);
    for (const size_t i : model.moving_bodies) add_shapes(state, i);
    return false;
  }

  void step_by_box2d(double dt, SimState& state) {
    follow_state(state);
    if (surroundings.is_any_absent())
      for (const size_t block : surroundings.missing(state.params, state.bodies, movers(dt)))
        add_block(state, block);
    moves.begin(movable.size());
    step(dt, 0);
    for (const size_t i : model.moving_bodies)
      if (const size_t place = movable_of[i]; place != kNotMoving)
        add_to_state(state, model.bodies[i], i, frame, movable[place], moves.of(place));
  }

  SolverWorld owned;
  b2World& world;
  const Model& model;
  SolverFrame frame;
  SolverFilter filter;
  OverlapListener overlaps;
  SolverPairs pairs;
  b2Body* ground = nullptr;
  std::vector<b2Body*> bodies;  // null for a vehicle that moves freely
  // By body: kinds of things that it came near to in a part of the latest step.
  std::vector<uint8_t> collided;
  std::vector<MovingBody> movable;               // those that are not static
  std::vector<size_t> movable_of;                // by body, or kNotMoving
  std::vector<std::optional<BodyForce>> forces;  // by movable body, in the next step
  SolverMoves moves;                             // by movable body, in this step
  std::vector<WheelFixture> wheels;              // of all vehicles
  std::vector<std::optional<VehicleFigures>> figures;
  SolverSurroundings surroundings;
  std::optional<RigMotion> rig;  // moves vehicles that have no shapes
  bool has_shapes;               // of the vehicles
  b2Body* step_anchor = nullptr;
  std::vector<StepSquare> step_squares;                         // those that have a fixture now
  std::vector<Mover> ways;                                      // scratch, ascending by body
  std::array<std::vector<BodyStart>, kMaxHalvings + 1> starts;  // scratch, by halvings
  std::array<std::vector<BodyMove>, kMaxHalvings + 1> earlier_moves;
};

RigidBodySolver::RigidBodySolver(const Model& model, const SimState& state, SolverWorld world)
    : impl_(std::make_unique<Impl>(model, state, std::move(world))) {
  b2BodyDef ground;
  impl_->ground = impl_->world.CreateBody(&ground);
  impl_->wheels.resize(model.wheel_count);
  impl_->bodies.resize(model.bodies.size());
  impl_->collided.resize(model.bodies.size());
  impl_->movable_of.resize(model.bodies.size(), kNotMoving);
  impl_->step_anchor = add_squares_body(impl_->world);
  for (size_t i = 0; i < model.bodies.size(); ++i) impl_->add_needed(state, i);
  if (impl_->has_shapes)
    impl_->add_joints();
  else
    impl_->rig->begin(state, impl_->frame);
}

RigidBodySolver::~RigidBodySolver() = default;

SolverWorld RigidBodySolver::give_up() {
  impl_->owned.clear();
  return std::move(impl_->owned);
}

Vec2 RigidBodySolver::origin() const {
  return impl_->frame.origin();
}

bool RigidBodySolver::has(size_t vehicle) const {
  return impl_->bodies[impl_->model.vehicles[vehicle].body] != nullptr;
}

bool RigidBodySolver::refill(const SimState& state) {
  if (impl_->rig) return impl_->refill_rig(state), true;
  if (!impl_->model.joints.empty()) return false;
  impl_->clear_movable();
  for (const size_t i : impl_->model.moving_bodies) impl_->add_needed(state, i);
  return true;
}

void RigidBodySolver::add(const SimState& state, size_t vehicle) {
  impl_->add_vehicle(state, impl_->model.vehicles[vehicle].body);
}

void RigidBodySolver::remove(size_t vehicle) {
  impl_->remove(impl_->model.vehicles[vehicle].body);
}

void RigidBodySolver::set_velocity(size_t body, const BodyState& state) {
  if (b2Body* const b = impl_->bodies[body]) give_velocity(*b, state);
}

void RigidBodySolver::set_pose(const Model& model, const SimState& state, size_t body) {
  b2Body* b = impl_->bodies[body];
  if (!b) return;
  const BodyModel& kind = model.bodies[body];
  if (kind.kind == BodyKind::kBlock && is_far(model.blocks[kind.index])) {
    while (b->GetFixtureList()) b->DestroyFixture(b->GetFixtureList());
    add_far_block(model.blocks[kind.index], state.bodies[body], origin(), state.params, b);
    return rank_fixtures(body, *b);
  }
  const SolverPose pose = impl_->frame.of(state, body);
  b->SetTransform(pose.position, pose.angle);
  if (b->GetType() != b2_staticBody) set_velocity(body, state.bodies[body]);
}

void RigidBodySolver::apply(size_t body, const BodyForce& force) {
  impl_->forces[impl_->movable_of[body]] = force;
}

void RigidBodySolver::turn_wheels(const VehicleModel& vehicle, std::span<const WheelState> wheels) {
  if (!impl_->has_shapes) return;  // its wheels get their angles with their shapes
  for (size_t i = 0; i < vehicle.wheels.size(); ++i) {
    WheelFixture& wheel = impl_->wheels[vehicle.first_wheel + i];
    if (wheel.yaw == wheels[i].steer) continue;
    wheel.yaw = wheels[i].steer;
    set_wheel_box(vehicle.wheels[i], wheel.yaw, *static_cast<b2PolygonShape*>(wheel.fixture->GetShape()));
  }
}

void RigidBodySolver::set_step_squares(std::span<const StepSquare> squares) {
  if (std::equal(squares.begin(), squares.end(), impl_->step_squares.begin(), impl_->step_squares.end()))
    return;
  while (b2Fixture* old = impl_->step_anchor->GetFixtureList()) impl_->step_anchor->DestroyFixture(old);
  for (const StepSquare& s : squares) {
    SolverShape shape;
    const auto half = static_cast<float>(s.half_side);
    shape.SetAsBox(half, half, to_b2(s.center - origin()), 0);
    shape.m_radius = kCellSkin;
    b2FixtureDef def = fixture_def(shape, 0.5, 0.1);
    def.userData.pointer = rank_of_square(0, static_cast<uint32_t>(&s - squares.data()), 0);
    impl_->step_anchor->CreateFixture(&def);
  }
  impl_->step_squares.assign(squares.begin(), squares.end());
}

void RigidBodySolver::step(double dt, SimState& state) {
  std::fill(impl_->collided.begin(), impl_->collided.end(), uint8_t{0});
  if (impl_->has_shapes || !impl_->step_rig(dt, state)) impl_->step_by_box2d(dt, state);
  std::fill(impl_->forces.begin(), impl_->forces.end(), std::nullopt);
}

bool RigidBodySolver::has_overlap() const {
  for (const b2Contact* c = impl_->world.GetContactList(); c != nullptr; c = c->GetNext())
    if (c->IsTouching() && is_deep(*c)) return true;
  return false;
}

bool RigidBodySolver::has_neighbours(size_t body) const {
  return impl_->bodies[body]->GetContactList() != nullptr;
}

const Rotation2* RigidBodySolver::known_rotation(size_t body, double yaw) const {
  return impl_->movable[impl_->movable_of[body]].yaw.known(yaw);
}

uint8_t RigidBodySolver::contacts(size_t body) const {
  return impl_->collided[body] |
         kinds_near(*impl_->bodies[body], impl_->movable, impl_->model.collision_threshold);
}

}  // namespace mvsim
