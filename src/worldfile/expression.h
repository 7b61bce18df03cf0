// The expression language of $f{...}: doubles only, names without regard to case, evaluated while it is read.
//
// Arithmetic + - * / % ^, comparisons, and or nand nor xor, & |, not(x), if(c,a,b), c ? a : b, the functions
// of expression_functions.cpp, and the random rand() unifrnd(a,b) randn() randomize(seed). Not thread-safe:
// it draws from the stream given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace mvsim {

class ExpressionError : public Error {
 public:
  ExpressionError(const std::string& message, std::string unknown_name = {})
      : Error(message), unknown_name_(std::move(unknown_name)) {}
  const std::string& unknown_name() const { return unknown_name_; }

 private:
  std::string unknown_name_;
};

// The text of a variable by its name in lower case, or null.
using VariableText = std::function<const std::string*(const std::string& lower_name)>;

// Throws ExpressionError; the result is finite.
double evaluate_expression(std::string_view text, const VariableText& variables, RandomStream& random);

// The number at the start of `text` ("10 m" is 10), if there is one.
std::optional<double> leading_number(std::string_view text);

// The shortest text that reads back as the same number.
std::string number_text(double value);

std::string lower_case(std::string_view text);

// Returns the function of a name, without memory, or nullptr if there is none. Argument counts are checked by
// the caller.
struct ExpressionFunction {
  std::string_view name;
  size_t min, max;
  double (*value)(const double* x, size_t n);
};
const ExpressionFunction* find_expression_function(std::string_view lower_name);
std::vector<std::string> expression_function_names();

double expression_power(double base, double exponent);

}  // namespace mvsim
