// Pictures, and what this machine draws and computes with.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "base/simd.h"
#include "env/batch.h"
#include "python/bind.h"
#include "python/gil.h"
#include "render/egl_info.h"
#include "render/renderer.h"
#include "sim/debug_marks.h"
#include "sim/scene_poses.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

py::array_t<uint8_t> array_of(const Image& image) {
  return py::array_t<uint8_t>({image.height, image.width, image.channels}, image.data.data());
}

py::array_t<uint8_t> draw(Renderer& renderer, const std::shared_ptr<const Model>& model,
                          const Simulation& simulation, bool behind, size_t vehicle,
                          const std::optional<Goal>& goal, int width, int height) {
  Image image;
  {
    const ReleasedGil released;
    const std::shared_ptr<const Scene> scene = scene_of(model);
    std::vector<ScenePose> poses;
    scene_poses(simulation, poses);
    const Camera camera =
        behind ? view_of_robot(simulation.vehicle_pose(vehicle), model->vehicles.at(vehicle).radius)
               : view_of_world(*scene, static_cast<double>(width) / height);
    image = renderer.draw(scene, poses, debug_marks(simulation, goal), camera, width, height);
  }
  return array_of(image);
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
  m.def("egl_info", &egl_info, py::call_guard<ReleasedGil>());
}

}  // namespace

void bind_render(py::module_& m) {
  bind_egl_info(m);
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
             bool behind, size_t vehicle, int width,
             int height) { return draw(r, model, simulation, behind, vehicle, {}, width, height); },
          "model"_a, "simulation"_a, "behind"_a, "vehicle"_a, "width"_a, "height"_a)
      .def(
          "draw_env",
          [](Renderer& r, const Batch& batch, int env, bool behind, int width, int height) {
            std::optional<Goal> goal;
            if (const auto center = batch.goal(env)) goal = Goal{*center, batch.goal_radius()};
            return draw(r, batch.model(env), batch.simulation(env), behind, batch.vehicle(), goal, width,
                        height);
          },
          "batch"_a, "env"_a, "behind"_a, "width"_a, "height"_a);
}

}  // namespace mvsim
