// Draws parameters of a simulation at the start of an episode: <randomize of="pattern"
// scale="..."|value="..."/>.
#pragma once

#include <span>
#include <vector>

#include "task/distribution.h"
#include "task/env_state.h"
#include "task/term_reader.h"

namespace mvsim {

class Randomization {
 public:
  // Throws at the term's place for a pattern that matches no parameter, or values that the parameter cannot
  // take.
  Randomization(TermReader& reader, const Model& model);

  // Each parameter that the pattern matches gets a draw of its own, clipped to its range.
  void apply(Simulation& simulation, RandomStream& random) const;

  enum class End { kLow, kHigh };
  // All parameters get the end of their range; of a normal distribution, two deviations from its mean. Where
  // the range is a single value, its low end is the nominal value.
  void apply_end(Simulation& simulation, End end) const;
  bool has_range(const Model& model) const;  // whether the two ends differ

  // Indices in Model::params.
  std::span<const size_t> params() const { return params_; }

 private:
  double end_of(const Model& model, size_t target, End end) const;

  Distribution distribution_;
  std::vector<size_t> params_;
  std::vector<double> scales_;  // by parameter, what a draw is multiplied by
};

// Patterns of the blocks that a `<randomize of="block:...">` may resize, so that they are compiled as
// movable.
std::string randomized_block(const std::string& pattern);

}  // namespace mvsim
