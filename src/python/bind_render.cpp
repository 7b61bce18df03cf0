// Bindings of pictures, and of the renderers and instruction sets of this machine.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <limits>

#include "base/simd.h"
#include "batch/batch.h"
#include "python/bind.h"
#include "render/gl/device_choice.h"
#include "render/pictures/renderer.h"
#include "sim/sense.h"
#include "sim/simulation.h"
#include "sim/snapshot.h"
#include "views/view_backend.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

py::array_t<uint8_t> array_of(const Image& image) {
  return py::array_t<uint8_t>({image.height, image.width, image.channels}, image.data.data());
}

// A running world.
py::array_t<uint8_t> draw(Renderer& renderer, const std::shared_ptr<const Model>& model,
                          const Simulation& simulation, const std::optional<GoalMark>& goal,
                          const Camera& camera, int width, int height) {
  Image image;
  {
    const ReleasedGil released;
    std::vector<ScenePose> poses;
    scene_poses(simulation, poses);
    image = renderer.draw(scene_of(model), poses, debug_marks(simulation, goal), camera, width, height);
  }
  return array_of(image);
}

// A batch's env with its goal.
py::array_t<uint8_t> draw_env(Renderer& renderer, const Batch& batch, int env, const Camera& camera,
                              int width, int height) {
  std::optional<GoalMark> goal;
  if (const auto center = batch.goal(env)) goal = GoalMark{*center, batch.goal_radius()};
  return draw(renderer, batch.model(env), batch.simulation(env), goal, camera, width, height);
}

// Where points [n, 3] are seen, [n, 2] pixels; NaN behind the camera.
py::array_t<double> pixels_of(const Camera& camera, const py::array_t<double>& points, int width,
                              int height) {
  if (points.ndim() != 2 || points.shape(1) != 3) throw py::value_error("points: expected an array (n, 3)");
  const auto in = points.unchecked<2>();
  py::array_t<double> pixels({in.shape(0), py::ssize_t{2}});
  auto out = pixels.mutable_unchecked<2>();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (py::ssize_t i = 0; i < in.shape(0); ++i) {
    const Vec2 p =
        project(camera, {in(i, 0), in(i, 1), in(i, 2)}, width, height).value_or(Vec2{kNone, kNone});
    out(i, 0) = p.x;
    out(i, 1) = p.y;
  }
  return pixels;
}

Camera behind(const Simulation& simulation, size_t vehicle) {
  return view_of_robot(vehicle_pose(simulation, vehicle), simulation.model().vehicles.at(vehicle).radius);
}

using Point = std::array<double, 3>;
using Window = std::array<double, 4>;  // x_min, x_max, y_min, y_max on the ground, m

// Each is made anew for a picture. `aspect` is its width / height.
void bind_camera(py::module_& m) {
  py::class_<Camera>(m, "Camera")
      .def_static(
          "of_world", [](const Model& model, double aspect) { return view_of_world(*model.scene, aspect); },
          "model"_a, "aspect"_a)
      .def_static(
          "above",
          [](const Model& model, double tilt, double aspect) {
            return view_from_above(model.scene->bounds, aspect, tilt * kDegree, model.scene->height);
          },
          "model"_a, "tilt"_a, "aspect"_a)
      .def_static(
          "over",
          [](const Window& w, double aspect) {
            return view_from_above({w[0], w[1], w[2], w[3]}, aspect);
          },
          "window"_a, "aspect"_a)
      .def_static("behind", &behind, "simulation"_a, "vehicle"_a)
      .def_static(
          "behind_agent",
          [](const Batch& batch, int env) { return behind(batch.simulation(env), batch.vehicle()); },
          "batch"_a, "env"_a)
      .def_static(
          "between",
          [](const Point& eye, const Point& target) {
            return view_between({eye[0], eye[1], eye[2]}, {target[0], target[1], target[2]});
          },
          "eye"_a, "target"_a)
      .def("pixels", &pixels_of, "points"_a, "width"_a, "height"_a);
}

void bind_egl_info(py::module_& m) {
  py::class_<EglDevice>(m, "EglDevice")
      .def_readonly("index", &EglDevice::index)
      .def_readonly("name", &EglDevice::name)
      .def_readonly("cuda_ordinal", &EglDevice::cuda_ordinal)
      .def_readonly("drm_node", &EglDevice::drm_node)
      .def_readonly("software", &EglDevice::software);
  py::class_<EglInfo>(m, "EglInfo")
      .def_readonly("library_found", &EglInfo::library_found)
      .def_readonly("devices", &EglInfo::devices)
      .def_readonly("driver_files", &EglInfo::driver_files)
      .def_readonly("chosen", &EglInfo::chosen)
      .def_readonly("renderer", &EglInfo::renderer)
      .def_readonly("version", &EglInfo::version)
      .def_readonly("software", &EglInfo::software)
      .def_readonly("problems", &EglInfo::problems);
  // The backend that drew the cameras of a snapshot; None where the snapshot names none.
  m.def(
      "snapshot_drawn_by",
      [](const py::bytes& state) -> std::optional<std::string> {
        const CameraBackend backend = snapshot_drawn_by(std::string_view(state));
        return backend == CameraBackend::kAuto ? std::nullopt : std::optional<std::string>(name_of(backend));
      },
      "state"_a);
  m.def(
      "camera_backend",
      [](const std::string& wish) {
        const CameraBackend asked = parse_camera_backend(wish, "camera_backend");
        const ReleasedGil released;
        const BackendChoice choice = choose_backend(asked);
        return std::pair<std::string, std::string>(name_of(choice.backend), choice.reason);
      },
      "wish"_a);
  m.def("egl_info", &egl_info, py::call_guard<ReleasedGil>());
}

}  // namespace

void bind_render(py::module_& m) {
  bind_egl_info(m);
  bind_camera(m);
  m.def("simd_level", &simd_level);
  m.def("simd_targets", &simd_targets);
  py::class_<Renderer>(m, "Renderer")
      .def(py::init([](const std::string& device) {
             return std::make_unique<Renderer>(RenderOptions{.device = device});
           }),
           "device"_a = "")
      .def_property_readonly("name", &Renderer::renderer_name)
      .def_property_readonly("notice", &Renderer::notice)
      .def(
          "draw",
          [](Renderer& r, const std::shared_ptr<const Model>& model, const Simulation& simulation,
             const Camera& camera, int width,
             int height) { return draw(r, model, simulation, {}, camera, width, height); },
          "model"_a, "simulation"_a, "camera"_a, "width"_a, "height"_a)
      .def("draw_env", &draw_env, "batch"_a, "env"_a, "camera"_a, "width"_a, "height"_a);
  m.def(
      "agent_place",
      [](const Batch& batch, int env) {
        const Simulation& s = batch.simulation(env);
        const Pose3 pose = vehicle_pose(s, batch.vehicle());
        return py::make_tuple(pose.x, pose.y, pose.z, s.model().vehicles.at(batch.vehicle()).radius);
      },
      "batch"_a, "env"_a);
}

}  // namespace mvsim
