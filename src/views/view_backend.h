// The choice of the backend that draws the views of cameras, and the one OpenGL context of the process for
// them. Any thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sensor/view.h"

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

// Resolves a requested backend. For kAuto MVSIM_CAMERA decides, else OpenGL is taken where a GPU can draw.
// The answer for a process changes only with MVSIM_CAMERA. Throws Error for an unknown word in MVSIM_CAMERA.
BackendChoice choose_backend(CameraBackend wish);
CameraBackend backend_for(CameraBackend wish);  // the same without words

// Returns the resolved backend if it is known without a look at the machine, which the first drawing takes;
// else kAuto.
CameraBackend known_backend(CameraBackend wish);

// Resolves a requested backend for views that stay on `device`, a GPU: kEgl. Throws Error where the request
// or MVSIM_CAMERA names another.
CameraBackend backend_on_gpu(CameraBackend wish, const std::string& device);

// The GPU on which the context of the process draws, as CUDA knows it, for views that stay there; opens the
// context there if there is none yet. Throws Error, one line with the remedy, where it draws elsewhere or
// cannot be opened there.
std::shared_ptr<CudaDevice> cuda_device_of_views(int ordinal);

// Draws by the context of the process (GlViews::draw), which is opened with the first call, and anew after it
// was lost and in a forked process.
void draw_by_egl(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots);

}  // namespace mvsim
