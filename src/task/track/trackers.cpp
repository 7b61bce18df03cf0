#include <algorithm>
#include <array>

#include "task/track/localization.h"
#include "task/track/tracker.h"

namespace mvsim {

struct TrackerClass {
  std::string_view tag;  // tag of the element that declares it; "": none is needed
  decltype(&tracker<Tracker>) make;
};

// The registry of the trackers of tasks: one line each.
constexpr auto kTrackers = std::to_array<TrackerClass>({
    {kLocalizationTag, tracker<LocalizationTracker>},  // first: estimates are ready for the others
    {"", tracker<class RaceTracker>},
    {"crop_rows", tracker<class CropTracker>},
    {"dock", tracker<class DockTracker>},
    {"", tracker<class PeopleTracker>},
    {"", tracker<class MotionTracker>},
});

Trackers make_trackers(TrackerContext context) {
  Trackers out;
  size_t size = 0;
  const auto add = [&](std::unique_ptr<Tracker> made) {
    made->set_first(size);
    size += made->memory_size();
    out.push_back(std::move(made));
  };
  for (const TrackerClass& row : kTrackers) {
    const auto found = std::ranges::find_if(
        context.spec.trackers, [&](const TermSpec& element) { return element.params.tag == row.tag; });
    context.element = found == context.spec.trackers.end() ? nullptr : &*found;
    if (!row.tag.empty() && !context.element) continue;
    if (std::unique_ptr<Tracker> made = row.make(context)) add(std::move(made));
  }
  if (const auto* const localization = find_tracker<LocalizationTracker>(out))
    for (size_t i = 0, count = out.size(); i < count; ++i)
      if (std::unique_ptr<Tracker> other = out[i]->for_estimates())
        add(std::make_unique<EstimatedTracker>(std::move(other), *localization));
  return out;
}

std::vector<std::string> tracker_tags() {
  std::vector<std::string> tags;
  for (const TrackerClass& row : kTrackers)
    if (!row.tag.empty()) tags.emplace_back(row.tag);
  return tags;
}

}  // namespace mvsim
