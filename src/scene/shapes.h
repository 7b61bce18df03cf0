// Visible shapes, each in its own frame: metres. Plain values.
//
// A shape stays what it is (a prism, a map of cells) until a caller needs its triangles: scene/triangles.h
// makes them. So a world of large maps costs nothing to load, and rays may be cast against the exact shape.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/geometry3.h"
#include "raycast/grid_field.h"

namespace mvsim {

// Size of one copy of a texture on a surface, m; 0: no texture. The first copy lies in the corner of the
// surface with the least coordinates.
struct Tile {
  double x = 0, y = 0;

  friend bool operator==(const Tile&, const Tile&) = default;
};

// A polygon (simple, any winding, convex or not) raised from z_min to z_max.
struct Prism {
  Polygon outline;
  double z_min = 0, z_max = 1;
  Tile tile{};  // x along the outline

  friend bool operator==(const Prism&, const Prism&) = default;
};

// A cylinder about the y axis; the hub has a mark that shows how far it has turned.
struct WheelShape {
  double radius = 0.1, width = 0.05;

  friend bool operator==(const WheelShape&, const WheelShape&) = default;
};

// A level rectangle at z = 0, its front above.
struct LevelRect {
  Rect extent{-10, 10, -10, 10};
  Tile tile{};
};

// One part of the picture of an occupancy grid, in the grid's frame. The cells belong to the Model.
struct GridCells {
  enum Part { kWalls, kFreeFloor, kUnknownFloor };

  const GridField* field = nullptr;
  Part part = kWalls;
  double wall_height = 0.5;
  int merged = 1;  // cells along a side of a square that is drawn as one cell (scene/grid_triangles.h)
};

// Ground given by its height at the nodes of a grid, rows along x and columns along y: two triangles a cell,
// which meet on its rising diagonal. The heights belong to the Model.
struct HeightField {
  int rows = 0, columns = 0;
  std::span<const float> heights;  // row by row, m
  Vec2 corner;                     // of node (0, 0)
  double step_x = 1, step_y = 1;
  std::shared_ptr<const std::vector<Color>> colors{};  // of the nodes; none: the material's, darker where low
  Tile tile{};                                         // rows of the texture along x, columns along y
  int tile_turns = 0;                                  // quarters, counterclockwise
};

// Mesh of a file, shared by all its instances.
using SharedMesh = std::shared_ptr<const Mesh>;

using Shape = std::variant<SharedMesh, Prism, WheelShape, LevelRect, GridCells, HeightField>;

// A regular polygon about the origin, for round things given as prisms.
Polygon circle_polygon(double radius, int vertices = 48);
// A rectangle about the origin.
Polygon box_polygon(double size_x, double size_y);

}  // namespace mvsim
