// <dem_xyzrgb_file>: scattered points with colours as ground.
#include <cmath>

#include "base/geometry3.h"
#include "base/random.h"
#include "model/compile.h"
#include "scene/scene.h"
#include "scene/triangles.h"
#include "worldfile/expression.h"
#include "worldfile/limits.h"
#include "worldfile/world_text.h"

namespace mvsim::dem_test {
namespace {

// 3 x 3 cells of a metre from (10, 20) on: heights 0 to 8 in the order of x, then y, each colour its own.
std::string nine_points() {
  std::string out = "# x y z r g b\n";
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y) {
      const int k = 3 * x + y;
      // the first and the last one reach to the borders, so that the cells' middles lie near the points
      const double to = k == 0 ? 0 : k == 8 ? 1 : 0.5;
      out += std::to_string(10 + x + to) + " " + std::to_string(20 + y + to) + " " + std::to_string(k) + " " +
             std::to_string(10 * k) + " " + std::to_string(255 - k) + " 7\n";
    }
  return out;
}

class Dem : public ::testing::Test {
 protected:
  std::string body(const std::string& more) const {
    return world_of("<element class='elevation_map'><dem_xyzrgb_file>d.txt</dem_xyzrgb_file>" + more +
                    "</element>");
  }
  std::shared_ptr<const Model> compile(const std::string& points, const std::string& more = "") {
    folder_.write("d.txt", points);
    return compile_world(load_world_text(body(more), folder_.path(), {}));
  }
  std::string error(const std::string& points, const std::string& more = "") {
    try {
      compile(points, more);
    } catch (const WorldFileError& e) {
      EXPECT_EQ(e.where().line, 2) << e.what();
      return e.what();
    }
    return "";
  }

  TempFolder folder_;
};

TEST_F(Dem, EachCellTakesHeightAndColourOfItsNearestPoint) {
  const auto model = compile(nine_points());
  const HeightMap& map = model->terrain.maps.at(0);
  ASSERT_EQ(map.rows(), 3);
  ASSERT_EQ(map.columns(), 3);
  EXPECT_EQ(map.corner().x, 10) << "the lowest x of the data";
  EXPECT_EQ(map.corner().y, 20);
  for (int k = 0; k < 9; ++k) EXPECT_EQ(map.node(k / 3, k % 3), k);
  EXPECT_EQ(map.height_at({11, 21}), 4);

  const auto scene = scene_of(model);
  const HeightField* field = nullptr;
  for (const Shape& shape : scene->shapes)
    if (const auto* found = std::get_if<HeightField>(&shape)) field = found;
  ASSERT_TRUE(field && field->colors);
  const Mesh mesh = triangles_of(*field, {}, {});
  ASSERT_EQ(mesh.colors.size(), 9U);
  for (size_t k = 0; k < 9; ++k) {
    EXPECT_EQ(mesh.colors[k].r, 10 * k);
    EXPECT_EQ(mesh.colors[k].g, 255 - k);
    EXPECT_EQ(mesh.colors[k].b, 7);
    EXPECT_EQ(mesh.positions[k].z, static_cast<double>(k));
  }
}

TEST_F(Dem, OffsetsCornersAndOtherResolutions) {
  const HeightMap moved = compile(nine_points(),
                                  "<dem_offset_x>-10</dem_offset_x><dem_offset_y>1</dem_offset_y>"
                                  "<dem_offset_z>100</dem_offset_z>")
                              ->terrain.maps.at(0);
  EXPECT_EQ(moved.corner().x, 0);
  EXPECT_EQ(moved.corner().y, 21);
  EXPECT_EQ(moved.node(2, 1), 107);
  const HeightMap placed =
      compile(nine_points(), "<corner_min_x>-3</corner_min_x><corner_min_y>5</corner_min_y>")
          ->terrain.maps.at(0);
  EXPECT_EQ(placed.corner().x, -3);
  EXPECT_EQ(placed.corner().y, 5);
  const HeightMap fine = compile(nine_points(), "<resolution>0.25</resolution>")->terrain.maps.at(0);
  EXPECT_EQ(fine.rows(), 12);
  EXPECT_EQ(fine.node(5, 6), 4) << "(11.375, 21.625) is nearest to the middle point";
}

// Colours beyond 0 to 255 are cut off.
TEST_F(Dem, ColoursAreBytes) {
  const WorldSpec world = [&] {
    folder_.write("d.txt", "0 0 1 -5 300 127.6\n3 3 1 -5 300 127.6\n");
    return load_world_text(body(""), folder_.path(), {});
  }();
  const Color color = world.elevation_maps.at(0).colors->at(0);
  EXPECT_EQ(color.r, 0);
  EXPECT_EQ(color.g, 255);
  EXPECT_EQ(color.b, 128);
}

// Against a look at every point. Handing samples on from cell to cell misses the nearest one at times, by
// little.
TEST_F(Dem, TheNearestPointIsTheNearest) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  struct Point {
    double x, y;
  };
  std::vector<Point> points;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    points.push_back({random.uniform() * 30, random.uniform() * 20});
    text += number_text(points.back().x) + " " + number_text(points.back().y) + " " + std::to_string(i) +
            " 0 0 0\n";
  }
  const HeightMap map = compile(text)->terrain.maps.at(0);
  for (int r = 0; r < map.rows(); ++r)
    for (int c = 0; c < map.columns(); ++c) {
      const double x = map.corner().x + r + 0.5, y = map.corner().y + c + 0.5;
      const auto distance = [&](const Point& p) { return std::hypot(p.x - x, p.y - y); };
      double nearest = 1e9;
      for (const Point& p : points) nearest = std::min(nearest, distance(p));
      const double found = distance(points[static_cast<size_t>(map.node(r, c))]);
      EXPECT_EQ(found, nearest);
    }
}

// Points at one place, and one far away.
TEST_F(Dem, ManyPointsAtOnePlace) {
  std::string points;
  for (int i = 0; i < 30000; ++i) points += "0 0 " + std::to_string(i % 7) + " 0 0 0\n";
  const auto model = compile(points + "200 200 9 0 0 0\n");
  const HeightMap& map = model->terrain.maps.at(0);
  EXPECT_EQ(map.node(0, 0), 0) << "of equally near points the first";
  EXPECT_EQ(map.node(98, 99), 0);
  EXPECT_EQ(map.node(199, 199), 9);
}

// Within a circle all points are about equally near: the work of all maps of a world is counted.
TEST(DemBudget, ComparisonsOfAWorldAreBounded) {
  LoadGuard guard;
  Budget budget(guard);
  budget.comparisons(kMaxComparisons, {});
  EXPECT_THROW(budget.comparisons(1, {}), WorldFileError);
}

TEST_F(Dem, SaysWhatIsWrong) {
  EXPECT_TRUE(has(error("1 2 3 4 5\n"), "d.txt:1: found 5 numbers, expected rows of 6 numbers"));
  EXPECT_TRUE(has(error("0 0 0 0 0 0\n1 1 1 nan 0 0\n"), "d.txt:2: found no number that can be used"));
  EXPECT_TRUE(has(error(""), "found none"));
  EXPECT_TRUE(has(error("0 0 0 0 0 0\n"), "found a map of 0 x 0 cells, expected 2 or more a side"));
  EXPECT_TRUE(has(error("0 0 0 0 0 0\n5 0.5 0 0 0 0\n"), "found a map of 5 x 1 cells"));
  EXPECT_TRUE(has(error("0 0 0 0 0 0\n1e6 1e6 0 0 0 0\n"), "at most 4000000: see <resolution>"));
  EXPECT_TRUE(has(error("0 0 0 0 0 0\n3 3 0 0 0 0\n", "<dem_offset_z>high</dem_offset_z>"),
                  "<dem_offset_z>: found 'high'"));
}

}  // namespace
}  // namespace mvsim::dem_test
