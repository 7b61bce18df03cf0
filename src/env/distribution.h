// Random quantities of an environment file: "uniform(0.7, 1.2)", "normal(mean, deviation)", "loguniform(low,
// high)", "choice(a, b, ...)", or a number. Values only.
#pragma once

#include <string>
#include <vector>

#include "base/params.h"
#include "base/random.h"

namespace mvsim {

class Distribution {
 public:
  // Throws WorldFileError at the text's place.
  explicit Distribution(const NamedText& text);

  double draw(RandomStream& random) const;
  // Smallest and largest value that can be drawn; infinite for a normal one.
  double low() const;
  double high() const;

 private:
  enum class Kind { kConstant, kUniform, kNormal, kLogUniform, kChoice };

  Kind kind_ = Kind::kConstant;
  std::vector<double> arguments_;
};

}  // namespace mvsim
