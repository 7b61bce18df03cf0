// The rays of an upright eye, in columns that each lie in one vertical plane, and what they see first.
//
// In the plane of the eye, x forward and y left of it: column c looks along (dx[c], dy[c]); for one length of
// that, row r rises by slopes[r], and what is seen counts as scales[r].
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

inline constexpr double kBeyond = 1e30;  // steeper than any slope, farther than any distance; a float

struct LevelRays {
  static constexpr int kPadding = 16;  // columns beyond the last that kernels may touch

  // `slopes`: ascending or descending.
  LevelRays(std::vector<Vec2> directions, std::span<const double> slopes, std::span<const double> scales);

  int width = 0, height = 0, stride = 0;  // stride: columns with their padding
  std::vector<double> dx, dy;
  std::vector<float> dx_float, dy_float;
  std::vector<float> slopes, scales;
  std::vector<double> per_height;  // what a level surface counts as, over its height above the eye
  // Rows whose slopes may lie in [low, high]: a superset.
  struct Rows {
    int begin = 0, end = 0;
  };
  Rows rows_between(float low, float high) const {
    if (!(low <= high)) return {};
    const size_t lowest = bin_of(low), highest = bin_of(high);
    return ascending_ ? Rows{first_in_[lowest], last_in_[highest]}
                      : Rows{first_in_[highest], last_in_[lowest]};
  }

 private:
  size_t bin_of(float slope) const {  // never falls while the slope rises
    const auto last = static_cast<float>(first_in_.size() - 1);
    return static_cast<size_t>(std::min(std::max((slope - lowest_) * per_slope_, 0.0F), last));
  }

  // Slopes are sorted into bins of equal width: of each bin the first row that lies in it or beyond, as rows
  // go, and the end of those that lie in it or before.
  bool ascending_ = true;
  float lowest_ = 0, per_slope_ = 1;
  std::vector<int> first_in_, last_in_;
};

// Distances as they count, row by row with rays.stride columns, and what is seen there.
struct LevelPicture {
  // Surfaces nearer than `near_limit` or farther than `far_limit`, as distances count, are not seen.
  LevelPicture(const LevelRays& rays, float near_limit, float far_limit, bool has_names);

  float near = 0, far = 1;
  float nothing = 0;  // the distance where nothing is seen: beyond `far`
  std::span<float> distance;
  std::span<int32_t> name;  // empty: not asked for
  // By column: an upright prism hides all slopes up to closed_slope beyond closed_at.
  std::span<float> closed_slope, closed_at;

 private:
  std::unique_ptr<float[]> floats_;
  std::unique_ptr<int32_t[]> names_;
};

// Row by row without padding: distances up to `far`, 0 beyond; the low halves of the names.
void write_distances(const LevelRays& rays, const LevelPicture& picture, float far, float* out);
// The nearest of all; infinite where nothing is seen.
float nearest_of(const LevelRays& rays, const LevelPicture& picture);
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
  bool stands = false;  // nothing reaches lower: what is behind it is not seen below it
  int32_t name = 0;     // of its top; its bottom is 1, its sides are 2, 3, ... times name_step more
  int32_t name_step = 0;
};

// Set in the name of what lies in the shade.
inline constexpr int32_t kShaded = 1 << 30;

// Marks pixels of this name as shaded if they lie at this height below the eye and within the outline.
void shade_level(const LevelRays& rays, std::span<const Vec2> outline, double height, int32_t name,
                 ColumnRange columns, LevelPicture& picture);

// Merges the prism into the columns of the picture. Columns beyond the range that meet it may be left out or
// not. Returns whether any pixel shows it now. Every instruction set gives the same bits.
bool see_prism(const LevelRays& rays, const SeenPrism& prism, ColumnRange columns, LevelPicture& picture);

// Whether all of the columns are closed to what lies beyond `at` and is not above `slope`.
bool are_closed(const LevelPicture& picture, ColumnRange columns, float slope, float at);

}  // namespace mvsim
