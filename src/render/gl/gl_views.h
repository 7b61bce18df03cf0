// Views of sensors drawn by OpenGL: all views of a call into the layers of one target, then shaded and packed
// by a compute shader, and read back at once, or left on the GPU (render/gl/gl_pack.h). What they show is
// what rays see (render/rays/ray_view.h), but for pixels at edges; a view depends on nothing that is drawn
// beside it.
//
// Owns one OpenGL context, bound only while draw() runs: any thread may draw, one at a time.
#pragma once

#include <memory>
#include <string>

#include "render/gl/gl_view_list.h"

namespace mvsim {

class GlViews {
 public:
  // `device` as in RenderOptions. Error in one line with the remedy where there is none, or where its driver
  // lacks what is needed.
  explicit GlViews(const std::string& device = {});
  ~GlViews();
  GlViews(const GlViews&) = delete;
  GlViews& operator=(const GlViews&) = delete;

  // Shots of one size in pixels of a scene for rasters, which is uploaded with its first shot and kept for
  // those that follow. Throws RenderMemoryError, or RendererLost: then another GlViews may work.
  void draw(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

  // Why it does not draw on the GPU that CUDA knows as this, in words; empty: it does.
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
