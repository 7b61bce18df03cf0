#include "sim/rigid_body_solver.h"

#include <box2d/b2_distance.h>
#include <box2d/box2d.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "sim/body_mass.h"
#include "sim/solver_joints.h"
#include "sim/solver_polygon.h"

namespace mvsim {
namespace {

constexpr float kBodySkin = 0.0025f;       // m, of chassis and blocks
constexpr float kCellSkin = 0.001f;        // m, of grid cells
constexpr double kCellHalfSide = 0.4;      // of a cell's side: what MVSim puts in the way of a body
constexpr double kBroadPhaseMargin = 0.1;  // m, by which Box2D fattens boxes
constexpr double kSlowTravel = 0.02;       // m a step; less cannot carry a body through a thing

// A piece of an outline at `scale`, or throws when it is too small for the solver.
b2PolygonShape polygon(const Polygon& piece, double scale, const std::string& name) {
  std::optional<b2PolygonShape> shape = solver_polygon(piece, scale);
  if (!shape)
    throw Error("body '" + name + "' is thinner than " + std::to_string(kLeastThickness) +
                " m: too small for the solver");
  shape->m_radius = kBodySkin;
  return *shape;
}

b2FixtureDef fixture(const b2Shape& shape, double friction, double restitution) {
  b2FixtureDef def;
  def.shape = &shape;
  def.friction = static_cast<float>(friction);
  def.restitution = static_cast<float>(restitution);
  return def;
}

}  // namespace

struct RigidBodySolver::Impl {
  // Squares of the occupied cells of one grid that some moving body may reach in this step.
  struct CellContacts {
    const GridModel* grid;
    b2Body* anchor;
    std::vector<CellIndex> cells;  // those that have a fixture now, row by row
  };

  struct WheelFixture {
    b2Fixture* fixture = nullptr;
    double yaw = 0;  // rad, as the box stands now
  };

  explicit Impl(const Model& m) : model(m), world(b2Vec2(0, 0)) {}

  void add_vehicle(const VehicleModel& v, std::span<const double> params, std::span<const WheelState> states,
                   b2Body* body) {
    for (const Polygon& piece : v.chassis.pieces) {
      const b2PolygonShape shape = polygon(piece, 1, v.name);
      const b2FixtureDef def = fixture(shape, 0, 0.01);
      body->CreateFixture(&def);
    }
    for (size_t i = 0; i < v.wheels.size(); ++i) {
      const double yaw = states[v.first_wheel + i].steer;
      b2PolygonShape box;
      set_wheel_box(v.wheels[i], yaw, box);
      box.m_radius = kBodySkin;
      const b2FixtureDef def = fixture(box, 0.5, 0.05);
      wheels[v.first_wheel + i] = {body->CreateFixture(&def), yaw};
    }
    set_mass(body, vehicle_mass(v, params));
    body->SetLinearDamping(static_cast<float>(params[v.body_params + kChassisLinearDamping]));
    body->SetAngularDamping(static_cast<float>(params[v.body_params + kChassisAngularDamping]));
  }

  void add_block(const BlockModel& b, std::span<const double> params, b2Body* body) {
    const double* p = params.data() + b.params;
    for (const Polygon& piece : b.shape.pieces) {
      const b2PolygonShape shape = polygon(piece, p[kBlockScale], b.name);
      const b2FixtureDef def = fixture(shape, p[kBlockFriction], p[kBlockRestitution]);
      body->CreateFixture(&def);
    }
    if (body->GetType() != b2_dynamicBody) return;
    body->SetLinearDamping(static_cast<float>(p[kBlockLinearDamping]));
    body->SetAngularDamping(static_cast<float>(p[kBlockAngularDamping]));
    if (p[kBlockMass] <= 0) return;  // no inverse mass: nothing moves it
    set_mass(body, block_mass(b, params));
    add_ground_friction(b, p, body);
  }

  // Two friction constraints against the floor resist sliding and turning (world-elements 2.6.3).
  void add_ground_friction(const BlockModel& b, const double* p, b2Body* body) {
    for (const double side : {1.0, -1.0}) {
      b2FrictionJointDef def;
      def.bodyA = ground;
      def.bodyB = body;
      def.localAnchorB = to_b2({side * b.shape.radius * p[kBlockScale], 0});
      def.localAnchorA = body->GetWorldPoint(def.localAnchorB);
      def.maxForce = static_cast<float>(p[kBlockGroundFriction] * p[kBlockMass] * model.gravity / 2);
      def.maxTorque = 0;
      world.CreateJoint(&def);
    }
  }

  // Longest way that a point of a body goes in a step, m.
  double most_travel(double dt) const {
    double most = 0;
    for (size_t i = 0; i < bodies.size(); ++i) {
      const double speed = bodies[i]->GetLinearVelocity().Length();
      const double turning = radius[i] * std::abs(bodies[i]->GetAngularVelocity());
      most = std::max(most, dt * (speed + turning));
    }
    return most;
  }

  static void set_mass(b2Body* body, const MassProperties& m) {
    b2MassData data;
    data.mass = static_cast<float>(m.mass);
    data.center = to_b2(m.center);
    data.I = static_cast<float>(m.inertia);
    body->SetMassData(&data);
  }

  static bool row_by_row(CellIndex a, CellIndex b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

  void refresh_cells(CellContacts& contacts, double dt) {
    const GridModel& grid = *contacts.grid;
    found.clear();
    for (size_t i = 0; i < bodies.size(); ++i) {
      const b2Body* body = bodies[i];
      if (body->GetType() == b2_staticBody) continue;
      const double travel = body->GetLinearVelocity().Length() * dt;
      const double reach = radius[i] + travel + kBroadPhaseMargin + model.collision_threshold;
      const Vec2 offset =
          Vec2{body->GetPosition().x, body->GetPosition().y} - Vec2{grid.T_world_grid.x, grid.T_world_grid.y};
      const Vec2 local = Rotation2(grid.T_world_grid.yaw).unrotate(offset);
      if (grid.field.distance_to_occupied(local.x, local.y, reach) >= reach) continue;
      grid.field.occupied_cells(local.x, local.y, reach, near);
      found.insert(found.end(), near.begin(), near.end());
    }
    std::sort(found.begin(), found.end(), row_by_row);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found != contacts.cells) update_fixtures(contacts);
  }

  // Keeps the fixtures of cells that stay (their contacts live on), drops those that left, adds the new ones.
  void update_fixtures(CellContacts& contacts) {
    for (b2Fixture* f = contacts.anchor->GetFixtureList(); f != nullptr;) {
      b2Fixture* next = f->GetNext();
      if (!std::binary_search(found.begin(), found.end(), cell_of(f), row_by_row))
        contacts.anchor->DestroyFixture(f);
      f = next;
    }
    for (const CellIndex cell : found)
      if (!std::binary_search(contacts.cells.begin(), contacts.cells.end(), cell, row_by_row))
        add_cell(contacts.anchor, *contacts.grid, cell);
    contacts.cells = found;
  }

  static CellIndex cell_of(b2Fixture* f) {
    const uint64_t id = f->GetUserData().pointer;
    return {static_cast<int32_t>(id & 0xffffffff), static_cast<int32_t>(id >> 32)};
  }

  static void add_cell(b2Body* anchor, const GridModel& grid, CellIndex cell) {
    const double side = grid.field.resolution();
    const Vec2 center = transform(grid.T_world_grid, {(cell.x + 0.5) * side, (cell.y + 0.5) * side});
    const auto half = static_cast<float>(kCellHalfSide * side);
    b2PolygonShape square;
    square.SetAsBox(half, half, to_b2(center), static_cast<float>(grid.T_world_grid.yaw));
    square.m_radius = kCellSkin;
    b2FixtureDef def = fixture(square, grid.friction, grid.restitution);
    def.userData.pointer =
        static_cast<uint64_t>(static_cast<uint32_t>(cell.y)) << 32 | static_cast<uint32_t>(cell.x);
    anchor->CreateFixture(&def);
  }

  const Model& model;
  b2World world;
  b2Body* ground = nullptr;
  std::vector<b2Body*> bodies;
  std::vector<double> radius;        // by body, at present size
  std::vector<WheelFixture> wheels;  // of all vehicles
  std::vector<CellContacts> cells;
  b2Body* step_anchor = nullptr;
  std::vector<StepSquare> step_squares;  // those that have a fixture now
  std::vector<CellIndex> found, near;    // scratch
};

RigidBodySolver::RigidBodySolver(const Model& model, std::span<const double> params,
                                 std::span<const BodyState> states, std::span<const WheelState> wheels)
    : impl_(std::make_unique<Impl>(model)) {
  b2BodyDef ground;
  impl_->ground = impl_->world.CreateBody(&ground);
  impl_->radius.resize(model.bodies.size());
  impl_->wheels.resize(model.wheel_count);
  for (size_t i = 0; i < model.bodies.size(); ++i) {
    const BodyModel& kind = model.bodies[i];
    const bool is_static = kind.kind == BodyKind::kBlock && model.blocks[kind.index].is_static;
    b2BodyDef def;
    def.type = is_static ? b2_staticBody : b2_dynamicBody;
    def.position.Set(states[i].x, states[i].y);
    def.angle = states[i].angle;
    b2Body* body = impl_->world.CreateBody(&def);
    impl_->bodies.push_back(body);
    if (kind.kind == BodyKind::kVehicle) {
      impl_->radius[i] = model.vehicles[kind.index].radius;
      impl_->add_vehicle(model.vehicles[kind.index], params, wheels, body);
    } else {
      const BlockModel& block = model.blocks[kind.index];
      impl_->radius[i] = block.shape.radius * params[block.params + kBlockScale];
      impl_->add_block(block, params, body);
    }
    if (!is_static) set_velocity(i, states[i]);
  }
  for (const JointModel& joint : model.joints)
    add_joint(impl_->world, joint, impl_->bodies[joint.body_a], impl_->bodies[joint.body_b]);
  impl_->step_anchor = impl_->world.CreateBody(&ground);
  for (const GridModel& grid : model.grids) {
    b2BodyDef anchor;
    impl_->cells.push_back({&grid, impl_->world.CreateBody(&anchor), {}});
  }
}

RigidBodySolver::~RigidBodySolver() = default;

void RigidBodySolver::set_velocity(size_t body, const BodyState& state) {
  b2Body* b = impl_->bodies[body];
  b->SetLinearVelocity({state.vx, state.vy});
  b->SetAngularVelocity(state.omega);
}

void RigidBodySolver::apply(size_t body, const BodyForce& force) {
  b2Body* b = impl_->bodies[body];
  b->ApplyForceToCenter(to_b2(force.force), true);
  b->ApplyTorque(static_cast<float>(force.torque), true);
}

void RigidBodySolver::turn_wheels(const VehicleModel& vehicle, std::span<const WheelState> wheels) {
  for (size_t i = 0; i < vehicle.wheels.size(); ++i) {
    Impl::WheelFixture& wheel = impl_->wheels[vehicle.first_wheel + i];
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
    b2PolygonShape shape;
    const auto half = static_cast<float>(s.half_side);
    shape.SetAsBox(half, half, to_b2(s.center), 0);
    shape.m_radius = kCellSkin;
    const b2FixtureDef def = fixture(shape, 0.5, 0.1);
    impl_->step_anchor->CreateFixture(&def);
  }
  impl_->step_squares.assign(squares.begin(), squares.end());
}

void RigidBodySolver::step(double dt, std::span<BodyState> states) {
  for (Impl::CellContacts& contacts : impl_->cells) impl_->refresh_cells(contacts, dt);
  // Box2D's search for the time of impact costs ten times the rest where a body leans on the cells of a grid;
  // it is there for bodies that would jump through a thing within one step
  impl_->world.SetContinuousPhysics(impl_->most_travel(dt) > kSlowTravel);
  // Box2D would put a slow body to sleep, its velocity lost; writing a velocity keeps what moves awake
  for (b2Body* b : impl_->bodies) {
    b->SetLinearVelocity(b->GetLinearVelocity());
    b->SetAngularVelocity(b->GetAngularVelocity());
  }
  impl_->world.Step(static_cast<float>(dt), impl_->model.velocity_iterations,
                    impl_->model.position_iterations);
  for (size_t i = 0; i < impl_->bodies.size(); ++i) {
    const b2Body* b = impl_->bodies[i];
    if (b->GetType() == b2_staticBody) continue;
    const b2Vec2 &p = b->GetPosition(), &c = b->GetWorldCenter(), &v = b->GetLinearVelocity();
    states[i] = {p.x, p.y, b->GetAngle(), c.x, c.y, v.x, v.y, b->GetAngularVelocity()};
  }
}

bool RigidBodySolver::has_neighbours(size_t body) const {
  return impl_->bodies[body]->GetContactList() != nullptr;
}

bool RigidBodySolver::in_collision(size_t body) const {
  for (const b2ContactEdge* edge = impl_->bodies[body]->GetContactList(); edge != nullptr;
       edge = edge->next) {
    const b2Contact* contact = edge->contact;
    if (contact->IsTouching()) return true;
    const b2Fixture *a = contact->GetFixtureA(), *b = contact->GetFixtureB();
    b2DistanceInput input;
    input.proxyA.Set(a->GetShape(), contact->GetChildIndexA());
    input.proxyB.Set(b->GetShape(), contact->GetChildIndexB());
    input.transformA = a->GetBody()->GetTransform();
    input.transformB = b->GetBody()->GetTransform();
    input.useRadii = true;
    b2SimplexCache cache;
    cache.count = 0;
    b2DistanceOutput output;
    b2Distance(&output, &cache, &input);
    if (output.distance < static_cast<float>(impl_->model.collision_threshold)) return true;
  }
  return false;
}

}  // namespace mvsim
