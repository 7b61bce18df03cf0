// Top-level elements that place nothing: checked only, for receivers, for people.
#include "worldfile/expression.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

void check_group(LoadState& state, const Element& e, PlainTags tags, const Scope& scope = {}) {
  const Fields fields(state, scope, e);
  check_tags(state, fields, tags);
  fields.warn_unknown(e.tag(), tag_names(tags));
  warn_no_effect(state, e.tag(), e.where());
}

}  // namespace

void check_gui(LoadState& state, const Element& e) {
  check_group(state, e, gui_tags());
}

// Receivers and IMUs look at it (model/compile_site.cpp). Coordinates of a UTM zone need nothing else:
// Model::origin.
void parse_georeference(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  GeoreferenceSpec at;
  read_tags(state, fields, georeference_tags(), at);
  fields.warn_unknown("georeference", tag_names(georeference_tags()));
  if (at.is_utm && at.rotation != 0)
    throw WorldFileError(e.where(), "<georeference>: found <world_is_utm> with a rotation of " +
                                        number_text(at.rotation) +
                                        " degrees, expected <world_to_enu_rotation_deg> 0");
  if (at.is_utm && (at.latitude == 0 || at.longitude == 0))
    throw WorldFileError(e.where(),
                         "<georeference>: found <world_is_utm> alone, expected <latitude> and <longitude>");
  state.world.georeference = at;
}

void parse_marker(LoadState& state, const Element& e) {
  const NamedText type = required_attribute(state, e, "type", {});
  if (type.text != "line_strip")
    throw WorldFileError(type.where,
                         "<marker>: found type '" + shortened(type.text) + "', expected line_strip");
  const Fields fields(state, {}, e);
  const std::optional<NamedText> points = fields.scalar("points");
  if (!points) throw WorldFileError(e.where(), "<marker> has no <points>");
  constexpr size_t kMaxNumbers = 300000;
  const std::vector<double> v = parse_numbers(*points, 3, kMaxNumbers, "rows of x y z");
  if (v.size() % 3 != 0) throw WorldFileError(points->where, "<points>: expected rows of x y z");
  state.budget.seen_points(v.size() / 3, points->where);
  MarkerSpec out;
  out.where = e.where();
  read_tags(state, fields, marker_tags(), out);
  std::vector<double> shift{0, 0, 0};
  if (const std::optional<NamedText> translation = fields.scalar("translation"))
    shift = parse_numbers(*translation, 2, 3, "x y and optionally z (m)");
  shift.resize(3);
  for (size_t i = 0; i < v.size(); i += 3)
    out.points.push_back({v[i] + shift[0], v[i + 1] + shift[1], v[i + 2] + shift[2]});
  fields.warn_unknown("marker", tag_names(marker_tags()));
  state.world.markers.push_back(std::move(out));
}

}  // namespace mvsim
