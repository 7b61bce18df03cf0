// Random quantities of an environment file: "uniform(0.7, 1.2)", "normal(mean, deviation)", "loguniform(low,
// high)", "choice(a, b, ...)", or a number. Values only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/params.h"
#include "base/random.h"

namespace mvsim {

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

}  // namespace mvsim
