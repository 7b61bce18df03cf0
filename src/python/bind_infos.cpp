// The infos of a batch as Gymnasium's vector environments tell them: a step in which episodes end would spend more
// time on them in Python than in the envs.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/batch.h"
#include "python/bind.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using Mask = py::array_t<bool, py::array::c_style | py::array::forcecast>;

template <typename T>
py::array_t<T> values_of(const InfoColumn& column, const uint8_t* has) {
  py::array_t<T> out(static_cast<py::ssize_t>(column.values.size()));
  T* const values = out.mutable_data();
  for (size_t i = 0; i < column.values.size(); ++i)
    values[i] = has[i] != 0 ? static_cast<T>(column.values[i]) : T{};
  return out;
}

py::object values_of(const InfoColumn& column, const uint8_t* has) {
  switch (column.type) {
    case InfoType::kBool:
      return values_of<bool>(column, has);
    case InfoType::kInt:
      return values_of<int64_t>(column, has);
    case InfoType::kNumber:
      break;
  }
  return values_of<double>(column, has);
}

// The dicts of one batch, whose keys are made once.
class InfoDicts {
 public:
  explicit InfoDicts(Batch& batch) : batch_(batch) {
    for (const InfoColumn& c : batch.infos()) names_.push_back({py::str(c.key), py::str("_" + c.key)});
  }

  // An array of values and a mask `_key` for each key that some row has, or some of `among`.
  py::dict of_rows(const std::optional<Mask>& among) const {
    py::dict out;
    if (!batch_.has_infos()) return out;
    const std::vector<InfoColumn>& columns = batch_.infos();
    if (among && static_cast<size_t>(among->size()) != columns.front().mask.size())
      throw Error("infos: found a mask of " + std::to_string(among->size()) + " rows, expected " +
                  std::to_string(columns.front().mask.size()));
    std::vector<uint8_t> has;
    for (size_t k = 0; k < columns.size(); ++k) {
      has = columns[k].mask;
      if (among)
        for (size_t i = 0; i < has.size(); ++i) has[i] &= static_cast<uint8_t>(among->data()[i]);
      if (std::find(has.begin(), has.end(), 1) == has.end()) continue;
      py::array_t<bool> mask(static_cast<py::ssize_t>(has.size()));
      std::memcpy(mask.mutable_data(), has.data(), has.size());
      out[names_[k].key] = values_of(columns[k], has.data());
      out[names_[k].mask] = std::move(mask);
    }
    return out;
  }

 private:
  struct Name {
    py::str key, mask;
  };

  Batch& batch_;
  std::vector<Name> names_;
};

}  // namespace

void bind_infos(py::module_& m) {
  py::class_<InfoDicts>(m, "InfoDicts")
      .def(py::init<Batch&>(), "batch"_a, py::keep_alive<1, 2>())
      .def("of_rows", &InfoDicts::of_rows, "among"_a = py::none());
}

}  // namespace mvsim
