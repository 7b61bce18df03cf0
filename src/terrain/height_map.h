// Elevation maps, and scans of their heights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// Elevation map: heights at the nodes of a grid (<element class="elevation_map">). Immutable.
//
// Rows run along +x and columns along +y. A cell is two triangles that meet on its rising diagonal.

class HeightMap {
 public:
  // `heights`: rows * columns, row by row, m; node (0, 0) is at `corner`, both counts are at least 2.
  HeightMap(int rows, int columns, double resolution, Vec2 corner, std::vector<float> heights)
      : rows_(rows),
        columns_(columns),
        resolution_(resolution),
        nodes_per_metre_(1 / resolution),
        corner_(corner),
        highest_(*std::max_element(heights.begin(), heights.end())),
        heights_(std::move(heights)) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double resolution() const { return resolution_; }
  Vec2 corner() const { return corner_; }
  float node(int row, int column) const { return heights_[index_of(row, column)]; }
  std::span<const float> heights() const { return heights_; }  // row by row
  Rect extent() const {
    return {corner_.x, corner_.x + (rows_ - 1) * resolution_, corner_.y,
            corner_.y + (columns_ - 1) * resolution_};
  }
  double highest() const { return highest_; }

  // Height of the ground at a point of the world; nothing outside and on the upper borders.
  std::optional<double> height_at(Vec2 p) const {
    const double height = height_or(p, std::numeric_limits<double>::quiet_NaN());
    return std::isnan(height) ? std::nullopt : std::optional(height);
  }
  // The same, but `outside` where there is no height. Faster, because an optional is returned through memory.
  double height_or(Vec2 p, double outside) const {
    const double u = (p.x - corner_.x) * nodes_per_metre_, v = (p.y - corner_.y) * nodes_per_metre_;
    if (!(u >= 0 && v >= 0 && u < rows_ - 1 && v < columns_ - 1)) return outside;  // NaN too
    const int row = static_cast<int>(u), column = static_cast<int>(v);
    const double a = u - row, b = v - column;
    const float* low = heights_.data() + index_of(row, column);
    const float* high = low + columns_;
    const double z00 = low[0], z01 = low[1], z10 = high[0], z11 = high[1];
    return b >= a ? z00 + (z11 - z01) * a + (z01 - z00) * b : z00 + (z10 - z00) * a + (z11 - z10) * b;
  }

 private:
  size_t index_of(int row, int column) const { return static_cast<size_t>(row) * columns_ + column; }

  int rows_, columns_;
  double resolution_, nodes_per_metre_;
  Vec2 corner_;
  double highest_;
  std::vector<float> heights_;
};

// Heights of an elevation map at many points at once, in vectors.

// out[i] = the map's height at origin + turn.rotate(points[i]), 0 where it has none, less `z`: the bits of
// HeightMap::height_at() on every instruction set.
void scan_heights(const HeightMap& map, Vec2 origin, const Rotation2& turn, std::span<const Vec2> points,
                  double z, float* out);

}  // namespace mvsim
