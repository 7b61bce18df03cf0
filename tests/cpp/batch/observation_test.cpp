// Typed observations: types and shapes from term to buffer, histories, and pictures, which are drawn for all
// envs at once and give the bytes of those that each worker computes (tests/cpp/task/test_terms.cpp).
#include "task/observation_spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "batch/batch_test_util.h"
#include "sim/simulation.h"
#include "task/task.h"

namespace mvsim::observation_test {
namespace {

using namespace testing;

// The arena with one more observation, in short episodes.
EnvSpec with_picture(const std::string& attributes, double time_limit = 3) {
  EnvSpec spec = from_text(R"(<mvsim_env id="t" world="../worlds/nav_arena.world.xml" control_period="0.2">
    <agent vehicle="robot"><action class="twist" vx="0 0.22" omega="-2 2"/>
    <observe class="scan" sensor="lidar" sectors="12" max="3.5" history="2"/>
    <observe name="picture" )" +
                           attributes + R"(/><observe class="velocity"/></agent>
    <reset><place blocks="obstacle*" margin="0.5"/><spawn clearance="0.3"/>
    <goal clearance="0.3" distance="1.5 8"/></reset>
    <terminate class="collision"/></mvsim_env>)");
  apply_overrides(spec, dict({{"time_limit", number(time_limit)}}));
  return spec;
}

std::string error_of(const EnvSpec& spec) {
  try {
    (void)compile_task(spec, load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Observations, HaveATypeAndAShape) {
  const auto task = compile_task(with_picture("class='test_image'"), load_options());
  const ObservationSpec &scan = task->observation_specs[0], &image = task->observation_specs[1];
  EXPECT_EQ(scan.dtype, DType::kFloat32);
  EXPECT_EQ(scan.shape, (std::vector<size_t>{24}));  // two frames end to end
  EXPECT_EQ(image.dtype, DType::kUint8);
  EXPECT_EQ(image.shape, (std::vector<size_t>{4, 5, 3}));
  EXPECT_EQ(image.bytes(), 60u);
  const auto stacked = compile_task(with_picture("class='test_image' history='3'"), load_options());
  EXPECT_EQ(stacked->observation_specs[1].shape, (std::vector<size_t>{3, 4, 5, 3}));
  const auto labels = compile_task(with_picture("class='test_labels'"), load_options());
  EXPECT_EQ(labels->observation_specs[1].dtype, DType::kUint16);
  EXPECT_EQ(labels->observation_specs[1].bytes(), 12u);
}

TEST(Observations, RefuseWhatTheirTypeCannotHold) {
  EXPECT_NE(error_of(with_picture("class='test_image' normalize='true'"))
                .find("expected an observation of float32"),
            std::string::npos);
  EXPECT_NE(error_of(with_picture("class='test_image' max='256'")).find("exceed the values of uint8"),
            std::string::npos);
  EXPECT_NE(error_of(with_picture("class='test_imge'")).find("did you mean 'test_image'"), std::string::npos);
  Batch batch(with_picture("class='test_image'"), options(1));
  EXPECT_THROW((void)batch.observation(1), Error);  // as float32
}

TEST(Observations, LieWhereTheDeviceSays) {
  EXPECT_TRUE(device_of("cpu").is_host());
  EXPECT_EQ(device_of("cuda:0").cuda_ordinal, 0);
  EXPECT_EQ(name_of(device_of("cuda:12")), "cuda:12");
  for (const char* other :
       {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "CUDA:0", "cuda:99999999999"})
    EXPECT_THROW((void)device_of(other), Error) << other;
  // a picture that no camera shows stays with the host, and then there is none for a GPU
  BatchOptions on_gpu = options(1);
  on_gpu.device = device_of("cuda:0");
  try {
    const Batch batch(with_picture("class='test_image'"), on_gpu);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("observes no image of a camera"), std::string::npos)
        << error.what();
  }
}

TEST(Observations, AreClippedToTheirBounds) {
  Batch batch(with_picture("class='test_image' max='9'"), options(1));
  batch.reset();
  const std::span<uint8_t> values = batch.observation_buffer(1).values<uint8_t>();
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 9);
}

TEST(Observations, AHistoryHasTheOldestFrameFirst) {
  for (const std::string kind : {"test_image", "test_drawn"})
    for (const size_t stride : {1, 2, 7}) {
      const std::string four_frames = "' history='4' stride='" + std::to_string(stride) + "'";
      Batch one(with_picture("class='" + kind + "'"), options(2)),
          four(with_picture("class='" + kind + four_frames), options(2));
      std::vector<std::vector<uint8_t>> frames;  // of env 1 in its episode
      for (Batch* b : {&one, &four}) b->reset();
      bool first = true;
      for (uint32_t s = 0; s < 60; ++s) {
        const std::span<uint8_t> row = one.observation_buffer(1).values<uint8_t>().subspan(60, 60);
        frames.emplace_back(row.begin(), row.end());
        if (first) frames.assign(3 * stride + 1, frames.back());
        const std::span<uint8_t> history = four.observation_buffer(1).values<uint8_t>().subspan(240, 240);
        for (size_t h = 0; h < 4; ++h) {
          const std::vector<uint8_t>& expected = frames[frames.size() - 1 - (3 - h) * stride];
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), history.begin() + 60 * h))
              << kind << stride << s << h;
        }
        for (Batch* b : {&one, &four}) b->step(random_actions(*b, s));
        first = one.was_reset()[1] != 0;
      }
    }
}

// Uint16, from the definition of the term.
TEST(Observations, LabelsOfUint16) {
  Batch batch(with_picture("class='test_labels' history='2'", 100), options(1));
  batch.reset();
  for (int s = 0; s < 3; ++s) batch.step(std::vector<float>(2, 0.0f));
  const std::span<uint16_t> values = batch.observation_buffer(1).values<uint16_t>();
  const std::vector<uint16_t> expected{2000, 2001, 2002, 2003, 2004, 2005,
                                       3000, 3001, 3002, 3003, 3004, 3005};
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));
}

// Phases of all envs, with the drawing between them, against all phases of one env after the other.
TEST(Pictures, DrawnForAllEnvsTheyHaveTheBytesOfThoseThatWorkersCompute) {
  for (const AutoresetMode mode : {AutoresetMode::kNextStep, AutoresetMode::kSameStep})
    for (const std::string history : {"1", "3"})
      for (const int threads : {1, 3}) {
        Batch computed(with_picture("class='test_image' history='" + history + "'"),
                       options(7, threads, mode)),
            drawn(with_picture("class='test_drawn' history='" + history + "'"), options(7, threads, mode));
        for (Batch* b : {&computed, &drawn}) b->reset();
        int ends = 0;
        for (uint32_t s = 0; s < 50; ++s) {
          for (Batch* b : {&computed, &drawn}) b->step(random_actions(*b, s));
          for (int i = 0; i < 7; ++i) {
            ASSERT_TRUE(row_of(computed, i) == row_of(drawn, i)) << s << " " << i;
            ends += computed.finished()[i];
            if (mode != AutoresetMode::kSameStep || !computed.finished()[i]) continue;
            for (size_t k = 0; k < 3; ++k) {
              const ObservationBuffer &a = computed.final_observation_buffer(k),
                                      &b = drawn.final_observation_buffer(k);
              ASSERT_EQ(std::memcmp(a.row(i), b.row(i), a.row_bytes()), 0) << s << " " << i << " " << k;
            }
          }
        }
        EXPECT_GT(ends, 7);
      }
}

TEST(Pictures, ASnapshotHoldsNoPixelsAndDrawsThemAgain) {
  const EnvSpec spec = with_picture("class='test_drawn' history='50'");
  Batch one(spec, options(1)), other(spec, options(2));
  EXPECT_LT(one.state(0).size(), 6000u);  // 51 frames of 60 bytes, twice, would not fit beside the rest
  one.reset();
  other.reset();
  for (uint32_t s = 0; s < 9; ++s) one.step(random_actions(one, s));
  const std::string state = one.state(0);
  const std::string without = Batch(with_picture("class='test_labels'"), options(1)).state(0);
  EXPECT_LT(state.size(), without.size() + 50 * 2 * sizeof(double) + 100);
  const std::string_view view = state;
  const int slot = 1;
  other.set_state(std::span(&slot, 1), std::span(&view, 1));
  EXPECT_EQ(other.state(1), state);
  for (uint32_t s = 9; s < 40; ++s) {
    for (size_t k = 0; k < 3; ++k)
      ASSERT_EQ(std::memcmp(one.observation_buffer(k).row(0), other.observation_buffer(k).row(1),
                            one.observation_buffer(k).row_bytes()),
                0)
          << s << " " << k;
    const std::vector<float> action = random_actions(one, s);
    one.step(action);
    other.step(std::vector<float>{0, 0, action[0], action[1]});
  }
}

// Throws the robot out of the numbers in the fifth period.
class Explode final : public Action {
 public:
  std::vector<ActionComponent> components() const override { return {{"vx", 0, 1}, {"omega", -1, 1}}; }
  void apply(Simulation& s, const double* values) const override {
    const float far = std::numeric_limits<float>::max();
    if (s.state().time > 0.7) s.place_vehicle(0, {far, far, 0});
    s.set_command(0, {values, 2});
  }
};

TEST(Pictures, OfAnEpisodeThatDivergedStayThoseOfTheLastSoundState) {
  auto compiled = compile_task(with_picture("class='test_drawn' history='3'"), load_options());
  compiled->agents[0].action = std::make_unique<Explode>();
  const std::shared_ptr<const Task> task = std::move(compiled);
  const BatchOptions disabled = options(1, 1, AutoresetMode::kDisabled);
  Batch one(task, disabled), other(task, disabled);
  one.reset();
  std::string last;
  while (!one.finished()[0]) {
    last.assign(reinterpret_cast<const char*>(one.observation_buffer(1).row(0)), 180);
    one.step(std::vector<float>{1, 0});
  }
  EXPECT_EQ(info(one, "diverged").values[0], 1);
  const std::string state = one.state(0);
  const std::string_view view = state;
  const int slot = 0;
  other.set_state(std::span(&slot, 1), std::span(&view, 1));
  EXPECT_EQ(std::memcmp(one.observation_buffer(1).row(0), last.data(), 180), 0);
  EXPECT_EQ(std::memcmp(other.observation_buffer(1).row(0), last.data(), 180), 0);
}

TEST(Pictures, OfAnotherShapeAreAnotherEnvironment) {
  const std::string state = Batch(with_picture("class='test_image'"), options(1)).state(0);
  const std::string_view view = state;
  const int slot = 0;
  for (const char* kind : {"class='test_labels'", "class='test_drawn'", "class='test_image' history='2'"}) {
    Batch other(with_picture(kind), options(1));
    EXPECT_THROW(other.set_state(std::span(&slot, 1), std::span(&view, 1)), Error) << kind;
  }
}

}  // namespace
}  // namespace mvsim::observation_test
