// Randomisation: distributions, and the quantities that are drawn from them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/params.h"
#include "base/random.h"
#include "task/env_state.h"
#include "task/term_reader.h"

namespace mvsim {

// Random quantities of an environment file: "uniform(0.7, 1.2)", "normal(mean, deviation)", "loguniform(low,
// high)", "choice(a, b, ...)", or a number. Values only.

class Distribution {
 public:
  // Throws WorldFileError at the text's place. With `choices` the arguments are these names: NAME or
  // choice(NAME, NAME, ...).
  explicit Distribution(const NamedText& text, std::span<const std::string_view> choices = {});

  double draw(RandomStream& random) const;
  // Smallest and largest value that can be drawn; infinite for a normal one.
  double low() const;
  double high() const;
  // The same, but for a normal distribution two deviations to either side of its mean.
  std::pair<double, double> usual_range() const;

 private:
  enum class Kind { kConstant, kUniform, kNormal, kLogUniform, kChoice };

  Kind kind_ = Kind::kConstant;
  std::vector<double> arguments_;
};

// Draws parameters of a simulation at the start of an episode: <randomize of="pattern"
// scale="..."|value="..."/>.

class Randomization {
 public:
  // Throws at the term's place for a pattern that matches no parameter, or for values that are not valid.
  Randomization(TermReader& reader, const Model& model);

  // Draws each parameter that the pattern matches on its own, clipped to its range.
  void apply(Simulation& simulation, RandomStream& random) const;

  enum class End { kLow, kHigh };
  // Sets all parameters to one end of their range; for a normal distribution to two deviations from its mean.
  // If the range is a single value, its low end is the nominal value.
  void apply_end(Simulation& simulation, End end) const;
  bool has_range(const Model& model) const;  // whether the two ends differ

  // Indices in Model::params.
  std::span<const size_t> params() const { return params_; }

 private:
  double end_of(const Model& model, size_t target, End end) const;

  Distribution distribution_;
  std::vector<size_t> params_;
  std::vector<double> scales_;  // by parameter: factor of a draw
};

// Returns the pattern of the blocks that a `<randomize of="block:...">` may resize, so that they are compiled
// as movable.
std::string randomized_block(const std::string& pattern);

}  // namespace mvsim
