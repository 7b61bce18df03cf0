// Who draws the views of cameras, and the process's one OpenGL context for them. Any thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sensor/camera_backend.h"

namespace mvsim {

class CudaDevice;
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

// The same where it is known without looking at the machine, which nobody has done before a view is drawn;
// else kAuto.
CameraBackend known_backend(CameraBackend wish);

// What a wish comes to where views are to stay on `device`, a GPU: kEgl. Throws Error where it, or
// MVSIM_CAMERA, says otherwise.
CameraBackend backend_on_gpu(CameraBackend wish, const std::string& device);

// The GL_RENDERER that draws; opens the context if need be.
std::string egl_renderer_name();

// The GPU on which the context of the process draws, as CUDA knows it, for views that stay there; opens the
// context there if there is none yet. Throws Error, one line with the remedy, where it draws elsewhere or
// cannot be opened there.
std::shared_ptr<CudaDevice> cuda_device_of_views(int ordinal);

// Draws by the context of the process (GlViews::draw), which is opened with the first call, and anew after it
// was lost and in a forked process.
void draw_by_egl(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

}  // namespace mvsim
