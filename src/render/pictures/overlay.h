// Marks over a picture: their triangles and their texts.
#pragma once

#include <span>
#include <vector>

#include "render/pictures/gpu_geometry.h"
#include "scene/marks.h"
#include "scene/scene.h"

namespace mvsim {

// Triangles of marks: lines that are at least a pixel wide, dots, rings, arrows. No OpenGL.

// The eye for marks: no mark is drawn thinner than `pixel` metres per metre of distance.
struct MarkView {
  Vec3 eye;
  double pixel = 0.001;
};

struct MarkLook {
  Color color;
  double shine = 0;  // share of the colour that is emitted
};

class MarkMesh {
 public:
  // Positions are stored relative to `origin`.
  MarkMesh(Vec3 origin, const MarkView& view) : origin_(origin), view_(view) {}

  void triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, const MarkLook& look);
  void quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const MarkLook& look);
  // A ribbon that faces the eye.
  void line(Vec3 a, Vec3 b, double width, const MarkLook& look);
  // A ribbon on level ground. Below the width of a pixel it becomes paler.
  void floor_line(Vec3 a, Vec3 b, double width, const MarkLook& look);
  void ball(Vec3 center, double radius, const MarkLook& look);
  // A flat ring parallel to the ground; a full disc when inner_radius is 0.
  void ring(Vec3 center, double inner_radius, double outer_radius, const MarkLook& look);
  // A flat arrow head that points along +x of the frame.
  void arrow(const Frame3& frame, double length, const MarkLook& look);
  void mesh(const Mesh& mesh, bool blended);

  const std::vector<GpuVertex>& vertices() const { return vertices_; }
  // Corners of triangles, counter-clockwise seen from outside.
  const std::vector<uint32_t>& opaque() const { return opaque_; }
  const std::vector<uint32_t>& blended() const { return blended_; }

 private:
  uint32_t vertex(Vec3 position, Vec3 normal, const MarkLook& look);
  std::vector<uint32_t>& indices(const MarkLook& look) { return look.color.a < 255 ? blended_ : opaque_; }
  void ribbon(Vec3 a, Vec3 b, double width, const MarkLook& look, bool flat, int depth);

  Vec3 origin_;
  MarkView view_;
  std::vector<GpuVertex> vertices_;
  std::vector<uint32_t> opaque_, blended_;
};

// Marks of a picture in addition to the scene: lines on the ground, rings, hits, headings. No OpenGL.

struct Overlay {
  MarkMesh ground;  // is below all moving bodies
  MarkMesh above;
};

// Makes the marks for the eye `view`; positions are relative to `origin`. `poses`: one for each frame of the
// scene.
Overlay make_overlay(const Scene& scene, std::span<const ScenePose> poses, const Marks& marks,
                     const MarkView& view, Vec3 origin);

}  // namespace mvsim
