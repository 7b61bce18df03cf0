// Counter-based random numbers (Philox 4x32-10 of Random123, Salmon et al. 2011).
//
// A stream is named by (key, episode, stream id) and holds only its position, so the numbers of one purpose
// never depend on how many another purpose drew, on other environments, on threads or on history.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/archive.h"

namespace mvsim {

// Purpose of a random stream. The caller mixes in the index of the sensor, block or expression.
enum class StreamPurpose : uint16_t {
  kWorldExpression = 1,
  kOdometryMultiplier,
  kSensorNoise,
  kSpawn,
  kGoal,
  kPlaceBlocks,
  kRandomize,
  kVariant,
  kActionNoise,
  kObservationNoise,
  kMoverStart,
  kMover,
  kRandomizeLevel,
  kPush,
  kLocalizationStart,
  kLocalization,
};

// Name of a stream of Philox blocks. Block k is a pure function of the name and k.
struct PhiloxName {
  uint64_t key = 0;
  uint32_t episode = 0;
  uint32_t stream = 0;

  friend bool operator==(const PhiloxName&, const PhiloxName&) = default;
};

std::array<uint32_t, 4> philox_block(const PhiloxName& name, uint64_t block);

// Two independent normal deviates from two uniform ones in [0, 1) (Box and Muller).
std::array<double, 2> normal_pair(double u, double v);

class RandomStream {
 public:
  RandomStream() = default;
  RandomStream(uint64_t key, uint32_t episode, StreamPurpose purpose, uint16_t index = 0);

  uint32_t bits();  // uniform 32 bits
  uint64_t bits64();
  double uniform();                         // [0, 1), 53 bits
  double uniform(double low, double high);  // [low, high)
  double normal();                          // mean 0, standard deviation 1
  void normals(std::span<double> out);      // as many calls of normal(), the same bits, quicker
  void skip_normals(size_t count);          // leaves out as many calls of normal()
  uint32_t below(uint32_t n);               // uniform integer in [0, n), n > 0

  friend bool operator==(const RandomStream&, const RandomStream&) = default;

  // In archives (base/archive.h).
  template <typename Archive>
  friend void visit(Archive& archive, ValueOf<RandomStream> auto& stream) {
    auto& [name, block, words, used, has_spare, spare] = stream;
    auto& [key, episode, id] = name;
    archive(key, episode, id, block, words, used, has_spare, spare);
    archive.check(used <= words.size());
  }

 private:
  void refill();

  PhiloxName name_;
  uint64_t block_ = 0;  // next counter value
  std::array<uint32_t, 4> words_{};
  uint32_t used_ = 4;
  uint32_t has_spare_ = 0;
  double spare_ = 0;
};

}  // namespace mvsim
