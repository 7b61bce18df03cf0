#include "model/compile_parts.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr size_t kMaxNodes = size_t{16} << 20;    // of all maps of a world
constexpr size_t kMaxProducts = size_t{1} << 30;  // of all convolutions

// The image's own darkest and brightest grey become min_z and max_z; its row 0 is the lowest x.
Matrix image_heights(const ElevationMapSpec& spec) {
  const GrayLevels& image = *spec.image;
  const auto [darkest, brightest] = std::minmax_element(image.data.begin(), image.data.end());
  const double gray_min = *darkest, gray_range = std::max(1, *brightest - *darkest);
  Matrix out{image.height, image.width, {}};
  out.values.reserve(image.data.size());
  for (const uint16_t gray : image.data)
    out.values.push_back(spec.min_z + (gray - gray_min) / gray_range * (spec.max_z - spec.min_z));
  return out;
}

// Beyond the borders the heights count as 0.
Matrix convolved(const Matrix& in, const Matrix& kernel, const LoadGuard& guard) {
  const int half = kernel.rows / 2;
  const auto at = [](const Matrix& m, int row, int column) {
    return m.values[static_cast<size_t>(row) * m.columns + column];
  };
  Matrix out = in;
  for (int row = 0; row < in.rows; ++row) {
    for (int column = 0; column < in.columns; ++column) {
      if (column % 256 == 0) guard.poll();  // a kernel may be large
      double sum = 0;
      for (int i = -half; i <= half; ++i)
        for (int j = -half; j <= half; ++j)
          if (row - i >= 0 && row - i < in.rows && column - j >= 0 && column - j < in.columns)
            sum += at(kernel, half + i, half + j) * at(in, row - i, column - j);
      out.values[static_cast<size_t>(row) * in.columns + column] = sum;
    }
  }
  return out;
}

}  // namespace

HeightMap make_height_map(const ElevationMapSpec& spec, LoadGuard& guard, HeightMapWork& work) {
  const size_t count = spec.image ? spec.image->data.size() : spec.data.values.size();
  work.nodes += count;
  work.products += count * spec.kernel.values.size();
  if (work.nodes > kMaxNodes)
    throw WorldFileError(spec.where,
                         "<element class=\"elevation_map\">: the elevation maps of the world have more "
                         "than " +
                             std::to_string(kMaxNodes >> 20) + " Mi nodes, expected fewer");
  if (work.products > kMaxProducts)
    throw WorldFileError(spec.where, "<apply_kernel>: too large for a map of " + std::to_string(count) +
                                         " nodes, with those of all maps before");
  constexpr std::string_view kWhat = "<element class=\"elevation_map\">";
  guard.take(static_cast<double>(count * sizeof(float)), spec.where, kWhat);
  const TemporaryMemory memory(guard, static_cast<double>(2 * count * sizeof(double)), spec.where, kWhat);
  Matrix heights = spec.image ? image_heights(spec) : spec.data;
  if (spec.kernel.rows > 0) heights = convolved(heights, spec.kernel, guard);
  const Vec2 corner{spec.corner_x.value_or(-(heights.rows - 1) * spec.resolution / 2),
                    spec.corner_y.value_or(-(heights.columns - 1) * spec.resolution / 2)};
  std::vector<float> nodes_of(heights.values.begin(), heights.values.end());
  return HeightMap(heights.rows, heights.columns, spec.resolution, corner, std::move(nodes_of));
}

}  // namespace mvsim
