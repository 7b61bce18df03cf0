// <element>, global scalars and tags without effect.
#include "worldfile/world_text.h"

namespace mvsim::element_test {
namespace {

std::string grid(const std::string& inside) {
  return "<element class='occupancy_grid'>" + inside + "</element>";
}

WorldSpec load_in(const TempFolder& folder, const std::string& body) {
  return load_world(folder.write("worlds/w.xml", world_of(body)), {});
}
std::string error_in(const TempFolder& folder, const std::string& body) {
  try {
    load_in(folder, body);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "";
}

TEST(OccupancyGrid, OfAnImage) {
  TempFolder folder;
  const std::string image = folder.write("maps/m.png", "P2 1 1 255 7");  // the content says what it is
  OccupancyGridSpec g = load_in(folder, grid("<file>../maps/m.png</file>")).grids.at(0);
  EXPECT_EQ(g.image_path, image);
  EXPECT_EQ(g.resolution, 0.1);
  EXPECT_FALSE(g.center_x || g.center_y || g.is_ros);
  g = load_in(folder, grid("<file>" + image +
                           "</file><resolution>0.05</resolution><centerpixel_x>40</centerpixel_x>"
                           "<centerpixel_y>30</centerpixel_y><show_collisions>0</show_collisions>"
                           "<restitution>0.2</restitution><lateral_friction>0.3</lateral_friction>"))
          .grids.at(0);
  EXPECT_EQ(g.resolution, 0.05);
  EXPECT_EQ(g.center_x, 40);
  EXPECT_EQ(g.center_y, 30);
  EXPECT_EQ(g.restitution, 0.2);
  EXPECT_EQ(g.lateral_friction, 0.3);
}

TEST(OccupancyGrid, OfARosYamlWhoseValuesWin) {
  TempFolder folder;
  const std::string image = folder.write("maps/m.pgm", "P2 1 1 255 7");
  folder.write("maps/m.yaml",
               "# a map\nimage: m.pgm   # beside it\nresolution: 0.05\norigin: [-10.0, -5.5, 0.1]\n\n"
               "negate: 1\noccupied_thresh: 0.6\nfree_thresh: 0.2\nmode: scale\ncost: 3\n");
  const WorldSpec world = load_in(folder, grid("<file>../maps/m.yaml</file><resolution>0.5</resolution>"));
  const OccupancyGridSpec& g = world.grids.at(0);
  EXPECT_TRUE(g.is_ros && g.negate);
  EXPECT_EQ(g.image_path, image);
  EXPECT_EQ(g.resolution, 0.05);
  EXPECT_EQ(g.origin.y, -5.5);
  EXPECT_EQ(g.origin.yaw, 0.1) << "radians";
  EXPECT_EQ(g.occupied_threshold, 0.6);
  EXPECT_EQ(g.free_threshold, 0.2);
  EXPECT_EQ(g.mode, "scale");
  const std::string warnings = joined(world.warnings);
  EXPECT_TRUE(has(warnings, "<resolution> is ignored: the map's file says"));
  EXPECT_TRUE(has(warnings, "m.yaml:10:1: the key is unknown in a map yaml and ignored"));
}

TEST(OccupancyGrid, SaysWhatIsWrong) {
  TempFolder folder;
  folder.write("maps/m.png", "");
  folder.write("maps/bad.yaml", "image: missing.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n");
  folder.write("maps/out.yaml", "image: /etc/passwd\nresolution: 0.05\norigin: [0, 0, 0]\n");
  const std::pair<std::string, const char*> cases[] = {
      {grid(""), ":2:1: <element class=\"occupancy_grid\"> has no <file>"},
      {grid("<file> </file>"), "has no <file>"},
      {grid("<file>no.png</file>"), ":2:33: <file>: the file 'no.png' does not exist"},
      {grid("<file>http://example.org/m.png</file>"), "`mvsim-gym fetch WORLD` downloads it"},
      {grid("<file>../maps/m.png</file><centerpixel_x>1</centerpixel_x>"), "expected both"},
      {grid("<file>../maps/bad.yaml</file>"), "bad.yaml:1:8: <image>: the file 'missing.pgm' does not exist"},
      {grid("<file>../maps/out.yaml</file>"), "out.yaml:1:8: <image>: the file '/etc/passwd' is outside"},
  };
  for (const auto& [body, expected] : cases) EXPECT_TRUE(has(error_in(folder, body), expected)) << body;
}

TEST(Element, HorizontalPlane) {
  const WorldSpec world = load_body(
      "<element class='horizontal_plane'><x_min>0</x_min><x_max> "
      "2</x_max><y_min>0</y_min><y_max>3</y_max><z>1.5</z>"
      "<color>#102030</color><cull_face>BACK</cull_face><init_pose3d>1 2 3 90 0 0</init_pose3d></element>"
      "<element class='horizontal_plane'/>");
  const HorizontalPlaneSpec& p = world.planes.at(0);
  EXPECT_EQ(p.extent.x_max, 2);
  EXPECT_EQ(p.extent.y_max, 3);
  EXPECT_EQ(p.z, 1.5);
  EXPECT_EQ(p.color.g, 0x20);
  EXPECT_TRUE(p.has_pose);
  EXPECT_EQ(p.pose.z, 3);
  EXPECT_FALSE(world.planes[1].has_pose);
  EXPECT_EQ(world.planes[1].extent.x_min, -10);
  EXPECT_EQ(p.cull, CullFaces::kBack);
  EXPECT_EQ(world.planes[1].cull, CullFaces::kNone);
  EXPECT_EQ(joined(world.warnings), "");
}

TEST(Element, GroundGrid) {
  const WorldSpec world = load_body(
      "<element "
      "class='ground_grid'><floating>false</floating><interval>1</interval><x_min>-2</x_min></element>"
      "<element class='ground_grid' floating='false' "
      "line_width='2'><floating_focus>r1</floating_focus></element>"
      "<element "
      "class='ground_grid'><float_center_at_vehicle_name>r2</float_center_at_vehicle_name></element>");
  EXPECT_FALSE(world.ground_grids.at(0).floating);
  EXPECT_EQ(world.ground_grids[0].interval, 1);
  EXPECT_EQ(world.ground_grids[0].extent.x_min, -2);
  EXPECT_TRUE(world.ground_grids.at(1).floating) << "a focus makes it float";
  EXPECT_EQ(world.ground_grids[1].focus, "r1");
  EXPECT_EQ(world.ground_grids[1].line_width, 2);
  EXPECT_TRUE(world.ground_grids.at(2).floating);
  EXPECT_EQ(world.ground_grids[2].focus, "r2");
  EXPECT_EQ(joined(world.warnings), "");
}

TEST(Element, EachOfARepeatedTagWithoutEffectIsChecked) {
  EXPECT_TRUE(has(error_of("<gui>\n<show_forces>abc</show_forces>\n<show_forces>1</show_forces></gui>"),
                  ":3:1: <show_forces>: found 'abc'"));
  const std::string warnings = joined(
      load_body("<vehicle name='v'><init_pose>0 0 0</init_pose><log_path>a</log_path><log_path>b</log_path>"
                "<dynamics class='differential'/></vehicle>")
          .warnings);
  EXPECT_TRUE(has(warnings, "<log_path> has no effect in this version (2 times, here first)")) << warnings;
}

TEST(Element, ClassesAreChecked) {
  EXPECT_TRUE(has(error_of("<element/>"), ":2:1: <element> has no class"));
  EXPECT_TRUE(has(error_of("<element class='ocupancy_grid'/>"),
                  ":2:10: <element> of unknown class 'ocupancy_grid', did you mean 'occupancy_grid'?"));
  EXPECT_TRUE(has(error_of("<element class='horizontal_plane'><x_min>3</x_min><x_max>2</x_max></element>"),
                  "expected x_min < x_max"));
}

TEST(World, AMarkerAndAGeoreferenceAreKept) {
  const WorldSpec world = load_body(
      "<marker type='line_strip'><points>0 0 0\n1 2 3</points><translation>10 20</translation></marker>"
      "<georeference><latitude>36.8</latitude><longitude>-2.3</longitude></georeference>");
  ASSERT_EQ(world.markers.size(), 1u);
  EXPECT_EQ(world.markers[0].points.at(1).x, 11);
  EXPECT_EQ(world.markers[0].points[1].z, 3);
  EXPECT_EQ(world.georeference.value().latitude, 36.8);
}

TEST(PointCloud, ReadsRowsAndSaysWhichIsWrong) {
  const TempFolder folder;
  const auto load = [&](const std::string& inside) {
    return load_world_text(world_of("<element class='point_cloud'>" + inside + "</element>"), folder.path(),
                           {});
  };
  folder.write("a.txt", "1 2 3 # the first\n\n+4,5\t-6e1\r\n");
  const WorldSpec world = load("<file_txt_3d>a.txt</file_txt_3d><pose_3d>1 0 0 90 0 0</pose_3d>");
  ASSERT_EQ(world.point_clouds.at(0).points.size(), 2u);
  EXPECT_EQ(world.point_clouds[0].points[1].z, -60);
  EXPECT_NEAR(world.point_clouds[0].pose.yaw, kPi / 2, 1e-12);
  folder.write("flat.txt", "1 2\n3 4");
  EXPECT_EQ(load("<file_txt_2d>flat.txt</file_txt_2d>").point_clouds[0].points[1].y, 4);
  const auto error = [&](const std::string& text) {
    folder.write("b.txt", text);
    try {
      load("<file>b.txt</file>");
    } catch (const WorldFileError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_TRUE(has(error("1 2 3\n4 5\n"), "b.txt:2: found 2 numbers"));
  EXPECT_TRUE(has(error("1 2 nan"), "no number that can be used"));
  EXPECT_TRUE(has(error("1 2 x"), "no number"));
  EXPECT_TRUE(has(error(""), "found none"));
  EXPECT_TRUE(has(error_of("<element class='pointcloud'/>"), "has no <file_txt_3d>"));
}

// Language fact 25.
TEST(World, WhereItLiesOnEarthIsChecked) {
  const std::string warnings =
      joined(load_body("<georeference><latitude>36.8</latitude><longitude>-2.3</longitude><hight>200</hight>"
                       "<world_to_enu_rotation_deg>5</world_to_enu_rotation_deg></georeference>")
                 .warnings);
  EXPECT_FALSE(has(warnings, "<georeference> has no effect")) << warnings;
  EXPECT_TRUE(has(warnings, "<hight> is unknown in <georeference> and ignored, did you mean 'height'?"))
      << warnings;
  EXPECT_TRUE(
      has(error_of("<georeference><latitude>north</latitude></georeference>"), "<latitude>: found 'north'"));
  const std::string utm = "<georeference><world_is_utm>true</world_is_utm>";
  EXPECT_TRUE(has(error_of(utm + "</georeference>"), "expected <latitude> and <longitude>"));
  const std::string place = "<latitude>36.8</latitude><longitude>-2.4</longitude>";
  EXPECT_TRUE(
      has(error_of(utm + place + "<world_to_enu_rotation_deg>5</world_to_enu_rotation_deg></georeference>"),
          "found <world_is_utm> with a rotation of 5 degrees"));
  EXPECT_EQ(error_of(utm + place + "</georeference>"), "");
}

TEST(World, GlobalScalars) {
  const WorldSpec world = load_body(
      "<simul_timestep>5e-3</simul_timestep><gravity>1.62</gravity><b2d_vel_iters>10</b2d_vel_iters>"
      "<b2d_pos_iters>4</b2d_pos_iters><collision_threshold>0.05</collision_threshold>");
  EXPECT_EQ(world.timestep, 0.005);
  EXPECT_EQ(world.timestep_where.line, 2);
  EXPECT_EQ(world.gravity, 1.62);
  EXPECT_EQ(world.velocity_iterations, 10);
  EXPECT_EQ(world.position_iterations, 4);
  EXPECT_EQ(world.collision_threshold, 0.05);
  const WorldSpec plain = load_body("");
  EXPECT_EQ(plain.timestep, 0);
  EXPECT_EQ(plain.gravity, 9.81);
  EXPECT_EQ(plain.velocity_iterations, 8);
  EXPECT_EQ(plain.position_iterations, 3);
  EXPECT_EQ(plain.collision_threshold, 0.03);
}

TEST(World, TagsWithoutEffectAreCheckedAndSaidOnce) {
  const WorldSpec world = load_body(
      "<gui><ortho>false</ortho><cam_point_to>1 2</cam_point_to><camdistance>3</camdistance></gui>"
      "<joystick_enabled>true</joystick_enabled><server_address>a.b</server_address>"
      "<save_to_rawlog>a.rawlog</save_to_rawlog><rawlog_odometry_rate>10</rawlog_odometry_rate>"
      "<save_ground_truth_trajectory>gt.txt</save_ground_truth_trajectory><ground_truth_rate>5</"
      "ground_truth_rate>"
      "<max_slope_to_collide>0.3</max_slope_to_collide><min_slope_to_collide>-0.3</min_slope_to_collide>");
  const std::string warnings = joined(world.warnings);
  for (const char* tag :
       {"gui", "joystick_enabled", "server_address", "save_to_rawlog", "rawlog_odometry_rate",
        "save_ground_truth_trajectory", "ground_truth_rate", "max_slope_to_collide", "min_slope_to_collide"})
    EXPECT_TRUE(has(warnings, "<" + std::string(tag) + "> has no effect")) << warnings;
  EXPECT_TRUE(has(warnings, "<camdistance> is unknown in <gui> and ignored, did you mean 'cam_distance'?"));
  EXPECT_EQ(world.warnings.size(), 10u);
}

TEST(World, TagsWithoutEffectAreStillJudged) {
  const std::pair<const char*, const char*> cases[] = {
      {"<gui><ortho>maybe</ortho></gui>", ":2:6: <ortho>: found 'maybe', expected true"},
      {"<lights><light_color>white</light_color></lights>",
       ":2:9: <light_color>: found 'white', expected a colour"},
      {"<marker/>", ":2:1: <marker> has no type"},
      {"<marker type='cube'/>", "<marker>: found type 'cube', expected line_strip"},
      {"<marker type='line_strip'/>", "<marker> has no <points>"},
      {"<marker type='line_strip'><points>0 0</points></marker>", "rows of x y z"},
      {"<ground_truth_rate>0</ground_truth_rate>", "<ground_truth_rate>: found 0, expected > 0"},
      {"<rawlog_odometry_rate>-1</rawlog_odometry_rate>", "expected > 0"},
      {"<joystick_enabled>on</joystick_enabled>", "<joystick_enabled>: found 'on'"},
  };
  for (const auto& [body, expected] : cases) EXPECT_TRUE(has(error_of(body), expected)) << body;
}

}  // namespace
}  // namespace mvsim::element_test
