#include "terrain/height_map.h"

#include <algorithm>

namespace mvsim {

HeightMap::HeightMap(int rows, int columns, double resolution, Vec2 corner, std::vector<float> heights)
    : rows_(rows),
      columns_(columns),
      resolution_(resolution),
      nodes_per_metre_(1 / resolution),
      corner_(corner),
      highest_(*std::max_element(heights.begin(), heights.end())),
      heights_(std::move(heights)) {}

}  // namespace mvsim
