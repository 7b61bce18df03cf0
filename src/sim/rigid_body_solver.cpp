#include "sim/rigid_body_solver.h"

#include <box2d/box2d.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/solver_bodies.h"
#include "sim/solver_pairs.h"
#include "sim/solver_passage.h"
#include "sim/solver_surroundings.h"

namespace mvsim {
namespace {

constexpr uintptr_t kStaticBlock = 2;   // user data of a static block that is no wall
constexpr uintptr_t kStaticPerson = 3;  // of a person; nothing pushes people
constexpr size_t kNotMoving = ~size_t{0};
constexpr double kSlowTravel = 0.02;  // m a step; less cannot carry a body through a cell

// A step that carried a body through something is taken again as two halves, and these likewise. 2 m, the
// most that Box2D moves a body in a step, become pieces of 8 mm.
constexpr int kMaxHalvings = 8;
constexpr int kVelocityIterationsInPart = 64;  // many, so that squeezed bodies yield in no part

}  // namespace

struct RigidBodySolver::Impl {
  Impl(const Model& m, Vec2 origin)
      : model(m),
        frame(m, origin),
        world(b2Vec2(0, 0)),
        filter(world),
        pairs(world),
        surroundings(m, origin, world) {
    use_own_box2d_functions();
    world.SetContactFilter(&filter);
    world.SetContactListener(&overlaps);
  }

  b2Body& create(b2BodyType type, const SolverPose& pose) {
    b2BodyDef def;
    def.type = type;
    def.position = pose.position;
    def.angle = pose.angle;
    return *world.CreateBody(&def);
  }

  void add_movable(size_t index, const MovingBody& moving, const BodyState& state) {
    b2Body& body = *moving.body;
    body.GetUserData().pointer = movable_of[index] = movable.size();
    movable.push_back(moving);
    forces.emplace_back();
    body.SetLinearVelocity({state.vx, state.vy});
    body.SetAngularVelocity(state.omega);
  }

  void add_vehicle(const SimState& state, size_t index) {
    const BodyModel& kind = model.bodies[index];
    const VehicleModel& vehicle = model.vehicles[kind.index];
    b2Body& body = create(b2_dynamicBody, frame.of(state, index));
    bodies[index] = &body;
    mvsim::add_vehicle(vehicle, state.params, state.wheels, &body, wheels);
    rank_fixtures(index, body);
    add_movable(
        index,
        {&body, static_cast<float>(vehicle.radius), thickness_of(model, kind, state.params), kTouchesVehicle},
        state.bodies[index]);
  }

  void add_block(const SimState& state, size_t index) {
    const std::vector<double>& params = state.params;
    const BodyModel& kind = model.bodies[index];
    const BlockModel& block = model.blocks[kind.index];
    const Contact contact = block.is_wall ? kTouchesWall : kTouchesBlock;
    const bool is_static = block.traits.is_static;
    b2Body& body = create(is_static ? b2_staticBody : b2_dynamicBody, frame.of(state, index));
    bodies[index] = &body;
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
    const double radius = block.shape.radius * params[block.params + kBlockScale];
    add_movable(index, {&body, static_cast<float>(radius), thickness_of(model, kind, params), contact},
                state.bodies[index]);
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

  bool touches_squares_only() {
    for (b2Contact* c = world.GetContactList(); c != nullptr; c = c->GetNext())
      if (!is_square(*c->GetFixtureA()) && !is_square(*c->GetFixtureB())) return false;
    return true;
  }

  // One call of Box2D. Dear where it is not needed: the cells, and the search for the time of impact.
  void step_once(double dt, bool are_slow, int velocity_iterations) {
    if (surroundings.has_cells()) surroundings.refresh_cells(movers(dt));
    pairs.find();
    const bool may_pass = !are_slow || !touches_squares_only();
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
        if (bodies[i]) collided[i] |= near_another(*bodies[i]);
  }

  Contact kind_of(b2Body& body) const {
    if (body.GetType() != b2_staticBody) return movable[body.GetUserData().pointer].kind;
    switch (body.GetUserData().pointer) {
      case kStaticPerson:
        return kTouchesPerson;
      case kStaticBlock:
        return kTouchesBlock;
      default:
        return kTouchesWall;
    }
  }

  // Returns the kinds of things (Contact) that touch the body or are within the collision threshold.
  uint8_t near_another(const b2Body& body) const {
    uint8_t found = 0, around = 0;
    for (const b2ContactEdge* edge = body.GetContactList(); edge != nullptr; edge = edge->next) {
      const Contact kind = kind_of(*edge->other);
      around |= kind;
      if (edge->contact->IsTouching()) found |= kind;
    }
    if (found == around) return found;  // no distance need be measured
    for (const b2ContactEdge* edge = body.GetContactList(); edge != nullptr; edge = edge->next) {
      const Contact kind = kind_of(*edge->other);
      if ((found & kind) == 0 && is_near(*edge->contact, model.collision_threshold)) found |= kind;
    }
    return found;
  }

  // Returns the bodies that move in the next step, with the longest possible way of each.
  std::span<const Mover> movers(double dt) {
    ways.clear();
    double fastest = 0;
    for (const size_t body : model.moving_bodies) {
      const size_t i = movable_of[body];
      if (i == kNotMoving) continue;
      const b2Body& b = *movable[i].body;
      const double pushed = forces[i] ? norm(forces[i]->force()) / b.GetMass() * dt * dt : 0;
      const double way = b.GetLinearVelocity().Length() * dt + pushed;
      ways.push_back({body, {b.GetPosition().x, b.GetPosition().y}, movable[i].radius, way});
      fastest = std::max(fastest, way);
    }
    for (Mover& mover : ways) {
      if (ways.size() > 1) mover.way = 2 * fastest;  // a hit body gets at most twice the speed
      mover.way = std::min(mover.way, double{b2_maxTranslation});
    }
    return ways;
  }

  const Model& model;
  SolverFrame frame;
  b2World world;
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
  SolverSurroundings surroundings;
  b2Body* step_anchor = nullptr;
  std::vector<StepSquare> step_squares;                         // those that have a fixture now
  std::vector<Mover> ways;                                      // scratch, ascending by body
  std::array<std::vector<BodyStart>, kMaxHalvings + 1> starts;  // scratch, by halvings
  std::array<std::vector<BodyMove>, kMaxHalvings + 1> earlier_moves;
};

RigidBodySolver::RigidBodySolver(const Model& model, const SimState& state)
    : impl_(std::make_unique<Impl>(model, state.solver_origin)) {
  b2BodyDef ground;
  impl_->ground = impl_->world.CreateBody(&ground);
  impl_->wheels.resize(model.wheel_count);
  impl_->bodies.resize(model.bodies.size());
  impl_->collided.resize(model.bodies.size());
  impl_->movable_of.resize(model.bodies.size(), kNotMoving);
  impl_->step_anchor = add_squares_body(impl_->world);
  for (size_t i = 0; i < model.bodies.size(); ++i) impl_->add_needed(state, i);
  for (const JointModel& joint : model.joints)
    add_joint(model, joint, state.solver_origin, impl_->bodies[joint.body_a], impl_->bodies[joint.body_b]);
}

RigidBodySolver::~RigidBodySolver() = default;

Vec2 RigidBodySolver::origin() const {
  return impl_->frame.origin();
}

bool RigidBodySolver::has(size_t vehicle) const {
  return impl_->bodies[impl_->model.vehicles[vehicle].body] != nullptr;
}

bool RigidBodySolver::refill(const SimState& state) {
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
  b2Body* b = impl_->bodies[body];
  if (!b) return;
  b->SetLinearVelocity({state.vx, state.vy});
  b->SetAngularVelocity(state.omega);
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
  impl_->follow_state(state);
  if (impl_->surroundings.is_any_absent())
    for (const size_t block : impl_->surroundings.missing(state.params, state.bodies, impl_->movers(dt)))
      impl_->add_block(state, block);
  std::fill(impl_->collided.begin(), impl_->collided.end(), uint8_t{0});
  impl_->moves.begin(impl_->movable.size());
  impl_->step(dt, 0);
  std::fill(impl_->forces.begin(), impl_->forces.end(), std::nullopt);
  for (const size_t i : impl_->model.moving_bodies) {
    const size_t place = impl_->movable_of[i];
    if (place == kNotMoving) continue;
    add_to_state(state, impl_->model.bodies[i], i, impl_->frame, impl_->movable[place],
                 impl_->moves.of(place));
  }
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
  return impl_->collided[body] | impl_->near_another(*impl_->bodies[body]);
}

}  // namespace mvsim
