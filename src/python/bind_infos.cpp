// The infos of a batch as Gymnasium's vector environments tell them: a step in which episodes end would spend
// more time on them in Python than in the envs.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "batch/batch.h"
#include "python/bind.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace mvsim {
namespace {

using Mask = py::array_t<bool, py::array::c_style | py::array::forcecast>;

// New arrays of one kind: NumPy's own `copy` makes them in a third of the time that a constructor takes.
template <typename T>
class Arrays {
 public:
  explicit Arrays(size_t rows) : copy_(py::array_t<T>(static_cast<py::ssize_t>(rows)).attr("copy")) {}
  py::array_t<T> make() const { return py::reinterpret_steal<py::array_t<T>>(copy_().release()); }

 private:
  py::object copy_;
};

template <typename T>
py::object values_of(const Arrays<T>& arrays, const InfoColumn& column, const uint8_t* has) {
  py::array_t<T> out = arrays.make();
  T* const values = out.mutable_data();
  for (size_t i = 0; i < column.values.size(); ++i)
    values[i] = has[i] != 0 ? static_cast<T>(column.values[i]) : T{};
  return out;
}

// The dicts of one batch, whose keys are made once.
class InfoDicts {
 public:
  explicit InfoDicts(Batch& batch)
      : batch_(batch),
        rows_(batch.infos().front().mask.size()),
        flags_(rows_),
        counts_(rows_),
        numbers_(rows_) {
    for (const InfoColumn& c : batch.infos()) names_.push_back({py::str(c.key), py::str("_" + c.key)});
  }

  // An array of values and a mask `_key` for each key that some row has, or some of `among`.
  py::dict of_rows(const std::optional<Mask>& among) const {
    py::dict out;
    if (!batch_.has_infos()) return out;
    if (among && static_cast<size_t>(among->size()) != rows_)
      throw Error("infos: found a mask of " + std::to_string(among->size()) + " rows, expected " +
                  std::to_string(rows_));
    const std::vector<InfoColumn>& columns = batch_.infos();
    std::vector<uint8_t> has;
    for (size_t k = 0; k < columns.size(); ++k) {
      has = columns[k].mask;
      if (among)
        for (size_t i = 0; i < rows_; ++i) has[i] &= static_cast<uint8_t>(among->data()[i]);
      if (std::find(has.begin(), has.end(), 1) == has.end()) continue;
      py::array_t<bool> mask = flags_.make();
      std::memcpy(mask.mutable_data(), has.data(), rows_);
      out[names_[k].key] = values(columns[k], has.data());
      out[names_[k].mask] = std::move(mask);
    }
    return out;
  }

 private:
  struct Name {
    py::str key, mask;
  };

  py::object values(const InfoColumn& column, const uint8_t* has) const {
    switch (column.type) {
      case InfoType::kBool:
        return values_of(flags_, column, has);
      case InfoType::kInt:
        return values_of(counts_, column, has);
      case InfoType::kNumber:
        break;
    }
    return values_of(numbers_, column, has);
  }

  Batch& batch_;
  size_t rows_;
  Arrays<bool> flags_;
  Arrays<int64_t> counts_;
  Arrays<double> numbers_;
  std::vector<Name> names_;
};

}  // namespace

void bind_infos(py::module_& m) {
  py::class_<InfoDicts>(m, "InfoDicts")
      .def(py::init<Batch&>(), "batch"_a, py::keep_alive<1, 2>())
      .def("of_rows", &InfoDicts::of_rows, "among"_a = py::none());
}

}  // namespace mvsim
