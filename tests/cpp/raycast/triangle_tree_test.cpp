// Trees of triangles: hits from each side, and blocked rays.
#include "raycast/triangle_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace mvsim::triangle_tree_test {
namespace {

// Squares of 2 m at x = 1, 2, 3, ... whose fronts look back along -x, each of two triangles.
struct Squares {
  std::vector<std::array<float, 3>> corners;
  std::vector<TreeTriangle> triangles;

  explicit Squares(const std::vector<CullFaces>& culls) {
    for (const CullFaces cull : culls) {
      const auto x = static_cast<float>(triangles.size() / 2 + 1);
      const auto first = static_cast<uint32_t>(corners.size());
      corners.insert(corners.end(), {{x, 1, -1}, {x, -1, -1}, {x, -1, 1}, {x, 1, 1}});
      triangles.push_back({{first, first + 1, first + 2}, cull});
      triangles.push_back({{first, first + 2, first + 3}, cull});
    }
  }
  TriangleTree tree(std::string_view instruction_set = {}) const {
    return {corners, triangles, instruction_set};
  }
};

RayPacket rays_along_x(float from_x, float direction) {
  RayPacket packet;
  for (int i = 0; i < kPacketSize; ++i)
    packet.set_ray(i, from_x, 0.1F * static_cast<float>(i) - 0.85F, 0.3F, direction, 0, 0, 0, 100);
  return packet;
}

constexpr PacketLanes kAll = [] {
  PacketLanes lanes{};
  for (int32_t& lane : lanes) lane = -1;
  return lanes;
}();

TEST(TriangleTree, NamesTheNearestTriangleAndItsDistance) {
  const TriangleTree tree = Squares({CullFaces::kNone, CullFaces::kNone}).tree();
  RayPacket packet = rays_along_x(0, 2);  // distances count in lengths of the direction
  tree.intersect(packet, kAll);
  for (int i = 0; i < kPacketSize; ++i) {
    EXPECT_LT(packet.triangle[i], 2u);
    EXPECT_NEAR(packet.far[i], 0.5, 1e-6);
  }
}

TEST(TriangleTree, RaysPassCulledSides) {
  const TriangleTree tree = Squares({CullFaces::kFront, CullFaces::kBack, CullFaces::kNone}).tree();
  RayPacket ahead = rays_along_x(0, 1), back = rays_along_x(10, -1);
  tree.intersect(ahead, kAll);
  tree.intersect(back, kAll);
  for (int i = 0; i < kPacketSize; ++i) {
    EXPECT_NEAR(ahead.far[i], 2, 1e-6) << "the front of the first is culled";
    EXPECT_TRUE(ahead.triangle[i] == 2 || ahead.triangle[i] == 3);
    EXPECT_NEAR(back.far[i], 7, 1e-6) << "the last is seen from behind";
  }
  back = rays_along_x(2.5F, -1);
  tree.intersect(back, kAll);
  EXPECT_NEAR(back.far[0], 1.5, 1e-6) << "the back of the second is culled, that of the first is not";
}

TEST(TriangleTree, SaysWhatIsBlocked) {
  const TriangleTree tree = Squares({CullFaces::kNone}).tree();
  RayPacket ahead = rays_along_x(0, 1), away = rays_along_x(0, -1);
  tree.find_blocked(ahead, kAll);
  tree.find_blocked(away, kAll);
  EXPECT_TRUE(std::isinf(ahead.far[0]) && ahead.far[0] < 0);
  EXPECT_EQ(away.far[0], 100);
}

TEST(TriangleTree, MayBeEmpty) {
  const TriangleTree tree({}, {});
  RayPacket packet = rays_along_x(0, 1);
  tree.intersect(packet, kAll);
  EXPECT_EQ(packet.triangle[0], RayPacket::kNothing);
}

// Embree's kernels differ between instruction sets: only AVX-512 casts 16 rays at once.
class TreeOfInstructionSet : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string_view name = GetParam();
    if ((name == "avx512" && !__builtin_cpu_supports("avx512vl")) ||
        (name == "avx2" && !__builtin_cpu_supports("avx2")))
      GTEST_SKIP() << "this processor has no " << name;
  }
};

TEST_P(TreeOfInstructionSet, LanesAndDistancesLimitWhatIsCast) {
  const TriangleTree tree = Squares({CullFaces::kNone}).tree(GetParam());
  RayPacket packet = rays_along_x(0, 1);
  PacketLanes lanes = kAll;
  lanes[3] = 0;
  packet.far[5] = 0.5F;
  packet.near[6] = 1.5F;
  tree.intersect(packet, lanes);
  for (int i = 0; i < kPacketSize; ++i)
    EXPECT_EQ(packet.triangle[i] == RayPacket::kNothing, i == 3 || i == 5 || i == 6) << i;
}

TEST_P(TreeOfInstructionSet, LeavesLanesThatAreNotCastAsTheyAre) {
  const TriangleTree tree = Squares({CullFaces::kNone}).tree(GetParam());
  RayPacket packet = rays_along_x(0, 1);
  PacketLanes lanes = kAll;
  lanes[3] = 0;
  packet.near[3] = std::nanf("");
  packet.far[3] = 7;
  tree.intersect(packet, lanes);
  EXPECT_TRUE(std::isnan(packet.near[3]));
  EXPECT_EQ(packet.far[3], 7);
  tree.find_blocked(packet, lanes);
  EXPECT_TRUE(std::isnan(packet.near[3]));
  EXPECT_EQ(packet.far[3], 7);
}

INSTANTIATE_TEST_SUITE_P(Processors, TreeOfInstructionSet, testing::Values("sse2", "avx2", "avx512"));

}  // namespace
}  // namespace mvsim::triangle_tree_test
