// Finds which static prisms of a world may cast a shadow on which faces of other prisms. The sun does not
// move either, so this is computed once for a Model. Immutable, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "raycast/prism_map.h"
#include "scene/scene.h"

namespace mvsim {

class StandingCasters {
 public:
  StandingCasters() = default;
  // `sun`: not below the horizon, nor straight above.
  StandingCasters(const PrismMap& map, const Sun& sun);

  // Entries of the map that may shade an entry's side from vertex `side` on, or its top. The list may have
  // more entries than shade it. None if there are too many.
  using List = std::optional<std::span<const uint32_t>>;
  List of_side(const PrismMap::Entry& entry, size_t side) const {
    return list(sides_[static_cast<size_t>(entry.first) + side]);
  }
  List of_top(const PrismMap& map, const PrismMap::Entry& entry) const {
    return list(tops_[static_cast<size_t>(&entry - map.entries().data())]);
  }

 private:
  struct Range {
    uint32_t begin = 0, count = 0;
    bool is_complete = true;
  };
  List list(const Range& range) const {
    if (!range.is_complete) return std::nullopt;
    return std::span(casters_).subspan(range.begin, range.count);
  }
  class Finder;

  std::vector<Range> sides_, tops_;  // by vertex; by entry
  std::vector<uint32_t> casters_;
};

}  // namespace mvsim
