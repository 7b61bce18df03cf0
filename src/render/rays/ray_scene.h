// Scenes for rays: small pieces, and trees of triangles.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry3.h"
#include "raycast/triangle_tree.h"
#include "render/rays/mip_image.h"
#include "scene/scene.h"

namespace mvsim {

// Small parts of a scene for rays, which need no tree. Plain values, metres.

// An instance of few triangles. They are compared with all rays that may hit them. Other triangles are found
// by a tree.
struct RayPiece {
  Vec3 center;  // centre of a bounding sphere
  double radius = 0;
  std::vector<Vec3> points;                        // all different
  std::vector<std::array<uint32_t, 3>> triangles;  // indices in `points`; RayBody::triangles from `first` on
  uint32_t first = 0;
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
  bool is_opaque = true;
  bool is_closed = false;  // from outside a front hides each back
};

// Makes a piece of triangles, whose corners are counter-clockwise seen from their fronts.
RayPiece make_piece(std::span<const std::array<Vec3, 3>> triangles);

// A Scene prepared for rays: pieces of few triangles and trees of all others, their planes in double
// precision, and the data for shading. Made once for a scene, immutable, any thread. Coordinates are metres.

// A triangle's plane, dot(normal, p) = offset, and the barycentric weights of its points. The weights of
// corners 1 and 2 at p are dot(to_weight[k], p) - weight_offset[k].
struct RayTriangle {
  Vec3 normal{};  // of length 1, towards its front
  double offset = 0;
  std::array<Vec3, 2> to_weight{};
  std::array<double, 2> weight_offset{};
  std::array<uint32_t, 3> corners{};
  uint32_t part = 0;
  float texels_per_metre = 0;  // copies of the texture along a metre; 0: no texture
  bool is_flat = false;        // it has one normal, one alpha, and no texture
  bool is_plain = false;       // it is flat and has one colour
};

struct RayCorner {
  std::array<float, 3> normal, base;  // base: the colour, squared to be near linear light
  std::array<float, 2> uv;
  float alpha;
};

// Common properties of the triangles of a part of a body; kept for drawing by OpenGL.
struct RayPartLook {
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
};

// One instance of a body: its label and its texture.
struct RayPart {
  int texture = Material::kNoTexture;
  uint16_t label = 0;
};

// A rigid body, in the coordinates of its frame minus `origin`.
struct RayBody {
  Vec3 origin;
  double radius = 0;  // of a bounding sphere around (0, 0, 0)
  std::vector<RayTriangle> triangles;
  std::vector<RayCorner> corners;
  std::vector<RayPiece> pieces;
  std::vector<uint32_t> traced;              // triangles that are in the trees
  std::unique_ptr<const TriangleTree> seen;  // over indices into `traced`; null: there are only pieces
  std::unique_ptr<const TriangleTree> shades;
  // For rasters, instead of pieces and trees: the positions of the corners, and the parts.
  std::vector<Vec3> points;
  std::vector<RayPartLook> looks;

  bool casts_shadow() const;
};

// A body on a frame of the scene.
struct RayGroup {
  uint32_t frame = kWorldFrame;
  int sensor = Instance::kNoSensor;  // the sensor of the device, if it is one
  std::shared_ptr<const RayBody> body;
  std::vector<RayPart> parts;
};

struct RayScene {
  std::vector<RayGroup> groups;  // groups on the world frame come first
  std::vector<MipImage> textures;
  Sun sun;
  Sky sky;
  bool has_shadows = true;
};

enum class RaySceneUse {
  kRays,    // pieces and trees, by Embree
  kRaster,  // points and looks, which need no library
};

// Throws Error if there are too many triangles, or no Embree for rays.
std::shared_ptr<const RayScene> make_ray_scene(const Scene& scene, RaySceneUse use = RaySceneUse::kRays);

}  // namespace mvsim
