// C++ exceptions as those of mvsim_gym/errors.py.
#include "base/error.h"
#include "batch/device_array.h"
#include "python/bind.h"
#include "python/path.h"
#include "render/pictures/renderer.h"

namespace py = pybind11;

namespace mvsim {
namespace {

py::object python_type(const char* name) {
  return py::module_::import("mvsim_gym.errors").attr(name);
}

void raise(const char* name, const std::exception& error) {
  PyErr_SetString(python_type(name).ptr(), error.what());
}

void raise(const WorldFileError& error) {
  const SourceLocation& where = error.where();
  const py::object type = python_type("WorldFileError");
  const py::object value =
      type(error.what(), python_path(where.path ? *where.path : std::string()), where.line, where.column);
  PyErr_SetObject(type.ptr(), value.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const WorldFileError& e) {
    raise(e);
  } catch (const ForkedProcessError& e) {
    raise("ForkedProcessError", e);
  } catch (const RenderMemoryError& e) {
    raise("RenderMemoryError", e);
  } catch (const RendererLost& e) {
    raise("RendererLost", e);
  } catch (const ExportRefused& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

}  // namespace

void bind_errors(py::module_&) {
  py::register_exception_translator(&translate);
}

}  // namespace mvsim
