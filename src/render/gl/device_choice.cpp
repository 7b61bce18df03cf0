#include "render/gl/device_choice.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
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

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<size_t> places_of(const std::vector<EglDevice>& devices, auto wanted) {
  std::vector<size_t> out;
  for (size_t i = 0; i < devices.size(); ++i)
    if (wanted(devices[i])) out.push_back(i);
  return out;
}

// Returns the ordinals in CUDA_VISIBLE_DEVICES up to the first invalid one, as CUDA reads it; nothing if GPUs
// are named by UUID.
std::optional<std::vector<int>> visible_ordinals(const std::string& text) {
  std::vector<int> out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    if (item.find("GPU-") == 0 || item.find("MIG-") == 0) return std::nullopt;
    const std::optional<int> ordinal = whole_number(item);
    if (!ordinal) break;
    out.push_back(*ordinal);
    at = comma + 1;
  }
  return out;
}

std::vector<size_t> automatic_order(const std::vector<EglDevice>& devices,
                                    const std::optional<std::string>& cuda_visible) {
  const std::optional<std::vector<int>> visible =
      cuda_visible ? visible_ordinals(*cuda_visible) : std::optional<std::vector<int>>();
  std::vector<size_t> out;
  if (visible) {
    for (const int ordinal : *visible)
      for (const size_t i : places_of(devices, [&](const EglDevice& d) { return d.cuda_ordinal == ordinal; }))
        out.push_back(i);
  }
  for (const size_t i : places_of(
           devices, [&](const EglDevice& d) { return !d.software && !(visible && d.cuda_ordinal >= 0); }))
    out.push_back(i);
  for (const size_t i : places_of(devices, [](const EglDevice& d) { return d.software; })) out.push_back(i);
  return out;
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

DeviceChoice parse_device_choice(const std::string& text, const std::string& source) {
  if (text.empty() || text == "auto") return {};
  if (text == "software") return {DeviceWish::kSoftware, 0};
  if (const auto index = whole_number(text)) return {DeviceWish::kIndex, *index};
  if (text.rfind("cuda:", 0) == 0)
    if (const auto ordinal = whole_number(std::string_view(text).substr(5)))
      return {DeviceWish::kCuda, *ordinal};
  throw Error(source + ": '" + text + "', expected auto, software, an EGL device index or cuda:<n>" +
              did_you_mean(text, {"auto", "software", "cuda:0"}));
}

std::vector<size_t> devices_to_try(const DeviceChoice& choice, const std::vector<EglDevice>& devices,
                                   const std::optional<std::string>& cuda_visible) {
  switch (choice.wish) {
    case DeviceWish::kAuto:
      return automatic_order(devices, cuda_visible);
    case DeviceWish::kSoftware:
      return places_of(devices, [](const EglDevice& d) { return d.software; });
    case DeviceWish::kIndex: {
      auto out = places_of(devices, [&](const EglDevice& d) { return d.index == choice.number; });
      if (out.empty())
        throw Error("no EGL device " + std::to_string(choice.number) + "; this machine has " +
                    describe(devices));
      return out;
    }
    case DeviceWish::kCuda: {
      auto out = places_of(devices, [&](const EglDevice& d) { return d.cuda_ordinal == choice.number; });
      if (out.empty())
        throw Error(
            "no EGL device is CUDA device " + std::to_string(choice.number) + "; this machine has " +
            describe(devices) +
            "; in a container with an NVIDIA GPU set NVIDIA_DRIVER_CAPABILITIES=all, so that the driver's "
            "graphics part (10_nvidia.json, libEGL_nvidia) is there");
      return out;
    }
  }
  return {};
}

std::vector<size_t> cuda_devices_to_try(int ordinal, const std::vector<EglDevice>& devices,
                                        const std::optional<std::string>& cuda_visible) {
  const auto place = static_cast<size_t>(ordinal);
  const auto visible = cuda_visible ? visible_ordinals(*cuda_visible) : std::optional<std::vector<int>>();
  const int likely = visible && place < visible->size() ? (*visible)[place] : ordinal;
  std::vector<size_t> out = places_of(devices, [&](const EglDevice& d) { return d.cuda_ordinal == likely; });
  for (const size_t i : places_of(
           devices, [&](const EglDevice& d) { return d.cuda_ordinal >= 0 && d.cuda_ordinal != likely; }))
    out.push_back(i);
  return out;
}

std::string describe(const EglDevice& device) {
  std::string notes;
  const auto note = [&notes](const std::string& text) { notes += (notes.empty() ? "" : ", ") + text; };
  if (device.software) note("software");
  if (device.cuda_ordinal >= 0) note("cuda:" + std::to_string(device.cuda_ordinal));
  if (!device.drm_node.empty()) note(device.drm_node);
  return std::to_string(device.index) + ": " + device.name + (notes.empty() ? "" : " (" + notes + ")");
}

std::string describe(const std::vector<EglDevice>& devices) {
  if (devices.empty()) return "no EGL device";
  std::string out;
  for (const EglDevice& device : devices) out += (out.empty() ? "" : "; ") + describe(device);
  return out;
}

}  // namespace mvsim
