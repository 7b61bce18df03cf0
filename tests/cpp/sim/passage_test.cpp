// No speed and no time step carries a body through another: random approaches to everything that stands in
// the way, with what happens judged from poses alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "sim/worlds.h"

namespace mvsim::test::passage_test {
namespace {

namespace fs = std::filesystem;

enum Target {
  kWall,
  kPlane,
  kGrid,
  kSqueeze,  // a movable block before a wall
  kPost,
  kPlacedPost,
  kCrate,
  kParkedVehicle,
  kOncomingVehicle,
  kTargets
};

const char* const kTargetNames[] = {"wall",        "plane", "grid",           "block before a wall", "post",
                                    "placed post", "crate", "parked vehicle", "oncoming vehicle"};

bool is_endless(Target target) {
  return target <= kSqueeze;
}

std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

std::string rectangle(double half_x, double half_y) {
  const std::string x = text(half_x), y = text(half_y);
  return "<shape><pt>-" + x + " -" + y + "</pt><pt>-" + x + " " + y + "</pt><pt>" + x + " " + y +
         "</pt><pt>" + x + " -" + y + "</pt></shape>";
}

struct Approach {
  Target target;
  std::string world;
  double dt, speed;
  double direction;  // rad, of the way to the target
  double front;      // m from the origin to the middle of the target
  bool ideal;
  double half_width = 0;  // m, of the target, where it has an end
  double oncoming = 0;    // m/s

  std::string text_of(int index) const {
    return "approach " + std::to_string(index) + " to the " + kTargetNames[target] + " at " + text(speed) +
           " m/s and dt " + text(dt) + "\n" + world;
  }
};

std::string robot(const char* name, double half_x, double half_y, double mass, const std::string& controller,
                  const std::string& placement) {
  const std::string wheel =
      " mass='" + text(mass / 20) + "' width='" + text(half_y / 4) + "' diameter='" + text(half_x) + "'/>";
  return std::string("<vehicle name='") + name + "'><dynamics class='differential'><l_wheel pos='0 " +
         text(half_y) + "'" + wheel + "<r_wheel pos='0 -" + text(half_y) + "'" + wheel + "<chassis mass='" +
         text(mass) + "' zmin='0.01' zmax='0.2'>" + rectangle(half_x, half_y) + "</chassis>" + controller +
         "</dynamics><friction class='default'><mu>0.1</mu><C_damping>0</C_damping></friction>" + placement +
         "</vehicle>";
}

std::string pose(double direction, Vec2 along, double yaw) {
  const Vec2 p = Rotation2(direction).rotate(along);
  return "<init_pose>" + text(p.x) + " " + text(p.y) + " " + text(yaw / kDegree) + "</init_pose>";
}

std::string map_folder() {
  const fs::path folder = fs::temp_directory_path() / ("passage_" + std::to_string(getpid()));
  fs::create_directories(folder);
  return folder;
}

// A map of one row of occupied cells across the way, its cells parallel to the axes of the world turned by
// the direction of the way.
std::string grid(double direction, double front, double cell, int thickness) {
  constexpr int kSide = 200;
  const std::string name =
      "passage_" + std::to_string(static_cast<int>(1000 * cell)) + "_" + std::to_string(thickness);
  const std::string folder = map_folder();
  std::ofstream image(folder + "/" + name + ".pgm");
  image << "P2 " << thickness + 2 << " " << kSide << " 255\n";
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < thickness + 2; ++x) image << (x > 0 && x <= thickness ? "0 " : "255 ");
  const Vec2 corner = Rotation2(direction).rotate({front - cell * (thickness + 2) / 2.0, -cell * kSide / 2});
  const std::string yaml = name + "_" + text(direction) + "_" + text(front) + ".yaml";
  std::ofstream(folder + "/" + yaml) << "image: " << name << ".pgm\nresolution: " << text(cell)
                                     << "\norigin: [" << text(corner.x) << ", " << text(corner.y) << ", "
                                     << text(direction)
                                     << "]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n";
  return "<element class='occupancy_grid'><file>" + yaml + "</file></element>";
}

Approach make_approach(int index) {
  RandomStream random(4711, static_cast<uint32_t>(index), StreamPurpose::kSpawn);
  const auto uniform = [&](double low, double high) { return random.uniform(low, high); };
  Approach a;
  a.target = static_cast<Target>(index % kTargets);
  const double steps[] = {0.005, 0.01, 0.02, 0.05, 0.1};
  a.dt = steps[static_cast<size_t>(uniform(0, 5))];
  a.speed = uniform(0.5, 20);
  a.direction = uniform(-kPi, kPi);
  const double half_x = uniform(0.05, 0.3), half_y = half_x * uniform(0.5, 1),
               mass = 100 * half_x * half_y * 4;
  a.front = uniform(1.2, 6);
  a.ideal = index / kTargets % 2 == 0;
  // an ideal controller drives ahead; the others are thrown, in any attitude
  const double yaw = a.direction + (a.ideal ? uniform(-0.3, 0.3) : uniform(-kPi, kPi));
  std::string placement = "<init_pose>0 0 " + text(yaw / kDegree) + "</init_pose>";
  if (a.target >= kPost && a.ideal)
    placement = "<init_pose>0 0 " + text(a.direction / kDegree) + "</init_pose>";
  if (!a.ideal) {
    const Vec2 v = Rotation2(yaw).unrotate(Rotation2(a.direction).rotate({a.speed, 0}));
    placement += "<init_vel>" + text(v.x) + " " + text(v.y) + " " + text(uniform(-400, 400)) + "</init_vel>";
  }
  const char* const others[] = {"<controller class='raw'/>", "<controller class='twist_pid'/>"};
  const std::string vehicle =
      robot("r", half_x, half_y, mass, a.ideal ? kIdeal : others[index % 2], placement);

  const double thickness = uniform(0.01, 0.1), size = uniform(0.05, 0.3);
  a.half_width = size;
  const Vec2 ahead{a.front, 0};
  const auto block = [&](const char* name, const std::string& shape, const std::string& more, Vec2 at,
                         double turn) {
    return std::string("<block name='") + name + "'>" + more + pose(a.direction, at, a.direction + turn) +
           shape + "</block>";
  };
  const std::string movable = "<mass>" + text(std::exp(uniform(std::log(0.05), std::log(50)))) + "</mass>";
  const std::string fixed = "<static>true</static>";
  const std::string wall = block("wall", rectangle(thickness / 2, 30), fixed, ahead, 0);
  const std::string post =
      "<geometry type='cylinder' radius='" + text(size) + "' length='1' vertex_count='8'/>";
  std::string other;
  switch (a.target) {
    case kWall:
      other = wall;
      break;
    case kPlane: {
      const Vec2 p = Rotation2(a.direction).rotate({a.front, -30}),
                 q = Rotation2(a.direction).rotate({a.front, 30});
      other = "<element class='vertical_plane'><x0>" + text(p.x) + "</x0><y0>" + text(p.y) + "</y0><x1>" +
              text(q.x) + "</x1><y1>" + text(q.y) + "</y1></element>";
      break;
    }
    case kGrid:
      other = grid(a.direction, a.front, uniform(0, 1) < 0.5 ? 0.05 : 0.1, uniform(0, 1) < 0.5 ? 1 : 2);
      break;
    case kSqueeze:
      other = wall + block("crate", rectangle(size, size), movable,
                           {a.front - thickness / 2 - size - uniform(0.01, 0.2), 0}, 0);
      break;
    case kPost:
    case kPlacedPost:
      other = block("post", post, fixed, ahead, 0);
      break;
    case kCrate:
      other = block("crate", rectangle(size, size), movable, ahead, uniform(-kPi, kPi));
      break;
    case kParkedVehicle:
      other = robot("other", size, size, uniform(0.1, 20), others[0],
                    pose(a.direction, ahead, uniform(-kPi, kPi)));
      break;
    case kOncomingVehicle:
      other =
          robot("other", size, size, uniform(0.1, 20), kIdeal, pose(a.direction, ahead, a.direction + kPi));
      a.oncoming = uniform(0, 20);
      break;
    case kTargets:
      break;
  }
  a.world = "<simul_timestep>" + text(a.dt) + "</simul_timestep>" + vehicle + other;
  return a;
}

Vec2 place_of(const Pose3& pose) {
  return {pose.x, pose.y};
}

// Returns the fault, or "".
std::string fault_of(const Approach& a) {
  const std::string folder = map_folder();
  CompileOptions options;
  WorldLoadOptions load;
  load.roots = {folder};
  if (a.target == kPlacedPost) options.placed_blocks = {"post"};
  const auto model =
      compile_world(load_world_text("<mvsim_world>" + a.world + "</mvsim_world>", folder, load), options);
  Simulation sim(model, 1);
  const Rotation2 way(a.direction);
  const auto along = [&](Vec2 p) { return way.unrotate(p).x; };
  if (a.ideal) sim.set_twist(0, a.speed, 0);
  if (a.target == kOncomingVehicle) sim.set_twist(1, a.oncoming, 0);
  const int steps = static_cast<int>(std::ceil((2 * a.front / a.speed + 0.5) / a.dt));
  for (int i = 0; i < steps; ++i) {
    sim.step();
    if (!is_finite(sim)) return "diverged";
    const Vec2 at = place_of(vehicle_pose(sim, 0));
    const bool told = had_collision(sim, 0);
    if (is_endless(a.target)) {
      if (std::fabs(way.unrotate(at).y) > 4) return "";  // where a map ends
      if (along(at) > a.front) return "is behind";
      if (a.target == kSqueeze && along(place_of(block_pose(sim, model->block_index("crate")))) > a.front)
        return "the block is behind";
    }
    if (!(distance_to_obstacles(sim, at, 1, 0) > 0)) return "is inside";
    if (told && !is_endless(a.target)) return "";  // a motion beside the thing is not checked
    const Vec2 target = a.target == kCrate           ? place_of(block_pose(sim, 0))
                        : model->vehicles.size() > 1 ? place_of(vehicle_pose(sim, 1))
                                                     : way.rotate({a.front, 0});
    const Vec2 ahead = way.unrotate(target - at);
    if (!told && ahead.x < 0) return std::fabs(ahead.y) < a.half_width ? "has passed" : "";
  }
  if (a.ideal && !had_collision(sim, 0)) return "was not told";
  return "";
}

void expect_no_passage(int count) {
  for (int i = 0; i < count; ++i) {
    const Approach approach = make_approach(i);
    EXPECT_EQ(fault_of(approach), "") << approach.text_of(i);
  }
  fs::remove_all(map_folder());
}

TEST(Passage, SixtyApproachesEndBeforeWhatTheyMeet) {
  expect_no_passage(63);
}

TEST(Passage, SlowThousandApproachesEndBeforeWhatTheyMeet) {
  expect_no_passage(1008);
}

}  // namespace
}  // namespace mvsim::test::passage_test
