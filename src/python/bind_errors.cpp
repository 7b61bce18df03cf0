// C++ exceptions as Python's.
#include "base/error.h"
#include "env/env_spec.h"
#include "python/bind.h"
#include "render/renderer.h"

namespace py = pybind11;

namespace mvsim {
namespace {

py::object core(const char* name) {
  return py::module_::import("mvsim_gym._core").attr(name);
}

void raise_world_file_error(const WorldFileError& error) {
  const py::object type = core("WorldFileError");
  const py::object value = type(error.what());
  const SourceLocation& where = error.where();
  value.attr("path") = where.path ? *where.path : std::string();
  value.attr("line") = where.line;
  value.attr("column") = where.column;
  PyErr_SetObject(type.ptr(), value.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const WorldFileError& e) {
    raise_world_file_error(e);
  } catch (const ForkedProcessError& e) {
    PyErr_SetString(core("ForkedProcessError").ptr(), e.what());
  } catch (const RenderMemoryError& e) {
    PyErr_SetString(core("RenderMemoryError").ptr(), e.what());
  } catch (const RendererLost& e) {
    PyErr_SetString(core("RendererLost").ptr(), e.what());
  } catch (const UnknownKeyword& e) {
    PyErr_SetString(core("UnknownKeyword").ptr(), e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

void add_exception(py::module_& m, const char* name, PyObject* base, const char* doc) {
  const std::string full = "mvsim_gym." + std::string(name);
  m.attr(name) =
      py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr));
}

}  // namespace

void bind_errors(py::module_& m) {
  add_exception(
      m, "WorldFileError", PyExc_ValueError,
      "A mistake in a world or environment file: `path`, `line`, `column` and a message that says what "
      "was found and what was expected.");
  add_exception(m, "ForkedProcessError", PyExc_RuntimeError,
                "An environment was used in a process forked after the environment was made.");
  add_exception(m, "UnknownKeyword", PyExc_TypeError, "A keyword that an environment does not have.");
  add_exception(m, "RenderMemoryError", PyExc_RuntimeError,
                "The driver has no memory for a picture of that size.");
  add_exception(m, "RendererLost", PyExc_RuntimeError, "The driver lost the context or does not answer.");
  py::register_exception_translator(&translate);
}

}  // namespace mvsim
