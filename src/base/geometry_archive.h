// Geometry in archives (base/archive.h).
#pragma once

#include "base/archive.h"
#include "base/geometry.h"

namespace mvsim {

template <typename Archive>
void visit(Archive& archive, ValueOf<Vec2> auto& value) {
  auto& [x, y] = value;
  archive(x, y);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Pose2> auto& value) {
  auto& [x, y, yaw] = value;
  archive(x, y, yaw);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Pose3> auto& value) {
  auto& [x, y, z, yaw, pitch, roll] = value;
  archive(x, y, z, yaw, pitch, roll);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Twist2> auto& value) {
  auto& [vx, vy, omega] = value;
  archive(vx, vy, omega);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Rotation2> auto& value) {
  auto& [c, s] = value;
  archive(c, s);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Rect> auto& value) {
  auto& [x_min, x_max, y_min, y_max] = value;
  archive(x_min, x_max, y_min, y_max);
}

}  // namespace mvsim
