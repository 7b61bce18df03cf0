// The tire models as functions of arrays: what mvsim_gym.tire stands on. One row a wheel; the columns are
// those that mvsim_gym/tire.py stacks.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <tuple>

#include "python/bind.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"
#include "tire/vti_mavs.h"
#include "tire/vti_traction.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using Table = py::array_t<double, py::array::c_style | py::array::forcecast>;
// name, default, minimum, maximum, minimum is excluded, is in degrees, names of a choice; radians
using ParamTuple = std::tuple<std::string, double, double, double, bool, bool, std::vector<std::string>>;

const TireModel& model_of(const std::string& name) {
  for (const TireModel* model : tire_models())
    if (model->name() == name) return *model;
  throw py::value_error("unknown tire model '" + name + "'");
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const TireModel* model : tire_models()) names.emplace_back(model->name());
  return names;
}

std::vector<ParamTuple> params_of(const std::string& name) {
  std::vector<ParamTuple> out;
  for (const ParamInfo& p : model_of(name).params())
    out.emplace_back(p.name, p.fallback, p.min, p.max, p.is_min_excluded, p.type == ParamType::kDegrees,
                     std::vector<std::string>(p.choices.begin(), p.choices.end()));
  return out;
}

// Calls `row(const double* in, double* out)` for every row of `inputs`, without the GIL.
template <typename Row>
py::array_t<double> map_rows(const Table& inputs, py::ssize_t columns, py::ssize_t results, const Row& row) {
  if (inputs.ndim() != 2 || inputs.shape(1) != columns)
    throw py::value_error("expected a table of " + std::to_string(columns) + " columns");
  const py::ssize_t rows = inputs.shape(0);
  py::array_t<double> out({rows, results});
  const double* in = inputs.data();
  double* values = out.mutable_data();
  const ReleasedGil released;
  for (py::ssize_t i = 0; i < rows; ++i) row(in + i * columns, values + i * results);
  return out;
}

// The index of a surface, -1 for anything else.
int surface_number(double index) {
  return index >= 0 && index < kSurfaceCount ? static_cast<int>(index) : -1;
}

// Columns: the parameters of the model, then those of TireInput in their order.
py::array_t<double> step(const std::string& name, const Table& inputs) {
  const TireModel& model = model_of(name);
  const auto params = static_cast<py::ssize_t>(model.params().size());
  return map_rows(inputs, params + 18, 3, [&](const double* p, double* out) {
    const double* v = p + params;
    const TireOutput result = model.step(
        p, {.dt = v[0],
            .torque = v[1],
            .brake = v[2],
            .mass = v[3],
            .effective_mass = v[4],
            .load = v[5],
            .velocity = {v[6], v[7]},
            .spin = v[8],
            .radius = v[9],
            .inertia = v[10],
            .width = v[11],
            .slope_force = {v[12], v[13]},
            .ground = {.mu = v[14], .c_rr = v[15], .surface = surface_number(v[16]), .cone_index = v[17]}});
    out[0] = result.force.x;
    out[1] = result.force.y;
    out[2] = result.spin;
  });
}

Surface surface_at(double index) {
  return static_cast<Surface>(std::max(0, surface_number(index)));
}

// Columns: surface, load, deflection, section height, width, diameter, cone index, slip, slip angle,
// crossover angle, motion.
py::array_t<double> vti(bool mavs, const Table& inputs) {
  return map_rows(inputs, 11, 2, [&](const double* v, double* out) {
    const TireContact contact{v[1], v[2], v[3], v[4], v[5], v[6]};
    const Vec2 force = mavs ? mavs_force(surface_at(v[0]), contact, v[7], v[8], v[9])
                            : corrected_force(surface_at(v[0]), contact, v[7], v[8], v[9], v[10]);
    out[0] = force.x;
    out[1] = force.y;
  });
}

// Columns: rolling speed, speed, lateral speed, steer, starting.
py::array_t<double> slip(bool mavs, const Table& inputs) {
  return map_rows(inputs, 5, 2, [&](const double* v, double* out) {
    out[0] = mavs ? mavs_slip_ratio(v[0], v[1], v[4] != 0) : slip_ratio(v[0], v[1]);
    out[1] = mavs ? mavs_slip_angle(v[1], v[2], v[3]) : slip_angle(v[1], v[2]);
  });
}

// Columns: surface, cone index, those of MavsTire and of MavsHub in their order.
py::array_t<double> update_of_mavs(const Table& inputs) {
  return map_rows(inputs, 19, 5, [](const double* v, double* out) {
    const MavsTire tire{v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]};
    const MavsHub hub{v[10], v[11], v[12], v[13], v[14], v[15], v[16], v[17], v[18] != 0};
    const MavsUpdate update = mavs_update(tire, surface_at(v[0]), v[1], hub);
    const double values[] = {update.forward, update.left, update.up, update.spin, update.slip};
    std::copy(std::begin(values), std::end(values), out);
  });
}

}  // namespace

void bind_tire(py::module_& m) {
  m.def("tire_models", &model_names);
  m.def("tire_params", &params_of, "model"_a);
  m.def("tire_surfaces",
        [] { return std::vector<std::string>(std::begin(kSurfaceNames), std::end(kSurfaceNames)); });
  m.def("tire_step", &step, "model"_a, "inputs"_a);
  m.def("tire_vti", &vti, "mavs"_a, "inputs"_a);
  m.def("tire_slip", &slip, "mavs"_a, "inputs"_a);
  m.def("tire_mavs_update", &update_of_mavs, "inputs"_a);
}

}  // namespace mvsim
