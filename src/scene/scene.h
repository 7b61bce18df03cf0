// The scene that sensors and viewers see, and the sky around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assets/read_image.h"
#include "base/geometry3.h"
#include "scene/shapes.h"

namespace mvsim {

// A box of pictures around the world, infinitely far away. A direction of the world is looked up as a side of
// the box and a place on that side.

inline constexpr size_t kSkySides = 6;

// Axes of a picture seen from the middle: it is ahead, its columns run to the right and its rows down.
struct SkySide {
  Vec3 right, down, ahead;
};

// Front (+y), back, down, up, left (+x), right, as MVSim names them: the suns of its pictures stand where its
// worlds have their lights. The upper side touches the front one with its lower edge, the lower side with its
// upper edge.
inline constexpr std::array<SkySide, kSkySides> kSkyBox{{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
                                                         {{-1, 0, 0}, {0, 0, -1}, {0, -1, 0}},
                                                         {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
                                                         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                         {{0, -1, 0}, {0, 0, -1}, {1, 0, 0}},
                                                         {{0, 1, 0}, {0, 0, -1}, {-1, 0, 0}}}};

struct SkyPlace {
  size_t side = 0;
  double u = 0.5, v = 0.5;  // of the picture: 0 left and above, 1 right and below
};

// `direction` is of any length but 0.
inline SkyPlace sky_place(Vec3 direction) {
  SkyPlace out;
  double nearest = -1;
  for (size_t side = 0; side < kSkySides; ++side)
    if (const double ahead = dot(kSkyBox[side].ahead, direction); ahead > nearest) {
      nearest = ahead;
      out.side = side;
    }
  if (!(nearest > 0)) return {};
  const SkySide& side = kSkyBox[out.side];
  out.u = 0.5 + 0.5 * dot(side.right, direction) / nearest;
  out.v = 0.5 + 0.5 * dot(side.down, direction) / nearest;
  return out;
}

// Visible form of a world: shapes with materials, the frame of each shape, the sun and the sky. Metres and
// radians, world frame. Compiled with the Model, never changed afterwards, read from any thread; independent
// of OpenGL, noise and cameras.
//
// The poses of a simulation are one array of `ScenePose`, with a pose for each frame in this order:
// - frame 0, the world
// - the bodies in the order of Model::bodies
// - all wheels in the order of a Simulation's wheels; the frame of a wheel steers and spins
// - blocks without a rigid body that can change their place
// - parts of vehicles that turn with a wheel
//
// Shapes may refer to data of the Model (maps): a Scene is held by a pointer that shares the Model's life.

struct Material {
  static constexpr int kNoTexture = -1;

  Color color{};             // alpha below 255 is blended over what is behind it
  int texture = kNoTexture;  // in Scene::textures; multiplies the colour, repeats beyond [0, 1]
  bool casts_shadow = true;
  CullFaces cull = CullFaces::kBack;  // kNone: both sides are drawn and lit

  friend bool operator==(const Material&, const Material&) = default;
};

inline constexpr uint32_t kWorldFrame = 0;

struct Instance {
  static constexpr int kNoSensor = -1;

  uint32_t shape = 0, material = 0;  // in Scene::shapes, Scene::materials
  uint32_t frame = kWorldFrame;      // in the array of poses
  Frame3 T_frame_shape;    // its axes may be longer or shorter than 1: the shape is scaled, the same in all
                           // directions
  uint16_t label = 0;      // of the thing that it belongs to: things count from 1 in the order of the file
  int sensor = kNoSensor;  // in Model::sensors: it is the body of this device
};

// Pose and scale of a frame. The scale enlarges its shapes along x and y of the frame, not their heights:
// placed blocks change their size so.
struct ScenePose {
  Frame3 T_world_frame;
  double scale = 1;
};

// Light from infinitely far away.
struct Sun {
  Vec3 to_sun{-0.42, 0.38, 0.8243};  // from the upper left of a view from above
  std::array<float, 3> color{0.72F, 0.69F, 0.64F};
  float ambient = 1;  // of the light of the sky: 0 leaves black what the sun does not reach
};

// Background of every image: colours by elevation, or pictures on the sides of a box.
struct Sky {
  std::array<float, 3> horizon{0.93F, 0.95F, 0.97F}, above{0.55F, 0.70F, 0.88F}, below{0.78F, 0.80F, 0.83F};
  std::optional<std::array<int, kSkySides>> box{};  // places in Scene::textures
};

// Grid on the ground by which people judge distances. No sensor sees it.
struct GroundGrid {
  Rect extent;
  double interval = 1, width = 0.02;  // m, of the lines
  Color color;
  uint32_t frame = kWorldFrame;  // which it follows in steps of the interval
};

// Line through points of the world. No sensor sees it.
struct Marker {
  std::vector<Vec3> points;
  Color color;
};

struct Scene {
  std::vector<Shape> shapes;
  std::vector<Material> materials;
  std::vector<std::shared_ptr<const ColorImage>> textures;
  std::vector<Instance> instances;
  std::vector<GroundGrid> ground_grids;
  std::vector<Marker> markers;
  Sun sun;
  Sky sky;
  bool has_shadows = true;
  std::vector<std::string> label_names;  // of the things, from label 1 on
  uint32_t frame_count = 1;              // length of the array of poses

  Rect bounds;        // what a view from above shows
  double height = 0;  // m above 0 of the tallest thing that stands in it, about
};

// The frame of Model::bodies[body].
inline uint32_t frame_of_body(size_t body) {
  return 1 + static_cast<uint32_t>(body);
}
// The frame of a Simulation's wheel, counted over all vehicles of a world with so many bodies.
inline uint32_t frame_of_wheel(size_t body_count, size_t wheel) {
  return 1 + static_cast<uint32_t>(body_count + wheel);
}

}  // namespace mvsim
