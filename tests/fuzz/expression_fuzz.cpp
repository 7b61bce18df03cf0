// $f{...}: a finite number or an ExpressionError; numbers read back as they were written.
#include <cmath>
#include <map>

#include "fuzz.h"
#include "worldfile/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  static const std::map<std::string, std::string> kVariables{{"x", "2.5 m"}, {"n", "3"}, {"name", "abc"}};
  RandomStream random(1, 0, StreamPurpose::kWorldExpression);
  const auto text_of_variable = [](const std::string& name) -> const std::string* {
    const auto found = kVariables.find(name);
    return found == kVariables.end() ? nullptr : &found->second;
  };
  try {
    const double value = evaluate_expression(fuzz::text_of(data, size), text_of_variable, random);
    fuzz::require(std::isfinite(value) && leading_number(number_text(value)) == value);
  } catch (const ExpressionError&) {
  }
  return 0;
}
