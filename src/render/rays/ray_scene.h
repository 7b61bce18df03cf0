// A Scene made ready for rays: pieces of few triangles and trees of all others, their planes in double
// precision, what shading needs. Made once a scene, immutable, any thread. Coordinates are metres.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "raycast/triangle_tree.h"
#include "render/rays/mip_image.h"
#include "render/rays/ray_piece.h"
#include "scene/scene.h"

namespace mvsim {

// A triangle's plane, and where on it a point lies: dot(normal, p) = offset; the weights of corners 1 and 2
// at p are dot(to_weight[k], p) - weight_offset[k].
struct RayTriangle {
  Vec3 normal{};  // of length 1, towards its front
  double offset = 0;
  std::array<Vec3, 2> to_weight{};
  std::array<double, 2> weight_offset{};
  std::array<uint32_t, 3> corners{};
  uint32_t part = 0;
  float texels_per_metre = 0;  // copies of the texture along a metre; 0: no texture
  bool is_flat = false;        // it has one normal, one alpha, and no texture
  bool is_plain = false;       // and one colour
};

struct RayCorner {
  std::array<float, 3> normal, base;  // base: the colour, squared to be near linear light
  std::array<float, 2> uv;
  float alpha;
};

// What the triangles of one part of a body have in common; kept for those who draw them by OpenGL.
struct RayPartLook {
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
};

// One instance of a body: its label and what its triangles share.
struct RayPart {
  int texture = Material::kNoTexture;
  uint16_t label = 0;
};

// What moves as one, in the coordinates of its frame less `origin`.
struct RayBody {
  Vec3 origin;
  double radius = 0;  // of a sphere about (0, 0, 0) that holds everything
  std::vector<RayTriangle> triangles;
  std::vector<RayCorner> corners;
  std::vector<RayPiece> pieces;
  std::vector<uint32_t> traced;              // triangles that are in the trees
  std::unique_ptr<const TriangleTree> seen;  // of indices into `traced`; none: there are only pieces
  std::unique_ptr<const TriangleTree> shades;
  // Of a scene for rasters, in place of pieces and trees: where its corners are, and its parts.
  std::vector<Vec3> points;
  std::vector<RayPartLook> looks;

  bool casts_shadow() const;
};

// A body hung on a frame of the scene.
struct RayGroup {
  uint32_t frame = kWorldFrame;
  int sensor = Instance::kNoSensor;  // whose device it is
  std::shared_ptr<const RayBody> body;
  std::vector<RayPart> parts;
};

struct RayScene {
  std::vector<RayGroup> groups;  // what hangs on the world comes first
  std::vector<MipImage> textures;
  Sun sun;
  Sky sky;
  bool has_shadows = true;
};

enum class RaySceneUse {
  kRays,    // pieces and trees, by Embree
  kRaster,  // points and looks, which need no library
};

// Throws Error where there are more triangles than it takes, or no Embree for rays.
std::shared_ptr<const RayScene> make_ray_scene(const Scene& scene, RaySceneUse use = RaySceneUse::kRays);

}  // namespace mvsim
