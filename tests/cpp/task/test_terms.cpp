// Observations of the tests alone, in place of src/task/more_observations.cpp: pictures of 4 x 5 pixels of
// uint8, whose values a test can compute, and labels of uint16. Linked into mvsim_tests and into the test
// build of the Python module; no part of the package.
#include <cmath>

#include "task/terms.h"

namespace mvsim {
namespace {

constexpr size_t kHeight = 4, kWidth = 5, kChannels = 3, kPixels = kHeight * kWidth * kChannels;

// Pixel p of channel c is p + 10 c + 100 |x| + 7 steps of the env, modulo 256.
uint8_t pixel(size_t index, double x, double steps) {
  const size_t p = index / kChannels, c = index % kChannels;
  const auto moved = static_cast<uint64_t>(100 * std::fabs(x)) + 7 * static_cast<uint64_t>(steps);
  return static_cast<uint8_t>(p + 10 * c + moved);
}

std::vector<Interval> pixel_bounds(double max) {
  return std::vector<Interval>(kPixels, Interval{0, max});
}

// Computed by the worker: part of a snapshot as it is.
class Image final : public ObservationOf<uint8_t> {
 public:
  Image(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), bounds_(pixel_bounds(reader.number("max", 255, {1, 1000}))) {}
  std::vector<Interval> bounds() const override { return bounds_; }
  std::vector<size_t> shape() const override { return {kHeight, kWidth, kChannels}; }
  void write(EnvState& env, AgentState&, Scratch&, uint8_t* out) const override {
    const double x = vehicle_pose(env.simulation, vehicle_).x;
    for (size_t i = 0; i < kPixels; ++i) out[i] = pixel(i, x, static_cast<double>(env.steps));
  }

 private:
  size_t vehicle_;
  std::vector<Interval> bounds_;
};

// The same values, drawn: of all envs in one call, and never part of a snapshot.
class Drawn final : public Picture {
 public:
  Drawn(TermReader&, TaskContext& context) : vehicle_(context.vehicle) {}
  std::vector<Interval> bounds() const override { return pixel_bounds(255); }
  DType dtype() const override { return DType::kUint8; }
  std::vector<size_t> shape() const override { return {kHeight, kWidth, kChannels}; }
  size_t recipe_size() const override { return 2; }
  void record(EnvState& env, AgentState&, double* recipe) const override {
    recipe[0] = vehicle_pose(env.simulation, vehicle_).x;
    recipe[1] = static_cast<double>(env.steps);
  }
  void draw(std::span<const Frame> frames) const override {
    for (const Frame& frame : frames)
      for (size_t i = 0; i < kPixels; ++i)
        frame.out[i] = static_cast<std::byte>(pixel(i, frame.recipe[0], frame.recipe[1]));
  }

 private:
  size_t vehicle_;
};

// [2, 3] of uint16: 1000 times the step, plus the index.
class Labels final : public ObservationOf<uint16_t> {
 public:
  Labels(TermReader&, TaskContext&) {}
  std::vector<Interval> bounds() const override { return std::vector<Interval>(6, Interval{0, 65535}); }
  std::vector<size_t> shape() const override { return {2, 3}; }
  void write(EnvState& env, AgentState&, Scratch&, uint16_t* out) const override {
    for (size_t i = 0; i < 6; ++i) out[i] = static_cast<uint16_t>(1000 * env.steps + static_cast<int64_t>(i));
  }
};

template <typename T>
std::unique_ptr<const Observation> make(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

constexpr TermClass<Observation> kClasses[] = {
    {"test_image", make<Image>}, {"test_drawn", make<Drawn>}, {"test_labels", make<Labels>, {""}}};

}  // namespace

std::span<const TermClass<Observation>> more_observation_classes() {
  return kClasses;
}

}  // namespace mvsim
