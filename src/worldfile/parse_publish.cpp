// <publish>: topics and periods of the poses of a body and the readings of a sensor. The values are kept for
// the programs that publish them; the simulation does not use them.
#include <algorithm>
#include <set>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

std::string text_or_empty(const Fields& fields, std::string_view tag) {
  const std::optional<NamedText> text = fields.scalar(tag);
  return text ? std::string(trimmed(text->text)) : "";
}

// One that is switched off asks for nothing.
bool is_enabled(const Fields& fields) {
  const std::optional<NamedText> enabled = fields.scalar("enabled");
  return !enabled || parse_bool(*enabled);
}

void warn_of_absent(LoadState& state, const PublicationSpec& publication, const std::set<std::string>& names,
                    const std::vector<std::string>& candidates) {
  for (const std::string& name : publication.relative_objects)
    if (const std::string kind = "absent " + name; !names.contains(name) && state.warnings.is_new(kind))
      state.warnings.add(kind, publication.where,
                         "<publish_relative_pose_objects>: there is no vehicle or block '" + shortened(name) +
                             "'" + did_you_mean(name, candidates));
}

}  // namespace

std::shared_ptr<const PublicationSpec> parse_publish(LoadState& state, const Element& e, const Scope& scope) {
  const Fields fields(state, scope, e);
  PublicationSpec out;
  out.where = e.where();
  read_tags(state, fields, kPublishTags, out);
  fields.warn_unknown(e.tag(), tag_names(kPublishTags));
  out.topic = text_or_empty(fields, "publish_pose_topic");
  out.relative_topic = text_or_empty(fields, "publish_relative_pose_topic");
  out.relative_objects = split_words(text_or_empty(fields, "publish_relative_pose_objects"));
  state.budget.values(out.relative_objects.size(), out.where);
  if (out.relative_topic.empty() != out.relative_objects.empty())
    throw WorldFileError(
        e.where(),
        "<publish> has one of publish_relative_pose_topic and publish_relative_pose_objects, "
        "expected both or none");
  if (!is_enabled(fields)) return nullptr;
  return std::make_shared<const PublicationSpec>(std::move(out));
}

std::string parse_sensor_publish(LoadState& state, const Element& e, const Scope& scope) {
  const Fields fields(state, scope, e);
  check_tags(state, fields, kSensorPublishTags);
  fields.warn_unknown(e.tag(), tag_names(kSensorPublishTags));
  return is_enabled(fields) ? text_or_empty(fields, "publish_topic") : "";
}

void warn_of_publish(LoadState& state, const PlacementSpec& placement, std::string_view tag) {
  if (placement.publication)
    state.warnings.add(
        "no effect publish " + std::string(tag), placement.publication->where,
        "<publish> has no effect in <" + std::string(tag) + ">: poses of vehicles and blocks are published");
}

void warn_of_absent_objects(LoadState& state) {
  std::set<std::string> names;
  for (const VehicleSpec& vehicle : state.world.vehicles) names.insert(vehicle.name);
  for (const BlockSpec& block : state.world.blocks) names.insert(block.name);
  constexpr size_t kMaxCandidates = 500;  // for suggestions, as in names_of
  std::vector<std::string> candidates(names.begin(), names.end());
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
  const auto check = [&](const PlacementSpec& placement) {
    state.session.guard.poll();
    if (placement.publication) warn_of_absent(state, *placement.publication, names, candidates);
  };
  for (const VehicleSpec& vehicle : state.world.vehicles) check(vehicle.placement);
  for (const BlockSpec& block : state.world.blocks) check(block.placement);
}

}  // namespace mvsim
