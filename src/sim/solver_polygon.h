// Polygons as Box2D takes them.
#pragma once

#include <box2d/b2_fixture.h>
#include <box2d/b2_math.h>
#include <box2d/b2_polygon_shape.h>

#include <optional>

#include "base/geometry.h"
#include "model/model.h"
#include "model/solver_outline.h"

namespace mvsim {

inline b2Vec2 to_b2(Vec2 v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y)};
}

inline const b2PolygonShape& polygon_of(const b2Fixture& fixture) {
  return static_cast<const b2PolygonShape&>(*fixture.GetShape());
}

// A convex polygon of at most 8 vertices at `scale`; nothing where Box2D, which would abort, finds it too
// small.
std::optional<b2PolygonShape> solver_polygon(const Polygon& outline, double scale = 1);

// Area as single precision has it, m2. Box2D aborts at the mass of a fixture of 1.2e-7 m2.
float area(const b2PolygonShape& shape);

// Makes `box` a wheel seen from above, in the vehicle's frame; `yaw` in rad. The radius of its skin stays.
void set_wheel_box(const WheelModel& wheel, double yaw, b2PolygonShape& box);

}  // namespace mvsim
