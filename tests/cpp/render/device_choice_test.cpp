#include "render/gl/device_choice.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mvsim::device_choice_test {
namespace {

using Places = std::vector<size_t>;

// Two GPUs listed in another order than CUDA's, and Mesa's software device first.
std::vector<EglDevice> machine() {
  return {{0, "Mesa software", -1, "", true},
          {1, "NVIDIA GPU", 1, "/dev/dri/card1", false},
          {2, "NVIDIA GPU", 0, "/dev/dri/card0", false},
          {3, "GPU", -1, "/dev/dri/card2", false}};
}

std::string message_of(auto call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceChoice, ReadsItsWords) {
  EXPECT_EQ(parse_device_choice("", "x").wish, DeviceWish::kAuto);
  EXPECT_EQ(parse_device_choice("auto", "x").wish, DeviceWish::kAuto);
  EXPECT_EQ(parse_device_choice("software", "x").wish, DeviceWish::kSoftware);
  EXPECT_EQ(parse_device_choice("12", "x").number, 12);
  EXPECT_EQ(parse_device_choice("cuda:3", "x").number, 3);
  EXPECT_EQ(parse_device_choice("cuda:3", "x").wish, DeviceWish::kCuda);
}

TEST(DeviceChoice, RefusesOtherWordsByName) {
  for (const char* bad : {"sofware", "-1", "cuda", "cuda:", "cuda:x", "1.5", "99999999999", "gpu"}) {
    const std::string message = message_of([&] { parse_device_choice(bad, "MVSIM_EGL_DEVICE"); });
    EXPECT_NE(message.find("MVSIM_EGL_DEVICE: '" + std::string(bad) + "', expected auto, software"),
              std::string::npos);
  }
  EXPECT_NE(message_of([] { parse_device_choice("sofware", "x"); }).find("did you mean 'software'"),
            std::string::npos);
}

TEST(DeviceChoice, AutoPrefersHardware) {
  EXPECT_EQ(devices_to_try({}, machine(), std::nullopt), (Places{1, 2, 3, 0}));
}

TEST(DeviceChoice, AutoTakesTheGpuThatCudaSees) {
  EXPECT_EQ(devices_to_try({}, machine(), "0"), (Places{2, 3, 0}));
  EXPECT_EQ(devices_to_try({}, machine(), "1,0"), (Places{1, 2, 3, 0}));
  EXPECT_EQ(devices_to_try({}, machine(), "7"), (Places{3, 0})) << "no hidden GPU is used";
  EXPECT_EQ(devices_to_try({}, machine(), ""), (Places{3, 0}));
  EXPECT_EQ(devices_to_try({}, machine(), "-1"), (Places{3, 0}));
  EXPECT_EQ(devices_to_try({}, machine(), "GPU-8f3a"), (Places{1, 2, 3, 0})) << "EGL knows no UUIDs";
}

TEST(DeviceChoice, ExplicitWishesAreExact) {
  EXPECT_EQ(devices_to_try({DeviceWish::kIndex, 3}, machine(), "0"), Places{3});
  EXPECT_EQ(devices_to_try({DeviceWish::kCuda, 0}, machine(), std::nullopt), Places{2});
  EXPECT_EQ(devices_to_try({DeviceWish::kSoftware, 0}, machine(), std::nullopt), Places{0});
  for (const DeviceChoice wish : {DeviceChoice{DeviceWish::kIndex, 4}, DeviceChoice{DeviceWish::kCuda, 2}}) {
    const std::string message = message_of([&] { devices_to_try(wish, machine(), std::nullopt); });
    EXPECT_NE(message.find("2: NVIDIA GPU (cuda:0, /dev/dri/card0)"), std::string::npos)
        << "lists the devices";
  }
}

// EGL's devices 1 and 2 are CUDA's 1 and 0; CUDA numbers what it sees anew.
TEST(DeviceChoice, CudaCountsWhatItSees) {
  EXPECT_EQ(cuda_devices_to_try(0, machine(), std::nullopt), (Places{2, 1}));
  EXPECT_EQ(cuda_devices_to_try(1, machine(), std::nullopt), (Places{1, 2}));
  EXPECT_EQ(cuda_devices_to_try(0, machine(), "1,0"), (Places{1, 2}));
  EXPECT_EQ(cuda_devices_to_try(1, machine(), "1,0"), (Places{2, 1}));
  EXPECT_EQ(cuda_devices_to_try(0, machine(), "1"), (Places{1, 2}));
  EXPECT_EQ(cuda_devices_to_try(0, machine(), "GPU-8f3a"), (Places{2, 1})) << "CUDA is asked which one it is";
  EXPECT_EQ(cuda_devices_to_try(5, machine(), std::nullopt), (Places{1, 2}));
  EXPECT_TRUE(cuda_devices_to_try(0, {machine()[0]}, std::nullopt).empty());
}

}  // namespace
}  // namespace mvsim::device_choice_test
