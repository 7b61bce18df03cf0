// A component's table of parameters: choices by name.
#include "base/params.h"

#include <gtest/gtest.h>

namespace mvsim::params_test {
namespace {

constexpr std::string_view kColors[] = {"red", "green", "blue"};
constexpr ParamInfo kTable[] = {choice_param("color", kColors, 1), {.name = "mu", .fallback = 0.5}};

double color_of(const std::string& text) {
  ParamSet set{.tag = "paint", .class_name = "", .where = {}, .values = {}};
  if (!text.empty()) set.values.push_back({"color", text, {}});
  double out[2];
  std::vector<std::string> warnings;
  read_params(set, kTable, out, {}, warnings);
  EXPECT_TRUE(warnings.empty());
  return out[0];
}

TEST(Params, AChoiceIsReadByName) {
  EXPECT_EQ(color_of(""), 1);
  EXPECT_EQ(color_of("blue"), 2);
  EXPECT_EQ(color_of(" red\n"), 0);
}

TEST(Params, AnUnknownChoiceIsAnsweredWithTheNearest) {
  for (const char* wrong : {"gren", "1", " ", "Red"}) {
    try {
      color_of(wrong);
      FAIL() << wrong;
    } catch (const WorldFileError& e) {
      EXPECT_NE(std::string(e.what()).find("expected one of red, green, blue"), std::string::npos);
    }
  }
  try {
    color_of("gren");
  } catch (const WorldFileError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'green'"), std::string::npos);
  }
}

TEST(Params, TheRangeOfAChoiceIsThatOfItsIndices) {
  EXPECT_THROW(check_range(kTable[0], 3, {}), WorldFileError);
  EXPECT_THROW(check_range(kTable[0], -1, {}), WorldFileError);
  check_range(kTable[0], 2, {});
}

}  // namespace
}  // namespace mvsim::params_test
