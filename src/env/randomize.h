// Draws parameters of a simulation at the start of an episode: <randomize of="pattern"
// scale="..."|value="..."/>.
#pragma once

#include <vector>

#include "env/distribution.h"
#include "env/env_state.h"
#include "env/term_reader.h"

namespace mvsim {

class Randomization {
 public:
  // Throws at the term's place for a pattern that matches no parameter, or values that the parameter cannot
  // take.
  Randomization(TermReader& reader, const Model& model);

  // Each parameter that the pattern matches gets a draw of its own, clipped to its range.
  void apply(Simulation& simulation, RandomStream& random) const;

 private:
  struct Target {
    size_t param;
    double scale;  // what a draw is multiplied by
  };

  Distribution distribution_;
  std::vector<Target> targets_;
};

// Patterns of the blocks that a `<randomize of="block:...">` may resize, so that they are compiled as
// movable.
std::string randomized_block(const std::string& pattern);

}  // namespace mvsim
