// Describes EGL on this machine, for `mvsim-gym doctor`. Opens devices and closes them again; any thread.
#pragma once

#include <string>
#include <vector>

namespace mvsim {

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

}  // namespace mvsim
