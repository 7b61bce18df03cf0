// Bindings to read and change quantities of running worlds by name, between steps.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "batch/batch.h"
#include "model/transfer_params.h"
#include "python/bind.h"
#include "sim/place.h"
#include "sim/simulation.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Knobs = std::vector<std::pair<std::string, OverrideValue>>;

std::span<const double> span_of(const Values& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

py::array_t<double> array_of(const Batch::Reading& reading, py::ssize_t rows) {
  std::vector<py::ssize_t> shape{rows};
  for (const size_t n : reading.shape) shape.push_back(static_cast<py::ssize_t>(n));
  return py::array_t<double>(shape, reading.values.data());
}

py::array_t<double> read(const Batch& batch, const std::vector<int>& envs, const std::string& name) {
  return array_of(batch.read(envs, name), static_cast<py::ssize_t>(envs.size()));
}

py::ssize_t num_rows(const Batch& batch) {
  return static_cast<py::ssize_t>(batch.num_envs()) * batch.num_agents();
}

py::array_t<double> read_rows(const Batch& batch, const std::string& name) {
  return array_of(batch.read_rows(name), num_rows(batch));
}

py::array_t<bool> waiting(const Batch& batch) {
  const std::vector<uint8_t> flags = batch.waiting();
  py::array_t<bool> out(num_rows(batch));
  std::copy(flags.begin(), flags.end(), out.mutable_data());
  return out;
}

void add_rewards(Batch& batch, const py::array_t<double, py::array::c_style>& values,
                 py::array_t<double, py::array::c_style> sums) {
  batch.add_rewards({values.data(), static_cast<size_t>(values.size())},
                    {sums.mutable_data(), static_cast<size_t>(sums.size())});
}

// A row an env.
py::array_t<double> draw(const Batch& batch, uint32_t stream, size_t count, bool normal) {
  const std::vector<double> values = batch.draw(stream, count, normal);
  const auto columns = static_cast<py::ssize_t>(count);
  return py::array_t<double>({num_rows(batch), columns}, values.data());
}

void set_knobs(Batch& batch, const std::vector<int>& envs, const Knobs& knobs) {
  std::vector<Override> changes;
  changes.reserve(knobs.size());
  // As texts: equal values have equal texts, in snapshots too.
  for (const auto& [name, value] : knobs) changes.push_back({{name}, text_of(value)});
  const ReleasedGil released;
  batch.set_knobs(envs, changes, SignalPoll());
}

void put_vehicle(Simulation& s, size_t vehicle, double x, double y, double yaw) {
  check_not_animated(s.model(), BodyKind::kVehicle, vehicle);
  check_pose(s.model(), {x, y, yaw}, "pose");
  s.place_vehicle(vehicle, {x, y, yaw});
}

void put_block(Simulation& s, size_t block, double x, double y, double yaw) {
  check_not_animated(s.model(), BodyKind::kBlock, block);
  check_pose(s.model(), {x, y, yaw}, "pose");
  s.place_block(block, {x, y, yaw});
}

void set_vehicle_twist(Simulation& s, size_t vehicle, const Twist2& twist) {
  check_not_animated(s.model(), BodyKind::kVehicle, vehicle);
  check_twist(twist, "twist");
  s.set_vehicle_twist(vehicle, twist);
}

void set_block_twist(Simulation& s, size_t block, const Twist2& twist) {
  check_not_animated(s.model(), BodyKind::kBlock, block);
  check_twist(twist, "twist");
  s.set_block_twist(block, twist);
}

// All that the pattern matches, or nothing.
void set_parameter(Simulation& s, const std::string& pattern, double value) {
  const std::vector<size_t> found = settable_params(s.model(), pattern);
  for (const size_t i : found) static_cast<void>(stored_value(s.model().params[i], value));
  for (const size_t i : found) s.set_param(i, stored_value(s.model().params[i], value));
}

std::vector<double> parameter(const Simulation& s, const std::string& pattern) {
  const Model& m = s.model();
  std::vector<double> out;
  for (const size_t i : m.find_params(pattern)) out.push_back(given_value(m.params[i], s.state().params[i]));
  if (out.empty()) throw Error("parameter: " + unknown_parameter(m, pattern));
  return out;
}

}  // namespace

void bind_control(py::class_<Batch>& batch) {
  batch.def("names", &Batch::names, "env"_a)
      .def("read", &read, "envs"_a, "name"_a)
      .def("read_rows", &read_rows, "name"_a)
      .def("waiting", &waiting)
      .def(
          "write",
          [](Batch& b, const std::vector<int>& envs, const std::string& name, const Values& values) {
            b.write(envs, name, span_of(values));
          },
          "envs"_a, "name"_a, "values"_a)
      .def(
          "hold",
          [](Batch& b, const std::vector<int>& envs, const std::string& pattern, const Values& values) {
            b.hold(envs, pattern, span_of(values));
          },
          "envs"_a, "pattern"_a, "values"_a)
      .def(
          "release", [](Batch& b, const std::vector<int>& envs) { b.release(envs); }, "envs"_a)
      .def("set_knobs", &set_knobs, "envs"_a, "knobs"_a)
      .def(
          "knobs",
          [](const Batch& b, int env) {
            std::vector<std::pair<std::string, std::string>> out;
            for (const Override& knob : b.knobs(env)) out.emplace_back(knob.path[0], text_of(knob.value));
            return out;
          },
          "env"_a)
      .def_property_readonly("bodies",
                             [](const Batch& b) {
                               std::vector<std::tuple<std::string, std::string, std::string>> out;
                               for (const Batch::MovedBody& body : b.bodies())
                                 out.emplace_back(body.name, body.group, body.policy);
                               return out;
                             })
      .def("choice_value", &Batch::choice_value, "pattern"_a, "name"_a)
      .def_property_readonly("vehicle_name",
                             [](const Batch& b) { return b.model(0)->vehicles[b.vehicle()].name; })
      .def_property_readonly("agent_names",
                             [](const Batch& b) {
                               std::vector<std::string> names;
                               for (size_t a = 0; a < static_cast<size_t>(b.num_agents()); ++a)
                                 names.push_back(b.model(0)->vehicles[b.vehicle(a)].name);
                               return names;
                             })
      .def("add_rewards", &add_rewards, "values"_a.noconvert(), "sums"_a.noconvert())
      .def_property_readonly("live",
                             [](py::object self) {
                               const std::span<uint8_t> flags = self.cast<Batch&>().live();
                               return py::array_t<bool>(static_cast<py::ssize_t>(flags.size()),
                                                        reinterpret_cast<const bool*>(flags.data()), self);
                             })
      .def("draw", &draw, "stream"_a, "count"_a, "normal"_a);
}

void bind_control(py::class_<Simulation>& simulation) {
  simulation.def("place_vehicle", &put_vehicle, "vehicle"_a, "x"_a, "y"_a, "yaw"_a)
      .def("place_block", &put_block, "block"_a, "x"_a, "y"_a, "yaw"_a)
      .def(
          "set_vehicle_twist",
          [](Simulation& s, size_t vehicle, double vx, double vy, double omega) {
            set_vehicle_twist(s, vehicle, {vx, vy, omega});
          },
          "vehicle"_a, "vx"_a, "vy"_a, "omega"_a)
      .def(
          "set_block_twist",
          [](Simulation& s, size_t block, double vx, double vy, double omega) {
            set_block_twist(s, block, {vx, vy, omega});
          },
          "block"_a, "vx"_a, "vy"_a, "omega"_a)
      .def("vehicle_acceleration",
           [](const Simulation& s, size_t vehicle) {
             const Vec2 a = vehicle_acceleration(s, vehicle);
             return std::pair(a.x, a.y);
           })
      .def("set_parameter", &set_parameter, "pattern"_a, "value"_a)
      .def("parameter", &parameter, "pattern"_a)
      .def(
          "choice_value",
          [](const Simulation& s, const std::string& pattern, const std::string& name) {
            return choice_value(s.model(), pattern, name);
          },
          "pattern"_a, "name"_a);
}

}  // namespace mvsim
