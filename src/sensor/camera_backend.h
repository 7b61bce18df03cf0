// Backend that draws the views of cameras. 3D lidars are always cast by rays.
#pragma once

#include <cstdint>

namespace mvsim {

enum class CameraBackend : uint8_t {
  kAuto,  // MVSIM_CAMERA, else OpenGL on hardware and rays without
  kEgl,   // OpenGL
  kRays,  // rays on the CPU
};

}  // namespace mvsim
