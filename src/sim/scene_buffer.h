// World outlines of the bodies that sensors see and that the Model's static tree does not hold. A cache: it
// can be dropped at any time and never shows in a value.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"
#include "sensor/sensor.h"
#include "sim/body_state.h"

namespace mvsim {

class SceneBuffer {
 public:
  void forget() { fixed_ready_ = false; }

  // Outlines at the present poses and sizes. `except_body` is left out (its sensor does not see it).
  std::span<const MovingShape> shapes(const Model& model, std::span<const double> params,
                                      std::span<const BodyState> bodies, int except_body);
  std::span<const PlacedGrid> grids(const Model& model);

 private:
  void add(std::span<const Vec2> outline, double scale, const BodyState& body, Vec2 center, double radius,
           int index);
  void add_vehicle(const VehicleModel& vehicle, const BodyState& body);
  void add_block(const BlockModel& block, double scale, const BodyState& body);

  bool fixed_ready_ = false;
  size_t fixed_shapes_ = 0, fixed_vertices_ = 0;  // placed static blocks, first in both arrays
  std::vector<MovingShape> shapes_;
  std::vector<size_t> first_vertex_;
  std::vector<Vec2> vertices_;
  std::vector<PlacedGrid> grids_;
};

}  // namespace mvsim
