#include <algorithm>
#include <array>

#include "task/track/tracker.h"

namespace mvsim {

struct TrackerClass {
  std::string_view tag;  // tag of the element that declares it; "": none is needed
  decltype(&tracker<Tracker>) make;
};

// The registry of the trackers of tasks: one line each.
constexpr auto kTrackers = std::to_array<TrackerClass>({
    {"", tracker<class RaceTracker>},
    {"crop_rows", tracker<class CropTracker>},
    {"", tracker<class PeopleTracker>},
    {"", tracker<class MotionTracker>},
});

Trackers make_trackers(TrackerContext context) {
  Trackers out;
  size_t size = 0;
  for (const TrackerClass& row : kTrackers) {
    const auto found = std::ranges::find_if(
        context.spec.trackers, [&](const TermSpec& element) { return element.params.tag == row.tag; });
    context.element = found == context.spec.trackers.end() ? nullptr : &*found;
    if (!row.tag.empty() && !context.element) continue;
    std::unique_ptr<Tracker> made = row.make(context);
    if (!made) continue;
    made->set_first(size);
    size += made->memory_size();
    out.push_back(std::move(made));
  }
  return out;
}

std::vector<std::string> tracker_tags() {
  std::vector<std::string> tags;
  for (const TrackerClass& row : kTrackers)
    if (!row.tag.empty()) tags.emplace_back(row.tag);
  return tags;
}

}  // namespace mvsim
