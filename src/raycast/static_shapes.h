// An immutable set of convex polygons with an index (a tree of boxes): queries of rays, distances and
// neighbours visit near shapes only. Made for tens of thousands of shapes; shared by any number of threads.
#pragma once

#include <span>
#include <vector>

#include "base/geometry.h"
#include "raycast/beams.h"
#include "raycast/polygon_cast.h"
#include "raycast/polygon_sides.h"

namespace mvsim {

class StaticShapes {
 public:
  StaticShapes() = default;
  explicit StaticShapes(std::span<const Polygon> polygons);

  int size() const { return static_cast<int>(shapes_.size()); }
  bool empty() const { return shapes_.empty(); }
  std::span<const Vec2> vertices(int shape) const;  // as given

  // cast_polygon() of every shape.
  void cast(const Fan& fan, double max_range, float* range) const;

  // Distance from the point to the nearest shape (0 inside of one), `limit` if none is nearer.
  double distance(Vec2 point, double limit) const;

  // The same from a convex, counter-clockwise outline, which a circle holds.
  double distance(std::span<const Vec2> outline, const Circle& around, double limit) const;

  // The same or less, in a part of the time.
  double distance_at_least(std::span<const Vec2> outline, const Circle& around, double limit) const;

  // Indices of the shapes at most `radius` from the point, ascending; replaces the contents of `found`.
  void within(Vec2 point, double radius, std::vector<int>& found) const;

 private:
  struct Shape {
    int first = 0, count = 0;  // vertices
    Vec2 center;
    double radius = 0;
    size_t first_side = 0, side_count = 0;
  };
  struct Node {  // children first, first + 1, or shapes [first, first + count) of order_, a leaf
    Rect box;
    Circle around;             // the box
    int first = 0, count = 0;  // count 0: an inner node
    int row = 0;               // in leaf_circles_
  };
  void build(int node, int begin, int end);
  template <typename Limit, typename EnterNode, typename VisitLeaf>
  void visit(Vec2 point, Limit limit, EnterNode enter_node, VisitLeaf visit_leaf) const;
  template <typename Use>
  void for_shapes(const Node& leaf, Use use) const;
  template <typename DistanceTo>
  double nearest(const Circle& around, double limit, DistanceTo distance_to) const;

  std::vector<Vec2> vertices_;
  std::vector<PolygonSide> sides_;  // of all shapes with two vertices and more
  std::vector<Shape> shapes_;
  std::vector<int> order_;
  std::vector<Node> nodes_;
  std::vector<CircleRow> leaf_circles_;  // of the shapes of a leaf
};

}  // namespace mvsim
