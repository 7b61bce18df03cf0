#include "render/view_backend.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "render/egl_api.h"
#include "render/gl_views.h"
#include "render/renderer.h"

namespace mvsim {
namespace {

// The context of the process. Calls go one after the other: those of one context cannot go beside each other,
// and a process has one, whatever worlds and batches it has.
struct ProcessViews {
  std::mutex mutex;
  std::unique_ptr<GlViews> views;

  // Locked by the caller. What a parent process had is left alone: none of it may be touched here.
  GlViews& get() {
    if (views && views->in_forked_process()) {
      const bool was_hardware = !views->is_software();
      if (was_hardware)
        throw ForkedProcessError(
            "cameras are drawn by a GPU that was opened before the process forked; make the first "
            "environment "
            "with cameras in the child, use spawn, or camera_backend='rays'");
      [[maybe_unused]] GlViews* const left_alone = views.release();
    }
    if (!views) views = std::make_unique<GlViews>();
    return *views;
  }
};

ProcessViews& process_views() {
  // never destroyed: drivers have exit handlers of their own
  static auto* const kAll = new ProcessViews;  // NOLINT(cppcoreguidelines-owning-memory)
  return *kAll;
}

bool has_hardware() {
  const std::vector<FoundDevice> devices = find_devices(load_egl());
  return std::ranges::any_of(devices, [](const FoundDevice& d) { return !d.info.software; });
}

// On software rays are quicker for every number of triangles and every size that was measured
// (docs/performance.md): there is nothing to choose.
BackendChoice choose_by_machine() {
  try {
    if (!has_hardware()) return {CameraBackend::kRays, "there is no GPU"};
    ProcessViews& all = process_views();
    const std::scoped_lock lock(all.mutex);
    const GlViews& views = all.get();
    if (!views.is_software()) return {CameraBackend::kEgl, views.renderer_name()};
    all.views.reset();
    return {CameraBackend::kRays, "no GPU could be opened"};
  } catch (const Error& error) {
    return {CameraBackend::kRays, error.what()};
  }
}

// It stays, whatever becomes of the machine.
const BackendChoice& choice_of_machine() {
  static const BackendChoice kChoice = choose_by_machine();
  return kChoice;
}

CameraBackend said_by_environment() {
  const char* const value = std::getenv("MVSIM_CAMERA");
  return value && *value != '\0' ? parse_camera_backend(value, "MVSIM_CAMERA") : CameraBackend::kAuto;
}

}  // namespace

CameraBackend parse_camera_backend(const std::string& text, const std::string& source) {
  for (const CameraBackend backend : {CameraBackend::kAuto, CameraBackend::kEgl, CameraBackend::kRays})
    if (text == name_of(backend)) return backend;
  throw Error(source + ": found '" + text + "', expected 'auto', 'egl' or 'rays'");
}

const char* name_of(CameraBackend backend) {
  switch (backend) {
    case CameraBackend::kAuto:
      return "auto";
    case CameraBackend::kEgl:
      return "egl";
    case CameraBackend::kRays:
      return "rays";
  }
  return "";
}

BackendChoice choose_backend(CameraBackend wish) {
  if (wish != CameraBackend::kAuto) return {wish, "as asked for"};
  if (const CameraBackend said = said_by_environment(); said != CameraBackend::kAuto)
    return {said, "MVSIM_CAMERA says so"};
  return choice_of_machine();
}

CameraBackend backend_for(CameraBackend wish) {
  if (wish != CameraBackend::kAuto) return wish;
  const CameraBackend said = said_by_environment();
  return said != CameraBackend::kAuto ? said : choice_of_machine().backend;
}

std::string egl_renderer_name() {
  ProcessViews& all = process_views();
  const std::scoped_lock lock(all.mutex);
  return all.get().renderer_name();
}

void draw_by_egl(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots) {
  ProcessViews& all = process_views();
  const std::scoped_lock lock(all.mutex);
  try {
    all.get().draw(scene, shots);
  } catch (const RendererLost&) {
    all.views.reset();
    throw;
  }
}

}  // namespace mvsim
