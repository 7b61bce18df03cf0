#include "render/rays/view_triangles.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/math.h"

namespace mvsim {
namespace {

constexpr double kPixelMargin = 1e-3;      // px, above rounding errors
constexpr double kSlopeMargin = 1e-9;      // of a tangent
constexpr double kEdgeOnDistance = 1e-12;  // m from the eye to the plane of a triangle that looks like a line
constexpr double kVertical = 1e-9;         // the least cosine of a ring's elevation

// Returns the whole numbers within [low, high] and [0, count).
std::pair<int, int> pixels_between(double low, double high, int count) {
  const auto bounded = [count](double v) {
    return static_cast<int>(std::clamp(v, -1.0, static_cast<double>(count)));
  };
  return {std::max(0, bounded(std::ceil(low - kPixelMargin))),
          std::min(count, bounded(std::floor(high + kPixelMargin)) + 1)};
}

// A corner, and its column and row in pixels; for rings only the column.
struct Corner {
  Vec3 at;  // in the view's frame
  double column = 0, row = 0;
};

class TriangleCollector {
 public:
  TriangleCollector(std::span<const PlacedBody> bodies, const View& view, const RayGrid& grid, double near)
      : bodies_(bodies), view_(view), grid_(grid), near_(near), per_turn_(view.width / (2 * kPi)) {}

  void add(const PlacedBody& body) {
    const Axes3& m = body.body_from_view;
    const double volume = dot(m.x, cross(m.y, m.z));
    const Vec3 x = (1 / volume) * cross(m.y, m.z), y = (1 / volume) * cross(m.z, m.x),
               z = (1 / volume) * cross(m.x, m.y);
    const auto to_view = [&](Vec3 point) {
      const Vec3 v = point - body.eye;
      return Vec3{dot(x, v), dot(y, v), dot(z, v)};
    };
    for (const RayPiece& piece : body.group->body->pieces) {
      const Vec3 center = to_view(piece.center);
      const double radius = piece.radius * (body.radius / body.group->body->radius);
      rect_ = view_.is_pinhole() ? rect_of(view_, center, radius) : ring_rect(center, radius);
      if (rect_.empty()) continue;
      corners_.clear();
      for (const Vec3& point : piece.points) corners_.push_back(corner_at(to_view(point)));
      if (!view_.is_pinhole()) set_rows(center, radius);
      const double gap = view_.is_pinhole() ? center.z - radius : norm(center) - radius;
      add(body, piece, piece.is_closed && piece.is_opaque && piece.cull != CullFaces::kFront && gap > near_);
    }
  }

  std::vector<RasterTriangle> take() { return std::move(out_); }

 private:
  PixelRect ring_rect(Vec3 center, double radius) const {
    if (norm(center) - radius > view_.far) return {};
    const auto [top, bottom] = rows_between(center.z - radius, center.z + radius, center, radius);
    return {0, view_.width, top, bottom};
  }

  void set_rows(Vec3 center, double radius) {
    double low = corners_.front().at.z, high = low;
    for (const Corner& corner : corners_)
      low = std::min(low, corner.at.z), high = std::max(high, corner.at.z);
    std::tie(rect_.top, rect_.bottom) = rows_between(low, high, center, radius);
  }

  // Returns the rings that may hit a body within a sphere and between these heights.
  std::pair<int, int> rows_between(double low, double high, Vec3 center, double radius) const {
    const double level = std::sqrt(center.x * center.x + center.y * center.y);
    const double nearest = std::max(level - radius, 1e-9), farthest = level + radius;
    const double least = low / (low < 0 ? nearest : farthest), most = high / (high > 0 ? nearest : farthest);
    const auto begin = grid_.slope.begin(), end = grid_.slope.end();
    const auto first = std::lower_bound(begin, end, least - kSlopeMargin * (1 + std::fabs(least)));
    const auto last = std::upper_bound(first, end, most + kSlopeMargin * (1 + std::fabs(most)));
    return {static_cast<int>(first - begin), static_cast<int>(last - begin)};
  }

  Corner corner_at(Vec3 p) const {
    if (!view_.is_pinhole()) return {p, (math::atan2(p.y, p.x) + kPi) * per_turn_, 0};
    return {p, view_.cx + view_.fx * (p.x / p.z), view_.cy + view_.fy * (p.y / p.z)};
  }

  void add(const PlacedBody& body, const RayPiece& piece, bool only_fronts) {
    for (size_t i = 0; i < piece.triangles.size(); ++i) {
      const size_t index = piece.first + i;
      const RayTriangle& triangle = body.group->body->triangles[index];
      const double to_plane = triangle.offset - dot(triangle.normal, body.eye);
      const bool is_back = to_plane > 0;
      if (!(std::fabs(to_plane) > kEdgeOnDistance * (1 + std::fabs(triangle.offset)))) continue;
      if (is_back ? only_fronts || piece.cull == CullFaces::kBack : piece.cull == CullFaces::kFront) continue;
      const std::array<uint32_t, 3>& c = piece.triangles[i];
      const std::array<const Corner*, 3> corners{&corners_[c[0]], &corners_[c[1]], &corners_[c[2]]};
      const PixelRect rect = view_.is_pinhole() ? pinhole_rect_of(corners) : rect_;
      if (rect.empty()) continue;
      RasterTriangle out;
      out.id = triangle_id(static_cast<size_t>(&body - bodies_.data()), index);
      out.rect = rect;
      const double side = is_back ? 1 : -1;
      for (size_t k = 0; k < 3; ++k)
        out.sides[k] = over_grid(view_, side * cross(corners[(k + 1) % 3]->at, corners[(k + 2) % 3]->at));
      const Axes3& m = body.body_from_view;
      const Vec3 normal{dot(triangle.normal, m.x), dot(triangle.normal, m.y), dot(triangle.normal, m.z)};
      out.nearness = over_grid(view_, (1 / to_plane) * normal);
      if (view_.is_pinhole())
        out_.push_back(out);
      else
        add_turned(out, corners);
    }
  }

  PixelRect pinhole_rect_of(const std::array<const Corner*, 3>& c) const {
    if (!(std::min({c[0]->at.z, c[1]->at.z, c[2]->at.z}) > 1e-9)) return rect_;
    const auto [left, right] =
        pixels_between(std::min({c[0]->column, c[1]->column, c[2]->column}),
                       std::max({c[0]->column, c[1]->column, c[2]->column}), view_.width);
    const auto [top, bottom] = pixels_between(std::min({c[0]->row, c[1]->row, c[2]->row}),
                                              std::max({c[0]->row, c[1]->row, c[2]->row}), view_.height);
    return {left, right, top, bottom};
  }

  // Adds a triangle for rings. If its corners span more than half a turn, it is behind, at both ends of the
  // columns, or all around. A fan has few rays and takes all columns.
  void add_turned(RasterTriangle& out, const std::array<const Corner*, 3>& c) {
    if (!view_.turns) return add_columns(out, 0, view_.width);
    const double half = view_.width / 2.0;
    const double low = std::min({c[0]->column, c[1]->column, c[2]->column}),
                 high = std::max({c[0]->column, c[1]->column, c[2]->column});
    if (high - low < half * (1 - 1e-9)) {
      add_columns(out, low, high);
      if (high > view_.width - kPixelMargin) add_columns(out, 0, 0);  // the same direction
      return;
    }
    double last_before = 0, first_behind = view_.width;
    for (const Corner* corner : c) {
      if (corner->column < half) last_before = std::max(last_before, corner->column);
      if (corner->column >= half) first_behind = std::min(first_behind, corner->column);
    }
    if (first_behind - last_before > half * (1 + 1e-9)) {
      add_columns(out, 0, last_before);
      add_columns(out, first_behind, view_.width);
    } else {
      add_columns(out, 0, view_.width);
    }
  }

  void add_columns(RasterTriangle& out, double low, double high) {
    std::tie(out.rect.left, out.rect.right) = pixels_between(low, high, view_.width);
    if (!out.rect.empty()) out_.push_back(out);
  }

  std::span<const PlacedBody> bodies_;
  const View& view_;
  const RayGrid& grid_;
  const double near_;
  double per_turn_;
  PixelRect rect_;  // of the piece
  std::vector<Corner> corners_;
  std::vector<RasterTriangle> out_;
};

}  // namespace

RayGrid ray_grid(const View& view) {
  RayGrid grid;
  grid.width = view.width, grid.height = view.height;
  grid.a.assign(tile_stride(view.width), 0);
  grid.b.assign(tile_stride(view.width), 1);
  if (view.is_pinhole()) {
    const double per_fx = 1 / view.fx, per_fy = 1 / view.fy;
    for (int c = 0; c < view.width; ++c) grid.a[static_cast<size_t>(c)] = (c - view.cx) * per_fx;
    for (int r = 0; r < view.height; ++r) grid.slope.push_back((r - view.cy) * per_fy);
    grid.length.assign(static_cast<size_t>(view.height), 1);
    return grid;
  }
  for (size_t c = 0; c < view.columns.size(); ++c)
    grid.a[c] = view.columns[c].cos, grid.b[c] = view.columns[c].sin;
  for (const SinCos& ring : view.rings) {
    grid.length.push_back(std::max(ring.cos, kVertical));
    grid.slope.push_back(ring.sin / grid.length.back());
  }
  return grid;
}

std::vector<RasterTriangle> triangles_in_view(std::span<const PlacedBody> bodies, const View& view,
                                              const RayGrid& grid, double near) {
  TriangleCollector collector(bodies, view, grid, near);
  for (const PlacedBody& body : bodies)
    if (body.is_seen) collector.add(body);
  return collector.take();
}

}  // namespace mvsim
