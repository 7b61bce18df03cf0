#include "render/rays/mip_image.h"

#include <gtest/gtest.h>

#include <limits>

namespace mvsim::mip_image_test {
namespace {

// Columns of black and white.
ColorImage stripes(int width, int height) {
  ColorImage image{width, height, {}};
  for (int i = 0; i < width * height; ++i) {
    const uint8_t gray = i % width % 2 ? 255 : 0;
    image.rgba.insert(image.rgba.end(), {gray, gray, gray, 255});
  }
  return image;
}

TEST(MipImage, ShowsTexelsFromNearAndTheirMeanFromFar) {
  const MipImage image(stripes(8, 4));
  EXPECT_EQ(image.size(), 8);
  EXPECT_FLOAT_EQ(image.at(0.5F / 8, 0.5F, 0)[0], 0);
  EXPECT_FLOAT_EQ(image.at(1.5F / 8, 0.5F, 0)[0], 1);
  EXPECT_FLOAT_EQ(image.at(1.0F / 8, 0.5F, 0)[0], 0.5F) << "between texels";
  for (const float level : {1.0F, 2.0F, 9.0F}) EXPECT_NEAR(image.at(1.5F / 8, 0.5F, level)[0], 0.5, 0.01);
  EXPECT_NEAR(image.at(1.5F / 8, 0.5F, 0.5F)[0], 0.75, 0.01) << "between levels";
}

TEST(MipImage, RepeatsAndTakesAnyCoordinates) {
  const MipImage image(stripes(8, 1));
  EXPECT_FLOAT_EQ(image.at(3 + 1.5F / 8, -2.5F, 0)[0], image.at(1.5F / 8, 0.5F, 0)[0]);
  for (const float odd : {1e30F, -1e30F, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(image.at(odd, odd, odd)[3], 1);
}

TEST(MipImage, MayBeOneTexel) {
  const MipImage image({1, 1, {10, 20, 30, 255}});
  EXPECT_NEAR(image.at(0.3F, 0.7F, 4)[1], 20 / 255.0, 1e-6);
}

}  // namespace
}  // namespace mvsim::mip_image_test
