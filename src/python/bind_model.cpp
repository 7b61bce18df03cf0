// Bindings of the Model, a compiled world file, and of loading it.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "base/math.h"
#include "model/compile.h"
#include "python/bind.h"
#include "scene/triangles.h"
#include "sensor/ray_sensor.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"
#include "views/draw_views.h"
#include "views/view_backend.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

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
         const ResourceArgument& resources, bool strict, const std::string& camera_backend) {
        const WorldLoadOptions options =
            load_options(assets, roots, world_seed, variables, memory_limit, resources);
        const CameraBackend backend = parse_camera_backend(camera_backend, "camera_backend");
        const ReleasedGil released;
        return load_model(path.text, options, {.strict = strict, .make_drawer = draw_by(backend)});
      },
      "path"_a, "assets"_a, "roots"_a = std::vector<PathName>{}, "world_seed"_a = 0,
      "variables"_a = std::map<std::string, std::string>{}, "memory_limit"_a = kDefaultMemoryLimit,
      "resources"_a = ResourceArgument{}, "strict"_a = false, "camera_backend"_a = "auto");
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

// Poses and properties of wheels: x, y (m), yaw (rad), width, radius (m), mass (kg).
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

using GridTuple = std::tuple<py::array_t<uint8_t>, double, std::array<double, 3>>;

// Returns for each occupancy grid its cells, the size of a cell (m), and x, y, yaw of its lower left corner.
// Cells are (height, width); row 0 has the smallest y; 0 free, 1 occupied, 2 unknown.
std::vector<GridTuple> grids_of(const Model& model) {
  std::vector<GridTuple> out;
  for (const GridModel& grid : model.grids) {
    const GridField& field = grid.field;
    py::array_t<uint8_t> cells({py::ssize_t{field.height()}, py::ssize_t{field.width()}});
    auto at = cells.mutable_unchecked<2>();
    for (int y = 0; y < field.height(); ++y)
      for (int x = 0; x < field.width(); ++x) at(y, x) = static_cast<uint8_t>(field.cell(x, y));
    const Pose2& pose = grid.T_world_grid;
    out.emplace_back(std::move(cells), field.resolution(), std::array{pose.x, pose.y, pose.yaw});
  }
  return out;
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

const char* name_of(SensorKind kind) {
  constexpr const char* kNames[] = {"state", "ray", "view"};
  return kNames[static_cast<size_t>(kind)];
}

ReadingForm form_of(const SensorModel& sensor) {
  const SensorClass* const known = find_sensor_class(sensor.class_name);
  return known ? known->form : ReadingForm::kValues;
}

bool has_pinhole(const SensorModel& sensor) {
  const ViewSensor* const view = as_view_sensor(*sensor.sensor);
  return view && view->images().front().view.is_pinhole();
}

py::dict image_geometry_of(const SensorModel& sensor) {
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

}  // namespace

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
      .def_readonly("z_max", &VehicleModel::z_max)
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
      // "state", "ray" or "view", by the input of the sensor
      .def_property_readonly("kind", [](const SensorModel& s) { return name_of(s.sensor->kind()); })
      // of its readings, as its class says where it is registered
      .def_property_readonly("form", [](const SensorModel& s) { return name_of(form_of(s)); })
      // whether an image of it may be drawn by OpenGL
      .def_property_readonly("is_camera", &has_pinhole)
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
      .def_property_readonly("views", &image_geometry_of);
  py::class_<Model, py::smart_holder>(m, "Model")
      .def_property_readonly("path", [](const Model& m) { return python_path(m.path); })
      .def_readonly("timestep", &Model::timestep)
      .def_readonly("fingerprint", &Model::fingerprint)
      .def_readonly("warnings", &Model::warnings)
      .def_readonly("vehicles", &Model::vehicles)
      .def_readonly("blocks", &Model::blocks)
      .def_readonly("sensors", &Model::sensors)
      .def_property_readonly("actors", [](const Model& m) { return names_in(m.actors); })
      .def_property_readonly("labels", [](const Model& m) { return m.scene->label_names; })
      .def_property_readonly("body_count", [](const Model& m) { return m.bodies.size(); })
      .def_property_readonly("triangle_count", [](const Model& m) { return triangle_count(*m.scene); })
      .def_readonly("load_bytes", &Model::load_bytes)
      .def_property_readonly("grids", &grids_of)
      .def_property_readonly("parameters", &parameters_of);
  bind_loading(m);
}

}  // namespace mvsim
