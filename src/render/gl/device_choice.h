// Devices of EGL: their description, and the choice of one.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mvsim {

// Describes EGL on this machine, for `mvsim-gym doctor`. Opens devices and closes them again; any thread.

struct EglDevice {
  int index = 0;          // as in MVSIM_EGL_DEVICE=<index>
  std::string name;       // vendor and renderer if the driver gives them, else a description
  int cuda_ordinal = -1;  // -1: not a CUDA device
  std::string drm_node;   // "/dev/dri/card0" or empty
  bool software = false;
};

struct EglInfo {
  bool library_found = false;  // libEGL.so.1 can be loaded
  std::vector<EglDevice> devices;
  std::vector<std::string> driver_files;  // the vendor descriptions libEGL chooses from
  std::string chosen;                     // the device a Renderer would use now, in words; empty: none works
  std::string renderer;                   // GL_RENDERER of the chosen device
  std::string version;                    // GL_VERSION
  bool software = false;                  // pictures are drawn by the CPU
  std::vector<std::string> problems;      // each with its remedy
};

EglInfo egl_info();

// Chooses the EGL device to open: parses MVSIM_EGL_DEVICE and checks it against the devices of the machine.
// Pure functions.

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
