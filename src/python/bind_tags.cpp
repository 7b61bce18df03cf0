// Bindings of the tags of world files and the parameters of classes, for the tables of docs/world-*.md.
#include <pybind11/stl.h>

#include <algorithm>

#include "model/model.h"
#include "python/bind.h"
#include "worldfile/tags.h"

namespace py = pybind11;

namespace mvsim {
namespace {

// A number or a choice, as a file would give it.
std::string text_of(const ParamInfo& info, double value) {
  if (info.type == ParamType::kBool) return value != 0 ? "true" : "false";
  if (info.type == ParamType::kChoice) return std::string(info.choices[static_cast<size_t>(value)]);
  return py::str(py::float_(info.type == ParamType::kDegrees ? value / kDegree : value));
}

TagRow row_of(const std::string& element, const ParamInfo& info) {
  constexpr TagType kTypes[] = {TagType::kNumber, TagType::kDegrees, TagType::kBool, TagType::kInt,
                                TagType::kChoice};
  return {
      element, {.range = info, .type = kTypes[static_cast<size_t>(info.type)]}, text_of(info, info.fallback)};
}

// Returns the parameters of tires, dynamics and controllers. A controller that several dynamics share counts
// once.
std::vector<TagRow> class_params() {
  std::vector<TagRow> out;
  for (const TireModel* tire : tire_models())
    for (const ParamInfo& info : tire->params())
      out.push_back(row_of("friction " + std::string(tire->name()), info));
  std::vector<const Controller*> known;
  for (const Dynamics* dynamics : dynamics_classes()) {
    const std::string name(dynamics->name());
    for (const auto& table : {dynamics->geometry(), dynamics->params()})
      for (const ParamInfo& info : table) out.push_back(row_of("dynamics " + name, info));
    for (const Controller* controller : dynamics->controllers()) {
      if (std::find(known.begin(), known.end(), controller) != known.end()) continue;
      known.push_back(controller);
      for (const ParamInfo& info : controller->params())
        out.push_back(row_of("controller " + std::string(controller->name()) + " of " + name, info));
    }
  }
  return out;
}

}  // namespace

void bind_tags(py::module_& m) {
  py::class_<TagRow>(m, "TagRow")
      .def_readonly("element", &TagRow::element)
      .def_property_readonly("name", [](const TagRow& r) { return r.tag.name(); })
      .def_property_readonly("type",
                             [](const TagRow& r) {
                               constexpr const char* kNames[] = {"number", "degrees", "int",
                                                                 "bool",   "color",   "choice",
                                                                 "text",   "point",   "own"};
                               return kNames[static_cast<size_t>(r.tag.type)];
                             })
      .def_readonly("default", &TagRow::fallback)
      .def_property_readonly("limits",
                             [](const TagRow& r) {
                               const double unit = r.tag.type == TagType::kDegrees ? kDegree : 1;
                               return std::pair(r.tag.range.min / unit, r.tag.range.max / unit);
                             })
      .def_property_readonly(
          "open",
          [](const TagRow& r) { return std::pair(r.tag.range.is_min_excluded, r.tag.range.is_max_excluded); })
      .def_property_readonly("also", [](const TagRow& r) { return std::pair(r.tag.also, r.tag.also_means); })
      .def_property_readonly("unit", [](const TagRow& r) { return r.tag.range.unit; })
      .def_property_readonly("choices",
                             [](const TagRow& r) {
                               return std::vector<std::string>(r.tag.range.choices.begin(),
                                                               r.tag.range.choices.end());
                             })
      .def_property_readonly("effect",
                             [](const TagRow& r) {
                               constexpr const char* kNames[] = {"used", "none", "refused"};
                               return kNames[static_cast<size_t>(r.tag.effect)];
                             })
      .def_property_readonly("text", [](const TagRow& r) { return r.tag.text; });
  m.def("world_tags", &all_tags);
  m.def("class_params", &class_params);
}

}  // namespace mvsim
