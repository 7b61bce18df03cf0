// Vector kernels for the noise of sensors: many deviates, and their use, at once. Highway picks the
// instruction set at run time; every one gives the bits of the scalar functions of random.h and math.h. Safe
// from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace mvsim {

// The normal_pair() of each block from `block` on; out.size() is even.
void philox_normals(const PhiloxName& name, uint64_t block, std::span<double> out);

// Turns direction i by sigma * deviates[i] rad, |sigma * deviate| <= 1e9.
void turn_directions(double sigma, std::span<const double> deviates, float* dx, float* dy);

// A range below `no_return` is a hit: it gets sigma * deviates[i] added, and is clipped to [0, max_range].
// All others become max_range.
void disturb_ranges(double sigma, std::span<const double> deviates, float no_return, float max_range,
                    float* ranges);

// A distance other than 0 gets sigma * deviates[i] added. Results of `low` or less become 0.
// With `keeps_high`, a result above `high` becomes the distance without noise. Without it, a result of `high`
// or more becomes 0.
void disturb_returns(double sigma, std::span<const double> deviates, float low, float high, bool keeps_high,
                     float* distances);

// Replaces 0 by `value`.
void replace_zeros(float value, std::span<float> values);

// hits[i] = ranges[i] < no_return.
void mark_hits(std::span<const float> ranges, float no_return, uint8_t* hits);

// Sets values outside of the open interval (low, high) to 0.
void keep_between(float low, float high, std::span<float> values);

// Clips each value to its bounds, low[i] <= high[i]; NaN stays.
void clip_values(const float* low, const float* high, std::span<float> values);

// Maps [low[i], high[i]] to [0, 1], and to [-1, 1] where low[i] is negative; one point becomes 0, or -1.
void normalize_values(const float* low, const float* high, std::span<float> values);

}  // namespace mvsim
