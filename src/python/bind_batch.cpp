// EnvSpec and Batch: what mvsim_gym.Env, VectorEnv and sb3.MVSimVecEnv stand on. Arrays are views of the
// batch's own memory and keep the batch alive.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "batch/batch.h"
#include "batch/worker_pool.h"
#include "python/bind.h"
#include "task/env_spec.h"
#include "task/env_state.h"
#include "task/track/tracker.h"
#include "views/view_backend.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

// A view of `values` with a row an env; `owner` is the batch.
template <typename T, typename Stored>
py::array_t<T> view(py::handle owner, const Stored* values, size_t rows, size_t columns = 0) {
  static_assert(sizeof(T) == sizeof(Stored));
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(rows)};
  if (columns > 0) shape.push_back(static_cast<py::ssize_t>(columns));
  return py::array_t<T>(shape, reinterpret_cast<const T*>(values), owner);
}

Batch& batch_of(py::handle self) {
  return self.cast<Batch&>();
}

py::array_t<bool> flags(py::handle self, std::span<uint8_t> (Batch::*get)()) {
  const std::span<uint8_t> values = (batch_of(self).*get)();
  return view<bool>(self, values.data(), values.size());
}

py::dtype dtype_of(DType dtype) {
  return py::dtype(std::string(name_of(dtype)));
}

std::vector<py::ssize_t> shape_of(const ObservationSpec& spec) {
  return {spec.shape.begin(), spec.shape.end()};
}

// (rows, *shape) of the observation's own type.
py::array rows(py::handle self, size_t key, ObservationBuffer& (Batch::*get)(size_t)) {
  Batch& batch = batch_of(self);
  ObservationBuffer& buffer = (batch.*get)(key);
  if (!buffer.is_on_host()) throw Error("observation: it lies on a GPU, expected device_array()");
  std::vector<py::ssize_t> shape = shape_of(batch.observations().at(key));
  shape.insert(shape.begin(), static_cast<py::ssize_t>(buffer.rows()));
  return {dtype_of(buffer.dtype()), shape, buffer.data(), self};
}

// Bounds with the type and shape of the observation; a copy.
py::array bounds(const ObservationSpec& spec, const std::vector<float>& values) {
  py::array out(dtype_of(spec.dtype), shape_of(spec));
  with_dtype(spec.dtype, [&](auto zero) {
    std::transform(values.begin(), values.end(), static_cast<decltype(zero)*>(out.mutable_data()),
                   [](float v) { return static_cast<decltype(zero)>(v); });
  });
  return out;
}

const char* name_of(InfoType type) {
  return type == InfoType::kBool ? "bool" : type == InfoType::kInt ? "int" : "float";
}

bool stop_on_signal() {
  check_signals();
  return false;
}

using Actions = py::array_t<float, py::array::c_style>;
using Mask = py::array_t<uint8_t, py::array::c_style | py::array::forcecast>;

// Returns whether any env has an info, which spares the caller a look at every mask. `between`, if any, is
// called within the step (Batch::Between) and returns None or a flag for each row.
bool step(Batch& batch, const Actions& actions, const std::optional<py::function>& between) {
  const std::span<const float> values(actions.data(), static_cast<size_t>(actions.size()));
  std::optional<Mask> ended;
  Batch::Between turn;
  if (between)
    turn = [&]() -> std::span<const uint8_t> {
      const py::gil_scoped_acquire gil;
      const py::object result = (*between)();
      if (result.is_none()) return {};
      ended = result.cast<Mask>();
      return {ended->data(), static_cast<size_t>(ended->size())};
    };
  const ReleasedGil released;
  batch.step(values, stop_on_signal, turn);
  return batch.has_infos();
}

// `starts`: none, or for each row a pose and a goal, or None.
using Start = std::pair<std::optional<std::array<double, 3>>, std::optional<std::array<double, 2>>>;

void reset(Batch& batch, const std::optional<Mask>& mask, const std::optional<std::vector<Start>>& starts) {
  std::span<const uint8_t> values;
  if (mask) values = {mask->data(), static_cast<size_t>(mask->size())};
  std::vector<GivenStart> given(starts ? starts->size() : 0);
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& [pose, goal] = (*starts)[i];
    if (pose) given[i].pose = Pose2{(*pose)[0], (*pose)[1], (*pose)[2]};
    if (goal) given[i].goal = Vec2{(*goal)[0], (*goal)[1]};
  }
  const ReleasedGil released;
  batch.reset(values, stop_on_signal, given);
}

void set_state(Batch& batch, const std::vector<int>& envs, const std::vector<py::bytes>& states) {
  const std::vector<std::string_view> views(states.begin(), states.end());
  const ReleasedGil released;
  batch.set_state(envs, views);
}

// Fills new arrays, each for the observation of an index.
void copy_observations(Batch& batch, const std::vector<std::pair<size_t, py::array>>& to) {
  std::vector<std::pair<size_t, std::byte*>> arrays;
  for (auto [key, array] : to) {
    const ObservationBuffer& from = batch.observation_buffer(key);
    if (!from.is_on_host()) throw Error("copy_observations: found an observation that lies on a GPU");
    if (static_cast<size_t>(array.nbytes()) != from.rows() * from.row_bytes() ||
        !(array.flags() & py::array::c_style))
      throw Error("copy_observations: found an array of " + std::to_string(array.nbytes()) +
                  " bytes, expected one like the batch's own, of " +
                  std::to_string(from.rows() * from.row_bytes()) + " bytes");
    arrays.emplace_back(key, static_cast<std::byte*>(array.mutable_data()));
  }
  const ReleasedGil released;
  batch.copy_observations(arrays);
}

py::typing::Dict<py::str, py::str> keywords_of_env(const EnvSpec& spec) {
  py::typing::Dict<py::str, py::str> out;
  for (const auto& [name, kind] : keyword_kinds(spec)) out[py::str(name)] = py::str(std::string(kind));
  return out;
}

void bind_spec(py::module_& m) {
  py::class_<EnvSpec>(m, "EnvSpec")
      .def_readonly("id", &EnvSpec::id)
      .def_property_readonly("path", [](const EnvSpec& s) { return python_path(s.path); })
      .def_readonly("control_period", &EnvSpec::control_period)
      .def_property_readonly("keywords", &keywords_of_env)
      .def_property_readonly(
          "several_agents",
          [](const EnvSpec& s) { return s.agents.size() > 1 || !s.agents.front().vehicles.empty(); })
      .def_property_readonly("on_end",
                             [](const EnvSpec& s) { return on_end_names()[static_cast<size_t>(s.on_end)]; })
      .def_readwrite("time_limit", &EnvSpec::time_limit);
  m.def(
      "load_env",
      [](const PathName& path, const PathName& assets, const std::vector<PathName>& roots) {
        EnvLoadOptions options;
        options.assets = assets.text;
        options.roots = texts_of(roots);
        return load_env(path.text, options);
      },
      "path"_a, "assets"_a, "roots"_a = std::vector<PathName>{});
  m.def(
      "apply_overrides",
      [](EnvSpec& spec, const std::vector<std::pair<std::vector<std::string>, OverrideValue>>& pairs) {
        std::vector<Override> overrides;
        for (const auto& [path, value] : pairs) overrides.push_back({path, value});
        apply_overrides(spec, overrides);
      },
      "spec"_a, "overrides"_a);
  m.def(
      "list_envs",
      [](const PathName& folder) {
        std::vector<std::pair<std::string, py::str>> out;
        for (const EnvListing& env : list_envs(folder.text)) out.emplace_back(env.id, python_path(env.path));
        return out;
      },
      "folder"_a);
}

BatchOptions batch_options(const PathName& assets, const std::vector<PathName>& roots,
                           const ResourceArgument& resources) {
  BatchOptions options;
  options.load.assets = assets.text;
  options.load.roots = texts_of(roots);
  options.load.resources = resources_of(resources);
  return options;
}

std::unique_ptr<Batch> make_batch(const EnvSpec& spec, BatchOptions options) {
  options.load.poll = SignalPoll();
  const ReleasedGil released;
  return std::make_unique<Batch>(spec, options);
}

// Members have the names of the keywords of mvsim_gym/_options.py.
void bind_options(py::module_& m) {
  py::enum_<AutoresetMode>(m, "AutoresetMode")
      .value("NEXT_STEP", AutoresetMode::kNextStep)
      .value("SAME_STEP", AutoresetMode::kSameStep)
      .value("DISABLED", AutoresetMode::kDisabled);
  py::class_<BatchOptions>(m, "BatchOptions")
      .def(py::init(&batch_options), "assets"_a, "roots"_a, "resources"_a = ResourceArgument{})
      .def_readwrite("num_envs", &BatchOptions::num_rows)  // Python counts rows
      .def_readwrite("num_threads", &BatchOptions::num_threads)
      .def_readwrite("pin", &BatchOptions::pin)
      .def_readwrite("autoreset_mode", &BatchOptions::autoreset)
      .def_readwrite("strict_actions", &BatchOptions::strict_actions)
      .def_readwrite("spl", &BatchOptions::spl)
      .def_property(
          "strict", [](const BatchOptions& o) { return o.load.strict; },
          [](BatchOptions& o, bool strict) { o.load.strict = strict; })
      .def_property(
          "camera_backend", [](const BatchOptions& o) { return name_of(o.load.camera_backend); },
          [](BatchOptions& o, const std::string& name) {
            o.load.camera_backend = parse_camera_backend(name, "camera_backend");
          })
      .def_property(
          "device", [](const BatchOptions& o) { return name_of(o.device); },
          [](BatchOptions& o, const std::string& name) { o.device = device_of(name); })
      .def_property(
          "memory_limit", [](const BatchOptions& o) { return o.load.memory_limit; },
          [](BatchOptions& o, uint64_t limit) { o.load.memory_limit = limit; });
}

}  // namespace

void bind_batch(py::module_& m) {
  bind_spec(m);
  m.def("default_threads", &default_threads, "num_envs"_a);
  bind_options(m);
  py::class_<ObservationSpec>(m, "ObservationSpec")
      .def_readonly("key", &ObservationSpec::key)
      .def_property_readonly("dtype", [](const ObservationSpec& o) { return dtype_of(o.dtype); })
      .def_property_readonly("shape", [](const ObservationSpec& o) { return py::tuple(py::cast(o.shape)); })
      .def_property_readonly("low", [](const ObservationSpec& o) { return bounds(o, o.low); })
      .def_property_readonly("high", [](const ObservationSpec& o) { return bounds(o, o.high); });
  py::class_<Batch> batch_class(m, "Batch");
  bind_control(batch_class);
  batch_class.def(py::init(&make_batch), "spec"_a, "options"_a)
      .def_property_readonly("spec", &Batch::spec, py::return_value_policy::reference_internal)
      .def_property_readonly("warnings", &Batch::warnings)
      .def_property_readonly("num_envs", &Batch::num_envs)
      .def_property_readonly("num_agents", &Batch::num_agents)
      .def_property_readonly("num_threads", &Batch::num_threads)
      .def_property_readonly("control_period", &Batch::control_period)
      .def_property_readonly("action_size", &Batch::action_size)
      .def_property_readonly("action_low", &Batch::action_low)
      .def_property_readonly("action_high", &Batch::action_high)
      .def_property_readonly("action_names", &Batch::action_names)
      .def_property_readonly("observations", &Batch::observations,
                             py::return_value_policy::reference_internal)
      .def("seed_env", &Batch::seed_env, "env"_a, "key"_a)
      .def("reset", &reset, "mask"_a = py::none(), "starts"_a = py::none())
      .def("step", &step, "actions"_a.noconvert(), "between"_a = py::none())
      .def("copy_observations", &copy_observations, "to"_a)
      .def("stop_threads", &Batch::stop_threads)
      .def(
          "state", [](const Batch& batch, int env) { return py::bytes(batch.state(env)); }, "env"_a)
      .def("set_state", &set_state, "envs"_a, "states"_a)
      .def("clone", &Batch::clone)
      .def("started", &Batch::started, "env"_a)
      .def("ended", &Batch::ended, "env"_a)
      .def("observation",
           [](py::object self, size_t key) { return rows(self, key, &Batch::observation_buffer); })
      .def("final_observation",
           [](py::object self, size_t key) { return rows(self, key, &Batch::final_observation_buffer); })
      .def_property_readonly("rewards",
                             [](py::object self) {
                               const std::span<double> values = batch_of(self).rewards();
                               return view<double>(self, values.data(), values.size());
                             })
      .def_property_readonly("terminated", [](py::object self) { return flags(self, &Batch::terminated); })
      .def_property_readonly("truncated", [](py::object self) { return flags(self, &Batch::truncated); })
      .def_property_readonly("finished", [](py::object self) { return flags(self, &Batch::finished); })
      .def_property_readonly("was_reset", [](py::object self) { return flags(self, &Batch::was_reset); })
      .def_property_readonly("alive", [](py::object self) { return flags(self, &Batch::alive); })
      .def("info_columns",
           [](py::object self) {
             std::vector<std::tuple<std::string, std::string, py::array_t<double>, py::array_t<bool>>> out;
             for (const InfoColumn& c : batch_of(self).infos())
               out.emplace_back(c.key, name_of(c.type), view<double>(self, c.values.data(), c.values.size()),
                                view<bool>(self, c.mask.data(), c.mask.size()));
             return out;
           })
      .def("report_cut", &Batch::report_cut, "env"_a)
      .def(
          "log_to", [](Batch& b, const PathName& folder) { b.log_to(folder.text); }, "folder"_a)
      .def("model", &Batch::model, "env"_a)
      .def("episode", &Batch::episode, "env"_a)
      .def(
          "goal",
          [](const Batch& b, int env, size_t agent) -> std::optional<std::pair<double, double>> {
            const std::optional<Vec2> goal = b.goal(env, agent);
            if (!goal) return std::nullopt;
            return std::pair(goal->x, goal->y);
          },
          "env"_a, "agent"_a = 0);
}

}  // namespace mvsim
