// Views of sensors drawn by OpenGL. All views of a call are drawn into the layers of one target, then shaded
// and packed by a compute shader. They are read back at once, or left on the GPU (render/gl/gl_pack.h). They
// equal the views of rays (render/rays/ray_view.h), except for pixels at edges. A view does not depend on the
// others that are drawn with it.
//
// It owns one OpenGL context, which is bound only while draw() runs: any thread may draw, one at a time.
#pragma once

#include <memory>
#include <string>

#include "render/gl/gl_view_list.h"

namespace mvsim {

class GlViews {
 public:
  // `device` is that of RenderOptions. Throws Error in one line with the remedy if there is none, or if its
  // driver lacks a needed feature.
  explicit GlViews(const std::string& device = {});
  ~GlViews();
  GlViews(const GlViews&) = delete;
  GlViews& operator=(const GlViews&) = delete;

  // Draws shots of one size in pixels of a scene for rasters. The scene is uploaded with its first shot and
  // kept. Throws RenderMemoryError, or RendererLost; then another GlViews may work.
  void draw(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

  // Returns why it does not draw on this GPU of CUDA, in words; empty: it does.
  std::string why_not_on(const CudaDevice& device) const;
  const std::string& device_name() const;    // as EglContext::device()
  const std::string& renderer_name() const;  // GL_RENDERER
  bool is_software() const;
  bool in_forked_process() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mvsim
