// <element class="vertical_plane">: doors, windows and every way to get it wrong.
#include <cmath>

#include "worldfile/world_text.h"

namespace mvsim::vertical_plane_test {
namespace {

std::string wall(const std::string& inside) {
  return "<element class='vertical_plane'>" + inside + "</element>";
}
const std::string kFourMetres = "<x0>0</x0><y0>1</y0><x1>4</x1><y1>1</y1>";

// Where a block stands along x.
std::pair<double, double> span_of(const BlockSpec& b) {
  double low = 1e9, high = -1e9;
  for (const Vec2 v : *b.shape) {
    const Vec2 p = transform({b.placement.pose.x, b.placement.pose.y, b.placement.pose.yaw}, v);
    low = std::min(low, p.x);
    high = std::max(high, p.x);
  }
  return {low, high};
}

TEST(VerticalPlane, DoorsAreGapsAndWindowsAreNot) {
  const WorldSpec door = load_body(wall(kFourMetres + "<door position='0.5' width='1'/>"));
  ASSERT_EQ(door.blocks.size(), 2u);
  EXPECT_NEAR(span_of(door.blocks[0]).first, 0, 1e-12);
  EXPECT_NEAR(span_of(door.blocks[0]).second, 1.5, 1e-12);
  EXPECT_NEAR(span_of(door.blocks[1]).first, 2.5, 1e-12);
  EXPECT_NEAR(span_of(door.blocks[1]).second, 4, 1e-12);
  const WorldSpec window = load_body(wall(kFourMetres + "<window><position>0.5</position></window>"));
  ASSERT_EQ(window.blocks.size(), 1u);
  EXPECT_NEAR(span_of(window.blocks[0]).second, 4, 1e-12);
  EXPECT_TRUE(window.warnings.empty()) << joined(window.warnings);
}

// Below, above and beside: eyes see through doors and windows.
TEST(VerticalPlane, IsDrawnAroundItsOpenings) {
  const WorldSpec world =
      load_body(wall(kFourMetres + "<door position='0.25' width='1'/>"
                                   "<window position='0.75' width='1' z_start='1' z_end='2'/>"));
  EXPECT_FALSE(world.blocks.at(0).is_drawn);
  double area = 0;
  for (const PanelSpec& panel : world.panels)
    area += norm(panel.to - panel.from) * (panel.z_max - panel.z_min);
  EXPECT_NEAR(area, 4 * 3 - 2.1 - 1, 1e-9);
  EXPECT_TRUE(load_body(wall(kFourMetres)).panels.empty());
}

TEST(VerticalPlane, IsAStaticBlockOfItsMeasures) {
  const WorldSpec world =
      load_body(wall("<z>1</z><height>2</height><thickness>0.3</thickness><color>#102030</color>"));
  const BlockSpec& b = world.blocks.at(0);
  EXPECT_TRUE(b.is_static && b.is_wall && !b.placement.adjust_elevation);
  EXPECT_EQ(b.z_min, 1);
  EXPECT_EQ(b.z_max, 3);
  EXPECT_EQ(b.lateral_friction, 0.2);
  EXPECT_EQ(b.color.b, 0x30);
  EXPECT_EQ(b.placement.pose.x, -10);
  EXPECT_NEAR(span_of(b).second - span_of(b).first, 0.3, 1e-12);
}

TEST(VerticalPlane, DoorsMayOverlapReachOverTheEndsAndTakeAll) {
  const WorldSpec world = load_body(
      wall(kFourMetres +
           "<door position='0.5' width='1'/><door><position>0.7</position><width>1</width></door><door "
           "position='-1' width='1'/><door width='0'/>"));
  ASSERT_EQ(world.blocks.size(), 2u);
  EXPECT_NEAR(span_of(world.blocks[0]).first, 0.5, 1e-12);
  EXPECT_NEAR(span_of(world.blocks[0]).second, 1.5, 1e-12);
  EXPECT_NEAR(span_of(world.blocks[1]).first, 3.3, 1e-12);
  const std::string warnings = joined(world.warnings);
  EXPECT_TRUE(has(warnings, "taken as the nearest in [0, 1]"));
  EXPECT_TRUE(has(warnings, "<door> has no width and is ignored"));
  const WorldSpec none = load_body(wall(kFourMetres + "<door width='9'/>"));
  EXPECT_TRUE(none.blocks.empty());
  EXPECT_TRUE(has(joined(none.warnings), "its doors leave nothing of the wall"));
}

TEST(VerticalPlane, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"<x0>1</x0><y0>1</y0><x1>1</x1><y1>1</y1>",
       ":2:1: <element class=\"vertical_plane\">: found a wall without"},
      {"<height>0</height>", "<height>: found 0, expected > 0"},
      {"<thickness>0</thickness>", "<thickness>: found 0, expected >= 0.004"},
      {"<x0>nan</x0>", "<x0>: found 'nan'"},
      {"<y1>1e9</y1>", "<y1>: found 1e+09"},
      {"<door width='wide'/>", "<width>: found 'wide', expected a finite number"},
      {"<window position=''/>", "<position>: found ''"},
      {"<texture_size_x>0</texture_size_x>", "<texture_size_x>: found 0, expected > 0"},
  };
  for (const auto& [inside, expected] : cases) EXPECT_TRUE(has(error_of(wall(inside)), expected)) << inside;
  EXPECT_TRUE(has(joined(load_body(wall("<thickness>1</thickness><tickness>1</tickness>")).warnings),
                  "did you mean 'thickness'?"));
}

}  // namespace
}  // namespace mvsim::vertical_plane_test
