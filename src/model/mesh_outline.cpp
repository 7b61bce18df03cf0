#include "model/mesh_outline.h"

#include <algorithm>
#include <set>
#include <utility>

#include "assets/read_mesh.h"
#include "model/shape.h"

namespace mvsim {
namespace {

constexpr double kWindowMargin = 1e-3;  // m, beyond zmin and zmax
constexpr double kMinVolume = 1e-8;     // m3
constexpr double kSmallPart = 1e-4;     // of an outline's area: a side that saves less is none

// Collects points seen from above; the hull of those so far stands for them.
class Footprint {
 public:
  void add(Vec3 p) {
    points_.push_back({p.x, p.y});
    low_ = std::min(low_, p.z);
    high_ = std::max(high_, p.z);
    if (points_.size() <= limit_) return;
    points_ = convex_hull(std::move(points_));
    limit_ = std::max(kMaxPoints, 2 * points_.size());
  }
  bool empty() const { return points_.empty(); }
  HeightRange heights() const { return {low_, high_}; }
  Polygon hull() const { return convex_hull(points_); }

 private:
  static constexpr size_t kMaxPoints = 1 << 16;
  size_t limit_ = kMaxPoints;
  Polygon points_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

// Where the edge a-b crosses the height z, if it does.
void add_crossing(Vec3 a, Vec3 b, double z, Footprint& out) {
  if ((a.z < z) == (b.z < z)) return;
  if (b.z < a.z) std::swap(a, b);  // an edge gives the same point in both of its triangles
  const double part = (z - a.z) / (b.z - a.z);
  out.add({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y), z});
}

void add_mesh(const Mesh& mesh, const Frame3& T_object_mesh, const HeightRange& window,
              const LoadGuard& guard, Footprint& out) {
  constexpr size_t kBetweenPolls = 4096;
  std::vector<Vec3> points(mesh.positions.size());
  std::transform(mesh.positions.begin(), mesh.positions.end(), points.begin(),
                 [&](const Vec3& p) { return T_object_mesh.transform(p); });
  std::vector<bool> is_in(points.size());
  for (size_t i = 0; i + 2 < mesh.indices.size(); i += 3) {
    if (i % (3 * kBetweenPolls) == 0) guard.poll();
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t from = mesh.indices[i + k];
      const Vec3 a = points[from], b = points[mesh.indices[i + (k + 1) % 3]];
      if (!is_in[from] && a.z >= window.low && a.z <= window.high) out.add(a);
      is_in[from] = true;
      for (const double z : {window.low, window.high})
        if (std::isfinite(z)) add_crossing(a, b, z, out);
    }
  }
}

// Takes sides away, each time the one whose neighbours meet with the least area beyond it; of equal ones the
// first.
class SideRemoval {
 public:
  explicit SideRemoval(Polygon convex) : points_(std::move(convex)), left_(points_.size()) {
    const size_t n = points_.size();
    for (size_t i = 0; i < n; ++i) {
      next_.push_back(i + 1 == n ? 0 : i + 1);
      previous_.push_back(i == 0 ? n - 1 : i - 1);
    }
    areas_.assign(n, kNone);
    for (size_t i = 0; i < n; ++i) measure(i);
  }

  size_t left() const { return left_; }
  // Nothing: a triangle or a parallelogram has no such side.
  std::optional<double> least_area() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }

  void remove_least() {
    const size_t side = order_.begin()->second, gone = next_[side];
    points_[side] = *meeting_of(side);
    forget(gone);
    next_[side] = next_[gone];
    previous_[next_[side]] = side;
    next_[gone] = gone;
    --left_;
    for (const size_t i : {previous_[previous_[side]], previous_[side], side, next_[side]}) measure(i);
  }

  Polygon polygon() const {
    Polygon out;
    for (size_t i = 0; i < points_.size(); ++i)
      if (next_[i] != i) out.push_back(points_[i]);
    return out;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  // Where the neighbours of the side that begins at a point meet beyond it.
  std::optional<Vec2> meeting_of(size_t i) const {
    const Vec2 a = points_[previous_[i]], b = points_[i], c = points_[next_[i]], d = points_[next_[next_[i]]];
    const double turn = cross(b - a, d - c);  // 0 where the neighbours are parallel
    if (!(turn > 0)) return std::nullopt;
    const double along = cross(c - b, d - c) / turn;
    return along >= 0 ? std::optional(b + along * (b - a)) : std::nullopt;
  }

  void measure(size_t i) {
    forget(i);
    const std::optional<Vec2> meeting = meeting_of(i);
    if (!meeting) return;
    const Vec2 b = points_[i], c = points_[next_[i]];
    const double area = cross(c - b, *meeting - b) / -2;
    if (!(area < kNone)) return;
    areas_[i] = area;
    order_.insert({area, i});
  }

  void forget(size_t i) {
    if (areas_[i] < kNone) order_.erase({areas_[i], i});
    areas_[i] = kNone;
  }

  Polygon points_;
  std::vector<size_t> next_, previous_;  // of the vertices left; a removed vertex is its own successor
  std::vector<double> areas_;
  std::set<std::pair<double, size_t>> order_;
  size_t left_;
};

// Measured footprint of one of MVSim's own vehicles.
struct KnownFootprint {
  std::string_view vehicle_class;
  Rect extent;  // m, body frame
  HeightRange heights;
};

constexpr KnownFootprint kKnownFootprints[] = {
    {"turtlebot3_burger", {-0.0685, 0.0685, -0.0685, 0.0685}, {0, 0.141}},
    {"jackal", {-0.2515, 0.2515, -0.215, 0.215}, {0.0655, 0.2495}},
    {"pickup", {-2.95, 2.71, -1.24, 1.24}, {0, 1.86}},
    {"agricobiot2", {-0.25, 0.87, -0.30, 0.30}, {0.15, 1.2}},
    {"scania_trailer", {-6.6, 0.9, -1.25, 1.25}, {0.5, 4.0}},
};

}  // namespace

Polygon with_fewer_vertices(Polygon convex, size_t max) {
  if (convex.size() <= 3) return convex;
  const double next_to_nothing = kSmallPart * area_of(convex);
  SideRemoval sides(std::move(convex));
  while (sides.left() > 3) {
    const std::optional<double> least = sides.least_area();
    if (!least || (sides.left() <= max && *least > next_to_nothing)) break;
    sides.remove_least();
  }
  return sides.polygon();
}

Frame3 visual_frame(const VisualSpec& v) {
  const Frame3 pose(Pose3{v.x, v.y, v.z, v.yaw, v.pitch, v.roll});
  return {pose.origin, v.scale * pose.x, v.scale * pose.y, v.scale * pose.z};
}

std::optional<MeshOutline> mesh_outline(std::span<const VisualSpec> visuals, const HeightRange& window,
                                        const LoadGuard& guard, const SourceLocation& where) {
  const HeightRange wide{window.low - kWindowMargin, window.high + kWindowMargin};
  Footprint footprint;
  bool any = false;
  for (const VisualSpec& visual : visuals) {
    if (!visual.mesh) continue;
    any = true;
    for (const MeshPart& part : visual.mesh->parts)
      add_mesh(*part.mesh, visual_frame(visual), wide, guard, footprint);
  }
  if (!any) return std::nullopt;
  MeshOutline out{with_fewer_vertices(footprint.hull(), kMaxOutlineVertices), footprint.heights()};
  if (footprint.empty() || out.outline.size() < 3 ||
      !(area_of(out.outline) * (out.heights.high - out.heights.low) >= kMinVolume))
    throw WorldFileError(where,
                         "<shape_from_visual>: the meshes enclose less than 1e-8 m3 between zmin and zmax, "
                         "expected a body");
  out.heights = {std::max(out.heights.low, window.low), std::min(out.heights.high, window.high)};
  return out;
}

const std::optional<MeshOutline>& MeshOutlines::of(std::span<const VisualSpec> visuals,
                                                   const HeightRange& window, const SourceLocation& where) {
  Key key;
  key.second = {window.low, window.high};
  size_t triangles = 0;
  for (const VisualSpec& v : visuals) {
    if (!v.mesh) continue;
    key.first.push_back(v.mesh);
    key.second.insert(key.second.end(), {v.scale, v.x, v.y, v.z, v.yaw, v.pitch, v.roll});
    triangles += v.mesh->triangle_count;
  }
  static const std::optional<MeshOutline> kNone;
  if (key.first.empty()) return kNone;
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (triangles_ += triangles; triangles_ > kMaxTriangles)
    throw WorldFileError(where,
                         "<shape_from_visual>: the meshes whose outlines the world needs have more than " +
                             std::to_string(kMaxTriangles) + " triangles");
  return known_.emplace(std::move(key), mesh_outline(visuals, window, guard_, where)).first->second;
}

std::optional<MeshOutline> known_footprint(std::string_view vehicle_class) {
  for (const KnownFootprint& known : kKnownFootprints)
    if (known.vehicle_class == vehicle_class) {
      const Rect& r = known.extent;
      return MeshOutline{{{r.x_min, r.y_min}, {r.x_max, r.y_min}, {r.x_max, r.y_max}, {r.x_min, r.y_max}},
                         known.heights};
    }
  return std::nullopt;
}

}  // namespace mvsim
