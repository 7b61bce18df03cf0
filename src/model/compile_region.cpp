#include "model/compile_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "tire/vti_traction.h"

namespace mvsim {
namespace {

struct PropertyInfo {
  GroundProperty property;
  std::string_view type;  // the tag of its value
  ParamInfo info;
  std::string_view tire_param;  // the parameter of tires that use the property
  std::string_view instead;     // for tires that do not
};

constexpr PropertyInfo kProperties[] = {
    {GroundProperty::kMu, "value_double", {.name = "friction_mu", .min = 0, .max = 1e3}, "mu", "surface"},
    {GroundProperty::kCRr, "value_double", {.name = "friction_C_rr", .min = 0, .max = 1e3}, "C_rr", ""},
    {GroundProperty::kSurface, "value_string", choice_param("surface", kSurfaceNames, 0), "surface",
     "friction_mu"},
    {GroundProperty::kConeIndex,
     "value_double",
     {.name = "cone_index_Pa", .min = 0, .max = 1e9, .is_min_excluded = true, .unit = "Pa"},
     "cone_index_Pa",
     ""},
};

const PropertyInfo* find_property(std::string_view name) {
  for (const PropertyInfo& p : kProperties)
    if (p.info.name == name) return &p;
  return nullptr;
}

void warn(Model& model, const PropertyRegionSpec& spec, const std::string& text) {
  if (model.warnings.size() >= kMaxWarnings) return;
  model.warnings.push_back(spec.where.text() + ": <element class=\"property_region\">: " + text);
}

double read_value(const PropertyInfo& property, NamedText text) {
  text.name = property.info.name;
  const double value = property.info.choices.empty()
                           ? parse_number(text)
                           : static_cast<double>(parse_choice(text, property.info.choices));
  check_range(property.info, value, text.where);
  return value;
}

bool same_box(const Rect& a, const Rect& b) {
  return a.x_min == b.x_min && a.x_max == b.x_max && a.y_min == b.y_min && a.y_max == b.y_max;
}

bool heeds(const TireModel& tire, std::string_view param) {
  return std::any_of(tire.params().begin(), tire.params().end(),
                     [&](const ParamInfo& info) { return info.name == param; });
}

// Returns the warning about a property that some tires ignore. "": all tires use it, or the property that the
// region has instead.
std::string about_deaf_tires(const PropertyInfo& property, bool has_instead, const Model& model) {
  std::string vehicles, tires;
  const std::string instead(property.instead);
  const PropertyInfo* const other = find_property(instead);
  for (const VehicleModel& v : model.vehicles) {
    if (heeds(*v.tire, property.tire_param)) continue;
    if (other && heeds(*v.tire, other->tire_param) && has_instead) continue;
    vehicles += (vehicles.empty() ? "'" : ", '") + v.name + "'";
    if (tires.find(v.tire->name()) == std::string::npos)
      tires += (tires.empty() ? "'" : ", '") + std::string(v.tire->name()) + "'";
  }
  if (vehicles.empty()) return "";
  return "the property '" + std::string(property.info.name) + "' has no effect on tires of class " + tires +
         " (of " + shortened(vehicles) + ")" +
         (instead.empty() ? "" : "; the property '" + instead + "' may have");
}

size_t add_box(const PropertyRegionSpec& spec, Model& model) {
  static constexpr ParamInfo kBox[] = {
      {.name = "x"}, {.name = "y"}, {.name = "size_x", .min = 0}, {.name = "size_y", .min = 0}};
  const Rect& e = spec.extent;
  const double values[] = {(e.x_min + e.x_max) / 2, (e.y_min + e.y_max) / 2, e.x_max - e.x_min,
                           e.y_max - e.y_min};
  return add_params(model, "region:" + spec.name + "/", kBox, values);
}

}  // namespace

void compile_regions(const WorldSpec& spec, const LoadGuard& guard, Model& model) {
  struct Named {
    Rect extent;
    size_t box;
    std::set<std::string> properties;
  };
  std::map<std::string, Named> named;
  for (const PropertyRegionSpec& region : spec.regions) {
    guard.poll();
    if (is_coverage(region)) continue;
    const PropertyInfo* property = find_property(region.property);
    if (!property) {
      std::vector<std::string> names;
      for (const PropertyInfo& p : kProperties) names.emplace_back(p.info.name);
      warn(model, region,
           "the property '" + shortened(region.property) + "' has no effect in this version" +
               did_you_mean(region.property, names));
      continue;
    }
    if (!(region.z_min <= 0 && region.z_max >= 0)) {
      warn(model, region, "has no effect, wheels ask for what holds the height 0");
      continue;
    }
    const auto [found, is_new] = named.try_emplace(region.name);
    Named& group = found->second;
    if (is_new) group = {region.extent, add_box(region, model), {}};
    if (!same_box(group.extent, region.extent))
      throw WorldFileError(region.where, "<element class=\"property_region\">: regions named '" +
                                             region.name + "' have different limits, expected one box");
    if (!group.properties.insert(region.property).second)
      throw WorldFileError(region.where, "<element class=\"property_region\">: the region '" + region.name +
                                             "' already has the property '" + region.property + "'");
    RegionModel out{property->property, group.box, -1};
    if (region.value.name == property->type) {
      const double value = read_value(*property, region.value);
      out.value = static_cast<int>(
          add_params(model, "region:" + region.name + "/", {&property->info, 1}, {&value, 1}));
    } else {
      warn(model, region,
           "<" + region.value.name + "> says nothing of the property '" + region.property + "', expected <" +
               std::string(property->type) + ">");
    }
    model.regions.push_back(out);
  }
  std::map<std::pair<std::string, bool>, std::string> known;  // of each property and what stands beside it
  for (const PropertyRegionSpec& region : spec.regions) {
    guard.poll();
    const auto group = named.find(region.name);
    const PropertyInfo* property = find_property(region.property);
    if (!property || group == named.end() || !group->second.properties.contains(region.property)) continue;
    const bool has_instead = group->second.properties.contains(std::string(property->instead));
    const auto [text, is_new] = known.try_emplace({region.property, has_instead});
    if (is_new) text->second = about_deaf_tires(*property, has_instead, model);
    if (!text->second.empty()) warn(model, region, text->second);
  }
}

}  // namespace mvsim
