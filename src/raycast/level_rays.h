// Rays of level eyes: what they hit, and the shading of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// Rays of a camera or lidar without pitch and roll (a level eye), and the first thing that each ray hits. The
// rays of a column lie in one vertical plane.
//
// Coordinates are relative to the eye, x forward and y left. Column c looks along (dx[c], dy[c]). Over the
// length of this vector, row r rises by slopes[r], and the distance that a picture reports grows by
// scales[r].

inline constexpr double kBeyond = 1e30;  // steeper than any slope, farther than any distance; a float

struct LevelRays {
  static constexpr int kPadding = 16;  // columns beyond the last that kernels may touch

  // `slopes`: ascending or descending.
  LevelRays(std::vector<Vec2> directions, std::span<const double> slopes, std::span<const double> scales);

  int width = 0, height = 0, stride = 0;  // stride: columns with their padding
  std::vector<double> dx, dy;
  std::vector<float> dx_float, dy_float;
  std::vector<float> slopes, scales;
  std::vector<double> per_height;  // by row: reported distance of a level surface, per height above the eye
  // A range that contains all rows with slopes in [low, high], and possibly others.
  struct Rows {
    int begin = 0, end = 0;
  };
  Rows rows_between(float low, float high) const {
    if (!(low <= high)) return {};
    const size_t lowest = bin_of(low), highest = bin_of(high);
    return ascending_ ? Rows{first_row_[lowest], end_row_[highest]}
                      : Rows{first_row_[highest], end_row_[lowest]};
  }

 private:
  size_t bin_of(float slope) const {  // never falls while the slope rises
    const auto last = static_cast<float>(first_row_.size() - 1);
    return static_cast<size_t>(std::min(std::max((slope - lowest_) * per_slope_, 0.0F), last));
  }

  // Slopes are sorted into bins of equal width. first_row_[b] is the first row whose slope lies in bin b or
  // in a later one, end_row_[b] is one past the last row whose slope lies in bin b or in an earlier one.
  bool ascending_ = true;
  float lowest_ = 0, per_slope_ = 1;
  std::vector<int> first_row_, end_row_;
};

// Reported distances, row by row with rays.stride columns, and the name of the surface at each pixel.
struct LevelPicture {
  // Surfaces whose reported distance is below `near_limit` or above `far_limit` are not seen.
  LevelPicture(const LevelRays& rays, float near_limit, float far_limit, bool has_names);

  float near = 0, far = 1;
  float nothing = 0;  // the distance where nothing is seen: beyond `far`
  std::span<float> distance;
  std::span<int32_t> name;  // empty: not asked for
  // By column: beyond the distance closed_at, an upright prism hides all slopes up to closed_slope.
  std::span<float> closed_slope, closed_at;

 private:
  std::unique_ptr<float[]> floats_;
  std::unique_ptr<int32_t[]> names_;
};

// Writes distances row by row without padding; those beyond `far` are 0.
void write_distances(const LevelRays& rays, const LevelPicture& picture, float far, float* out);
// Returns the least distance; infinite if nothing is seen.
float nearest_of(const LevelRays& rays, const LevelPicture& picture);
// Writes the low halves of the names, row by row without padding.
void write_names(const LevelRays& rays, const LevelPicture& picture, uint16_t* out);

// Columns [begin, end).
struct ColumnRange {
  int begin = 0, end = 0;
};

// A prism before the eye: its outline in the eye's plane, convex and counter-clockwise, heights above the
// eye.
struct SeenPrism {
  std::span<const Vec2> outline;
  double low = 0, high = 1;
  uint8_t faces = 7;    // PrismFaces
  bool stands = false;  // no surface of the scene is lower, so nothing is seen below this prism
  int32_t name = 0;     // of its top; its bottom is 1, its sides are 2, 3, ... times name_step more
  int32_t name_step = 0;
};

// Bit of a name: the surface lies in the shade.
inline constexpr int32_t kShaded = 1 << 30;

// Marks pixels of this name as shaded if they lie at this height below the eye and within the outline.
void shade_level(const LevelRays& rays, std::span<const Vec2> outline, double height, int32_t name,
                 ColumnRange columns, LevelPicture& picture);

// Draws the prism into the given columns of the picture, in front of farther surfaces. Columns outside of the
// range may be drawn too. Returns whether any pixel shows the prism now. Every instruction set gives the same
// bits.
bool see_prism(const LevelRays& rays, const SeenPrism& prism, ColumnRange columns, LevelPicture& picture);

// Returns whether nothing beyond the distance `at` with a slope up to `slope` can be seen in these columns.
bool are_closed(const LevelPicture& picture, ColumnRange columns, float slope, float at);

// Shade of prisms on upright faces that level rays see.

// Parallel light in the eye's plane: it comes from where `to_sun` points, and rises by `rise` along 1 m.
struct LevelSun {
  Vec2 to_sun;  // of length 1
  double rise = 1;
};

// An upright face before the eye: a ray along d meets it where 1 / t = plane . d.
struct SeenFace {
  Vec2 plane;
  int32_t name = 0;
};

// Marks pixels of the face as shaded where `caster` blocks the sun. Every instruction set gives
// the same bits.
void shade_face(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster, const LevelSun& sun,
                ColumnRange columns, LevelPicture& picture);

// Computes the area that the outline sweeps along `way` from start to end, convex and counter-clockwise.
// Replaces the contents of `out`.
void sweep(std::span<const Vec2> outline, Vec2 way, double start, double end, Polygon& out);

}  // namespace mvsim
