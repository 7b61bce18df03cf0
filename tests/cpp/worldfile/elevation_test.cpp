// <element class="elevation_map">: valid content, and every kind of mistake.
#include "model/compile.h"
#include "worldfile/world_text.h"

namespace mvsim::elevation_test {
namespace {

std::string map_of(const std::string& inside) {
  return "<element class='elevation_map'>" + inside + "</element>";
}

// A grey image, one byte a pixel.
std::string pgm(int width, int height, const std::string& pixels) {
  return "P5 " + std::to_string(width) + " " + std::to_string(height) + " 255\n" + pixels;
}

std::shared_ptr<const Model> compile(const TempFolder& folder, const std::string& body) {
  return compile_world(load_world(folder.write("worlds/w.xml", world_of(body)), {}));
}
std::string compile_error(const TempFolder& folder, const std::string& body) {
  try {
    compile(folder, body);
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0) << e.what();
    return e.what();
  }
  return "";
}

TEST(ElevationMap, OfAMatrix) {
  const WorldSpec world = load_body(
      map_of("<elevation_data_matrix>[0 1, 2; 3 4 5]</elevation_data_matrix><corner_min_y>-7</corner_min_y>"
             "<elevation_data_matrix_scale>2</elevation_data_matrix_scale><resolution>0.5</resolution>"
             "<mesh_color>#102030</mesh_color>"));
  const ElevationMapSpec& m = world.elevation_maps.at(0);
  EXPECT_EQ(m.data.rows, 2);
  EXPECT_EQ(m.data.columns, 3);
  EXPECT_EQ(m.data.values[5], 10);
  EXPECT_EQ(m.resolution, 0.5);
  EXPECT_FALSE(m.corner_x);
  EXPECT_EQ(m.corner_y, -7);
  EXPECT_EQ(m.color.b, 0x30);
  EXPECT_TRUE(world.warnings.empty()) << joined(world.warnings);
}

TEST(ElevationMap, RowsMayStandOnLinesOfTheirOwn) {
  const WorldSpec world =
      load_body(map_of("<elevation_data_matrix>\n 0 1\n 2 3 \n\n 4 5\n</elevation_data_matrix>"));
  EXPECT_EQ(world.elevation_maps.at(0).data.rows, 3);
  EXPECT_EQ(world.elevation_maps[0].data.values[4], 4);
}

TEST(ElevationMap, OfAnImageIsStretchedToItsOwnExtremes) {
  const TempFolder folder;
  folder.write("maps/h.pgm", pgm(3, 2, std::string("\x32\x64\x96\x64\x64\x64", 6)));
  const std::string body = "<elevation_image>../maps/h.pgm</elevation_image><resolution>2</resolution>";
  const auto model = compile(folder, map_of(body + "<elevation_image_min_z>-1</elevation_image_min_z>"
                                                   "<elevation_image_max_z>3</elevation_image_max_z>"));
  const HeightMap& map = model->terrain.maps.at(0);
  EXPECT_EQ(map.rows(), 2) << "image rows run along x";
  EXPECT_EQ(map.columns(), 3);
  EXPECT_EQ(map.node(0, 0), -1);
  EXPECT_EQ(map.node(0, 1), 1);
  EXPECT_EQ(map.node(0, 2), 3);
  EXPECT_EQ(map.corner().x, -1) << "centred";
  EXPECT_EQ(map.corner().y, -2);
  EXPECT_EQ(model->bounds.y_max, 2);
  folder.write("maps/flat.pgm", pgm(2, 2, "aaaa"));
  EXPECT_EQ(compile(folder, map_of("<elevation_image>../maps/flat.pgm</elevation_image>"))
                ->terrain.maps[0]
                .highest(),
            0)
      << "one grey: min_z";
}

TEST(ElevationMap, KernelCountsZerosBeyondTheBorders) {
  const TempFolder folder;
  const auto model =
      compile(folder, map_of("<elevation_data_matrix>[4 4 4; 4 4 4; 4 4 8]</elevation_data_matrix>"
                             "<apply_kernel>0 0 0\n 0.25 0.5 0.25\n 0 0 0</apply_kernel>"));
  const HeightMap& map = model->terrain.maps.at(0);
  EXPECT_EQ(map.node(0, 0), 3);
  EXPECT_EQ(map.node(0, 1), 4);
  EXPECT_EQ(map.node(2, 1), 5);
  EXPECT_EQ(map.node(2, 2), 5);
}

TEST(ElevationMap, TheFirstSourceCounts) {
  const TempFolder folder;
  folder.write("maps/h.pgm", pgm(2, 2, "abab"));
  const auto model = compile(folder, map_of("<elevation_image>../maps/h.pgm</elevation_image>"
                                            "<elevation_data_matrix>[1 1 1; 1 1 1]</elevation_data_matrix>"));
  EXPECT_EQ(model->terrain.maps.at(0).columns(), 2);
}

TEST(ElevationMap, ATextureThatIsNotFetchedIsAWarning) {
  const WorldSpec world = load_body(
      map_of("<elevation_data_matrix>[0 1; 2 "
             "3]</elevation_data_matrix><texture_image>https://example.org/a.png</texture_image>"
             "<texture_image_rotate>-90</texture_image_rotate><texture_extension_x>1.5</texture_extension_x>"
             "<model_split_size>3.0</model_split_size><mesh_color>#102030</mesh_color><mesh_colour>#102030</"
             "mesh_colour>"));
  const std::string warnings = joined(world.warnings);
  EXPECT_TRUE(has(warnings, "mvsim-gym fetch"));
  EXPECT_EQ(world.elevation_maps[0].texture.image, nullptr);
  EXPECT_EQ(world.elevation_maps[0].texture.size_x, 1.5);
  EXPECT_EQ(world.elevation_maps[0].texture_turns, 3);
  EXPECT_TRUE(has(warnings,
                  "<mesh_colour> is unknown in <element class=\"elevation_map\"> and ignored, did you mean "
                  "'mesh_color'?"));
}

TEST(ElevationMap, SaysWhatIsWrong) {
  const TempFolder folder;
  folder.write("maps/h.pgm", pgm(2, 2, "abab"));
  folder.write("maps/thin.pgm", pgm(1, 4, "abab"));
  folder.write("maps/broken.pgm", "P5 2 2 255\na");
  folder.write("maps/huge.pgm", "P5 100000 100000 255\na");
  const std::string data = "<elevation_data_matrix>[0 1; 2 3]</elevation_data_matrix>";
  const std::string image = "<elevation_image>../maps/h.pgm</elevation_image>";
  const std::pair<std::string, const char*> cases[] = {
      {"", ":2:1: <element class=\"elevation_map\"> has no <elevation_image>, no"},
      {"<dem_xyzrgb_file>a.txt</dem_xyzrgb_file>", "<dem_xyzrgb_file>: the file 'a.txt' does not exist"},
      {"<elevation_image>no.png</elevation_image>",
       ":2:32: <elevation_image>: the file 'no.png' does not exist"},
      {"<elevation_image>/etc/passwd</elevation_image>", "is outside"},
      {"<elevation_image>http://example.org/a.png</elevation_image>", "mvsim-gym fetch"},
      {"<elevation_image>../maps/broken.pgm</elevation_image>", "truncated PGM image"},
      {"<elevation_image>../maps/huge.pgm</elevation_image>", "image of 100000 x 100000 pixels"},
      {"<elevation_image>../maps/thin.pgm</elevation_image>",
       "found an image of 1 x 4 pixels, expected 2 or more"},
      {image + "<elevation_image_min_z>5</elevation_image_min_z>", "are the same, expected two heights"},
      {image + "<elevation_image_max_z>nan</elevation_image_max_z>", "<elevation_image_max_z>: found 'nan'"},
      {data + "<resolution>0</resolution>", ":2:89: <resolution>: found 0, expected >= 0.001"},
      {data + "<resolution>-1</resolution>", "<resolution>: found -1"},
      {data + "<resolution/>", "<resolution>: found ''"},
      {data + "<corner_min_x>1e9</corner_min_x>", "<corner_min_x>: found 1e+09"},
      {data + "<mesh_color>green</mesh_color>", "<mesh_color>: found 'green', expected a colour"},
      {data + "<texture_image_rotate>45</texture_image_rotate>",
       "found 45, expected 0, 90, -90, 180 or -180"},
      {data + "<texture_extension_x>-1</texture_extension_x>", "<texture_extension_x>: found -1, expected"},
      {data + "<texture_image>no.png</texture_image>", "<texture_image>: the file 'no.png' does not exist"},
      {"<elevation_data_matrix>[0 1; 2]</elevation_data_matrix>",
       ":2:32: <elevation_data_matrix>: found a row of 1 numbers after rows of 2"},
      {"<elevation_data_matrix>[0 nan; 2 3]</elevation_data_matrix>", "found '0 nan', expected heights"},
      {"<elevation_data_matrix>[0 1; ; 2 3]</elevation_data_matrix>", "<elevation_data_matrix>: found ' '"},
      {"<elevation_data_matrix></elevation_data_matrix>", "<elevation_data_matrix>: found no number"},
      {"<elevation_data_matrix>[0 1 2]</elevation_data_matrix>", "found 1 rows of 3 numbers"},
      {"<elevation_data_matrix>[0 1; 2 1e8]</elevation_data_matrix>", "<elevation_data_matrix>: found 1e+08"},
      {data + "<elevation_data_matrix_scale>inf</elevation_data_matrix_scale>", "found 'inf'"},
      {data + "<apply_kernel>1 0\n0 0</apply_kernel>", "<apply_kernel>: found 2 rows of 2 numbers"},
      {data + "<apply_kernel>1 0 0</apply_kernel>", "<apply_kernel>: found 1 rows of 3 numbers"},
      {data + "<apply_kernel>0.9</apply_kernel>", "sum up to 0.9"},
      {data + "<apply_kernel>x</apply_kernel>", "<apply_kernel>: found 'x'"},
  };
  for (const auto& [inside, expected] : cases)
    EXPECT_TRUE(has(compile_error(folder, map_of(inside)), expected)) << inside;
}

TEST(ElevationMap, TheNodesOfAWorldAreLimited) {
  const TempFolder folder;
  folder.write("maps/big.pgm", pgm(4096, 2048, std::string(size_t{4096} * 2048, 'a')));
  const std::string map = map_of("<elevation_image>../maps/big.pgm</elevation_image>");
  EXPECT_EQ(compile_error(folder, map), "");
  EXPECT_TRUE(has(compile_error(folder, map + map + map), "have more than 16 Mi nodes"));
  const std::string wide = "<apply_kernel>" + [] {
    std::string rows;
    for (int i = 0; i < 21; ++i) {
      for (int j = 0; j < 21; ++j) rows += i == 10 && j == 10 ? "1 " : "0 ";
      rows += ";";
    }
    return rows;
  }() + "</apply_kernel>";
  EXPECT_TRUE(has(compile_error(folder, map_of("<elevation_image>../maps/big.pgm</elevation_image>" + wide)),
                  "<apply_kernel>: too large"));
}

}  // namespace
}  // namespace mvsim::elevation_test
