#include "render/gl/egl_info.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "render/gl/device_choice.h"
#include "render/gl/egl_context.h"

namespace mvsim {
namespace {

std::vector<std::string> find_driver_files() {
  std::vector<std::string> out;
  for (const char* folder : {"/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d"}) {
    std::error_code none;
    for (auto it = std::filesystem::directory_iterator(folder, none); !none && it != std::filesystem::end(it);
         it.increment(none))
      if (it->path().extension() == ".json") out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void find_problems(EglInfo& info) {
  const bool has_nvidia_driver =
      std::any_of(info.driver_files.begin(), info.driver_files.end(),
                  [](const auto& path) { return path.find("nvidia") != std::string::npos; });
  std::error_code none;
  if (std::filesystem::exists("/dev/nvidia0", none) && !has_nvidia_driver)
    info.problems.push_back(
        "an NVIDIA GPU is there, but its EGL driver is not (no 10_nvidia.json in "
        "/usr/share/glvnd/egl_vendor.d); in a "
        "container set NVIDIA_DRIVER_CAPABILITIES=all, else install the driver's graphics part");
  const bool has_gpu =
      std::any_of(info.devices.begin(), info.devices.end(), [](const EglDevice& d) { return !d.software; });
  if (info.software && has_gpu)
    info.problems.push_back(
        "pictures are drawn in software although EGL lists a GPU; check that this user may open /dev/dri/* "
        "(group "
        "'render' or 'video') and that MVSIM_EGL_DEVICE and CUDA_VISIBLE_DEVICES do not hide it");
}

}  // namespace

EglInfo egl_info() {
  EglInfo info;
  info.driver_files = find_driver_files();
  try {
    const EglApi egl = load_egl();
    info.library_found = true;
    for (const FoundDevice& found : find_devices(egl)) info.devices.push_back(found.info);
    const EglContext context("");
    info.chosen = context.device();
    info.renderer = context.renderer();
    info.version = context.version();
    info.software = context.software();
  } catch (const Error& error) {
    info.problems.push_back(error.what());
  }
  find_problems(info);
  return info;
}

}  // namespace mvsim
