// Binding of Pipeline, on which mvsim_gym.deploy.Pipeline is built.
#include "episode/pipeline.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "model/model.h"
#include "python/bind.h"
#include "sensor/view_sensor.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Flags = py::array_t<uint8_t, py::array::c_style | py::array::forcecast>;

std::span<const std::byte> bytes_of(const py::array& array) {
  if (!(array.flags() & py::array::c_style)) throw Error("found an array that is not contiguous");
  return {static_cast<const std::byte*>(array.data()), static_cast<size_t>(array.nbytes())};
}

std::unique_ptr<Pipeline> make_pipeline(const EnvSpec& spec, const PathName& assets,
                                        const std::vector<PathName>& roots, const ResourceArgument& resources,
                                        size_t agent, const std::vector<std::string>& given) {
  EnvLoadOptions options;
  options.assets = assets.text;
  options.roots = texts_of(roots);
  options.resources = resources_of(resources);
  options.poll = SignalPoll();
  const ReleasedGil released;
  return std::make_unique<Pipeline>(spec, options, agent, given);
}

// (beams that nothing covers, given beams without a reading)
std::pair<size_t, size_t> scan(Pipeline& p, size_t sensor, const Floats& ranges, double angle_min,
                               double angle_increment, double range_min, double range_max,
                               const std::array<double, 3>& mount) {
  const ScanFit fit = p.scan(sensor, {.ranges = {ranges.data(), static_cast<size_t>(ranges.size())},
                                      .angle_min = angle_min,
                                      .angle_increment = angle_increment,
                                      .range_min = range_min,
                                      .range_max = range_max,
                                      .T_vehicle_scan = {mount[0], mount[1], mount[2]}});
  return {fit.uncovered, fit.invalid};
}

// Rows and columns of an image of a view sensor.
std::pair<size_t, size_t> image_size(const Pipeline& p, size_t sensor, const std::string& name) {
  const std::shared_ptr<const Model> model = p.model();
  const ViewSensor* const view = as_view_sensor(*model->sensors.at(sensor).sensor);
  if (view)
    for (const ViewImage& image : view->images())
      if (image.name == name) return {image.reading.shape[0], image.reading.shape[1]};
  throw Error("sensor '" + model->sensors[sensor].name + "' has no image '" + name + "'");
}

// The row of an observation; a copy.
py::array observation(Pipeline& p, size_t key) {
  const ObservationSpec& spec = p.observations().at(key);
  py::array out(py::dtype(std::string(name_of(spec.dtype))),
                std::vector<py::ssize_t>(spec.shape.begin(), spec.shape.end()));
  std::copy_n(p.observation(key).row(0), spec.bytes(), static_cast<std::byte*>(out.mutable_data()));
  return out;
}

}  // namespace

void bind_pipeline(py::module_& m) {
  py::class_<ObservationSource>(m, "ObservationSource")
      .def_readonly("key", &ObservationSource::key)
      .def_readonly("class_name", &ObservationSource::class_name)
      .def_readonly("needs", &ObservationSource::needs)
      .def_readonly("is_exact", &ObservationSource::is_exact)
      .def_readonly("sensor", &ObservationSource::sensor)
      .def_readonly("sensor_index", &ObservationSource::sensor_index);
  py::class_<Pipeline>(m, "Pipeline")
      .def(py::init(&make_pipeline), "spec"_a, "assets"_a, "roots"_a, "resources"_a, "agent"_a, "given"_a)
      .def("model", &Pipeline::model)
      .def("may_be_late", &Pipeline::may_be_late, "sensor"_a)
      // degrees north and east, m above the ellipsoid, of the world's <georeference>
      .def_property_readonly("reference",
                             [](const Pipeline& p) -> std::optional<std::array<double, 3>> {
                               const std::shared_ptr<const Model> model = p.model();
                               if (!model->site) return std::nullopt;
                               const Geodetic& place = model->site->reference;
                               return std::array{place.latitude, place.longitude, place.height};
                             })
      .def_property_readonly("vehicle", &Pipeline::vehicle)
      .def_property_readonly("warnings", &Pipeline::warnings)
      .def_property_readonly("control_period", &Pipeline::control_period)
      .def_property_readonly("has_goal", &Pipeline::has_goal)
      .def_property_readonly("goal_radius", &Pipeline::goal_radius)
      .def_property_readonly("sources", &Pipeline::sources, py::return_value_policy::reference_internal)
      .def_property_readonly("observations", &Pipeline::observations,
                             py::return_value_policy::reference_internal)
      .def_property_readonly("action_names", &Pipeline::action_names)
      .def_property_readonly("action_low", &Pipeline::action_low)
      .def_property_readonly("action_high", &Pipeline::action_high)
      .def_property_readonly("command_names", &Pipeline::command_names)
      .def_property_readonly("command_units", &Pipeline::command_units)
      .def("begin", &Pipeline::begin)
      .def("scan", &scan, "sensor"_a, "ranges"_a, "angle_min"_a, "angle_increment"_a, "range_min"_a,
           "range_max"_a, "mount"_a)
      .def(
          "reading",
          [](Pipeline& p, size_t sensor, const py::array& values, const Flags& valid) {
            p.reading(sensor, bytes_of(values), {valid.data(), static_cast<size_t>(valid.size())});
          },
          "sensor"_a, "values"_a, "valid"_a)
      .def(
          "image",
          [](Pipeline& p, size_t sensor, size_t image, const py::array& pixels) {
            p.image(sensor, image, bytes_of(pixels));
          },
          "sensor"_a, "image"_a, "pixels"_a)
      .def("image_size", &image_size, "sensor"_a, "name"_a)
      .def(
          "pose",
          [](Pipeline& p, double x, double y, double yaw) {
            p.pose({x, y, yaw});
          },
          "x"_a, "y"_a, "yaw"_a)
      .def(
          "velocity",
          [](Pipeline& p, double vx, double vy, double omega) {
            p.velocity({vx, vy, omega});
          },
          "vx"_a, "vy"_a, "omega"_a)
      .def(
          "odometry",
          [](Pipeline& p, double x, double y, double yaw) {
            p.odometry({x, y, yaw});
          },
          "x"_a, "y"_a, "yaw"_a)
      .def("attitude", &Pipeline::attitude, "z"_a, "pitch"_a, "roll"_a)
      .def("steer", &Pipeline::steer, "left"_a, "right"_a)
      .def(
          "goal",
          [](Pipeline& p, double x, double y) {
            p.goal({x, y});
          },
          "x"_a, "y"_a)
      .def(
          "value", [](Pipeline& p, size_t key, const py::array& values) { p.value(key, bytes_of(values)); },
          "key"_a, "values"_a)
      .def("observe", &Pipeline::observe, py::call_guard<ReleasedGil>())
      .def("observation", &observation, "key"_a)
      .def(
          "command",
          [](Pipeline& p, const Floats& action) {
            return p.command({action.data(), static_cast<size_t>(action.size())});
          },
          "action"_a);
}

}  // namespace mvsim
