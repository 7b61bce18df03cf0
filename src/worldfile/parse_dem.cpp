// <dem_xyzrgb_file>: scattered points with colours become the nodes of an elevation map.
#include <algorithm>
#include <cmath>

#include "assets/data_files.h"
#include "worldfile/include.h"
#include "worldfile/nearest_sample.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kColumns = 6, kMaxPoints = 5000000, kMaxNodes = 4000000;

struct Grid {
  int rows = 0, columns = 0;  // along x, y
  double x = 0, y = 0, step = 1;
};

// The nearest sample of each node's middle.
std::vector<uint32_t> nearest_samples(LoadState& state, const std::vector<double>& points, const Grid& grid,
                                      const SourceLocation& where) {
  LoadGuard& guard = state.session.guard;
  const TemporaryMemory memory(guard, NearestSample::memory_of(points.size() / kColumns), where,
                               "<dem_xyzrgb_file>");
  NearestSample samples(points, kColumns, guard);
  std::vector<uint32_t> out;
  out.reserve(static_cast<size_t>(grid.rows) * static_cast<size_t>(grid.columns));
  uint32_t near = 0;
  for (int row = 0; row < grid.rows; ++row) {
    const int64_t before = samples.looks();
    for (int column = 0; column < grid.columns; ++column) {
      near = samples.find(grid.x + (row + 0.5) * grid.step, grid.y + (column + 0.5) * grid.step, near);
      out.push_back(near);
    }
    state.budget.comparisons(samples.looks() - before, where);
  }
  return out;
}

double offset_of(const Fields& fields, std::string_view tag) {
  const std::optional<NamedText> text = fields.scalar(tag);
  if (!text) return 0;
  const double value = parse_number(*text);
  check_range({.name = tag, .min = -kFarthest, .max = kFarthest, .unit = "m"}, value, text->where);
  return value;
}

uint8_t channel(double value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
}

}  // namespace

void read_dem(LoadState& state, const Fields& fields, const NamedText& name, ElevationMapSpec& out) {
  LoadGuard& guard = state.session.guard;
  const OpenFile file = open_named_file(state, name, state.folder);
  const std::vector<double> points = decoded(name.where, "<dem_xyzrgb_file>", [&] {
    return read_point_rows(file, kColumns, kMaxPoints, name.where, guard);
  });
  state.budget.rows(std::max(points.size() / kColumns, file.size() / kLeastRowBytes), name.where);
  double low_x = points[0], high_x = low_x, low_y = points[1], high_y = low_y;
  for (size_t i = 0; i < points.size(); i += kColumns) {
    low_x = std::min(low_x, points[i]);
    high_x = std::max(high_x, points[i]);
    low_y = std::min(low_y, points[i + 1]);
    high_y = std::max(high_y, points[i + 1]);
  }
  const double rows = std::ceil((high_x - low_x) / out.resolution);
  const double columns = std::ceil((high_y - low_y) / out.resolution);
  if (!(rows >= 2 && columns >= 2 && rows * columns <= kMaxNodes))
    throw WorldFileError(name.where, "<dem_xyzrgb_file>: found a map of " +
                                         std::to_string(static_cast<int64_t>(rows)) + " x " +
                                         std::to_string(static_cast<int64_t>(columns)) +
                                         " cells, expected 2 or more a side and at most " +
                                         std::to_string(kMaxNodes) + ": see <resolution>");
  const Grid grid{static_cast<int>(rows), static_cast<int>(columns), low_x, low_y, out.resolution};
  guard.take(rows * columns * (sizeof(double) + sizeof(Color)), name.where, "<dem_xyzrgb_file>");
  const TemporaryMemory memory(guard, rows * columns * sizeof(uint32_t), name.where, "<dem_xyzrgb_file>");
  const double offset_z = offset_of(fields, "dem_offset_z");
  out.data = {grid.rows, grid.columns, {}};
  auto colors = std::make_shared<std::vector<Color>>();
  out.data.values.reserve(static_cast<size_t>(rows * columns));
  colors->reserve(static_cast<size_t>(rows * columns));
  for (const uint32_t sample : nearest_samples(state, points, grid, name.where)) {
    const double* const p = points.data() + kColumns * sample;
    out.data.values.push_back(p[2] + offset_z);
    colors->push_back({channel(p[3]), channel(p[4]), channel(p[5]), 255});
  }
  out.colors = std::move(colors);
  out.corner_x = out.corner_x.value_or(low_x) + offset_of(fields, "dem_offset_x");
  out.corner_y = out.corner_y.value_or(low_y) + offset_of(fields, "dem_offset_y");
}

}  // namespace mvsim
