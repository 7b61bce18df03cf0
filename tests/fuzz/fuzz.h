// Common parts of the libFuzzer targets. A target takes arbitrary bytes. An exception that its function does
// not document ends the process, and so is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assets/open_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace mvsim::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Small, so that an input is tried quickly; what needs more is refused as by any user's limit.
inline constexpr uint64_t kMemory = 64 << 20;  // bytes

struct Stop {};  // thrown by the poll of a load that has done enough

inline Poll stop_after(int polls) {
  return [left = polls]() mutable {
    if (--left < 0) throw Stop();
  };
}

// A file in memory.
inline OpenFile file_of(std::string_view bytes, const std::string& path) {
  struct Held final : PackedBytes {
    explicit Held(std::string_view held) : bytes(held) {}
    std::string unpack() const override { return std::string(bytes); }
    std::string_view bytes;
  };
  return {std::make_shared<const Held>(bytes), path, bytes.size()};
}

// The input, cut at lines that are "%%%": several files, a file and its keywords...
inline std::vector<std::string> parts_of(std::string_view input) {
  constexpr std::string_view kCut = "\n%%%\n";
  std::vector<std::string> out;
  for (size_t at = 0;;) {
    const size_t end = input.find(kCut, at);
    out.emplace_back(input.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + kCut.size();
  }
}

}  // namespace mvsim::fuzz
