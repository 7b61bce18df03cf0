// Labels of a world's things, by which label images tell them apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worldfile/world_spec.h"

namespace mvsim {

// Things in the order of the file, counted from 1; those beyond the range of a label share the last one.
class SceneLabels {
 public:
  explicit SceneLabels(const WorldSpec& spec);

  // Returns the label of the thing that was read as the `order`th.
  uint16_t of(int order) const;
  std::vector<std::string>& names() { return names_; }

 private:
  std::vector<int> orders_;
  std::vector<std::string> names_;
};

}  // namespace mvsim
