// Each format gives the same box, after what the format says of axes, units and places.
#include "assets/read_mesh.h"

#include <gtest/gtest.h>

#include <chrono>

#include "assets/mesh_files.h"
#include "base/random.h"
#include "fuzz_count.h"

namespace mvsim::read_mesh_test {
namespace {

using namespace test;

void expect_box(const MeshFile& mesh, Vec3 low, Vec3 high) {
  const Box3 box = bounds_of(mesh);
  constexpr double kFloat = 1e-6;  // coordinates of a few metres in single precision
  EXPECT_LT(norm(box.low - low), kFloat) << box.low.x << " " << box.low.y << " " << box.low.z;
  EXPECT_LT(norm(box.high - high), kFloat) << box.high.x << " " << box.high.y << " " << box.high.z;
}

// Returns the volume of a mesh whose faces point outwards (divergence theorem).
double volume(const MeshFile& mesh) {
  double sum = 0;
  for (const MeshPart& part : mesh.parts)
    for (size_t i = 0; i < part.mesh->indices.size(); i += 3) {
      const auto corner = [&](size_t k) { return part.mesh->positions[part.mesh->indices[i + k]]; };
      sum += dot(corner(0), cross(corner(1), corner(2))) / 6;
    }
  return sum;
}

// Normals lie on their triangles, outwards, so a box has no rounded edges.
void expect_flat_normals(const MeshFile& mesh) {
  for (const MeshPart& part : mesh.parts)
    for (size_t i = 0; i < part.mesh->indices.size(); i += 3) {
      const auto corner = [&](size_t k) { return part.mesh->positions[part.mesh->indices[i + k]]; };
      const Vec3 n = normalized(cross(corner(1) - corner(0), corner(2) - corner(0)));
      for (size_t k = 0; k < 3; ++k) {
        const auto& given = part.mesh->normals[part.mesh->indices[i + k]];
        EXPECT_GT(dot(n, {given[0], given[1], given[2]}), 0.999);
      }
    }
}

std::string error_of(const std::string& path, std::string_view bytes) {
  try {
    mesh_from(path, bytes);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReadMesh, EveryFormatGivesTheBox) {
  for (const char* name : {"box.stl", "box_binary.stl", "box.obj", "box.ply", "box_binary.ply"}) {
    SCOPED_TRACE(name);
    const MeshFile mesh = mesh_of_file(name);
    EXPECT_EQ(mesh.triangle_count, 12U);
    expect_box(mesh, {0, 0, 0}, {2, 1, 0.5});
    EXPECT_NEAR(volume(mesh), 1, 1e-6);
    expect_flat_normals(mesh);
    EXPECT_TRUE(mesh.warnings.empty());
  }
}

TEST(ReadMesh, FbxNodesArePlacedAndKeepTheirUnits) {
  const MeshFile mesh = mesh_of_file("box.fbx");
  expect_box(mesh, {0, 0, 3}, {2, 1, 3.5});
  EXPECT_NEAR(volume(mesh), 1, 1e-6);
  ASSERT_EQ(mesh.parts.size(), 1U);
  EXPECT_EQ(mesh.parts[0].color.r, 0);
  EXPECT_EQ(mesh.parts[0].color.b, 255);
}

// The file is z up, in centimetres, and its node stands 100 of them higher: y up and in metres after that.
TEST(ReadMesh, ColladaHasItsAxesUnitsAndNodesApplied) {
  const MeshFile mesh = mesh_of_file("box.dae");
  expect_box(mesh, {0, 1, -1}, {2, 1.5, 0});
  EXPECT_NEAR(volume(mesh), 1, 1e-6);
  expect_flat_normals(mesh);
  ASSERT_EQ(mesh.parts.size(), 1U);
  ASSERT_TRUE(mesh.parts[0].texture);
  EXPECT_EQ(mesh.parts[0].texture->width, 2);
}

TEST(ReadMesh, GlbHasItsTextureInside) {
  const MeshFile mesh = mesh_of_file("quad.glb");
  expect_box(mesh, {0, 10.5, -1}, {2, 10.5, 0});
  ASSERT_EQ(mesh.parts.size(), 1U);
  ASSERT_TRUE(mesh.parts[0].texture);
  const Mesh& quad = *mesh.parts[0].mesh;
  // the far left corner of the quad shows the upper left corner of the image, which is red
  for (size_t i = 0; i < quad.positions.size(); ++i)
    if (quad.positions[i].x < 1 && quad.positions[i].z < -0.5) {
      EXPECT_NEAR(quad.uvs[i][0], 0, 1e-6);
      EXPECT_NEAR(quad.uvs[i][1], 0, 1e-6);
    }
  EXPECT_EQ(std::vector(mesh.parts[0].texture->rgba.begin(), mesh.parts[0].texture->rgba.begin() + 4),
            (std::vector<uint8_t>{255, 0, 0, 255}));
}

TEST(ReadMesh, MaterialsTexturesAndColoursOfVertices) {
  const MeshFile obj = mesh_of_file("box.obj");
  ASSERT_EQ(obj.parts.size(), 2U);
  const MeshPart& painted = obj.parts[obj.parts[0].texture ? 0 : 1];
  const MeshPart& red = obj.parts[obj.parts[0].texture ? 1 : 0];
  ASSERT_TRUE(painted.texture);
  EXPECT_EQ(painted.color.r, 255) << "the texture is the colour";
  EXPECT_EQ(painted.mesh->indices.size(), 6U);
  EXPECT_EQ(red.color.r, 255);
  EXPECT_EQ(red.color.g, 0);
  // obj counts v from the bottom
  for (size_t i = 0; i < painted.mesh->positions.size(); ++i)
    EXPECT_NEAR(painted.mesh->uvs[i][1], 1 - painted.mesh->positions[i].y, 1e-6);

  const MeshFile ply = mesh_of_file("box.ply");
  ASSERT_EQ(ply.parts.size(), 1U);
  const Mesh& mesh = *ply.parts[0].mesh;
  ASSERT_EQ(mesh.colors.size(), mesh.positions.size());
  for (size_t i = 0; i < mesh.positions.size(); ++i)
    if (norm(mesh.positions[i]) == 0) {
      EXPECT_EQ(mesh.colors[i].g, 0) << "the corner at (0, 0, 0) is red";
    }
}

TEST(ReadMesh, AbsentTexturesAreWarnings) {
  const std::string obj = file_bytes(mesh_path("box.obj"));
  const MeshFile mesh = mesh_from("/nowhere/box.obj", obj);
  EXPECT_EQ(mesh.triangle_count, 12U);
  std::string dae = file_bytes(mesh_path("box.dae"));
  dae.replace(dae.find("paint.png"), 9, "../no.png");
  const MeshFile unpainted = mesh_from(mesh_path("box.dae"), dae);
  ASSERT_EQ(unpainted.warnings.size(), 1U);
  EXPECT_TRUE(contains(unpainted.warnings[0], "'../no.png' does not exist")) << unpainted.warnings[0];
  EXPECT_FALSE(unpainted.parts[0].texture);
}

TEST(ReadMesh, WhatIsNoMeshIsNamed) {
  EXPECT_TRUE(contains(error_of("/a/b.xyz", "v 0 0 0"), "/a/b.xyz: unknown mesh format 'xyz', expected dae"));
  for (const std::string format : {"dae", "stl", "obj", "fbx", "glb", "ply"})
    for (const std::string& bytes : {std::string(), std::string("no mesh"), std::string(1000, '\0')}) {
      const std::string error = error_of("/a/b." + format, bytes);
      EXPECT_TRUE(error.starts_with("/a/b." + format + ": ")) << error;
    }
  EXPECT_TRUE(contains(error_of("/a/b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), "/a/b.obj: "));
  EXPECT_TRUE(contains(error_of("/a/b.obj", "v 0 0 0\nv 1e30 0 0\nv 0 1 0\nf 1 2 3\n"), "/a/b.obj: "));
}

// A file that stands for more than it may: its reader is stopped, this process hardly notices.
TEST(ReadMesh, BombsEndInTimeAndMemory) {
  const auto began = std::chrono::steady_clock::now();
  std::string ply =
      "ply\nformat binary_little_endian 1.0\nelement vertex 2000000000\nproperty float x\nproperty float y\n"
      "property float z\nelement face 2000000000\nproperty list uchar int vertex_indices\nend_header\n";
  ply += std::string(100, '\1');
  EXPECT_TRUE(contains(error_of("/a/b.ply", ply), "/a/b.ply: "));
  std::string stl(80, ' ');
  stl += "\xff\xff\xff\x7f";
  EXPECT_TRUE(contains(error_of("/a/b.stl", stl), "/a/b.stl: "));
  std::string deep = "<COLLADA version=\"1.4.1\"><library_visual_scenes><visual_scene id=\"a\">";
  for (int i = 0; i < 200000; ++i) deep += "<node>";
  EXPECT_TRUE(contains(error_of("/a/b.dae", deep), "/a/b.dae: "));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_LT(took.count(), 12) << "three files, 2 s of work each, on a machine that may be busy";
}

// Damaged files: read, or refused with the name of the file.
void mutate_files(int count, uint64_t seed) {
  const char* const names[] = {"box.stl",        "box_binary.stl", "box.obj", "box.ply",
                               "box_binary.ply", "box.dae",        "box.fbx", "quad.glb"};
  for (int n = 0; n < count; ++n) {
    RandomStream random(seed, static_cast<uint32_t>(n), StreamPurpose::kSpawn);
    const std::string name = names[static_cast<size_t>(n) % std::size(names)];
    std::string bytes = file_bytes(mesh_path(name));
    const int changes = 1 + static_cast<int>(random.uniform() * 4);
    for (int c = 0; c < changes && !bytes.empty(); ++c) {
      const auto at = static_cast<size_t>(random.uniform() * static_cast<double>(bytes.size()));
      const double what = random.uniform();
      if (what < 0.6)
        bytes[at] = static_cast<char>(static_cast<uint8_t>(random.uniform() * 256));
      else if (what < 0.75)
        bytes.resize(at);
      else if (what < 0.9)
        bytes.erase(at, 1 + static_cast<size_t>(random.uniform() * 8));
      else
        bytes.insert(at, what < 0.95 ? "99999999" : "-1");
    }
    try {
      const MeshFile mesh = mesh_from(mesh_path(name), bytes);
      EXPECT_TRUE(mesh.triangle_count > 0 || !mesh.lines.empty());
    } catch (const Error& e) {
      EXPECT_TRUE(contains(e.what(), name)) << e.what();
    }
  }
}

TEST(ReadMesh, DamagedFilesLoadOrAreRefused) {
  mutate_files(80, 1);
}
TEST(SlowReadMesh, DamagedFilesLoadOrAreRefused) {
  mutate_files(fuzz_count(800), 2);
}

}  // namespace
}  // namespace mvsim::read_mesh_test
