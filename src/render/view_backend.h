// Who draws the views of cameras, and the process's one OpenGL context for them. Any thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sensor/camera_backend.h"

namespace mvsim {

struct GlShot;
struct RayScene;

// "auto", "egl" or "rays". Throws Error that names `source`.
CameraBackend parse_camera_backend(const std::string& text, const std::string& source);
const char* name_of(CameraBackend backend);

struct BackendChoice {
  CameraBackend backend = CameraBackend::kRays;  // never kAuto
  std::string reason;                            // why, in words
};

// What a wish comes to: kAuto is what MVSIM_CAMERA says, else OpenGL where a GPU can draw. The answer for a
// process does not change, unless MVSIM_CAMERA does. Throws Error where MVSIM_CAMERA is none of the words.
BackendChoice choose_backend(CameraBackend wish);
CameraBackend backend_for(CameraBackend wish);  // the same without words

// The GL_RENDERER that draws; opens the context if need be.
std::string egl_renderer_name();

// Draws by the context of the process (GlViews::draw), which is opened with the first call, and anew after it
// was lost and in a forked process.
void draw_by_egl(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

}  // namespace mvsim
