#include "worldfile/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

namespace mvsim::expression_test {
namespace {

double value_of(const std::string& text, const std::map<std::string, std::string>& variables = {},
                uint64_t seed = 0) {
  RandomStream random(seed, 0, StreamPurpose::kWorldExpression);
  return evaluate_expression(
      text,
      [&](const std::string& name) -> const std::string* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : &found->second;
      },
      random);
}

std::string error_of_expression(const std::string& text) {
  try {
    value_of(text);
  } catch (const ExpressionError& e) {
    return e.what();
  }
  return "";
}

TEST(Expression, FollowsItsGrammarExactly) {
  const std::pair<const char*, double> cases[] = {
      {"if(3<=4 and 2>=1, 7, 8)", 7},
      {"2^3 % 5", 3},
      {"deg2rad(180)/M_PI", 1},
      {"1+2*3-4/2", 5},
      {"(1+2)*3", 9},
      {"7-2-1", 4},
      {"8/4/2", 1},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"2^-1", 0.5},
      {"--3", 3},
      {"2*-3", -6},
      {"7 % 4", 3},
      {"-7 % 4", -3},
      {"5.5 % 2", 1.5},
      {"1 < 2", 1},
      {"2 <= 1", 0},
      {"2 <> 2", 0},
      {"2 != 3", 1},
      {"2 = 2", 1},
      {"2 == 2", 1},
      {"1 or 0 and 0", 1},
      {"1 xor 1", 0},
      {"1 nand 1", 0},
      {"0 nor 0", 1},
      {"1 & 0", 0},
      {"1 | 0", 1},
      {"1 + 1 == 2 and 3 > 2", 1},
      {"not(3)", 0},
      {"not(0) and 1", 1},
      {"TRUE + False", 1},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 1 ? 4 : 5", 4},
      {"1 > 2 ? 10 : 20", 20},
      {"if(0, 1/0, 5)", 5},
      {".5 + 1e1 + 2.", 12.5},
      {" ( 1 ) ", 1},
      {"MAX(1, 5, 3)", 5},
      {"min(4)", 4},
      {"avg(1,2,6)", 3},
      {"sum(1,2,3,4)", 10},
      {"mul(2,3,4)", 24},
      {"clamp(0, 5, 3)", 3},
      {"clamp(0, -5, 3)", 0},
      {"inrange(0, 2, 3)", 1},
      {"inrange(0, 4, 3)", 0},
      {"mod(9, 4)", 1},
      {"abs(-3) + ceil(1.2) + floor(1.8) + round(2.5) + trunc(-1.5)", 3 + 2 + 1 + 3 - 1},
      {"int(-2.7)", -2},
      {"frac(2.25)", 0.25},
      {"sgn(-4) + sgn(0)", -1},
      {"sqrt(16)", 4},
      {"root(27, 3)", 3},
      {"pow(2, 10)", 1024},
      {"log10(1000)", 3},
      {"log2(1024)", 10},
      {"logn(81, 3)", 4},
      {"hypot(3, 4)", 5},
      {"min(inf, 3)", 3},
      {"epsilon < 1e-9", 1},
  };
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(value_of(text), expected) << text;
}

TEST(Expression, FunctionsAgreeWithTheCLibrary) {
  struct Case {
    const char* name;
    double (*oracle)(double);
    double from, to;
  };
  const Case cases[] = {
      {"sin", std::sin, -20, 20},     {"cos", std::cos, -20, 20},    {"tan", std::tan, -1.5, 1.5},
      {"asin", std::asin, -1, 1},     {"acos", std::acos, -1, 1},    {"atan", std::atan, -50, 50},
      {"sinh", std::sinh, -5, 5},     {"cosh", std::cosh, -5, 5},    {"tanh", std::tanh, -5, 5},
      {"asinh", std::asinh, -50, 50}, {"acosh", std::acosh, 1, 50},  {"atanh", std::atanh, -0.99, 0.99},
      {"exp", std::exp, -20, 20},     {"expm1", std::expm1, -3, 3},  {"log", std::log, 0.01, 90},
      {"log1p", std::log1p, -0.9, 9}, {"log2", std::log2, 0.01, 90}, {"log10", std::log10, 0.01, 90},
  };
  for (const Case& c : cases)
    for (int i = 0; i <= 100; ++i) {
      const double x = c.from + (c.to - c.from) * i / 100;
      const double expected = c.oracle(x);
      const std::string text = std::string(c.name) + "(" + number_text(x) + ")";
      EXPECT_NEAR(value_of(text), expected, 1e-13 + 1e-13 * std::fabs(expected)) << text;
    }
  EXPECT_NEAR(value_of("atan2(-1, -2)"), std::atan2(-1, -2), 1e-15);
  EXPECT_NEAR(value_of("2.5^1.7"), std::pow(2.5, 1.7), 1e-14);
  EXPECT_NEAR(value_of("sec(1)*cos(1) + csc(1)*sin(1) + cot(1)*tan(1)"), 3, 1e-14);
}

TEST(Expression, VariablesAreNumbersAtTheStartOfTheirText) {
  EXPECT_EQ(value_of("Width * 2", {{"width", "10 m"}}), 20);
  EXPECT_EQ(value_of("x", {{"x", " -1.5"}}), -1.5);
  EXPECT_THROW(value_of("x", {{"x", "true"}}), ExpressionError);
  EXPECT_THROW(value_of("x", {{"x", "nan"}}), ExpressionError);
  EXPECT_EQ(value_of("pi", {{"pi", "3"}}), 3);
}

TEST(Expression, RandomNumbersComeFromTheStreamOnly) {
  EXPECT_EQ(value_of("rand()"), value_of("rand()"));
  EXPECT_NE(value_of("rand()", {}, 1), value_of("rand()", {}, 2));
  EXPECT_EQ(value_of("randomize(2) + rand()", {}, 1), value_of("randomize(2) + rand()", {}, 9));
  EXPECT_NE(value_of("randomize(2) + rand()"), value_of("randomize(3) + rand()"));
  RandomStream random(5, 0, StreamPurpose::kWorldExpression);
  const VariableText none = [](const std::string&) { return nullptr; };
  double total = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = evaluate_expression("unifrnd(2,3)", none, random);
    EXPECT_TRUE(x >= 2 && x <= 3);
    total += x;
  }
  EXPECT_NEAR(total / 2000, 2.5, 0.03);
}

TEST(Expression, ABranchNotTakenDrawsNothing) {
  EXPECT_EQ(value_of("if(0, rand(), 0) + rand()"), value_of("rand()"));
  EXPECT_EQ(value_of("(1 ? 0 : randn()) + rand()"), value_of("rand()"));
}

TEST(Expression, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected a number"},
      {"1 +", "expected a number"},
      {"(1", "expected ')'"},
      {"1 2", "unexpected '2'"},
      {"2x", "followed by 'x'"},
      {"foo", "unknown name 'foo'"},
      {"foo(1)", "unknown function 'foo'"},
      {"sin()", "sin() is given 0 arguments"},
      {"sin(1,2)", "sin() is given 2 arguments"},
      {"if(1,2)", "expected ','"},
      {"1 ? 2", "expected ':'"},
      {"1/0", "not a finite number"},
      {"sqrt(-1)", "not a finite number"},
      {"log(-1)", "not a finite number"},
      {"sin(inf)", "not a finite number"},
      {"inf", "not a finite number"},
      {"0^-1", "not a finite number"},
      {"(-8)^(1/3)", "not a finite number"},
      {"randomize(inf)", "whole number"},
      {"a := 3", "unknown name 'a'"},
      {"1; 2", "unexpected ';'"},
      {"'text'", "expected a number"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error_of_expression(text).find(expected), std::string::npos)
        << text << ": " << error_of_expression(text);
}

TEST(Expression, NestingIsBounded) {
  EXPECT_EQ(value_of(std::string(50, '(') + "1" + std::string(50, ')')), 1);
  EXPECT_NE(error_of_expression(std::string(100000, '(') + "1").find("too deeply"), std::string::npos);
  EXPECT_NE(error_of_expression(std::string(100000, '-') + "1").find("too deeply"), std::string::npos);
}

TEST(Expression, NumbersKeepAllTheirDigits) {
  for (const double x : {0.1, 1234567.0, 1e21, 4187.123456789012, -0.0, 5e-324})
    EXPECT_EQ(std::strtod(number_text(x).c_str(), nullptr), x) << number_text(x);
  EXPECT_EQ(number_text(1234567), "1234567");
  EXPECT_EQ(number_text(-0.0), "0");
}

}  // namespace
}  // namespace mvsim::expression_test
