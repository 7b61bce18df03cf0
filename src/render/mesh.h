// Triangles as the renderer uploads them, and a builder that makes them from the shapes of a DrawScene. No
// OpenGL.
//
// Positions are relative to an origin near the scene, so that single precision is enough.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/geometry.h"
#include "render/draw_scene.h"
#include "render/view_matrix.h"

namespace mvsim {

struct MeshVertex {
  float position[3];
  int8_t normal[4];  // 127 is 1; the fourth: how far the colour shines by itself
  uint8_t color[4];
};

struct Mesh {
  Vec3 origin;
  std::vector<MeshVertex> vertices;
  // Corners of triangles, counter-clockwise from outside.
  std::vector<uint32_t> casters;  // opaque, throw a shadow
  std::vector<uint32_t> plain;    // opaque, throw none: floors and marks
  std::vector<uint32_t> blended;

  bool empty() const { return vertices.empty(); }
};

// World frame; low > high when there is nothing.
struct Box3 {
  Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  bool empty() const { return low.x > high.x; }
  void include(Vec3 p);
};
Box3 bounds_of_casters(const Mesh& mesh);

// A pose with its rotation ready.
struct Frame3 {
  Vec3 origin, x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  explicit Frame3(const Pose3& pose);
  Vec3 rotate(Vec3 v) const { return v.x * x + v.y * y + v.z * z; }
  Vec3 transform(Vec3 v) const { return origin + rotate(v); }
};

// From where lines and dots are seen: none is drawn thinner than `pixel` metres per metre of distance.
struct LineView {
  Vec3 eye;
  double pixel = 0.001;
};

class MeshBuilder {
 public:
  explicit MeshBuilder(Vec3 origin) { mesh_.origin = origin; }

  void add(const Prism& prism);
  void add(const Wheel& wheel);
  void add(const HeadingMark& mark);
  void add(const Disc& disc);
  void add(const Spheres& spheres, const LineView& view);
  void add_floor(const Ground& ground);  // without its lines
  void add(const GridCells& grid);
  void add(const HeightField& field);
  void add(const Segments& segments, const LineView& view);
  void add(const Polyline& line, const LineView& view);
  void add_grid_lines(const Ground& ground, const LineView& view);

  Mesh take() { return std::move(mesh_); }

 private:
  struct Look {
    Color color;
    bool casts = true;
    double shine = 0;
  };
  uint32_t vertex(Vec3 position, Vec3 normal, Color color, double shine = 0);
  std::vector<uint32_t>& list(const Look& look);
  void triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, const Look& look);
  void quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const Look& look);
  // A side of something standing on a-b with its upper edge d-c: shaded a little darker at its foot.
  void wall(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const Look& look);
  void ribbon(Vec3 a, Vec3 b, double width, const Look& look, const LineView& view, bool flat, int depth);
  void grid_rectangle(const GridCells& grid, const Frame3& frame, int x0, int y0, int x1, int y1, double z,
                      const Look& look);
  void add_walls(const GridCells& grid, const Frame3& frame);

  Mesh mesh_;
};

// Triangles (index triples) that fill a simple polygon given counter-clockwise.
std::vector<uint32_t> triangulate(std::span<const Vec2> polygon);

}  // namespace mvsim
