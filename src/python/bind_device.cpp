// Arrays on a GPU, which leave by DLPack (batch/device_array.h), and what this machine has for them.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "batch/batch.h"
#include "batch/device_array.h"
#include "python/bind.h"
#include "views/view_backend.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

constexpr const char* kPlain = "dltensor";
constexpr const char* kVersioned = "dltensor_versioned";

// A consumer renames a capsule that it has taken over.
template <typename Managed>
void drop(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

py::capsule capsule_of(const DlpackExport& tensor) {
  PyObject* const capsule =
      tensor.versioned
          ? PyCapsule_New(tensor.versioned, kVersioned,
                          [](PyObject* c) { drop<dlpack::ManagedVersioned>(c, kVersioned); })
          : PyCapsule_New(tensor.plain, kPlain, [](PyObject* c) { drop<dlpack::Managed>(c, kPlain); });
  if (!capsule) throw py::error_already_set();
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule to_dlpack(const DeviceArray& array, std::optional<int64_t> stream,
                      std::optional<std::pair<uint32_t, uint32_t>> max_version,
                      std::optional<std::pair<int32_t, int32_t>> dl_device, std::optional<bool> copy) {
  const DlpackWish wish{stream, max_version, dl_device, copy};
  DlpackExport tensor;
  {
    const ReleasedGil released;
    tensor = array.to_dlpack(wish);
  }
  return capsule_of(tensor);
}

py::array to_numpy(const DeviceArray& array) {
  py::array out(py::dtype(std::string(name_of(array.dtype()))),
                std::vector<py::ssize_t>(array.shape().begin(), array.shape().end()));
  void* const to = out.mutable_data();
  const ReleasedGil released;
  array.fetch(to);
  return out;
}

std::string array_text(const DeviceArray& array) {
  return "DeviceArray(" + std::string(py::str(py::tuple(py::cast(array.shape())))) + ", " +
         std::string(name_of(array.dtype())) + ", " + array.device().text() +
         (array.is_current() ? "" : ", of an earlier step") + ")";
}

DeviceArray row(const DeviceArray& array, py::ssize_t index) {
  const auto rows = static_cast<py::ssize_t>(array.shape().empty() ? 0 : array.shape().front());
  if (index < -rows || index >= rows)
    throw py::index_error("index " + std::to_string(index) + " of " + std::to_string(rows));
  return array.row(static_cast<size_t>(index < 0 ? index + rows : index));
}

// None for an observation in the host's memory.
std::optional<DeviceArray> device_array(Batch& batch, size_t key, bool is_final) {
  const ObservationBuffer& buffer =
      is_final ? batch.final_observation_buffer(key) : batch.observation_buffer(key);
  if (buffer.is_on_host()) return std::nullopt;
  std::vector<size_t> shape = batch.observations().at(key).shape;
  shape.insert(shape.begin(), buffer.rows());
  return DeviceArray(buffer.on_device(), buffer.dtype(), std::move(shape), batch.device_moment());
}

}  // namespace

void bind_device(py::module_& m) {
  py::class_<DeviceArray>(m, "DeviceArray")
      .def_property_readonly("shape", [](const DeviceArray& a) { return py::tuple(py::cast(a.shape())); })
      .def_property_readonly("ndim", [](const DeviceArray& a) { return a.shape().size(); })
      .def_property_readonly("dtype",
                             [](const DeviceArray& a) { return py::dtype(std::string(name_of(a.dtype()))); })
      .def_property_readonly("nbytes", &DeviceArray::bytes)
      .def_property_readonly("device", [](const DeviceArray& a) { return a.device().text(); })
      .def_property_readonly("is_current", &DeviceArray::is_current)
      .def("__len__", [](const DeviceArray& a) { return a.shape().empty() ? 0 : a.shape().front(); })
      .def("__getitem__", &row, "index"_a)
      .def("copy", &DeviceArray::copy, py::call_guard<ReleasedGil>())
      .def("to_numpy", &to_numpy)
      .def(
          "__array__",
          [](const DeviceArray& a, const py::object& /*dtype*/, const py::object& /*copy*/) -> py::array {
            throw py::type_error(
                "this array lies on " + a.device().text() +
                ": torch.from_dlpack(array) and the like take it where it is, array.to_numpy() copies it "
                "to the host");
          },
          "dtype"_a = py::none(), "copy"_a = py::none())
      .def("__dlpack__", &to_dlpack, py::kw_only(), "stream"_a = py::none(), "max_version"_a = py::none(),
           "dl_device"_a = py::none(), "copy"_a = py::none())
      .def("__dlpack_device__",
           [](const DeviceArray& a) { return std::pair(dlpack::kCuda, a.device().ordinal()); })
      .def("__repr__", &array_text);
  m.def("device_array", &device_array, "batch"_a, "key"_a, "final"_a = false);
  m.def(
      "cuda_device_name",
      [](int ordinal) {
        const ReleasedGil released;
        return cuda_device_of_views(ordinal)->name();
      },
      "ordinal"_a);
}

}  // namespace mvsim
