#include "model/compile_parts.h"

namespace mvsim {
namespace {

constexpr std::string_view kProperty = "gps_no_coverage";

CoverageRegion read_region(const PropertyRegionSpec& spec) {
  if (spec.value.name != "value_bool")
    throw WorldFileError(spec.where, "<element class=\"property_region\">: found <" + spec.value.name +
                                         ">, expected <value_bool> of the property '" + spec.property + "'");
  return {spec.extent, spec.z_min, spec.z_max, parse_bool(spec.value)};
}

}  // namespace

bool is_coverage(const PropertyRegionSpec& region) {
  return region.property == kProperty;
}

void compile_site(const WorldSpec& spec, const LoadGuard& guard, Model& model) {
  std::vector<CoverageRegion> regions;
  for (const PropertyRegionSpec& region : spec.regions) {
    guard.poll();
    if (is_coverage(region)) regions.push_back(read_region(region));
  }
  const bool is_placed =
      spec.georeference && (spec.georeference->latitude != 0 || spec.georeference->longitude != 0);
  if (is_placed) {
    const GeoreferenceSpec& at = *spec.georeference;
    const Geodetic reference{at.latitude, at.longitude, at.height};
    const Vec2 origin = at.is_utm ? utm(reference) : Vec2{};
    model.site = Site{.reference = reference,
                      .rotation = at.rotation * kDegree,
                      .origin = {origin.x, origin.y, at.is_utm ? at.height : 0},
                      .plane = TangentPlane(reference),
                      .regions = std::move(regions)};
    return;
  }
  for (const VehicleSpec& vehicle : spec.vehicles)
    for (const SensorSpec& sensor : vehicle.sensors)
      if (sensor.params.class_name == "gnss") {
        model.warnings.push_back(sensor.params.where.text() +
                                 ": <sensor class=\"gnss\"> has no readings without <georeference> and its "
                                 "<latitude> and <longitude>");
        return;
      }
}

}  // namespace mvsim
