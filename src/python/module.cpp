// The module `_core`, and the C++ exceptions as those of mvsim_gym/errors.py.
#include "python/bind.h"

#include "base/error.h"
#include "batch/device_array.h"

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

}  // namespace mvsim

PYBIND11_MODULE(_core, m) {
  m.doc() =
      "The C++ core of mvsim_gym. Use the classes of mvsim_gym instead: this module may change any day.";
  py::register_exception_translator(&mvsim::translate);
  mvsim::bind_model(m);
  mvsim::bind_world(m);
  mvsim::bind_batch(m);
  mvsim::bind_device(m);
  mvsim::bind_pipeline(m);
  mvsim::bind_infos(m);
  mvsim::bind_render(m);
  mvsim::bind_tags(m);
  mvsim::bind_tire(m);
  mvsim::bind_view(m);
}
