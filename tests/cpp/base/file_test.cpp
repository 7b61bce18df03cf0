#include "base/text.h"

#include <gtest/gtest.h>

namespace mvsim::file_test {
namespace {

TEST(File, FolderOf) {
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of(""), ".");
  EXPECT_EQ(folder_of("/"), "/");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("//a"), "/");
  EXPECT_EQ(folder_of("a/b"), "a");
  EXPECT_EQ(folder_of("a//b"), "a");
  EXPECT_EQ(folder_of("/a/b/c.xml"), "/a/b");
  EXPECT_EQ(folder_of("../c.xml"), "..");
}

TEST(File, JoinPath) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("/", "b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("a", "../b"), "a/../b");
}

}  // namespace
}  // namespace mvsim::file_test
