// <walls>: pairs of points, each a static block; ends that meet are lengthened so that corners are filled.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "assets/read_mesh.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr double kWallMass = 1e5;  // kg

// End points of the segments so far, found by neighbourhood.
class EndPoints {
 public:
  explicit EndPoints(double reach) : reach_(reach) {}

  bool is_near(Vec2 p) const {
    const auto [column, row] = cell(p);
    for (int64_t i = column - 1; i <= column + 1; ++i)
      for (int64_t j = row - 1; j <= row + 1; ++j) {
        const auto found = cells_.find({i, j});
        if (found == cells_.end()) continue;
        for (const Vec2 q : found->second)
          if (norm(p - q) <= reach_) return true;
      }
    return false;
  }
  void add(Vec2 p) { cells_[cell(p)].push_back(p); }

 private:
  std::pair<int64_t, int64_t> cell(Vec2 p) const {
    return {static_cast<int64_t>(std::floor(p.x / reach_)), static_cast<int64_t>(std::floor(p.y / reach_))};
  }

  double reach_;
  std::map<std::pair<int64_t, int64_t>, std::vector<Vec2>> cells_;
};

// "[a b c d; ...]" with 4 rows and 4 columns; what of it is seen from above.
struct PlanTransform {
  Vec2 x_axis{1, 0}, y_axis{0, 1}, z_axis, shift;

  Vec2 apply(Vec3 p) const { return p.x * x_axis + p.y * y_axis + p.z * z_axis + shift; }
};

PlanTransform parse_transform(const NamedText& text) {
  const std::string expected = "a 4x4 matrix as [a b c d; e f g h; i j k l; m n o p]";
  const Matrix matrix = parse_matrix(text, 16, expected);
  if (matrix.rows != 4 || matrix.columns != 4)
    throw WorldFileError(text.where, "<transformation>: expected " + expected);
  const std::vector<double>& m = matrix.values;
  return {{m[0], m[4]}, {m[1], m[5]}, {m[2], m[6]}, {m[3], m[7]}};
}

void check_reach(const Polygon& points, const SourceLocation& where, const std::string& what) {
  for (const Vec2 p : points)
    if (!(std::fabs(p.x) <= kFarthest && std::fabs(p.y) <= kFarthest))
      throw WorldFileError(where, what + " of <walls> has a point farther than 1e7 m");
}

Polygon points_of_shape(LoadState& state, const Fields& fields, const Element& shape,
                        const PlanTransform& transform) {
  Polygon points = parse_polygon(state, shape, 2 * static_cast<size_t>(kMaxBodies), fields.scope());
  if (points.size() % 2 != 0 || points.empty())
    throw WorldFileError(shape.where(),
                         "<shape> of <walls> has " + std::to_string(points.size()) +
                             " points, expected pairs: one wall from each first to each second");
  for (Vec2& p : points) p = transform.apply({p.x, p.y, 0});
  check_reach(points, shape.where(), "<shape>");
  return points;
}

// Lines of the mesh and edges of its triangles. Upright ones are points from above; what lies above each
// other is one wall.
Polygon points_of_mesh(LoadState& state, const NamedText& uri, const PlanTransform& transform) {
  constexpr double kSame = 1e-6;            // m
  constexpr size_t kMaxTriangles = 100000;  // each edge of which costs memory while it is compared
  constexpr size_t kMaxLines = 3 * kMaxTriangles;
  Polygon points;
  const std::shared_ptr<const MeshFile> mesh = read_model(state, uri);
  if (!mesh) return points;
  if (mesh->triangle_count > kMaxTriangles)
    throw WorldFileError(uri.where, "<model_uri> of <walls>: found a mesh of " +
                                        std::to_string(mesh->triangle_count) +
                                        " triangles, expected at most " + std::to_string(kMaxTriangles));
  if (mesh->lines.size() > kMaxLines)
    throw WorldFileError(uri.where, "<model_uri> of <walls>: found a mesh of " +
                                        std::to_string(mesh->lines.size()) + " lines, expected at most " +
                                        std::to_string(kMaxLines));
  std::set<std::array<int64_t, 4>> known;
  const auto add = [&](Vec3 a, Vec3 b) {
    const Polygon ends{transform.apply(a), transform.apply(b)};
    check_reach(ends, uri.where, "<model_uri>");
    std::array<int64_t, 2> from{std::llround(ends[0].x / kSame), std::llround(ends[0].y / kSame)};
    std::array<int64_t, 2> to{std::llround(ends[1].x / kSame), std::llround(ends[1].y / kSame)};
    if (from == to) return;
    if (to < from) std::swap(from, to);
    if (known.insert({from[0], from[1], to[0], to[1]}).second)
      points.insert(points.end(), ends.begin(), ends.end());
  };
  for (const auto& line : mesh->lines) add({line[0], line[1], line[2]}, {line[3], line[4], line[5]});
  for (const MeshPart& part : mesh->parts)
    for (const auto& [a, b] : sharp_edges(*part.mesh)) add(a, b);
  if (points.empty())
    throw WorldFileError(uri.where,
                         "<model_uri> of <walls>: found a mesh without a line or an edge seen from above");
  return points;
}

Polygon wall_points(LoadState& state, const Fields& fields, const Element& e) {
  PlanTransform transform;
  if (const std::optional<NamedText> matrix = fields.scalar("transformation"))
    transform = parse_transform(*matrix);
  if (const Element* shape = fields.node("shape")) return points_of_shape(state, fields, *shape, transform);
  if (const std::optional<NamedText> mesh = fields.scalar("model_uri"))
    return points_of_mesh(state, *mesh, transform);
  throw WorldFileError(e.where(), "<walls> has no <shape> and no <model_uri>");
}

}  // namespace

BlockSpec make_wall(LoadState& state, Vec2 from, Vec2 to, double thickness, double height) {
  BlockSpec out;
  char name[24];
  std::snprintf(name, sizeof name, "wall_%04d", ++state.wall_count);
  out.name = name;
  out.is_wall = out.is_static = true;
  out.mass = kWallMass;
  out.order = state.order++;
  out.z_min = 0;
  out.z_max = height;
  const Vec2 along = to - from;
  const double half = norm(along) / 2, side = thickness / 2;
  out.shape = Polygon{{-half, -side}, {-half, side}, {half, side}, {half, -side}};
  out.placement.pose = {(from.x + to.x) / 2, (from.y + to.y) / 2, 0, math::atan2(along.y, along.x), 0, 0};
  out.placement.has_pose = true;
  return out;
}

void parse_walls(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  WallsSpec walls;
  read_tags(state, fields, kWallsTags, walls);
  fields.warn_unknown("walls", tag_names(kWallsTags));
  const Polygon points = wall_points(state, fields, e);
  EndPoints ends(1.01 * walls.thickness);
  for (size_t i = 0; i < points.size(); i += 2) {
    state.budget.body(kBlockBytes, e.where());
    Vec2 from = points[i], to = points[i + 1];
    const double length = norm(to - from);
    if (!(length > 0))
      throw WorldFileError(e.where(), "<walls>: the wall between points " + std::to_string(i + 1) + " and " +
                                          std::to_string(i + 2) + " has no length");
    const Vec2 reach = (walls.thickness / (2 * length)) * (to - from);
    if (ends.is_near(points[i])) from = from - reach;
    if (ends.is_near(points[i + 1])) to = to + reach;
    ends.add(points[i]);
    ends.add(points[i + 1]);
    BlockSpec wall = make_wall(state, from, to, walls.thickness, walls.height);
    wall.color = walls.color;
    wall.where = wall.placement.where = e.where();
    state.world.blocks.push_back(std::move(wall));
  }
}

}  // namespace mvsim
