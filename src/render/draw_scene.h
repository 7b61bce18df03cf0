// What a picture shows, as plain values: metres, radians, world frame, nothing of OpenGL.
//
// `StaticScene` is what does not move; a Renderer uploads it once and knows it again by its address, so it
// must not be changed after its first picture. `DrawScene` adds what moves and is made anew for each picture.
// A colour with alpha below 255 is blended over what is behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// A polygon (simple, any winding, convex or not) raised from z_min to z_max of its own frame.
struct Prism {
  Polygon shape;
  double z_min = 0, z_max = 1;
  Pose3 pose;
  Color color;
};

// A wheel or other round thing: a cylinder about the y axis of its pose. `spin` turns it about that axis (the
// hub has a mark that shows it).
struct Wheel {
  Pose3 pose;  // centre of the wheel
  double radius = 0.1, width = 0.05;
  double spin = 0;
  Color color{0x32, 0x32, 0x32, 255};
};

// Separate line segments: points 0-1, 2-3, ...; `width` in metres, never thinner than about a pixel.
struct Segments {
  std::vector<Vec3> points;
  Color color;
  double width = 0.02;
};

struct Polyline {
  std::vector<Vec3> points;
  bool closed = false;
  Color color;
  double width = 0.02;
};

// Equal little balls, e.g. lidar hits; never smaller than some pixels.
struct Spheres {
  std::vector<Vec3> centers;
  double radius = 0.03;
  Color color;
};

// A flat ring parallel to the ground; a full disc when inner_radius is 0.
struct Disc {
  Vec3 center;
  double inner_radius = 0, outer_radius = 0.2;
  Color color;
};

// A flat arrow head parallel to the ground, pointing along +x of its pose: which way a robot faces.
struct HeadingMark {
  Pose3 pose;
  double length = 0.1;
  Color color;
};

// A level rectangle with lines every grid_interval (0: none).
struct Ground {
  Rect extent{-10, 10, -10, 10};  // in the frame of T_world_ground
  Pose2 T_world_ground;
  double z = 0;
  Color color{0xd9, 0xdc, 0xdf, 255};
  double grid_interval = 1;
  Color grid_color{0xc3, 0xc8, 0xcd, 255};
};

inline constexpr uint8_t kFreeCell = 0, kOccupiedCell = 1, kUnknownCell = 2;

// An occupancy grid: occupied cells stand as walls, free floor is light, unknown floor darker.
struct GridCells {
  int width = 0, height = 0;
  std::vector<uint8_t> cells;  // height * width, row 0 at the lowest y of the grid frame
  double resolution = 0.05;
  Pose2 T_world_grid;  // the outer corner of cell (0, 0)
  double z = 0, wall_height = 0.5;
  Color wall_color{0x6f, 0x7f, 0x96, 255};
  Color free_color{0xe6, 0xe8, 0xea, 255};
  Color unknown_color{0xb4, 0xb9, 0xbf, 255};
};

// Ground given by its height at the nodes of a grid, rows along x and columns along y.
struct HeightField {
  int rows = 0, columns = 0;
  std::vector<double> heights;  // row by row, m
  Vec2 corner;                  // of node (0, 0)
  double step_x = 1, step_y = 1;
  Color color{0xa0, 0xe0, 0xa0, 255};
};

struct StaticScene {
  Vec3 origin;  // in the scene's midst: vertices in single precision are counted from there
  std::vector<Ground> grounds;
  std::vector<GridCells> grids;
  std::vector<HeightField> height_fields;
  std::vector<Prism> prisms;
  std::vector<Segments> segments;
};

struct DrawScene {
  std::shared_ptr<const StaticScene> fixed;  // may be null
  std::vector<Prism> prisms;
  std::vector<Wheel> wheels;
  std::vector<HeadingMark> headings;
  std::vector<HeightField> height_fields;
  std::vector<Disc> discs;
  std::vector<Spheres> spheres;
  std::vector<Polyline> polylines;
  std::vector<Segments> segments;
};

// A regular polygon about the origin, for round things drawn as prisms.
Polygon circle_polygon(double radius, int vertices = 48);
// A rectangle about the origin.
Polygon box_polygon(double size_x, double size_y);

}  // namespace mvsim
