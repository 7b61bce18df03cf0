// Bodies of Box2D: their frame, polygons, filters and fixtures.
#pragma once

#include <box2d/b2_fixture.h>
#include <box2d/b2_math.h>
#include <box2d/b2_polygon_shape.h>
#include <box2d/box2d.h>
#include <optional>
#include <span>

#include "base/geometry.h"
#include "model/model.h"
#include "model/shape.h"
#include "sim/body_state.h"
#include "sim/sim_state.h"
#include "sim/solver_surroundings.h"

namespace mvsim {

// Poses of bodies for Box2D: near (0, 0) and turned by no more than half a turn, so that single precision
// suffices.

struct SolverPose {
  b2Vec2 position;
  float angle = 0;
};

class SolverFrame {
 public:
  SolverFrame(const Model& model, Vec2 origin) : model_(&model), origin_(origin) {}

  Vec2 origin() const { return origin_; }
  // Joined bodies lose the same whole turns, so that the angle between them stays.
  SolverPose of(const SimState& state, size_t body) const;
  // Where a vehicle has a pose with Box2D's own roundings, and Box2D can go on from it.
  const RoundedPose* rounded(const SimState& state, size_t body) const;

 private:
  const Model* model_;
  Vec2 origin_;  // world frame
};

// Moves the origin near the first body that the solver moves, unless it is near already. Contacts far away
// from that body are rounded coarsely: to 1 mm at 10 km.
void keep_origin_near(const Model& m, SimState& s);

// Polygons as Box2D takes them.

inline b2Vec2 to_b2(Vec2 v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y)};
}

inline const b2PolygonShape& polygon_of(const b2Fixture& fixture) {
  return static_cast<const b2PolygonShape&>(*fixture.GetShape());
}

// A polygon of a fixture. Box2D asks for the bounds of each fixture twice a step; these have the same bits
// and take two vertices at a time.
class SolverShape final : public b2PolygonShape {
 public:
  b2Shape* Clone(b2BlockAllocator* allocator) const override;
  void ComputeAABB(b2AABB* bounds, const b2Transform& pose, int32 child) const override;
};

// A convex polygon of at most 8 vertices at `scale`; nothing where Box2D, which would abort, finds it too
// small.
std::optional<SolverShape> solver_polygon(const Polygon& outline, double scale = 1);

// Area as single precision has it, m2. Box2D aborts at the mass of a fixture of 1.2e-7 m2.
float area(const b2PolygonShape& shape);

// Makes `box` a wheel seen from above, in the vehicle's frame; `yaw` in rad. The radius of its skin stays.
void set_wheel_box(const WheelModel& wheel, double yaw, b2PolygonShape& box);

// The Model's bodies and joints as Box2D has them: fixtures, mass, damping, ground friction. Angles and
// anchors are the Model's: a world that is filled anew in mid-drive is the same.

struct WheelFixture {
  b2Fixture* fixture = nullptr;
  double yaw = 0;  // rad, as the box stands now
};

b2FixtureDef fixture_def(const SolverShape& shape, double friction, double restitution);

// Figures of a vehicle that stay as long as the parameters do. They take long to compute.
struct VehicleFigures {
  b2MassData mass;
  float thickness = 0;  // m, of the thickest piece of the chassis
};
// Throws Error for a chassis too thin for the solver, as the next three do for theirs.
VehicleFigures figures_of(const VehicleModel& vehicle, std::span<const double> params);
// Chassis and wheels, without mass; `states` and `fixtures` are of all wheels of the Model.
void add_vehicle_shapes(const VehicleModel& vehicle, std::span<const WheelState> states, b2Body* body,
                        std::span<WheelFixture> fixtures);
// Adds a block. `ground` is a static body against which its ground friction acts.
void add_block(const BlockModel& block, std::span<const double> params, double gravity, b2Body* body,
               b2Body* ground);

// Returns whether a static block has points far from its own reference point. add_far_block() computes its
// points in double precision: its body is at the solver's origin and not turned, so points near this origin
// stay precise.
bool is_far(const BlockModel& block);
void add_far_block(const BlockModel& block, const BodyState& state, Vec2 origin,
                   std::span<const double> params, b2Body* body);

// A revolute joint of the Model; its bodies are still to be set.
b2RevoluteJointDef revolute_joint(const Model& model, const JointModel& joint, Vec2 origin);
// Joined bodies do not collide with each other.
void add_joint(const Model& model, const JointModel& joint, Vec2 origin, b2Body* a, b2Body* b);

// m, of the thickest piece: a body is as thin as its slimmest part only in that part.
float thickness_of(const BlockModel& block, std::span<const double> params);

// Which contacts Box2D makes, and when it searches for the time of impact.

// The search costs ten times the rest of a step while a body leans on cells of a grid, and it would free a
// body from the squares that stand for steep ground. For all other contacts MVSim's results need it, so it is
// on from the first contact of another kind.
class SolverFilter final : public b2ContactFilter {
 public:
  explicit SolverFilter(b2World& w) : world(w) {}
  bool ShouldCollide(b2Fixture* a, b2Fixture* b) override {
    if (!b2ContactFilter::ShouldCollide(a, b)) return false;
    if (!is_square(*a) && !is_square(*b)) world.SetContinuousPhysics(true);
    ++accepted;
    return true;
  }
  b2World& world;
  int accepted = 0;  // pairs, of which a contact was made
};

// Masses and inertias of bodies with the roundings of Box2D, which sums up a body's mass fixture by fixture.

// Mass properties about the body origin.
struct MassProperties {
  double mass = 0;  // kg
  Vec2 center;
  double inertia = 0;  // kg m2 about the body origin
};

MassProperties vehicle_mass(const VehicleModel& vehicle,
                            std::span<const double> params);  // chassis and wheels
MassProperties block_mass(const BlockModel& block, std::span<const double> params);

BodyInertia vehicle_inertia(const VehicleModel& vehicle, std::span<const double> params);
BodyInertia block_inertia(const BlockModel& block, std::span<const double> params);

}  // namespace mvsim
