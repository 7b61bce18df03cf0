// The binding files of the module `_core`, and what they share: tuples, calls without the GIL, names of
// files.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assets/resources.h"
#include "base/geometry.h"
#include "base/load_guard.h"

namespace mvsim {

// The binding files of the module `_core`, one function each. They translate types and nothing else.

class Batch;
class Simulation;

void bind_batch(pybind11::module_& m);
void bind_control(pybind11::class_<Batch>& batch);
void bind_control(pybind11::class_<Simulation>& simulation);
void bind_device(pybind11::module_& m);
void bind_infos(pybind11::module_& m);
void bind_model(pybind11::module_& m);
void bind_pipeline(pybind11::module_& m);
void bind_render(pybind11::module_& m);
void bind_tags(pybind11::module_& m);
void bind_tire(pybind11::module_& m);
void bind_view(pybind11::module_& m);
void bind_world(pybind11::module_& m);

// Poses and twists as Python takes them.

using PoseTuple = std::tuple<double, double, double, double, double, double>;  // x, y, z, yaw, pitch, roll
using PlanePoseTuple = std::tuple<double, double, double>;                     // x, y, yaw
using TwistTuple = std::tuple<double, double, double>;                         // vx, vy, omega

inline PoseTuple tuple_of(const Pose3& p) {
  return {p.x, p.y, p.z, p.yaw, p.pitch, p.roll};
}
inline PlanePoseTuple tuple_of(const Pose2& p) {
  return {p.x, p.y, p.yaw};
}
inline TwistTuple tuple_of(const Twist2& t) {
  return {t.vx, t.vy, t.omega};
}

// Long calls without the GIL: they give it back for as long as they last and look for Ctrl-C now and then.

inline bool interpreter_is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// As py::gil_scoped_release, but fit for daemon threads: one that comes back while the interpreter shuts down
// waits for the end of the process. (Python would end the thread by unwinding its stack, and a destructor
// that must not throw would turn that into an abort.)
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() noexcept(false) {
    while (interpreter_is_finalizing()) pause();
    PyEval_RestoreThread(state_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Throws error_already_set when a signal handler of Python raised, e.g. KeyboardInterrupt. Takes the GIL.
inline void check_signals() {
  if (interpreter_is_finalizing()) return;
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

// check_signals() about every 20 ms, for callers that come by more often than the GIL is cheap.
class SignalPoll {
 public:
  void operator()() {
    const int64_t now = coarse_ms();
    if (now < next_) return;
    next_ = now + kEvery;
    check_signals();
  }

 private:
  static constexpr int64_t kEvery = 20;  // ms

  int64_t next_ = coarse_ms() + kEvery;
};

// Names of files across the border: bytes of any kind but NUL, as os.fsencode and os.fsdecode have them.

// A str, bytes or os.PathLike of Python. A NUL in it is a ValueError.
struct PathName {
  std::string text;
};

inline std::vector<std::string> texts_of(const std::vector<PathName>& names) {
  std::vector<std::string> out;
  for (const PathName& name : names) out.push_back(name.text);
  return out;
}

// Folders of URL prefixes, and the cache: ([(prefix, folder)...], cache).
using ResourceArgument = std::pair<std::vector<std::pair<std::string, PathName>>, PathName>;

inline pybind11::str python_path(const std::string& path) {
  PyObject* const text = PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
  if (!text) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(text);
}

inline ResourceOptions resources_of(const ResourceArgument& given) {
  ResourceOptions out;
  for (const auto& [prefix, folder] : given.first) out.prefixes.emplace_back(prefix, folder.text);
  out.cache = given.second.text;
  return out;
}

}  // namespace mvsim

template <>
struct pybind11::detail::type_caster<mvsim::PathName> {
  PYBIND11_TYPE_CASTER(mvsim::PathName, const_name("str | bytes | os.PathLike"));

  bool load(handle source, bool) {
    PyObject* bytes = nullptr;
    if (!PyUnicode_FSConverter(source.ptr(), &bytes)) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw error_already_set();
      PyErr_Clear();
      return false;
    }
    value.text = reinterpret_steal<pybind11::bytes>(bytes).cast<std::string>();
    return true;
  }
  static handle cast(const mvsim::PathName& name, return_value_policy, handle) {
    return mvsim::python_path(name.text).release();
  }
};
