// Files that a world, or a mesh, names again and again: read once, shown within limits, and never fetched
// from where a mesh sends.
#include "assets/png_writer.h"
#include "assets/resources.h"
#include "base/geometry3.h"
#include "model/compile.h"
#include "model/mesh_outline.h"
#include "worldfile/world_text.h"

namespace mvsim::repeated_files_test {
namespace {

// A triangle of each of so many materials, whose textures are called as `texture` says.
class MaterialsTest : public ::testing::Test {
 protected:
  void write_mesh(int materials, const std::function<std::string(int)>& texture) const {
    std::string mtl, obj = "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n";
    for (int i = 0; i < materials; ++i) {
      const std::string name = "m" + std::to_string(i);
      mtl += "newmtl " + name + "\nKd 0." + std::to_string(1 + i % 9) + " 0 0\n" + texture(i);
      obj += "usemtl " + name + "\nf 1/1 2/1 3/1\n";
    }
    folder_.write("m.mtl", mtl);
    folder_.write("m.obj", obj);
  }
  std::string world(const std::string& body) const { return folder_.write("w.world.xml", world_of(body)); }

  TempFolder folder_;
  const std::string visual_ = "<visual><model_uri>m.obj</model_uri></visual>";
  const std::string block_ = "<block><init_pose>0 0 0</init_pose>" + visual_ + "</block>";
};

TEST_F(MaterialsTest, AMeshNamesFilesBesideItAndNoUrls) {
  write_mesh(2, [](int i) { return i == 0 ? "map_Kd https://a.b/t.png\n" : "map_Kd file:///etc/passwd\n"; });
  const WorldSpec spec = load_world(world(block_), {});
  EXPECT_TRUE(has(joined(spec.warnings), "'https://a.b/t.png' is no file beside the mesh"));
  EXPECT_TRUE(has(joined(spec.warnings), "'file:///etc/passwd' is no file beside the mesh"));
  EXPECT_TRUE(named_urls(world(block_), {}).urls.empty()) << "nor is it fetched";
}

TEST_F(MaterialsTest, FewAbsentTexturesAreLookedFor) {
  write_mesh(500, [](int i) { return "map_Kd none" + std::to_string(i) + ".png\n"; });
  EXPECT_EQ(load_world(world(block_), {}).warnings.size(), 20U);
}

TEST_F(MaterialsTest, WhatIsShownHasALimit) {
  write_mesh(2000, [](int) { return ""; });
  const std::string many = "<block:class name='c'><static>true</static>" + visual_ +
                           "</block:class><for var='i' from='1' to='501'><block class='c'>"
                           "<init_pose>${i} 0 0</init_pose></block></for>";
  try {
    load_model(world(many), {}, {});
    FAIL() << "expected an error";
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(has(e.what(), "w.world.xml:2:")) << e.what();
    EXPECT_TRUE(has(e.what(), "<visual>: the meshes of the world have more than 1000000 parts"));
  }
}

TEST_F(MaterialsTest, MaterialFilesHaveALimit) {
  write_mesh(1, [](int) { return "# " + std::string(17 << 20, 'x') + "\n"; });
  try {
    load_world(world(block_), {});
    FAIL() << "expected an error";
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(has(e.what(), "names material files of more than")) << e.what();
  }
}

TEST(AssetCache, AnImageIsReadOnceWhateverBecomesOfIt) {
  const TempFolder folder;
  const std::string path = folder.write("t.png", "no image");
  LoadGuard guard;
  AssetCache cache;
  const auto error = [&] {
    try {
      cache.color_image(open_file(path), {}, guard);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string first = error();
  EXPECT_NE(first, "");
  folder.write("t.png", test::png(1, 1, 8, test::kPngGray, test::png_row({7})));
  EXPECT_EQ(error(), first);
  AssetCache other;
  const auto image = other.color_image(open_file(path), {}, guard);
  folder.write("t.png", "no image");
  EXPECT_EQ(other.color_image(open_file(path), {}, guard), image);
}

TEST(MeshOutlines, WhatIsAlikeIsLookedAtOnce) {
  auto mesh = std::make_shared<Mesh>();
  mesh->positions = {{0, 0, 0}, {1, 0, 1}, {0, 1, 0}};
  mesh->normals = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
  mesh->indices = {0, 1, 2};
  MeshFile file;
  file.parts.push_back({mesh, {}, nullptr});
  file.triangle_count = MeshOutlines::kMaxTriangles / 2 + 1;
  VisualSpec visual;
  visual.mesh = std::make_shared<const MeshFile>(file);
  const LoadGuard guard;
  MeshOutlines outlines(guard);
  const auto& once = outlines.of({&visual, 1}, {}, {});
  ASSERT_TRUE(once);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(&outlines.of({&visual, 1}, {}, {}), &once);
  visual.scale = 2;
  EXPECT_THROW(outlines.of({&visual, 1}, {}, {}), WorldFileError);
  const VisualSpec absent;
  EXPECT_FALSE(outlines.of({&absent, 1}, {}, {}));
}

TEST(PointFiles, PointsOfAWorldAreCounted) {
  const TempFolder folder;
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += "1 2 3\n";
  folder.write("p.txt", rows);
  const auto error = [&](const std::string& inside, int times) {
    try {
      load_world(folder.write("w.world.xml", world_of("<for var='i' from='1' to='" + std::to_string(times) +
                                                      "'>" + inside + "</for>")),
                 {});
    } catch (const WorldFileError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string cloud = "<element class='pointcloud'><file>p.txt</file></element>";
  EXPECT_EQ(error(cloud, 500), "");
  EXPECT_TRUE(has(error(cloud, 501), "points of clouds and markers: more than 1000000"));
  const std::string grid = "<element class='ground_grid'/>";
  EXPECT_THROW(
      load_model(folder.write("g.world.xml", world_of("<for var='i' from='1' to='21'>" + grid + "</for>")),
                 {}, {}),
      WorldFileError);
}

}  // namespace
}  // namespace mvsim::repeated_files_test
