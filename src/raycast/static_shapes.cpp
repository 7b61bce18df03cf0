#include "raycast/static_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace mvsim {
namespace {

constexpr int kLeafShapes = static_cast<int>(CircleRow::kSize);
constexpr int kMaxDepth = 64;    // halving 2^31 shapes needs 31
constexpr double kSlack = 1e-6;  // metres; culling must not decide between equal distances

double box_distance(const Rect& box, Vec2 p) {
  const double x = std::max({box.x_min - p.x, p.x - box.x_max, 0.0});
  const double y = std::max({box.y_min - p.y, p.y - box.y_max, 0.0});
  return std::sqrt(x * x + y * y);
}

Rect join(const Rect& a, const Rect& b) {
  return {std::min(a.x_min, b.x_min), std::max(a.x_max, b.x_max), std::min(a.y_min, b.y_min),
          std::max(a.y_max, b.y_max)};
}

}  // namespace

StaticShapes::StaticShapes(std::span<const Polygon> polygons) {
  size_t count = 0;
  for (const Polygon& polygon : polygons) count += polygon.size();
  shapes_.reserve(polygons.size());
  vertices_.reserve(count);
  sides_.reserve(count);
  for (const Polygon& polygon : polygons) {
    if (polygon.empty()) throw std::invalid_argument("a static shape without vertices");
    const Circle circle = bounding_circle(polygon);
    const size_t first_side = sides_.size();
    if (polygon.size() > 1) for_each_side(polygon, [&](const PolygonSide& side) { sides_.push_back(side); });
    shapes_.push_back({.first = static_cast<int>(vertices_.size()),
                       .count = static_cast<int>(polygon.size()),
                       .center = circle.center,
                       .radius = circle.radius,
                       .first_side = first_side,
                       .side_count = sides_.size() - first_side});
    vertices_.insert(vertices_.end(), polygon.begin(), polygon.end());
  }
  if (shapes_.empty()) return;
  order_.resize(shapes_.size());
  std::iota(order_.begin(), order_.end(), 0);
  nodes_.reserve(shapes_.size());
  nodes_.emplace_back();
  build(0, 0, size());
}

std::span<const Vec2> StaticShapes::vertices(int shape) const {
  const Shape& s = shapes_[shape];
  return std::span(vertices_).subspan(s.first, s.count);
}

// Halves the shapes at the median centre along the longer side of their box.
void StaticShapes::build(int node, int begin, int end) {
  Rect box = box_of(vertices(order_[begin]));
  for (int i = begin + 1; i < end; ++i) box = join(box, box_of(vertices(order_[i])));
  nodes_[node].box = box;
  const Vec2 center{0.5 * (box.x_min + box.x_max), 0.5 * (box.y_min + box.y_max)};
  nodes_[node].around = {center, norm(Vec2{box.x_max, box.y_max} - center) * (1 + 1e-12)};
  if (end - begin <= kLeafShapes) {
    nodes_[node].first = begin;
    nodes_[node].count = end - begin;
    nodes_[node].row = static_cast<int>(leaf_circles_.size());
    CircleRow& row = leaf_circles_.emplace_back();
    for (int i = begin; i < end; ++i) {
      const Shape& s = shapes_[order_[i]];
      row.x[i - begin] = s.center.x;
      row.y[i - begin] = s.center.y;
      row.radius[i - begin] = s.radius;
    }
    return;
  }
  const bool along_x = box.x_max - box.x_min >= box.y_max - box.y_min;
  const int middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int a, int b) {
    const double ca = along_x ? shapes_[a].center.x : shapes_[a].center.y;
    const double cb = along_x ? shapes_[b].center.x : shapes_[b].center.y;
    return ca < cb || (ca == cb && a < b);
  });
  const int children = static_cast<int>(nodes_.size());
  nodes_[node].first = children;
  nodes_.resize(nodes_.size() + 2);
  build(children, begin, middle);
  build(children + 1, middle, end);
}

// Calls visit_leaf(node) for every leaf whose box is at most limit() away, the nearer child first;
// enter_node(circle around it, distance) may refuse an inner node.
template <typename Limit, typename EnterNode, typename VisitLeaf>
void StaticShapes::visit(Vec2 point, Limit limit, EnterNode enter_node, VisitLeaf visit_leaf) const {
  if (nodes_.empty()) return;
  struct Pending {
    int node;
    double distance;
  };
  std::array<Pending, kMaxDepth> stack;
  int depth = 0;
  stack[depth++] = {0, box_distance(nodes_[0].box, point)};
  while (depth > 0) {
    const Pending next = stack[--depth];
    const Node& node = nodes_[next.node];
    if (!(next.distance <= limit())) continue;
    if (node.count > 0) {
      visit_leaf(node);
      continue;
    }
    if (!enter_node(node.around, next.distance)) continue;
    Pending near{node.first, box_distance(nodes_[node.first].box, point)};
    Pending far{node.first + 1, box_distance(nodes_[node.first + 1].box, point)};
    if (far.distance < near.distance) std::swap(near, far);
    stack[depth++] = far;
    stack[depth++] = near;
  }
}

template <typename Use>
void StaticShapes::for_shapes(const Node& leaf, Use use) const {
  for (int i = leaf.first; i < leaf.first + leaf.count; ++i) use(order_[i]);
}

void StaticShapes::cast(const Fan& fan, double max_range, float* range) const {
  // whole boxes behind nearer things are skipped
  const auto worth_entering = [&](const Circle& around, double distance) {
    return distance == 0 || may_shorten(beams_towards(fan, around), distance, range);
  };
  const auto cast_leaf = [&](const Node& leaf) {
    BeamRow row;
    look_towards(fan, leaf_circles_[leaf.row], static_cast<size_t>(leaf.count), row);
    for (size_t i = 0; i < static_cast<size_t>(leaf.count); ++i) {
      if (row.nearest[i] > max_range) continue;
      const BeamIntervals beams = intervals_of(fan, row, i);
      if (!may_shorten(beams, row.nearest[i], range)) continue;
      const Shape& s = shapes_[order_[static_cast<size_t>(leaf.first) + i]];
      cast_sides(std::span(sides_).subspan(s.first_side, s.side_count), fan, beams, max_range, range);
    }
  };
  visit(
      fan.origin, [&] { return max_range; }, worth_entering, cast_leaf);
}

double StaticShapes::distance(Vec2 point, double limit) const {
  double best = limit;
  visit(
      point, [&] { return best; }, [](const Circle&, double) { return true; },
      [&](const Node& leaf) {
        for_shapes(leaf, [&](int shape) {
          const Shape& s = shapes_[shape];
          if (norm(s.center - point) - s.radius > best) return;
          best = std::min(best, polygon_point_distance(vertices(shape), point));
        });
      });
  return best;
}

// The least of `limit` and distance_to(shape, least so far) of the shapes near a circle.
template <typename DistanceTo>
double StaticShapes::nearest(const Circle& around, double limit, DistanceTo distance_to) const {
  double best = limit;
  visit(
      around.center, [&] { return best + around.radius + kSlack; },
      [](const Circle&, double) { return true; },
      [&](const Node& leaf) {
        for_shapes(leaf, [&](int shape) {
          const Shape& s = shapes_[shape];
          const Vec2 apart = s.center - around.center;
          const double reach = best + around.radius + s.radius + kSlack;
          if (dot(apart, apart) <= reach * reach) best = std::min(best, distance_to(shape, best));
        });
      });
  return best;
}

double StaticShapes::distance(std::span<const Vec2> outline, const Circle& around, double limit) const {
  return nearest(around, limit,
                 [&](int shape, double best) { return convex_distance(outline, vertices(shape), best); });
}

double StaticShapes::distance_at_least(std::span<const Vec2> outline, const Circle& around,
                                       double limit) const {
  const OutlineSides sides(outline);
  return nearest(around, limit, [&](int shape, double best) {
    const Shape& s = shapes_[shape];
    const double gap = sides.beyond(s.center, s.radius);
    return gap < best ? std::max({gap, sides.beyond(vertices(shape)), 0.0}) : best;
  });
}

void StaticShapes::within(Vec2 point, double radius, std::vector<int>& found) const {
  found.clear();
  visit(
      point, [&] { return radius; }, [](const Circle&, double) { return true; },
      [&](const Node& leaf) {
        for_shapes(leaf, [&](int shape) {
          const Shape& s = shapes_[shape];
          if (norm(s.center - point) - s.radius > radius + kSlack) return;
          if (polygon_point_distance(vertices(shape), point) <= radius) found.push_back(shape);
        });
      });
  std::sort(found.begin(), found.end());
}

}  // namespace mvsim
