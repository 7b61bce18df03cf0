#include "model/compile.h"

#include <algorithm>
#include <array>

#include "base/math.h"
#include "model/compile_parts.h"

namespace mvsim {
namespace {

// map_server: what is darker is more occupied; between the thresholds a cell is unknown, or graded in mode
// "scale".
Cell ros_cell(const OccupancyGridSpec& spec, int gray) {
  if (spec.mode == "raw") {
    if (gray > 100) return Cell::kUnknown;
    if (gray >= spec.occupied_threshold * 100) return Cell::kOccupied;
    return gray <= spec.free_threshold * 100 ? Cell::kFree : Cell::kUnknown;
  }
  const double occupied = (spec.negate ? gray : 255 - gray) / 255.0;
  if (occupied > spec.occupied_threshold) return Cell::kOccupied;
  if (occupied < spec.free_threshold) return Cell::kFree;
  if (spec.mode == "scale") return occupied > 0.5 ? Cell::kOccupied : Cell::kFree;
  return Cell::kUnknown;
}

// MVSim: log-odds of being free in steps of 1/16; within one step of even odds a cell is unknown.
Cell log_odds_cell(double quanta) {
  if (std::fabs(quanta) <= 1) return Cell::kUnknown;
  return quanta < 0 ? Cell::kOccupied : Cell::kFree;
}

// MVSim: grey is the probability of being free.
Cell image_cell(int gray) {
  const double free = std::clamp(gray / 255.0, 0.01, 0.99);
  return log_odds_cell(std::nearbyint(16 * math::log(free / (1 - free))));
}

std::vector<uint8_t> cells_of(const MrptGrid& map, const LoadGuard& guard) {
  std::array<uint8_t, 256> lookup{};
  for (int quanta = -128; quanta < 128; ++quanta)
    lookup[static_cast<uint8_t>(quanta)] = static_cast<uint8_t>(log_odds_cell(quanta));
  std::vector<uint8_t> cells(map.cells.size());
  uint8_t* const out = cells.data();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i % 65536 == 0) guard.poll();
    out[i] = lookup[static_cast<uint8_t>(map.cells[i])];
  }
  return cells;
}

std::vector<uint8_t> cells_of(const OccupancyGridSpec& spec, const LoadGuard& guard) {
  const GrayLevels& image = *spec.image;
  std::vector<uint8_t> lookup(static_cast<size_t>(image.white) + 1);
  for (size_t level = 0; level < lookup.size(); ++level) {
    const int gray = image.byte_of(level);
    lookup[level] = static_cast<uint8_t>(spec.is_ros ? ros_cell(spec, gray) : image_cell(gray));
  }

  // as in Nav2's map_server, a pixel that is not opaque is unknown; mode "raw" ignores opacity
  const bool has_holes = spec.is_ros && spec.mode != "raw" && !image.transparent.empty();
  // a local pointer, because that of the vector would be read again after each store
  const uint8_t* const cell_of = lookup.data();
  // image row 0 is the largest y, cell row 0 the smallest
  std::vector<uint8_t> cells(image.data.size());
  const auto width = static_cast<size_t>(image.width), height = static_cast<size_t>(image.height);
  for (size_t row = 0; row < height; ++row) {
    guard.poll();
    const uint16_t* const levels = image.data.data() + row * width;
    uint8_t* const out = cells.data() + (height - 1 - row) * width;
    for (size_t column = 0; column < width; ++column) out[column] = cell_of[levels[column]];
    if (!has_holes) continue;
    const uint8_t* const holes = image.transparent.data() + row * width;
    for (size_t column = 0; column < width; ++column)
      if (holes[column] != 0) out[column] = static_cast<uint8_t>(Cell::kUnknown);
  }
  return cells;
}

GridField make_field(const OccupancyGridSpec& spec, double resolution, LoadGuard& guard) {
  constexpr std::string_view kWhat = "<element class=\"occupancy_grid\">";
  const int width = spec.mrpt ? spec.mrpt->width : spec.image->width;
  const int height = spec.mrpt ? spec.mrpt->height : spec.image->height;
  const TemporaryMemory memory(guard, static_cast<double>(width) * height, spec.where, kWhat);
  guard.take(GridField::bytes_of(width, height), spec.where, kWhat);
  const std::vector<uint8_t> cells = spec.mrpt ? cells_of(*spec.mrpt, guard) : cells_of(spec, guard);
  return GridField(cells, width, height, resolution, [&] { guard.poll(); });
}

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

GridModel GridCache::make(const OccupancyGridSpec& spec, LoadGuard& guard) {
  const double resolution = spec.mrpt ? spec.mrpt->resolution : spec.resolution;
  const std::shared_ptr<const void> map =
      spec.mrpt ? std::shared_ptr<const void>(spec.mrpt) : std::shared_ptr<const void>(spec.image);
  const Key key{map.get(),           spec.is_ros, spec.negate, spec.occupied_threshold,
                spec.free_threshold, spec.mode,   resolution};
  auto found = fields_.find(key);
  if (found == fields_.end()) {
    found = fields_.emplace(key, make_field(spec, resolution, guard)).first;
    maps_.push_back(map);
  }
  const GridField& field = found->second;

  Pose2 T_world_grid = spec.origin;
  if (spec.mrpt) {
    T_world_grid = {spec.mrpt->x_min, spec.mrpt->y_min, 0};
  } else if (!spec.is_ros) {
    const Vec2 center{spec.center_x.value_or(field.width() / 2.0),
                      spec.center_y.value_or(field.height() / 2.0)};
    T_world_grid = {-center.x * resolution, -center.y * resolution, 0};
  }
  return {.field = field,
          .T_world_grid = T_world_grid,
          .restitution = spec.restitution,
          .friction = spec.lateral_friction};
}

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
