// Cost of one exact 2D ray: 2,000 random poses x 360 beams on maps of rooms, doors, boxes and discs at 5 cm,
// one thread. Prints one JSON row {name, value, unit} a line; each value is the median of the repetitions.
//
// Growth with the map's size: the same robots walk the same paths on a map of 400 x 400 cells and on one of
// 4,000 x 4,000 that is made of 100 copies of it, each robot in another copy. Ranges are the same; what
// differs is memory.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/simd.h"
#include "base/vector_kernels.h"
#include "raycast/beams.h"
#include "raycast/grid_field.h"
#include "raycast/static_shapes.h"
#include "timing.h"

namespace {

using namespace mvsim;
using benchmark::median_seconds, benchmark::print_row, benchmark::seconds;

constexpr double kResolution = 0.05;
constexpr int kBeams = 360, kPoses = 2000, kRepetitions = 7;
constexpr double kMaxRange = 200 * kResolution;

struct Map {
  int side;
  std::vector<uint8_t> cells;
  uint8_t& at(int x, int y) { return cells[static_cast<size_t>(y) * side + x]; }
};

void fill(Map& map, int x0, int x1, int y0, int y1, uint8_t value) {
  for (int y = std::max(y0, 0); y < std::min(y1, map.side); ++y)
    for (int x = std::max(x0, 0); x < std::min(x1, map.side); ++x) map.at(x, y) = value;
}

// Rooms of 160 cells between walls of 3, two doors of 20 each, and per room about a box and a disc.
Map make_map(int side, uint64_t seed) {
  RandomStream random(seed, 0, StreamPurpose::kWorldExpression);
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<uint32_t>(n))); };
  Map map{side, std::vector<uint8_t>(static_cast<size_t>(side) * side, 0)};
  constexpr int kRoom = 160, kWall = 3, kDoor = 20;
  for (int c = 0; c <= side; c += kRoom) {
    fill(map, c, c + kWall, 0, side, 1);
    fill(map, 0, side, c, c + kWall, 1);
  }
  fill(map, side - kWall, side, 0, side, 1);
  fill(map, 0, side, side - kWall, side, 1);
  for (int x = 0; x + kRoom <= side; x += kRoom) {
    for (int y = 0; y + kRoom <= side; y += kRoom) {
      const int a = y + 20 + below(kRoom - 60), b = x + 20 + below(kRoom - 60);
      if (x > 0) fill(map, x, x + kWall, a, a + kDoor, 0);
      if (y > 0) fill(map, b, b + kDoor, y, y + kWall, 0);
      const int bx = x + 20 + below(kRoom - 60), by = y + 20 + below(kRoom - 60);
      fill(map, bx, bx + 4 + below(20), by, by + 4 + below(20), 1);
      const int radius = 3 + below(9), cx = x + 20 + below(kRoom - 40), cy = y + 20 + below(kRoom - 40);
      for (int v = -radius; v <= radius; ++v)
        for (int u = -radius; u <= radius; ++u)
          if (u * u + v * v <= radius * radius) fill(map, cx + u, cx + u + 1, cy + v, cy + v + 1, 1);
    }
  }
  return map;
}

std::vector<Pose2> free_poses(const GridField& grid, uint64_t seed) {
  RandomStream random(seed, 0, StreamPurpose::kSpawn);
  std::vector<Pose2> poses;
  while (poses.size() < kPoses) {
    const Pose2 pose{random.uniform(0, grid.width() * grid.resolution()),
                     random.uniform(0, grid.height() * grid.resolution()), random.uniform(-kPi, kPi)};
    if (grid.cell_at(pose.x, pose.y) == Cell::kFree) poses.push_back(pose);
  }
  return poses;
}

struct Scene {
  GridField grid;
  std::vector<Pose2> poses;
};

Scene make_scene(int side) {
  GridField grid(make_map(side, 1).cells, side, side, kResolution);
  std::vector<Pose2> poses = free_poses(grid, 2);
  return {std::move(grid), std::move(poses)};
}

double nanoseconds_per_ray(const Scene& scene) {
  const BeamTable beams(kBeams, 2 * kPi * (kBeams - 1) / kBeams);
  std::vector<float> dx(kBeams), dy(kBeams), range(kBeams);
  const double scans = median_seconds(kRepetitions, [&] {
    for (const Pose2& pose : scene.poses) {
      beams.directions(pose.yaw, dx.data(), dy.data());
      std::fill(range.begin(), range.end(), static_cast<float>(kMaxRange));
      cast_grid(scene.grid, pose.x, pose.y, dx.data(), dy.data(), kBeams, kMaxRange, range.data());
    }
  });
  return scans / (static_cast<double>(kPoses) * kBeams) * 1e9;
}

// Where robots are, step by step: they drive on, and turn where a wall is.
std::vector<Pose2> walk(const GridField& grid, int robots, int steps) {
  RandomStream random(5, 0, StreamPurpose::kSpawn);
  const double side = grid.width() * grid.resolution();
  std::vector<Pose2> now;
  while (now.size() < static_cast<size_t>(robots)) {
    const Pose2 pose{random.uniform(0, side), random.uniform(0, side), random.uniform(-kPi, kPi)};
    if (grid.distance_to_occupied(pose.x, pose.y, 1) > 0.3) now.push_back(pose);
  }
  std::vector<Pose2> poses;
  for (int step = 0; step < steps; ++step) {
    for (Pose2& pose : now) {
      const Vec2 next = transform(pose, {0.02, 0});
      if (grid.distance_to_occupied(next.x, next.y, 1) > 0.3)
        pose = {next.x, next.y, pose.yaw + random.uniform(-0.1, 0.1)};
      else
        pose.yaw += random.uniform(-kPi, kPi);
      poses.push_back(pose);
    }
  }
  return poses;
}

constexpr int kCopies = 10;  // along each side of the large map

Map copies_of(const Map& small) {
  Map large{small.side * kCopies, {}};
  for (int row = 0; row < large.side; ++row)
    for (int copy = 0; copy < kCopies; ++copy) {
      const auto begin = small.cells.begin() + row % small.side * small.side;
      large.cells.insert(large.cells.end(), begin, begin + small.side);
    }
  return large;
}

double seconds_of_scans(const GridField& grid, const std::vector<Pose2>& poses) {
  const BeamTable beams(kBeams, 2 * kPi * (kBeams - 1) / kBeams);
  std::vector<float> dx(kBeams), dy(kBeams), range(kBeams);
  const double start = seconds();
  for (const Pose2& pose : poses) {
    beams.directions(pose.yaw, dx.data(), dy.data());
    std::fill(range.begin(), range.end(), static_cast<float>(kMaxRange));
    cast_grid(grid, pose.x, pose.y, dx.data(), dy.data(), kBeams, kMaxRange, range.data());
  }
  return seconds() - start;
}

// Interleaved, so that both maps meet the same machine; the quickest of each.
void print_growth(const std::string& name, const GridField& small, const GridField& large,
                  const std::vector<Pose2>& poses, int robots) {
  std::vector<Pose2> moved;
  const double side = small.width() * small.resolution();
  for (size_t i = 0; i < poses.size(); ++i) {
    const size_t robot = robots > 0 ? i % static_cast<size_t>(robots) : i;
    const size_t copy = robot * 37 % (kCopies * kCopies);
    moved.push_back({poses[i].x + side * static_cast<double>(copy % kCopies),
                     poses[i].y + side * static_cast<double>(copy / kCopies), poses[i].yaw});
  }
  double best_small = 1e9, best_large = 1e9;
  for (int i = 0; i < 3 * kRepetitions; ++i) {
    best_small = std::min(best_small, seconds_of_scans(small, poses));
    best_large = std::min(best_large, seconds_of_scans(large, moved));
  }
  const double rays = static_cast<double>(poses.size()) * kBeams;
  print_row("scan_ns_" + name + "_400", best_small / rays * 1e9, "ns");
  print_row("scan_ns_" + name + "_4000", best_large / rays * 1e9, "ns");
  print_row("scan_growth_" + name, best_large / best_small, "1");
}

void print_growths() {
  const Map small = make_map(400, 1);
  const GridField small_grid(small.cells, small.side, small.side, kResolution);
  const Map large = copies_of(small);
  const GridField large_grid(large.cells, large.side, large.side, kResolution);
  for (const int robots : {1, 64})
    print_growth("walk" + std::to_string(robots), small_grid, large_grid,
                 walk(small_grid, robots, 4096 / robots), robots);
  print_growth("anywhere", small_grid, large_grid, free_poses(small_grid, 2), 0);
}

// Normal deviates for range and angle of each ray, and what is done with them.
double noise_nanoseconds_per_ray() {
  RandomStream random(6, 0, StreamPurpose::kSensorNoise);
  std::vector<double> deviates(kBeams);
  std::vector<float> dx(kBeams, 1), dy(kBeams, 0), range(kBeams, 1);
  const double scans = median_seconds(kRepetitions, [&] {
    for (int i = 0; i < kPoses; ++i) {
      random.normals(deviates);
      turn_directions(1e-4, deviates, dx.data(), dy.data());
      random.normals(deviates);
      disturb_ranges(0.01, deviates, 2 * kMaxRange, kMaxRange, range.data());
    }
  });
  return scans / (static_cast<double>(kPoses) * kBeams) * 1e9;
}

double mean_range_cells(const Scene& scene) {
  const BeamTable beams(kBeams, 2 * kPi * (kBeams - 1) / kBeams);
  std::vector<float> dx(kBeams), dy(kBeams), range(kBeams);
  double sum = 0;
  for (const Pose2& pose : scene.poses) {
    beams.directions(pose.yaw, dx.data(), dy.data());
    std::fill(range.begin(), range.end(), static_cast<float>(kMaxRange));
    cast_grid(scene.grid, pose.x, pose.y, dx.data(), dy.data(), kBeams, kMaxRange, range.data());
    for (const float r : range) sum += r;
  }
  return sum / (static_cast<double>(kPoses) * kBeams) / kResolution;
}

// `count` boxes and 14-gons spread over a square of 40 m.
double polygon_scan_microseconds(int count) {
  RandomStream random(3, 0, StreamPurpose::kWorldExpression);
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) {
    const int corners = i % 2 == 0 ? 4 : 14;
    const Vec2 center{random.uniform(0, 40), random.uniform(0, 40)};
    const double radius = random.uniform(0.1, 0.3), turn = random.uniform(-kPi, kPi);
    Polygon polygon;
    for (int k = 0; k < corners; ++k)
      polygon.push_back(center + Rotation2(turn + 2 * kPi * k / corners).rotate({radius, 0}));
    polygons.push_back(std::move(polygon));
  }
  const StaticShapes shapes(polygons);
  const BeamTable beams(kBeams, 2 * kPi * (kBeams - 1) / kBeams);
  std::vector<float> dx(kBeams), dy(kBeams), range(kBeams);
  const double scans = median_seconds(kRepetitions, [&] {
    RandomStream poses(4, 0, StreamPurpose::kSpawn);
    for (int i = 0; i < kPoses; ++i) {
      const Pose2 pose{poses.uniform(0, 40), poses.uniform(0, 40), poses.uniform(-kPi, kPi)};
      std::fill(range.begin(), range.end(), static_cast<float>(kMaxRange));
      shapes.cast(beams.fan(pose, dx.data(), dy.data()), kMaxRange, range.data());
    }
  });
  return scans / kPoses * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--growth") {
    print_growths();
    return EXIT_SUCCESS;
  }
  const Scene scene = make_scene(800);
  print_row("scan_ns_per_ray", nanoseconds_per_ray(scene), "ns");
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    std::string name = "scan_ns_" + target;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    print_row(target == "EMU128" ? "scan_ns_scalar" : name, nanoseconds_per_ray(scene), "ns");
  }
  print_row("noise_ns_per_ray", noise_nanoseconds_per_ray(), "ns");
  print_row("scan_mean_range", mean_range_cells(scene), "cells");
  for (const int count : {20, 200, 50000})
    print_row("scan_us_polygons_" + std::to_string(count), polygon_scan_microseconds(count), "us");
  return EXIT_SUCCESS;
}
