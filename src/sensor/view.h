// Views of sensors, and what can draw them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/geometry3.h"
#include "base/math.h"

namespace mvsim {

// A view: the rays along which something is seen and the content of each pixel. It is the input of renderers.

// Content of each pixel of a view. Where nothing is seen: the sky's colour, 0 m, label 0, intensity 0.
enum class ViewContent : uint8_t {
  kColor,      // uint8 [height, width, 3]: red, green, blue
  kDepth,      // float32 [height, width], m: along z of a pinhole camera, along the ray of rings
  kLabels,     // uint16 [height, width]: Instance::label
  kIntensity,  // float32 [height, width], 0 to 1: luma of the colour
};

// A camera or a lidar, in the frame of its view. A pinhole looks along z, x right, y down: the ray of column
// c and row r goes through x = (c - cx) / fx, y = (r - cy) / fy, z = 1. Rings turn about z, x forward, y
// left: row r has the elevation of rings[r], column c the azimuth of columns[c].
struct View {
  ViewContent content = ViewContent::kColor;
  int width = 0, height = 0;
  double fx = 1, fy = 1, cx = 0, cy = 0;  // px, of a pinhole
  std::vector<SinCos> rings, columns;     // of elevations, ascending, and azimuths; empty: a pinhole
  bool turns = true;  // rings: the columns are evenly spaced over a full turn, the first one at the back
  double near = 0.01, far = 1e4;  // m, measured as kDepth; nearer and farther things are not seen
  Frame3 T_sensor_view;
  bool hides_vehicle = false;  // its own vehicle is not seen

  bool is_pinhole() const { return rings.empty(); }
  // Angle between neighbouring pixels, rad: the distance between their rays at a distance of 1.
  double pixel_angle() const { return is_pinhole() ? 1 / std::max(fx, fy) : 2 * kPi / width; }
};

// Whether both views have the same rays. Their contents may differ, as those of a sensor's images often do.
bool have_same_rays(const View& a, const View& b);

// Backend that draws the views of cameras. 3D lidars are always cast by rays.

enum class CameraBackend : uint8_t {
  kAuto,  // MVSIM_CAMERA, else OpenGL on hardware and rays without
  kEgl,   // OpenGL
  kRays,  // rays on the CPU
};

}  // namespace mvsim
