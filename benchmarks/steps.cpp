// Steps of 10 ms per second of one vehicle without sensors that touches nothing, on one thread: for every
// registered dynamics class and tire model on flat ground, and for every dynamics class on hills. Prints one
// JSON row {name, value, unit} a line.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "model/compile.h"
#include "sim/simulation.h"
#include "timing.h"

namespace {

using namespace mvsim;

constexpr int kSteps = 5000, kRepetitions = 9;

// A controller that drives by force, and by a twist if there is one of these.
const Controller& controller_of(const Dynamics& dynamics) {
  const Controller* found = nullptr;
  for (const Controller* c : dynamics.controllers())
    if (!c->imposes_twist() && (!found || (c->accepts_twist() && !found->accepts_twist()))) found = c;
  return *found;
}

std::string vehicle(const Dynamics& dynamics, std::string_view tire) {
  std::string wheels;
  for (const WheelSlot& slot : dynamics.wheel_slots())
    wheels += "<" + std::string(slot.tag) + R"( mass="1" width="0.05" diameter="0.2"/>)";
  return R"(<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class=")" + std::string(dynamics.name()) +
         "\">" + wheels + R"(<chassis mass="10"/><controller class=")" +
         std::string(controller_of(dynamics).name()) + R"("/></dynamics><friction class=")" +
         std::string(tire) + R"("/></vehicle>)";
}

// Nodes every metre of a field of 40 x 40 m, waves of 10 m and 0.1 m: steps lower than a wheel can take.
std::string hills() {
  std::string text = "<element class=\"elevation_map\"><resolution>1</resolution><elevation_data_matrix>[";
  for (int x = -20; x <= 20; ++x) {
    for (int y = -20; y <= 20; ++y)
      text += std::to_string(0.1 * std::sin(2 * kPi * x / 10) * std::cos(2 * kPi * y / 10)) + " ";
    text += x < 20 ? ";" : "]";
  }
  return text + "</elevation_data_matrix></element>";
}

double steps_per_second(const Dynamics& dynamics, std::string_view tire, const std::string& ground) {
  const std::string world = "<mvsim_world><simul_timestep>0.01</simul_timestep>" + ground +
                            vehicle(dynamics, tire) + "</mvsim_world>";
  Simulation sim(compile_world(load_world_text(world, ".", {}), {}), 1);
  const bool by_twist = sim.model().vehicles[0].controller->accepts_twist();
  int turn = 0;
  const double seconds = benchmark::median_seconds(kRepetitions, [&] {
    // now to one side, now to the other, so that it stays where it is
    if (by_twist) sim.set_twist(0, 0.5, ++turn % 2 == 0 ? 0.5 : -0.5);
    for (int i = 0; i < kSteps; ++i) sim.step();
  });
  return kSteps / seconds;
}

}  // namespace

int main() {
  const std::string no_hills;
  for (const Dynamics* dynamics : dynamics_classes()) {
    const std::string name(dynamics->name());
    for (const TireModel* tire : tire_models())
      benchmark::print_row("steps_" + name + "_" + std::string(tire->name()),
                           steps_per_second(*dynamics, tire->name(), no_hills), "steps/s");
    benchmark::print_row("steps_terrain_" + name + "_ellipse",
                         steps_per_second(*dynamics, "ellipse", hills()), "steps/s");
  }
  return EXIT_SUCCESS;
}
