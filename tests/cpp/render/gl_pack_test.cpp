// How pictures on their way to a GPU's memory are put in order: pure functions. That the shader packs them
// so, and what CUDA then copies, is tried in tests/python/device_arrays.py.
#include "render/gl/gl_pack.h"

#include <gtest/gtest.h>

#include <array>

namespace mvsim::gl_pack_test {
namespace {

constexpr size_t kPixels = 7 * 5;

std::byte* at(uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);
}

GlShot shot(std::vector<GlPicture> pictures) {
  return {.view = nullptr, .from = {}, .poses = {}, .pictures = std::move(pictures)};
}

TEST(GlPack, PutsPicturesInTheOrderOfTheirPlaces) {
  const DeviceImage image;
  const auto picture = [&](ViewContent content, uintptr_t address) {
    return GlPicture{.content = content, .pixels = at(address), .on_device = &image};
  };
  const std::vector<GlShot> shots{
      shot({picture(ViewContent::kColor, 0x2000 + 3 * kPixels), picture(ViewContent::kLabels, 0x9000)}),
      shot({{.content = ViewContent::kDepth, .pixels = at(0x100)}}),  // of the host
      shot({picture(ViewContent::kColor, 0x2000)}), shot({picture(ViewContent::kDepth, 0x7000)})};
  const GlPackList list = make_pack_list(shots, kPixels);
  ASSERT_EQ(list.jobs.size(), 3u);
  ASSERT_EQ(list.frames.size(), 4u);
  const GlPackJob &color = list.jobs[0], &depth = list.jobs[1], &labels = list.jobs[2];
  EXPECT_EQ(color.content, ViewContent::kColor);
  EXPECT_EQ(color.places, (std::vector<std::byte*>{at(0x2000), at(0x2000 + 3 * kPixels)}));
  EXPECT_EQ(list.frames[0].layer, 2u);
  EXPECT_EQ(list.frames[1].layer, 0u);
  EXPECT_EQ(color.words, (2 * 3 * kPixels + 3) / 4);  // the second begins within a word
  EXPECT_EQ(depth.first_word, color.words);
  EXPECT_EQ(depth.first_frame, 2u);
  EXPECT_EQ(list.frames[2].layer, 3u);
  EXPECT_EQ(labels.first_word, depth.first_word + kPixels);
  EXPECT_EQ(labels.words, (2 * kPixels + 3) / 4);
  EXPECT_EQ(list.words, labels.first_word + labels.words);
  EXPECT_TRUE(make_pack_list(std::span(shots).subspan(1, 1), kPixels).jobs.empty());
}

TEST(GlPack, CopiesNeighboursAtOnce) {
  GlPackJob job{.content = ViewContent::kColor, .first_word = 10, .frame_bytes = 6, .places = {}};
  for (const uintptr_t address : {0x100, 0x106, 0x10c, 0x200, 0x206, 0x300})
    job.places.push_back(at(address));
  const std::vector<GlPackRun> runs = runs_of(job);
  ASSERT_EQ(runs.size(), 3u);
  const std::array<std::array<size_t, 3>, 3> expected{{{0x100, 40, 18}, {0x200, 58, 12}, {0x300, 70, 6}}};
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].to, at(expected[i][0]));
    EXPECT_EQ(runs[i].first_byte, expected[i][1]);
    EXPECT_EQ(runs[i].bytes, expected[i][2]);
  }
}

TEST(GlPack, NothingSeenIsWhatTheObservationSays) {
  DeviceImage image;
  EXPECT_EQ(image.finished(0), 0);
  image = {.replaces_zero = true, .clips = true, .in_place_of_zero = 9, .low = 0, .high = 8};
  EXPECT_EQ(image.finished(0), 8);
  EXPECT_EQ(image.finished(2), 2);
  image.normalizes = true;
  EXPECT_EQ(image.finished(0), 1);
  EXPECT_EQ(image.finished(2), 0.25F);
  image.low = -8;
  EXPECT_EQ(image.finished(4), 0.5F);
  image.low = image.high;
  EXPECT_EQ(image.finished(4), 0);
}

}  // namespace
}  // namespace mvsim::gl_pack_test
