// Which EGL device to open: the words of MVSIM_EGL_DEVICE, checked against what the machine has. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/gl/egl_info.h"

namespace mvsim {

enum class DeviceWish { kAuto, kIndex, kCuda, kSoftware };

struct DeviceChoice {
  DeviceWish wish = DeviceWish::kAuto;
  int number = 0;  // of kIndex and kCuda
};

// Throws Error that says what is expected. `source` names where the text came from.
DeviceChoice parse_device_choice(const std::string& text, const std::string& source);

// Places in `devices` in the order in which to try them. Throws Error that lists the devices when the wish
// names one that is not there. `cuda_visible` is CUDA_VISIBLE_DEVICES: auto takes its first GPU and no GPU
// that it hides.
std::vector<size_t> devices_to_try(const DeviceChoice& choice, const std::vector<EglDevice>& devices,
                                   const std::optional<std::string>& cuda_visible);

// Places of the devices that may be CUDA's device `ordinal` of this process, the likeliest first: CUDA counts
// what CUDA_VISIBLE_DEVICES leaves, EGL counts all.
std::vector<size_t> cuda_devices_to_try(int ordinal, const std::vector<EglDevice>& devices,
                                        const std::optional<std::string>& cuda_visible);

// "0: llvmpipe (software); 1: NVIDIA H200 (cuda:0, /dev/dri/card0)"
std::string describe(const std::vector<EglDevice>& devices);
std::string describe(const EglDevice& device);

}  // namespace mvsim
