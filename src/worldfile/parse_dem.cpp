// <dem_xyzrgb_file>: scattered points with colours become the nodes of an elevation map.
#include <algorithm>
#include <cmath>

#include "assets/point_rows.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kColumns = 6, kMaxPoints = 5000000, kMaxNodes = 4000000;
constexpr int kNone = -1;

struct Grid {
  int rows = 0, columns = 0;  // along x, y
  double x = 0, y = 0, step = 1;
};

// The nearest sample of each node, found by handing samples on from neighbour to neighbour, forwards and
// back.
std::vector<int> nearest_samples(const std::vector<double>& points, const Grid& grid,
                                 const LoadGuard& guard) {
  std::vector<int> nearest(static_cast<size_t>(grid.rows) * grid.columns, kNone);
  const auto offer = [&](int row, int column, int sample) {
    if (sample == kNone || row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) return;
    int& known = nearest[static_cast<size_t>(row) * grid.columns + column];
    const auto distance = [&](int i) {
      const double dx = points[kColumns * i] - (grid.x + (row + 0.5) * grid.step);
      const double dy = points[kColumns * i + 1] - (grid.y + (column + 0.5) * grid.step);
      return dx * dx + dy * dy;
    };
    if (known == kNone || distance(sample) < distance(known)) known = sample;
  };
  for (size_t i = 0; i < points.size() / kColumns; ++i)
    offer(std::min(static_cast<int>((points[kColumns * i] - grid.x) / grid.step), grid.rows - 1),
          std::min(static_cast<int>((points[kColumns * i + 1] - grid.y) / grid.step), grid.columns - 1),
          static_cast<int>(i));
  const auto hand_on = [&](int row, int column, int back) {
    const int own = nearest[static_cast<size_t>(row) * grid.columns + column];
    offer(row + back, column, own);
    offer(row, column + back, own);
    offer(row + back, column + back, own);
    offer(row + back, column - back, own);
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (int row = 0; row < grid.rows; ++row) {
      guard.poll();
      for (int column = 0; column < grid.columns; ++column) hand_on(row, column, 1);
      for (int column = grid.columns; column-- > 0;)
        offer(row, column - 1, nearest[static_cast<size_t>(row) * grid.columns + column]);
    }
    for (int row = grid.rows; row-- > 0;) {
      guard.poll();
      for (int column = grid.columns; column-- > 0;) hand_on(row, column, -1);
      for (int column = 0; column < grid.columns; ++column)
        offer(row, column + 1, nearest[static_cast<size_t>(row) * grid.columns + column]);
    }
  }
  return nearest;
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
  guard.take(rows * columns * (sizeof(double) + sizeof(int) + sizeof(Color)), name.where,
             "<dem_xyzrgb_file>");
  const double offset_z = offset_of(fields, "dem_offset_z");
  out.data = {grid.rows, grid.columns, {}};
  auto colors = std::make_shared<std::vector<Color>>();
  for (const int sample : nearest_samples(points, grid, guard)) {
    const double* const p = points.data() + kColumns * static_cast<size_t>(sample);
    out.data.values.push_back(p[2] + offset_z);
    colors->push_back({channel(p[3]), channel(p[4]), channel(p[5]), 255});
  }
  out.colors = std::move(colors);
  out.corner_x = out.corner_x.value_or(low_x) + offset_of(fields, "dem_offset_x");
  out.corner_y = out.corner_y.value_or(low_y) + offset_of(fields, "dem_offset_y");
}

}  // namespace mvsim
