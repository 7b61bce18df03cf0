// Binding of Simulation, on which mvsim_gym.World is built.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "model/compile_parts.h"
#include "python/bind.h"
#include "record/vehicle_log.h"
#include "sensor/view_sensor.h"
#include "sim/free_room.h"
#include "sim/place.h"
#include "sim/simulation.h"
#include "vehicle/car.h"
#include "views/draw_views.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

// A row a quantity, a column a wheel; the order of the rows is that of mvsim_gym.world.Wheels.
py::array_t<double> wheels_of(const Simulation& simulation, size_t vehicle) {
  const std::span<const WheelState> states = wheel_states(simulation, vehicle);
  constexpr py::ssize_t kQuantities = 9;
  py::array_t<double> out({kQuantities, static_cast<py::ssize_t>(states.size())});
  auto rows = out.mutable_unchecked<2>();
  for (size_t i = 0; i < states.size(); ++i) {
    const WheelState& w = states[i];
    const WheelSlip slip = wheel_slip(simulation, vehicle, i);
    const double values[] = {w.spin,     w.angle,   w.steer,   w.torque, slip.ratio,
                             slip.angle, w.force_x, w.force_y, w.load};
    static_assert(std::size(values) == kQuantities);
    for (py::ssize_t k = 0; k < kQuantities; ++k) rows(k, static_cast<py::ssize_t>(i)) = values[k];
  }
  return out;
}

py::array_t<bool> flags_of(std::span<const uint8_t> flags) {
  py::array_t<bool> out(static_cast<py::ssize_t>(flags.size()));
  for (size_t k = 0; k < flags.size(); ++k) out.mutable_data()[k] = flags[k] != 0;
  return out;
}

py::array empty_array(const ReadingSpec& reading) {
  return {py::dtype(std::string(name_of(reading.dtype))),
          std::vector<py::ssize_t>(reading.shape.begin(), reading.shape.end())};
}

// An array of a sensor's readings.
py::array empty_reading(const Simulation& s, size_t sensor) {
  return empty_array(s.model().sensors.at(sensor).sensor->reading());
}

// One image of a camera or 3D lidar, drawn from its recipe.
py::array image_of(const Simulation& s, size_t sensor, size_t image, const double* recipe) {
  const auto& view = static_cast<const ViewSensor&>(*s.model().sensors[sensor].sensor);
  py::array out = empty_array(view.images()[image].reading);
  const ViewFrame frame{&s.model(), recipe, static_cast<std::byte*>(out.mutable_data())};
  const ReleasedGil released;
  draw_views(sensor, image, {&frame, 1});
  return out;
}

// All images of a camera or 3D lidar by name: of the latest due moment, or as it sees now.
py::dict images_of(Simulation& s, size_t sensor, bool fresh) {
  const ViewSensor* const view = as_view_sensor(*s.model().sensors.at(sensor).sensor);
  if (!view) throw Error("sensor '" + s.model().sensors[sensor].name + "' has no images");
  const std::span<const double> latest = view_recipe_of(s, sensor);
  std::vector<double> recipe(latest.begin(), latest.end());
  if (fresh) s.record_view(sensor, recipe.data());
  py::dict out;
  std::vector<ViewDrawing> drawings;
  for (size_t i = 0; i < view->images().size(); ++i) {
    py::array pixels = empty_array(view->images()[i].reading);
    auto* const bytes = static_cast<std::byte*>(pixels.mutable_data());
    drawings.push_back({sensor, i, {&s.model(), recipe.data(), bytes}});
    out[py::str(std::string(view->images()[i].name))] = std::move(pixels);
  }
  const ReleasedGil released;
  draw_views(drawings);
  return out;
}

py::array latest_reading(const Simulation& s, size_t sensor) {
  if (s.model().sensors.at(sensor).sensor->kind() == SensorKind::kView)
    return image_of(s, sensor, 0, view_recipe_of(s, sensor).data());
  py::array out = empty_reading(s, sensor);
  std::ranges::copy(reading_of(s, sensor), static_cast<std::byte*>(out.mutable_data()));
  return out;
}

std::pair<py::array, py::array_t<bool>> fresh_reading(Simulation& s, size_t sensor) {
  py::array out = empty_reading(s, sensor);
  std::vector<uint8_t> valid(s.reading_valid(sensor).size());
  s.read_now(sensor, out.mutable_data(), valid.data());
  return {out, flags_of(valid)};
}

// Returns the current values, by name, of a sensor's parameters that an environment may randomise.
std::map<std::string, double> sensor_params(const Simulation& s, size_t sensor) {
  const SensorModel& model = s.model().sensors.at(sensor);
  std::map<std::string, double> out;
  size_t index = model.params;
  for (const ParamInfo& info : model.sensor->params())
    out.emplace(std::string(info.name), s.state().params.at(index++));
  return out;
}

// By which the odometry of a vehicle multiplies its way along x and y, and its turn.
std::array<double, 3> odometry_multipliers(const Simulation& s, size_t vehicle) {
  const auto first = static_cast<std::ptrdiff_t>(s.model().vehicles.at(vehicle).body_params + kOdometryX);
  std::array<double, 3> out{};
  std::copy_n(s.state().params.begin() + first, out.size(), out.begin());
  return out;
}

// rad, of a vehicle that steers.
std::optional<double> max_steer(const Simulation& s, size_t vehicle) {
  const VehicleModel& model = s.model().vehicles.at(vehicle);
  if (!model.dynamics->steers()) return std::nullopt;
  return s.state().params.at(model.dynamics_params + kMaxSteer);
}

}  // namespace

void bind_world(py::module_& m) {
  py::class_<Simulation> simulation_class(m, "Simulation");
  bind_control(simulation_class);
  simulation_class
      .def(py::init<std::shared_ptr<const Model>, uint64_t, uint32_t>(), "model"_a, "key"_a, "episode"_a = 0)
      .def("reset", &Simulation::reset, "key"_a, "episode"_a)
      .def("step", py::overload_cast<double>(&Simulation::step), "dt"_a, py::call_guard<ReleasedGil>())
      .def(
          "run", [](Simulation& s, double duration) { s.run(duration, SignalPoll()); }, "duration"_a,
          py::call_guard<ReleasedGil>())
      // the same, with a call after every step
      .def(
          "run_watched",
          [](Simulation& s, double duration, const py::function& after_step) {
            s.run(duration, [&] { after_step(); });
          },
          "duration"_a, "after_step"_a)
      .def("set_twist", &Simulation::set_twist, "vehicle"_a, "vx"_a, "omega"_a)
      .def(
          "set_command",
          [](Simulation& s, size_t vehicle, const std::vector<double>& command) {
            s.set_command(vehicle, command);
          },
          "vehicle"_a, "command"_a)
      .def_property_readonly("key", [](const Simulation& s) { return s.state().key; })
      .def_property_readonly("episode", [](const Simulation& s) { return s.state().episode; })
      .def("snapshot", [](Simulation& s) { return py::bytes(s.snapshot()); })
      .def(
          "restore", [](Simulation& s, const py::bytes& state) { s.restore(std::string_view(state)); },
          "state"_a)
      // both go on alike
      .def("clone",
           [](Simulation& s) {
             s.refill_solver();
             return Simulation(s);
           })
      .def_property_readonly("time", [](const Simulation& s) { return s.state().time; })
      .def_property_readonly("step_count", [](const Simulation& s) { return s.state().step_count; })
      .def("vehicle_pose", [](const Simulation& s, size_t i) { return tuple_of(vehicle_pose(s, i)); })
      .def("vehicle_twist", [](const Simulation& s, size_t i) { return tuple_of(vehicle_twist(s, i)); })
      .def("is_finite", [](const Simulation& s) { return is_finite(s); })
      .def("vehicle_world_twist",
           [](const Simulation& s, size_t i) { return tuple_of(vehicle_world_twist(s, i)); })
      .def("vehicle_odometry",
           [](const Simulation& s, size_t i) { return tuple_of(s.state().vehicles.at(i).odometry); })
      .def("vehicle_odometry_twist",
           [](const Simulation& s, size_t i) { return tuple_of(vehicle_odometry_twist(s, i)); })
      .def("odometry_multipliers", &odometry_multipliers)
      .def("command",
           [](const Simulation& s, size_t vehicle) {
             const size_t size = s.model().vehicles.at(vehicle).controller->command().size();
             const double* const command = s.state().vehicles[vehicle].command;
             return std::vector<double>(command, command + size);
           })
      .def("max_steer", &max_steer)
      .def("sensor_params", &sensor_params)
      .def_property_readonly("timestep", [](const Simulation& s) { return s.model().timestep; })
      .def("in_collision",
           [](const Simulation& s, size_t i) { return s.state().vehicles.at(i).in_collision; })
      .def("had_collision",
           [](const Simulation& s, size_t i) { return s.state().vehicles.at(i).contacts != 0; })
      .def("clear_collision_flags", py::overload_cast<size_t>(&Simulation::clear_collision_flags))
      .def("wheels", py::overload_cast<const Simulation&, size_t>(&wheels_of))
      .def("block_pose", [](const Simulation& s, size_t i) { return tuple_of(block_pose(s, i)); })
      .def("actor_pose", [](const Simulation& s, size_t i) { return tuple_of(actor_pose(s, i)); })
      .def("block_world_twist",
           [](const Simulation& s, size_t i) { return tuple_of(block_world_twist(s, i)); })
      .def("sensor_count", [](const Simulation& s, size_t i) { return s.state().sensors.at(i).count; })
      .def("sensor_time", [](const Simulation& s, size_t i) { return s.state().sensors.at(i).stamp; })
      .def("reading", &latest_reading)
      .def("reading_valid", [](const Simulation& s, size_t i) { return flags_of(s.reading_valid(i)); })
      // arrays by name
      .def("images", &images_of, "sensor"_a, "fresh"_a)
      // values and validity, not stored
      .def("read_now", &fresh_reading);
  // the first vehicle or block that the latest step moved by no more than it can; "" without one
  m.def(
      "refuse_cut_motion", [](const Simulation& s) { refuse_cut_motion(s, s.model().timestep); },
      "simulation"_a);
  // a line for each kind of overlap at the start; with `strict` an error instead
  m.def(
      "check_start",
      [](const Simulation& s, bool strict) {
        if (strict) require_free_start(s, SignalPoll());
        std::vector<std::string> lines;
        if (strict) return lines;
        for (const StartWarning& warning : check_start(s, SignalPoll())) lines.push_back(warning.line());
        return lines;
      },
      "simulation"_a, "strict"_a = false, py::call_guard<ReleasedGil>());
  py::class_<VehicleLog>(m, "VehicleLog")
      .def(py::init([](Simulation& s, const PathName& folder) {
             return std::make_unique<VehicleLog>(s, folder.text);
           }),
           "simulation"_a, "folder"_a, py::keep_alive<1, 2>())
      .def("recording", &VehicleLog::recording, "vehicle"_a)
      .def("set_recording", &VehicleLog::set_recording, "vehicle"_a, "on"_a)
      .def("flush", &VehicleLog::flush, py::call_guard<ReleasedGil>());
  py::class_<StepLog>(m, "StepLog")
      .def(py::init<Simulation&>(), "simulation"_a, py::keep_alive<1, 2>())
      .def("columns", &StepLog::columns, "vehicle"_a)
      .def("rows", &StepLog::rows, "vehicle"_a);
}

}  // namespace mvsim
