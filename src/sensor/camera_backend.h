// Which way the views of cameras are drawn. 3D lidars are always cast by rays.
#pragma once

#include <cstdint>

namespace mvsim {

enum class CameraBackend : uint8_t {
  kAuto,  // MVSIM_CAMERA, else OpenGL on hardware and rays without
  kEgl,   // OpenGL (render/gl_views.h)
  kRays,  // rays on the CPU (render/ray_view.h, render/flat_view.h)
};

}  // namespace mvsim
