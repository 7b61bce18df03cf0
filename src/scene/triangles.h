// Triangles of shapes, for drawing, ray casting and export. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scene/scene.h"

namespace mvsim {

struct TriangleOptions {
  int max_nodes = 0;  // of a height field, a side: of a larger one every n-th node; 0: all
};

// The triangles of a shape that stands at `frame`. Their colours are final: the material's, shaded as the
// shape has it (walls a little darker at their foot, hills by height).
Mesh triangles_of(const Shape& shape, Color color, const Frame3& frame, const TriangleOptions& options = {});

// Returns the number of triangles of all instances.
size_t triangle_count(const Scene& scene);

// Triangles (index triples) that fill a simple polygon given counter-clockwise.
std::vector<uint32_t> triangulate(std::span<const Vec2> polygon);

// Collects the triangles of one shape, in the shape's frame.
class MeshBuilder {
 public:
  MeshBuilder(const Frame3& frame, Color color) : frame_(frame), color_(color) {}

  void add(const SharedMesh& mesh) { add(*mesh); }
  void add(const Mesh& mesh);
  void add(const Prism& prism);
  void add(const WheelShape& wheel);
  void add(const LevelRect& rect);
  void add(const GridCells& grid);                    // grid_triangles.cpp
  void add(const HeightField& field, int max_nodes);  // grid_triangles.cpp

  Mesh take() { return std::move(mesh_); }

 private:
  uint32_t vertex(Vec3 position, Vec3 normal, Color color);
  void triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, Color color);
  void quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, Color color);
  // A side of something standing on a-b with its upper edge d-c: shaded a little darker at its foot.
  void wall(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal);
  // Sets the texture coordinates of the vertex added last, in copies of the texture; v grows downwards, as
  // rows of images do.
  void texture_at(double u, double v) { mesh_.uvs.push_back({static_cast<float>(u), static_cast<float>(v)}); }
  void indices(std::initializer_list<uint32_t> list) { mesh_.indices.insert(mesh_.indices.end(), list); }

  Frame3 frame_;
  Color color_;
  Mesh mesh_;
};

// Returns a colour times a factor, at most white.
Color shaded(Color color, double factor);

// Returns the colour at the foot of a wall that has this colour above.
Color foot_color(Color color);

// Returns twice the area of a polygon, positive if its vertices are counter-clockwise.
double area2(std::span<const Vec2> polygon);

}  // namespace mvsim
