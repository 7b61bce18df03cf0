#include "model/grid.h"

#include <algorithm>
#include <array>

#include "base/image.h"
#include "base/math.h"
#include "base/mrpt_grid.h"

namespace mvsim {
namespace {

// map_server: darker is more occupied; between the thresholds a cell is unknown, or graded in mode "scale".
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
  return log_odds_cell(std::nearbyint(16 * logarithm(free / (1 - free))));
}

// What `read` reads, its errors at the element's place.
template <class Read>
auto read_map(const OccupancyGridSpec& spec, Read read) {
  try {
    return read(spec.image_path);
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    throw WorldFileError(spec.where, std::string("<element class=\"occupancy_grid\">: ") + e.what());
  }
}

GridModel make_mrpt_grid(const OccupancyGridSpec& spec) {
  const MrptGrid map = read_map(spec, read_mrpt_grid);
  std::vector<uint8_t> cells;
  cells.reserve(map.cells.size());
  for (const int8_t quanta : map.cells) cells.push_back(static_cast<uint8_t>(log_odds_cell(quanta)));
  return {.field = GridField(cells, map.width, map.height, map.resolution),
          .T_world_grid = {map.x_min, map.y_min, 0},
          .restitution = spec.restitution,
          .friction = spec.lateral_friction};
}

}  // namespace

GridModel make_grid(const OccupancyGridSpec& spec) {
  if (spec.is_mrpt) return make_mrpt_grid(spec);
  const Image image = read_map(spec, read_gray_image);
  std::array<Cell, 256> lookup;
  for (int gray = 0; gray < 256; ++gray)
    lookup[static_cast<size_t>(gray)] = spec.is_ros ? ros_cell(spec, gray) : image_cell(gray);

  // image row 0 is the largest y, cell row 0 the smallest
  std::vector<uint8_t> cells(image.data.size());
  for (int row = 0; row < image.height; ++row)
    for (int column = 0; column < image.width; ++column)
      cells[static_cast<size_t>(image.height - 1 - row) * image.width + column] =
          static_cast<uint8_t>(lookup[image.at(row, column)]);

  Pose2 T_world_grid = spec.origin;
  if (!spec.is_ros) {
    const Vec2 center = spec.center_pixel.value_or(Vec2{image.width / 2.0, image.height / 2.0});
    T_world_grid = {-center.x * spec.resolution, -center.y * spec.resolution, 0};
  }
  return {.field = GridField(cells, image.width, image.height, spec.resolution),
          .T_world_grid = T_world_grid,
          .restitution = spec.restitution,
          .friction = spec.lateral_friction};
}

}  // namespace mvsim
