// Draws headless pictures of a Scene: shaded, shadowed, antialiased. Metres and radians in, RGB bytes out.
//
// A Renderer owns one OpenGL context, which is bound only while draw() runs: any thread may draw, one at a
// time. Different Renderers are independent. The same scene, camera and size give the same bytes on the same
// driver.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/array.h"
#include "render/pictures/camera.h"
#include "scene/marks.h"
#include "scene/scene.h"

namespace mvsim {

struct RenderOptions {
  // "auto", an EGL device index, "cuda:<n>" or "software"; empty: the environment variable MVSIM_EGL_DEVICE,
  // else auto.
  std::string device;
  int samples = 4;  // antialiasing samples per pixel: 1, 2, 4 or 8, limited by the driver
  bool shadows = true;
};

class Renderer {
 public:
  // Loads libEGL and opens a device. Throws Error in one line with the remedy if there is none.
  explicit Renderer(const RenderOptions& options = {});
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Draws a picture of width x height pixels, 3 channels, row 0 at the top. `poses`: one for each frame of
  // the scene. The scene is uploaded with its first picture and kept.
  Image draw(const std::shared_ptr<const Scene>& scene, std::span<const ScenePose> poses, const Marks& marks,
             const Camera& camera, int width, int height);

  const std::string& renderer_name() const;  // GL_RENDERER
  // Returns one line for the user if pictures are drawn in software; empty on a GPU.
  const std::string& notice() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mvsim
