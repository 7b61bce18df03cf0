#include "sim/scene_buffer.h"

#include <utility>

namespace mvsim {
namespace {

// Its shape is in the first part of the arrays: it stands until it is placed anew.
bool is_placed(const BlockModel& b) {
  return b.body >= 0 && b.traits.is_static && b.placed;
}

}  // namespace

void SceneBuffer::add(std::span<const Vec2> outline, double scale, const Pose2& body, Vec2 center,
                      double radius, int index) {
  first_vertex_.push_back(vertices_.size());
  vertices_.resize(vertices_.size() + outline.size());
  shapes_.push_back({nullptr, static_cast<int>(outline.size()), {}, 0, index});
  set(shapes_.size() - 1, outline, scale, body, center, radius);
}

void SceneBuffer::set(size_t shape, std::span<const Vec2> outline, double scale, const Pose2& body,
                      Vec2 center, double radius) {
  const Rotation2 R_world_body(body.yaw);
  const Vec2 origin{body.x, body.y};
  Vec2* vertex = vertices_.data() + first_vertex_[shape];
  for (Vec2 v : outline) *vertex++ = origin + R_world_body.rotate(scale * v);
  shapes_[shape].center = origin + R_world_body.rotate(center);
  shapes_[shape].radius = radius;
}

void SceneBuffer::update_placed(const Model& model, std::span<const double> params,
                                std::span<const BodyState> bodies) {
  if (!any_stale_) return;
  any_stale_ = false;
  for (size_t shape = 0; shape < placed_shapes_; ++shape) {
    if (!std::exchange(is_stale_[shape], uint8_t{0})) continue;
    const auto body = static_cast<size_t>(shapes_[shape].body);
    const BlockModel& b = model.blocks[model.bodies[body].index];
    const double scale = params[b.params + kBlockScale];
    set(shape, b.shape.outline, scale, body_pose(bodies[body]), {}, scale * b.shape.radius);
  }
}

void SceneBuffer::add_vehicle(const VehicleModel& v, const Pose2& body, std::span<const WheelState> wheels) {
  const int index = static_cast<int>(v.body);
  add(v.chassis.outline, 1, body, {}, v.chassis.radius, index);
  for (size_t wheel = 0; wheel < v.wheels.size(); ++wheel) {
    const WheelModel& w = v.wheels[wheel];
    const Rotation2 R_base_wheel(wheels[v.first_wheel + wheel].steer);
    const double half = w.width / 2;
    const Vec2 corners[] = {{-w.radius, -half}, {w.radius, -half}, {w.radius, half}, {-w.radius, half}};
    Vec2 outline[4];
    for (int i = 0; i < 4; ++i) outline[i] = w.position + R_base_wheel.rotate(corners[i]);
    add(outline, 1, body, w.position, norm(corners[0]), index);
  }
}

void SceneBuffer::update_blocks(const Model& model, std::span<const double> params,
                                std::span<const BodyState> bodies) {
  const auto add_block = [&](const BlockModel& b) {
    const double scale = params[b.params + kBlockScale];
    add(b.shape.outline, scale, body_pose(bodies[static_cast<size_t>(b.body)]), {}, scale * b.shape.radius,
        b.body);
  };
  all_ready_ = false;
  if (!placed_ready_) {
    shapes_.clear();
    vertices_.clear();
    first_vertex_.clear();
    shape_of_.assign(model.blocks.size(), kNone);
    for (size_t i = 0; i < model.blocks.size(); ++i) {
      if (!is_placed(model.blocks[i])) continue;
      shape_of_[i] = shapes_.size();
      add_block(model.blocks[i]);
    }
    placed_shapes_ = shapes_.size();
    placed_vertices_ = vertices_.size();
    is_stale_.assign(placed_shapes_, 0);
    any_stale_ = false;
    placed_ready_ = true;
  }
  update_placed(model, params, bodies);
  shapes_.resize(placed_shapes_);
  first_vertex_.resize(placed_shapes_);
  vertices_.resize(placed_vertices_);
  for (const size_t body : model.moving_bodies) {
    const BodyModel& kind = model.bodies[body];
    if (kind.kind == BodyKind::kBlock && !model.blocks[kind.index].traits.is_static)
      add_block(model.blocks[kind.index]);
  }
}

std::span<const MovingShape> SceneBuffer::linked() {
  for (size_t i = 0; i < shapes_.size(); ++i) shapes_[i].vertices = vertices_.data() + first_vertex_[i];
  return shapes_;
}

std::span<const MovingShape> SceneBuffer::blocks(const Model& model, std::span<const double> params,
                                                 std::span<const BodyState> bodies) {
  update_blocks(model, params, bodies);
  return linked();
}

std::span<const MovingShape> SceneBuffer::shapes(const Model& model, std::span<const double> params,
                                                 std::span<const BodyState> bodies,
                                                 std::span<const WheelState> wheels, int except_body) {
  update_blocks(model, params, bodies);
  for (const VehicleModel& v : model.vehicles)
    if (static_cast<int>(v.body) != except_body) add_vehicle(v, body_pose(bodies[v.body]), wheels);
  return linked();
}

std::span<const MovingShape> SceneBuffer::all_shapes(const Model& model, std::span<const double> params,
                                                     std::span<const BodyState> bodies,
                                                     std::span<const WheelState> wheels) {
  constexpr int kNobody = -1;
  if (!all_ready_ || !placed_ready_)
    shapes(model, params, bodies, wheels, kNobody);
  else
    update_placed(model, params, bodies);
  all_ready_ = true;
  return shapes_;
}

std::span<const PlacedGrid> SceneBuffer::grids(const Model& model) {
  if (grids_.size() != model.grids.size()) {
    grids_.clear();
    for (const GridModel& g : model.grids) grids_.push_back({&g.field, g.T_world_grid});
  }
  return grids_;
}

}  // namespace mvsim
