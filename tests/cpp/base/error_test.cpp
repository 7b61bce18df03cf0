// Messages are one short line of UTF-8, whatever they quote.
#include "base/error.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace mvsim::error_test {
namespace {

TEST(Error, MessagesAreOneLineOfUtf8) {
  const Error error("a\nb\t\x1b[31m \xff\xc3\xa4 \x7f" + std::string(1, '\0'));
  EXPECT_STREQ(error.what(), "a\\nb\\t\\x1b[31m \\xff\xc3\xa4 \\x7f\\x00");
}

TEST(Error, LongMessagesKeepTheirStartAndTheirEnd) {
  const std::string text = Error("w.xml:1:2: found '" + std::string(5000, 'x') + "', expected less").what();
  EXPECT_LT(text.size(), 2000u);
  EXPECT_TRUE(text.starts_with("w.xml:1:2: found 'xxx"));
  EXPECT_TRUE(text.ends_with("xxx', expected less"));
}

TEST(Error, QuotesAreCutBetweenCharacters) {
  EXPECT_EQ(shortened("short"), "short");
  EXPECT_EQ(shortened("aa\xc3\xa4", 3), "aa...");
  EXPECT_EQ(shortened("a\nb", 60), "a\\nb");
  EXPECT_EQ(find_not_text(shortened(std::string(100, '\xff'))), std::string::npos);
}

TEST(Utf8, Sequences) {
  EXPECT_EQ(utf8_length("\xc3\xa4"), 2u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
  for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"})
    EXPECT_EQ(utf8_length(bad), 0u);
}

TEST(Utf8, WhatIsNoTextIsFoundWhereverItStands) {
  const std::string text = "plain \xc3\xa4 and ~ tab\tand \xf0\x9f\x98\x80 end\n";
  EXPECT_EQ(find_not_text(text), std::string::npos);
  for (const char bad : {'\0', '\x1b', '\x80', '\xff'})
    for (size_t at = 0; at <= 24; ++at)
      EXPECT_EQ(find_not_text(std::string(at, '~') + bad + std::string(12, ' ')), at) << at;
}

}  // namespace
}  // namespace mvsim::error_test
