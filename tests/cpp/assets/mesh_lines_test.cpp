// Lines of meshes that belong to no triangle, in the formats that have some.
#include <gtest/gtest.h>

#include "assets/mesh_files.h"
#include "assets/mesh_lines.h"

namespace mvsim::mesh_lines_test {
namespace {

using namespace test;

using Line = std::array<double, 6>;

void expect_lines(const MeshFile& mesh, const std::vector<Line>& expected) {
  ASSERT_EQ(mesh.lines.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(mesh.lines[i][k], expected[i][k], 1e-6) << "line " << i << ", number " << k;
}

const std::vector<Line> kCorner{{0, 0, 0, 4, 0, 0}, {4, 0, 0, 4, 3, 0}};

TEST(MeshLines, OfCollada) {
  const std::string pairs =
      R"(<lines count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 1 2</p></lines>)";
  const std::string strip =
      R"(<linestrips count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></linestrips>)";
  expect_lines(mesh_from("a.dae", collada(pairs)), kCorner);
  expect_lines(mesh_from("a.dae", collada(strip)), kCorner);
  EXPECT_EQ(mesh_from("a.dae", collada(pairs)).triangle_count, 0U);
  EXPECT_TRUE(mesh_from("a.dae", collada(pairs)).parts.empty());
}

TEST(MeshLines, FollowUnitsAxesAndNodes) {
  const std::string pairs =
      R"(<lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>)";
  const std::string moved = collada(pairs, "<translate>1 2 3</translate>", "0.5");
  expect_lines(mesh_from("a.dae", moved), {{0.5, 1, 1.5, 2.5, 1, 1.5}});
}

TEST(MeshLines, BesideTriangles) {
  const std::string both =
      R"(<lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>)"
      R"(<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>)";
  const MeshFile mesh = mesh_from("a.dae", collada(both));
  EXPECT_EQ(mesh.triangle_count, 1U);
  expect_lines(mesh, {kCorner[0]});
}

TEST(MeshLines, OfObj) {
  const std::string points = "v 0 0 0\nv 4 0 0\nv 4 3 0\n";
  expect_lines(mesh_from("a.obj", points + "l 1 2 3\n"), kCorner);
  expect_lines(mesh_from("a.obj", points + "l 1 2\nl -2 -1\n"), kCorner);
  const MeshFile both = mesh_from("a.obj", points + "f 1 2 3\nl 1 2\n");
  EXPECT_EQ(both.triangle_count, 1U);
  expect_lines(both, {kCorner[0]});
}

TEST(MeshLines, OfGlb) {
  expect_lines(mesh_from("a.glb", glb(1, {0, 1, 1, 2})), kCorner);    // LINES
  expect_lines(mesh_from("a.glb", glb(3, {0, 1, 2})), kCorner);       // LINE_STRIP
  EXPECT_EQ(mesh_from("a.glb", glb(2, {0, 1, 2})).lines.size(), 3U);  // LINE_LOOP
}

TEST(MeshLines, SayWhatIsWrong) {
  const auto error_of = [](const std::string& path, const std::string& bytes) -> std::string {
    try {
      mesh_from(path, bytes);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of("a.obj", "v 0 0 0\nv 1e9 0 0\nl 1 2\n"), "a vertex is farther than 1e7 m away");
  has(error_of("a.obj", "v 0 0 0\nv nan 0 0\nl 1 2\n"), "a.obj: is not a readable mesh");
  has(error_of("a.obj", "v 0 0 0\nv 1 0 0\nl 1 9\n"), "a.obj: is not a readable mesh");
  has(error_of("a.obj", "v 0 0 0\nv 1 0 0\np 1 2\n"), "a.obj: is");
}

}  // namespace
}  // namespace mvsim::mesh_lines_test
