// Names of files across the border: bytes of any kind but NUL, as os.fsencode and os.fsdecode have them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "assets/resources.h"

namespace mvsim {

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

}  // namespace mvsim

namespace mvsim {

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
