#include "views/view_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "render/gl/cuda_device.h"
#include "render/gl/device_choice.h"
#include "render/gl/egl_context.h"
#include "render/gl/gl_view_list.h"
#include "render/gl/gl_views.h"

namespace mvsim {
namespace {

// A context on the GPU of this name. EGL's numbers are not CUDA's: CUDA itself is asked which one it is.
std::unique_ptr<GlViews> open_on(const CudaDevice& device) {
  std::vector<EglDevice> infos;
  for (const FoundDevice& found : find_devices(load_egl())) infos.push_back(found.info);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string tried;
  for (const size_t place : cuda_devices_to_try(
           device.ordinal(), infos, visible ? std::optional<std::string>(visible) : std::nullopt)) {
    const auto note = [&](const std::string& why) {
      tried += (tried.empty() ? "" : "; ") + describe(infos[place]) + ": " + why;
    };
    try {
      auto views = std::make_unique<GlViews>(std::to_string(infos[place].index));
      const std::string why_not = views->why_not_on(device);
      if (why_not.empty()) return views;
      note(why_not);
    } catch (const Error& error) {
      note(error.what());
    }
  }
  throw Error(
      "no EGL device draws on " + device.text() + " (" + device.name() +
      "): " + (tried.empty() ? "this machine has " + describe(infos) : tried) +
      "; in a container with an NVIDIA GPU set NVIDIA_DRIVER_CAPABILITIES=all, so that the driver's "
      "graphics part (10_nvidia.json, libEGL_nvidia) is there, or leave out device= to have NumPy arrays");
}

// The context of the process. Calls go one after the other: those of one context cannot go beside each other,
// and a process has one, whatever worlds and batches it has.
struct ProcessViews {
  std::mutex mutex;
  std::unique_ptr<GlViews> views;

  // Locked by the caller. A forked child leaves the objects of its parent alone: it must not touch them.
  // `on`: where a new one is to draw, if that matters.
  GlViews& get(const CudaDevice* on = nullptr) {
    if (views && views->in_forked_process()) {
      const bool was_hardware = !views->is_software();
      if (was_hardware)
        throw ForkedProcessError(
            "cameras are drawn by a GPU that was opened before the process forked; make the first "
            "environment "
            "with cameras in the child, use spawn, or camera_backend='rays'");
      [[maybe_unused]] GlViews* const left_alone = views.release();
    }
    if (!views) views = on ? open_on(*on) : std::make_unique<GlViews>();
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

std::atomic<CameraBackend>& known_choice() {
  static std::atomic<CameraBackend> known{CameraBackend::kAuto};
  return known;
}

// It stays, whatever becomes of the machine.
const BackendChoice& choice_of_machine() {
  static const BackendChoice kChoice = [] {
    BackendChoice choice = choose_by_machine();
    known_choice() = choice.backend;
    return choice;
  }();
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
  constexpr const char* kNames[] = {"auto", "egl", "rays"};
  return kNames[static_cast<size_t>(backend)];
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

CameraBackend known_backend(CameraBackend wish) {
  if (wish != CameraBackend::kAuto) return wish;
  try {
    const CameraBackend said = said_by_environment();
    return said != CameraBackend::kAuto ? said : known_choice().load();
  } catch (const Error&) {  // in MVSIM_CAMERA; the first drawing reports it
    return CameraBackend::kAuto;
  }
}

CameraBackend backend_on_gpu(CameraBackend wish, const std::string& device) {
  const bool is_said = wish == CameraBackend::kAuto && said_by_environment() == CameraBackend::kRays;
  if (is_said || wish == CameraBackend::kRays)
    throw Error("device: found '" + device + "' and " +
                (is_said ? "MVSIM_CAMERA=rays" : "camera_backend='rays'") +
                ", which draws on the CPU, expected 'egl' or 'auto'");
  return CameraBackend::kEgl;
}

std::shared_ptr<CudaDevice> cuda_device_of_views(int ordinal) {
  std::shared_ptr<CudaDevice> device = cuda_device(ordinal);
  ProcessViews& all = process_views();
  const std::scoped_lock lock(all.mutex);
  if (all.views && !all.views->in_forked_process()) {
    if (const std::string why_not = all.views->why_not_on(*device); !why_not.empty())
      throw Error("the cameras of this process are drawn on " + all.views->device_name() + ", which is not " +
                  device->text() + " (" + why_not +
                  "): name that GPU in device=, or set MVSIM_EGL_DEVICE before the first camera is drawn");
    return device;
  }
  all.get(device.get());
  return device;
}

void draw_by_egl(const std::shared_ptr<const RayScene>& scene, std::span<const GlShot> shots) {
  ProcessViews& all = process_views();
  const std::scoped_lock lock(all.mutex);
  const CudaDevice* on = nullptr;
  for (const GlShot& shot : shots)
    for (const GlPicture& picture : shot.pictures)
      if (picture.on_device) on = picture.on_device->device;
  try {
    all.get(on).draw(scene, shots);
  } catch (const RendererLost&) {
    all.views.reset();
    throw;
  }
}

}  // namespace mvsim
