// Chooses the EGL device to open: parses MVSIM_EGL_DEVICE and checks it against the devices of the machine.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/gl/egl_info.h"

namespace mvsim {

enum class DeviceWish { kAuto, kIndex, kCuda, kSoftware };

struct DeviceChoice {
  DeviceWish wish = DeviceWish::kAuto;
  int number = 0;  // for kIndex and kCuda
};

// Throws Error that states the expected text. `source` names the origin of the text.
DeviceChoice parse_device_choice(const std::string& text, const std::string& source);

// Returns indices in `devices` in the order in which to try them. Throws Error that lists the devices if the
// chosen one does not exist. `cuda_visible` is CUDA_VISIBLE_DEVICES: auto takes its first GPU and no GPU that
// it hides.
std::vector<size_t> devices_to_try(const DeviceChoice& choice, const std::vector<EglDevice>& devices,
                                   const std::optional<std::string>& cuda_visible);

// Returns indices of the devices that may be CUDA's device `ordinal` of this process, the most likely first.
// CUDA counts only the devices in CUDA_VISIBLE_DEVICES, and EGL counts all.
std::vector<size_t> cuda_devices_to_try(int ordinal, const std::vector<EglDevice>& devices,
                                        const std::optional<std::string>& cuda_visible);

// Returns a list such as "0: llvmpipe (software); 1: NVIDIA H200 (cuda:0, /dev/dri/card0)".
std::string describe(const std::vector<EglDevice>& devices);
std::string describe(const EglDevice& device);

}  // namespace mvsim
