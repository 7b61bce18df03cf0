// Cache of the outlines, in the world frame, of bodies that sensors see and that the Model's static tree does
// not contain. It can be dropped at any time without a change of any result.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"
#include "sensor/ray_sensor.h"
#include "sim/body_state.h"

namespace mvsim {

class SceneBuffer {
 public:
  // Call after all blocks were reset.
  void forget() { placed_ready_ = false; }
  // Call after a block was placed, moved by an animation or a policy, or resized.
  void refresh(size_t block) {
    if (!placed_ready_ || shape_of_[block] == kNone) return;
    is_stale_[shape_of_[block]] = 1;
    any_stale_ = true;
  }

  // Outlines of all blocks that the Model's tree does not hold, at present poses and sizes.
  std::span<const MovingShape> blocks(const Model& model, std::span<const double> params,
                                      std::span<const BodyState> bodies);
  // The same and the vehicles (chassis, and wheels at their present steering), without the vehicle of
  // `except_body` (-1: none).
  std::span<const MovingShape> shapes(const Model& model, std::span<const double> params,
                                      std::span<const BodyState> bodies, std::span<const WheelState> wheels,
                                      int except_body);
  // The same with all vehicles, made once a moment: call begin_moment() when anything may have moved.
  std::span<const MovingShape> all_shapes(const Model& model, std::span<const double> params,
                                          std::span<const BodyState> bodies,
                                          std::span<const WheelState> wheels);
  void begin_moment() { all_ready_ = false; }
  std::span<const PlacedGrid> grids(const Model& model);

 private:
  static constexpr size_t kNone = ~size_t{0};

  void add(std::span<const Vec2> outline, double scale, const Pose2& body, Vec2 center, double radius,
           int index);
  void set(size_t shape, std::span<const Vec2> outline, double scale, const Pose2& body, Vec2 center,
           double radius);
  void add_vehicle(const VehicleModel& vehicle, const Pose2& body, std::span<const WheelState> wheels);
  void update_blocks(const Model& model, std::span<const double> params, std::span<const BodyState> bodies);
  void update_placed(const Model& model, std::span<const double> params, std::span<const BodyState> bodies);
  std::span<const MovingShape> linked();

  bool placed_ready_ = false;
  bool all_ready_ = false;                          // shapes_ are those of all_shapes()
  size_t placed_shapes_ = 0, placed_vertices_ = 0;  // static blocks, first in both arrays
  std::vector<size_t> shape_of_;                    // by block; kNone for other blocks
  std::vector<uint8_t> is_stale_;                   // by shape of a static block
  bool any_stale_ = false;
  std::vector<MovingShape> shapes_;
  std::vector<size_t> first_vertex_;  // by shape: vertices_ may move while it grows
  std::vector<Vec2> vertices_;
  std::vector<PlacedGrid> grids_;
};

}  // namespace mvsim
