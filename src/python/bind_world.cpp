// Model and Simulation: what mvsim_gym.World stands on.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "base/math.h"
#include "model/compile.h"
#include "python/bind.h"
#include "python/gil.h"
#include "python/path.h"
#include "record/vehicle_log.h"
#include "scene/scene.h"
#include "scene/triangles.h"
#include "sensor/ray_sensor.h"
#include "sensor/view_sensor.h"
#include "sim/animate.h"
#include "sim/check_start.h"
#include "sim/simulation.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using PoseTuple = std::tuple<double, double, double, double, double, double>;
using PlanePoseTuple = std::tuple<double, double, double>;
using TwistTuple = std::tuple<double, double, double>;

PoseTuple tuple_of(const Pose3& p) {
  return {p.x, p.y, p.z, p.yaw, p.pitch, p.roll};
}
PlanePoseTuple tuple_of(const Pose2& p) {
  return {p.x, p.y, p.yaw};
}
TwistTuple tuple_of(const Twist2& t) {
  return {t.vx, t.vy, t.omega};
}

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

WorldLoadOptions load_options(const PathName& assets, const std::vector<PathName>& roots, uint64_t world_seed,
                              const std::map<std::string, std::string>& variables, uint64_t memory_limit,
                              const ResourceArgument& resources) {
  WorldLoadOptions options;
  options.roots = texts_of(roots);
  options.assets = assets.text;
  options.memory_limit = memory_limit;
  options.poll = SignalPoll();
  options.world_seed = world_seed;
  options.variables.assign(variables.begin(), variables.end());
  options.resources = resources_of(resources);
  return options;
}

void bind_loading(py::module_& m) {
  m.def(
      "load_model",
      [](const PathName& path, const PathName& assets, const std::vector<PathName>& roots,
         uint64_t world_seed, const std::map<std::string, std::string>& variables, uint64_t memory_limit,
         const ResourceArgument& resources, bool strict) {
        const WorldLoadOptions options =
            load_options(assets, roots, world_seed, variables, memory_limit, resources);
        const ReleasedGil released;
        return load_model(path.text, options, {.strict = strict});
      },
      "path"_a, "assets"_a, "roots"_a = std::vector<PathName>{}, "world_seed"_a = 0,
      "variables"_a = std::map<std::string, std::string>{}, "memory_limit"_a = kDefaultMemoryLimit,
      "resources"_a = ResourceArgument{}, "strict"_a = false);
  // the URLs that a world names, and the error at which its reading ended
  m.def(
      "named_urls",
      [](const PathName& path, const PathName& assets, const std::vector<PathName>& roots,
         const ResourceArgument& resources) {
        const WorldLoadOptions options = load_options(assets, roots, 0, {}, kDefaultMemoryLimit, resources);
        const NamedUrls named = named_urls(path.text, options);
        return std::pair(named.urls, named.error);
      },
      "path"_a, "assets"_a, "roots"_a, "resources"_a);
}

template <typename T>
py::array_t<T> copy_of(std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

using ParameterTuple = std::tuple<std::string, double, double, double, std::string, std::vector<std::string>>;

// Path, nominal value, range, unit and the names of a choice, in the units in which an environment gives
// them.
std::vector<ParameterTuple> parameters_of(const Model& model) {
  std::vector<ParameterTuple> out;
  for (const ParamEntry& entry : model.params) {
    const ParamInfo& info = entry.info;
    const bool is_angle = info.type == ParamType::kDegrees, is_bool = info.type == ParamType::kBool;
    const double unit = is_angle ? kDegree : 1.0;
    out.emplace_back(entry.path, entry.nominal / unit, is_bool ? 0 : info.min / unit,
                     is_bool ? 1 : info.max / unit, is_angle ? "deg" : std::string(info.unit),
                     std::vector<std::string>(info.choices.begin(), info.choices.end()));
  }
  return out;
}

// Where wheels are and what they are: x, y (m), yaw (rad), width, radius (m), mass (kg).
std::vector<std::array<double, 6>> wheels_of(const VehicleModel& vehicle) {
  std::vector<std::array<double, 6>> out;
  for (const WheelModel& w : vehicle.wheels)
    out.push_back({w.position.x, w.position.y, w.yaw, w.width, w.radius, w.mass});
  return out;
}

using PublicationTuple = std::tuple<std::string, double, std::string, std::vector<std::string>>;

// Topic and period of the pose, topic and bodies of relative poses; the fields of
// mvsim_gym.parts.Publication.
template <typename Body>
std::optional<PublicationTuple> publication_of(const Body& body) {
  if (!body.publication) return std::nullopt;
  const PublicationSpec& p = *body.publication;
  return PublicationTuple{p.topic, p.period, p.relative_topic, p.relative_objects};
}

py::array_t<double> outline_of(const VehicleModel& vehicle) {
  const Polygon& outline = vehicle.chassis.outline;
  py::array_t<double> out({static_cast<py::ssize_t>(outline.size()), py::ssize_t{2}});
  auto points = out.mutable_unchecked<2>();
  for (size_t i = 0; i < outline.size(); ++i) {
    points(static_cast<py::ssize_t>(i), 0) = outline[i].x;
    points(static_cast<py::ssize_t>(i), 1) = outline[i].y;
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
  for (size_t i = 0; i < view->images().size(); ++i)
    out[py::str(std::string(view->images()[i].name))] = image_of(s, sensor, i, recipe.data());
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

py::array_t<double> matrix_of(const Frame3& frame) {
  py::array_t<double> out({4, 4});
  auto at = out.mutable_unchecked<2>();
  const Vec3 columns[] = {frame.x, frame.y, frame.z, frame.origin};
  for (py::ssize_t c = 0; c < 4; ++c) {
    at(0, c) = columns[c].x, at(1, c) = columns[c].y, at(2, c) = columns[c].z, at(3, c) = c == 3;
  }
  return out;
}

py::array_t<double> angles_of(std::span<const SinCos> turns) {
  std::vector<double> angles;
  for (const SinCos& turn : turns) angles.push_back(math::atan2(turn.sin, turn.cos));
  return copy_of(std::span<const double>(angles));
}

py::dict views_of(const SensorModel& sensor) {
  py::dict out;
  const ViewSensor* const views = as_view_sensor(*sensor.sensor);
  if (!views) return out;
  for (const ViewImage& image : views->images()) {
    const View& view = image.view;
    py::dict one;
    if (view.is_pinhole()) {
      one["intrinsics"] = py::make_tuple(view.fx, view.fy, view.cx, view.cy);
      one["T_vehicle_camera"] = matrix_of(compose(Frame3(sensor.sensor->mount()), view.T_sensor_view));
    } else {
      one["elevations"] = angles_of(view.rings);
      one["azimuths"] = angles_of(view.columns);
    }
    out[py::str(std::string(image.name))] = one;
  }
  return out;
}

void bind_model(py::module_& m) {
  py::class_<VehicleModel>(m, "VehicleModel")
      .def_readonly("name", &VehicleModel::name)
      .def_readonly("class_name", &VehicleModel::class_name)
      .def_property_readonly("dynamics", [](const VehicleModel& v) { return v.dynamics->name(); })
      .def_property_readonly("controller", [](const VehicleModel& v) { return v.controller->name(); })
      .def_property_readonly("takes_twist",
                             [](const VehicleModel& v) { return v.controller->accepts_twist(); })
      .def_property_readonly("command_names",
                             [](const VehicleModel& v) {
                               std::vector<std::string> names;
                               for (const CommandInfo& c : v.controller->command())
                                 names.emplace_back(c.name);
                               return names;
                             })
      .def_property_readonly("wheel_names",
                             [](const VehicleModel& v) {
                               std::vector<std::string> names;
                               for (const WheelModel& w : v.wheels) names.push_back(w.tag);
                               return names;
                             })
      .def_property_readonly("wheels", py::overload_cast<const VehicleModel&>(&wheels_of))
      // of the chassis, (n, 2) m in the vehicle's frame
      .def_property_readonly("outline", &outline_of)
      .def_readonly("z_min", &VehicleModel::z_min)
      .def_property_readonly("publication", &publication_of<VehicleModel>);
  py::class_<BlockModel>(m, "BlockModel")
      .def_readonly("name", &BlockModel::name)
      .def_property_readonly("is_static", [](const BlockModel& block) { return block.traits.is_static; })
      .def_readonly("is_wall", &BlockModel::is_wall)
      .def_property_readonly("intangible", [](const BlockModel& block) { return block.traits.intangible; })
      .def_property_readonly("publication", &publication_of<BlockModel>);
  py::class_<SensorModel>(m, "SensorModel")
      .def_readonly("name", &SensorModel::name)
      .def_readonly("vehicle", &SensorModel::vehicle)
      .def_property_readonly("is_standalone", &SensorModel::is_standalone)
      .def_readonly("period", &SensorModel::period)
      .def_readonly("class_name", &SensorModel::class_name)
      .def_readonly("publish_topic", &SensorModel::publish_topic)
      // the largest value of its readings
      .def_property_readonly("high", [](const SensorModel& s) { return s.sensor->reading().high; })
      // rad of each ray, of a lidar
      .def_property_readonly("angles",
                             [](const SensorModel& s) -> std::optional<py::array_t<double>> {
                               const RaySensor* const lidar = as_ray_sensor(*s.sensor);
                               if (!lidar) return std::nullopt;
                               return copy_of(lidar->angles());
                             })
      // T_vehicle_sensor, or T_world_sensor of one that stands in the world
      .def_property_readonly("mount", [](const SensorModel& s) { return tuple_of(s.sensor->mount()); })
      // of each image by name: fx, fy, cx, cy and T_sensor_view of a pinhole, elevations and azimuths of
      // rings
      .def_property_readonly("views", &views_of);
  py::class_<Model, py::smart_holder>(m, "Model")
      .def_property_readonly("path", [](const Model& m) { return python_path(m.path); })
      .def_readonly("timestep", &Model::timestep)
      .def_readonly("warnings", &Model::warnings)
      .def_readonly("vehicles", &Model::vehicles)
      .def_readonly("blocks", &Model::blocks)
      .def_readonly("sensors", &Model::sensors)
      .def_property_readonly("actors",
                             [](const Model& m) {
                               std::vector<std::string> names;
                               for (const ActorModel& actor : m.actors) names.push_back(actor.name);
                               return names;
                             })
      .def_property_readonly("labels", [](const Model& m) { return m.scene->label_names; })
      .def_property_readonly("body_count", [](const Model& m) { return m.bodies.size(); })
      .def_property_readonly("triangle_count", [](const Model& m) { return triangle_count(*m.scene); })
      .def_readonly("load_bytes", &Model::load_bytes)
      .def_property_readonly("parameters", &parameters_of);
}

}  // namespace

void bind_world(py::module_& m) {
  bind_model(m);
  bind_loading(m);
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
      .def("in_collision",
           [](const Simulation& s, size_t i) { return s.state().vehicles.at(i).in_collision; })
      .def("had_collision",
           [](const Simulation& s, size_t i) { return s.state().vehicles.at(i).contacts != 0; })
      .def("clear_collision_flags", py::overload_cast<size_t>(&Simulation::clear_collision_flags))
      .def("wheels", py::overload_cast<const Simulation&, size_t>(&wheels_of))
      .def("block_pose", [](const Simulation& s, size_t i) { return tuple_of(block_pose(s, i)); })
      .def("actor_pose",
           [](const Simulation& s, size_t i) {
             return tuple_of(actor_pose(s.model().actors.at(i), s.state().time));
           })
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
  m.def(
      "check_start", [](const Simulation& s) { check_start(s, SignalPoll()); }, "simulation"_a,
      py::call_guard<ReleasedGil>());
  py::class_<VehicleLog>(m, "VehicleLog")
      .def(py::init([](Simulation& s, const PathName& folder) {
             return std::make_unique<VehicleLog>(s, folder.text);
           }),
           "simulation"_a, "folder"_a, py::keep_alive<1, 2>())
      .def("recording", &VehicleLog::recording, "vehicle"_a)
      .def("set_recording", &VehicleLog::set_recording, "vehicle"_a, "on"_a)
      .def("flush", &VehicleLog::flush, py::call_guard<ReleasedGil>());
}

}  // namespace mvsim
