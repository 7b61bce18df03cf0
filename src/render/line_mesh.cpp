// Lines as ribbons: wide as asked, but never thinner than a pixel, so that they do not break up far away.
#include <algorithm>
#include <cmath>

#include "render/mesh.h"

namespace mvsim {
namespace {

constexpr double kLineShine = 0.6;
constexpr double kGridLineWidth = 0.012;  // m
constexpr double kGridLineLift = 0.001;   // m, below the marks of mesh.cpp
constexpr int kMostGridLines = 400;       // in each direction
constexpr int kMostHalvings = 8;

}  // namespace

void MeshBuilder::ribbon(Vec3 a, Vec3 b, double width, const Look& look, const LineView& view, bool flat,
                         int depth) {
  const double length = norm(b - a);
  const Vec3 middle = 0.5 * (a + b);
  // Far ends need more metres per pixel than a near middle: halve until a piece is short for its distance.
  if (depth < kMostHalvings && length > norm(view.eye - middle)) {
    ribbon(a, middle, width, look, view, flat, depth + 1);
    ribbon(middle, b, width, look, view, flat, depth + 1);
    return;
  }
  if (!(length > 0)) return;
  const auto half_width = [&](Vec3 p) { return 0.5 * std::max(width, view.pixel * norm(view.eye - p)); };
  const Vec3 along = normalized(b - a);
  const Vec3 to_eye = normalized(view.eye - middle);
  const Vec3 normal = flat ? Vec3{0, 0, 1} : to_eye;
  const Vec3 side = normalized(cross(normal, along));
  Look faded = look;
  if (flat) {  // a floor line thinner than a pixel grows paler instead of busier
    const double part = std::min(1.0, width / (2 * half_width(middle)));
    faded.color.a = static_cast<uint8_t>(std::lround(std::min(254.0, look.color.a * part)));
  }
  quad(a - half_width(a) * side, b - half_width(b) * side, b + half_width(b) * side, a + half_width(a) * side,
       normal, faded);
}

void MeshBuilder::add(const Segments& segments, const LineView& view) {
  const Look look{segments.color, false, kLineShine};
  for (size_t i = 0; i + 1 < segments.points.size(); i += 2)
    ribbon(segments.points[i], segments.points[i + 1], segments.width, look, view, false, 0);
}

void MeshBuilder::add(const Polyline& line, const LineView& view) {
  const Look look{line.color, false, kLineShine};
  for (size_t i = 0; i + 1 < line.points.size(); ++i)
    ribbon(line.points[i], line.points[i + 1], line.width, look, view, false, 0);
  if (line.closed && line.points.size() > 2)
    ribbon(line.points.back(), line.points.front(), line.width, look, view, false, 0);
}

void MeshBuilder::add_grid_lines(const Ground& ground, const LineView& view) {
  const Rect& e = ground.extent;
  const double longest = std::max(e.x_max - e.x_min, e.y_max - e.y_min);
  if (!(ground.grid_interval > 0)) return;
  double interval = ground.grid_interval;
  while (longest / interval > kMostGridLines) interval *= 10;
  const Pose2& t = ground.T_world_ground;
  const Frame3 frame({t.x, t.y, ground.z + kGridLineLift, t.yaw, 0, 0});
  const Look look{ground.grid_color, false};
  const auto line = [&](double x0, double y0, double x1, double y1) {
    ribbon(frame.transform({x0, y0, 0}), frame.transform({x1, y1, 0}), kGridLineWidth, look, view, true, 0);
  };
  for (double k = std::ceil(e.x_min / interval); k * interval <= e.x_max; ++k)
    line(k * interval, e.y_min, k * interval, e.y_max);
  for (double k = std::ceil(e.y_min / interval); k * interval <= e.y_max; ++k)
    line(e.x_min, k * interval, e.x_max, k * interval);
}

}  // namespace mvsim
