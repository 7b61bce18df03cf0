// An eye that looks level, and the columns of its picture in which bodies may be visible.
#pragma once

#include "raycast/level_rays.h"
#include "raycast/prism_map.h"
#include "sensor/view.h"

namespace mvsim {

class LevelEye {
 public:
  LevelEye(const View& view, const LevelRays& rays, const Frame3& T_world_view);

  // Whether a view from this frame looks level.
  static bool is_level(const View& view, const Frame3& T_world_view);

  double z() const { return z_; }
  Vec2 origin() const { return origin_; }
  // Converts a point of the world to the eye's plane: x forward, y left.
  Vec2 to_eye(Vec2 world) const { return turn_to_eye(world - origin_); }
  Vec2 turn_to_eye(Vec2 world) const { return {dot(world, forward_), dot(world, left_)}; }
  Vec2 turn_to_world(Vec2 eye) const { return eye.x * forward_ + eye.y * left_; }

  // The view of a circle in the eye's plane: the columns in which it may be visible (two ranges if it is
  // behind a ring sensor), and its least and greatest distance in lengths of their rays.
  struct Sight {
    ColumnRange columns[2];
    int parts = 0;  // 0: not visible
    double near = 0, far = 0;
  };
  Sight sight_of(Vec2 center, double radius) const;
  // Returns the columns that may see a polygon in front of a pinhole, within `columns`, those of its circle.
  ColumnRange narrowed(std::span<const Vec2> outline, ColumnRange columns) const;

 private:
  Sight pinhole_sight(Vec2 center, double radius) const;
  Sight ring_sight(Vec2 center, double radius) const;

  const View& view_;
  bool is_pinhole_ = true;
  double near_ = 0, far_ = 1;
  double left_slope_ = 0, right_slope_ = 0, left_length_ = 1, right_length_ = 1;
  Vec2 origin_, forward_, left_;
  double z_ = 0;
};

// Whether nearer prisms hide a circle completely, up to a height above the eye.
bool is_hidden(const LevelPicture& picture, const LevelEye::Sight& sight, double high);

}  // namespace mvsim
