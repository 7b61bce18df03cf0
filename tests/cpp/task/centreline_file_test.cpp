// Centrelines as track databases write them: which columns are x and y, and what is said of mistakes.
#include "task/plan/centreline.h"

#include <gtest/gtest.h>

namespace mvsim::centreline_file_test {
namespace {

OpenFile file_of(const std::string& bytes) {
  struct Held final : PackedBytes {
    explicit Held(std::string held) : bytes(std::move(held)) {}
    std::string unpack() const override { return bytes; }
    std::string bytes;
  };
  return {std::make_shared<const Held>(bytes), "a.csv", bytes.size()};
}

std::vector<Vec2> read(const std::string& text) {
  LoadGuard guard;
  return read_centreline(file_of(text), {}, guard);
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

const std::vector<Vec2> kTriangle{{0, 0}, {4, 0}, {4, 3}};

TEST(CentrelineFile, IsOneLineHoweverItIsWritten) {
  const std::string texts[] = {
      "0 0\n4 0\n4 3\n",
      "# a line of points: x y in m\n0 0\n4 0  # the corner\n\n4\t3",
      "0,0\n4,0\n4,3\n",
      "0, 0,\r\n4, 0,\r\n4, 3,\r\n",
      "0;0\r4;0\r4;3\r",
      "\xef\xbb\xbf"
      "0 0\n+4 0\n4.0 3e0\n0 0\n",
      // f1tenth_benchmarks
      "0.0,0.0,0.9,0.9\n4.0,0.0,0.9,0.9\n4.0,3.0,0.9,0.9\n",
      // f1tenth_racetracks and TUMFTM
      "# x_m, y_m, w_tr_right_m, w_tr_left_m\n0, 0, 1.1, 1.1\n4, 0, 1.1, 1.1\n4, 3, 1.1, 1.1\n",
      "# x_m,y_m\n0,0\n4,0\n4,3\n0.00001,0\n",
      "# 603fd3987364b09f\r\n# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps; ax_mps2\n0;0;0;1;2;3;4\n"
      "4;4;0;1;2;3;4\n7;4;3;1;2;3;4\n12;0;0;1;2;3;4\n",
      "x_ref_m; y_ref_m; width_right_m; width_left_m; x_normvec_m; "
      "y_normvec_m\n0;0;1;1;7;7\n4;0;1;1;7;7\n4;3;1;1;7;7\n",
      // headers of other kinds
      "x,y,z,comment\n0,0,1,start\n4,0,1,\n4,3,1,nan\n",
      "\"Y [m]\",\"X [m]\"\n0,0\n0,4\n3,4\n",
      "time pos_x pos_y\n1 0 0\n2 4 0\n3 4 3\n",
      "## vx; vy; x; y ##\n9;9;0;0\n9;9;4;0\n9;9;4;3\n",
      "s,x,y\n0,0,0\n4,4,0\n7,4,3\n",
      // no header, and the first column is the length along the others
      "0,0,0\n4,4,0\n7,4,3\n",
      "0,0,0,1.5,0,8,0\n4,4,0,1.5,0,8,0\n7,4,3,1.5,0,8,0\n12,0,0,1.5,0,8,0\n",
      // headers and texts that say nothing of these columns
      "# track of x, y and width\n0 0\n4 0\n4 3\n",
      "# x_m, y_m, s_m\n0,0,1,1\n4,0,1,1\n4,3,1,1\n",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    EXPECT_EQ(error_of(text), "no error");
    EXPECT_EQ(read(text), kTriangle);
  }
}

TEST(CentrelineFile, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "a.csv:1:1: found no points, expected rows of x and y"},
      {"# x, y\n\n", "a.csv:1:1: found no points"},
      {"0 0\n4 a\n", "a.csv:2:3: found 'a', expected a number of at most 1e9"},
      {"0;0\r\n\r\n4; b;\r\n", "a.csv:3:4: found 'b', expected a number"},
      {"0 0\n4 nan\n", "a.csv:2:3: found 'nan', expected a number"},
      {"0 0\n4 1e10\n", "a.csv:2:3: found '1e10', expected a number of at most 1e9"},
      {"0,0\n4,,0\n", "a.csv:2:1: found 3 columns, expected 2 as in line 1"},
      {"0,0,1\n4,,0\n", "a.csv:2:3: found '', expected a number"},
      {"1,5;2,5\n", "a.csv:1:1: found '1,5', expected a number of at most 1e9 or a header that names"},
      {"# x;y\n1;2\n2;2\n3;2,5\n", "a.csv:4:3: found '2,5', expected a number"},
      {"0\n4\n", "a.csv:1:1: found one column, expected x and y"},
      {"lon,lat\n0,0\n",
       "a.csv:1:1: found 'lon', expected a number of at most 1e9 or a header that names the"},
      {"x,z\n0,0\n", "a.csv:1:1: found 'x', expected a number"},
      {"x,y,w\n0,0\n", "a.csv:2:1: found 2 columns, expected 3 as in line 1"},
      {"0,0,1,2,3\n1,0,1,2,3\n1,1,1,2,3\n",
       "a.csv:1:1: found 5 columns and no header, expected one that names"},
      {"0 0\n4 0\n4 0\n", "a.csv:3:1: found the point of line 2 again, expected another"},
      {"\xff\xfe"
       "0",
       "a.csv:1:1: is UTF-16 text, expected UTF-8"},
      {"\xff 0\n", "a.csv:1:1: found '\\xff', expected a number"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << "\n" << error_of(text);
}

TEST(CentrelineFile, IsBounded) {
  EXPECT_NE(error_of(std::string(1 << 20, ',')).find("found more than 100 columns"), std::string::npos);
  std::string many;
  for (int i = 0; i < 10'002; ++i) many += std::to_string(i) + " 0\n";
  EXPECT_NE(error_of(many).find("a.csv:10002:1: found more than 10000 points"), std::string::npos);
  LoadGuard guard(1000);
  EXPECT_THROW(read_centreline(file_of(many), {}, guard), WorldFileError);
}

}  // namespace
}  // namespace mvsim::centreline_file_test
