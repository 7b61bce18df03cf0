// The scalars of an element that an environment may randomise, as parameters of the Model.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/compile_parts.h"
#include "worldfile/tags.h"

namespace mvsim {

// In the order of their rows; all of them must have values. Returns the index of the first.
template <typename Spec>
size_t add_tag_params(Model& model, const std::string& prefix, Tags<Spec> tags, const Spec& spec) {
  std::vector<ParamInfo> table;
  std::vector<double> values;
  for (const Tag<Spec>& tag : tags)
    if (tag.is_randomised) {
      table.push_back(tag.range);
      table.back().min = std::min(tag.range.min, tag.also.value_or(tag.range.min));
      values.push_back(number_of(tag, spec));
    }
  return add_params(model, prefix, table, values);
}

}  // namespace mvsim
