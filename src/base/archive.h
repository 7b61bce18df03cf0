// Plain values to bytes and back, for snapshots; the same walk over the values also makes a hash of them.
//
// A struct takes part by a function visit(archive, value) that hands its fields to the archive and serves
// writing, reading and hashing alike. It takes them from a structured binding, so a field that is added to
// the struct and forgotten there does not compile.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace mvsim {

static_assert(std::endian::native == std::endian::little, "snapshots are little-endian");

// For visit(): T is U, const or not.
template <typename T, typename U>
concept ValueOf = std::same_as<std::remove_const_t<T>, U>;

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

// A hash of 64 bits, good against accidents, not against intent. Any one changed byte changes it.
class ByteHash {
 public:
  void add(const void* bytes, size_t size);
  uint64_t value() const;

 private:
  std::array<uint64_t, 4> lanes_{1, 2, 3, 4};
  uint64_t size_ = 0;
};

// The walk of writing and hashing; `Sink` has raw(bytes, size).
template <typename Sink>
class ArchiveOutput {
 public:
  static constexpr bool kReads = false;

  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  // Of what a reader must check; what is written is sound.
  void check(bool /*sound*/) {}

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      put(static_cast<uint8_t>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      sink().raw(&value, sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      put(static_cast<std::underlying_type_t<T>>(value));
    } else {
      visit(sink(), value);
    }
  }
  template <PlainNumber T, size_t n>
  void put(const T (&values)[n]) {
    sink().raw(values, sizeof values);
  }
  template <PlainNumber T, size_t n>
  void put(const std::array<T, n>& values) {
    sink().raw(values.data(), sizeof values);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(uint64_t{values.size()});
    if constexpr (PlainNumber<T>)
      sink().raw(values.data(), values.size() * sizeof(T));
    else
      for (const T& value : values) put(value);
  }
  void put(std::string_view text) {
    put(uint64_t{text.size()});
    sink().raw(text.data(), text.size());
  }
  void put(const std::string& text) { put(std::string_view(text)); }

  Sink& sink() { return static_cast<Sink&>(*this); }
};

class ArchiveWriter : public ArchiveOutput<ArchiveWriter> {
 public:
  // Room for so many bytes is taken at once.
  explicit ArchiveWriter(size_t expected_size) { bytes_.reserve(expected_size); }

  void raw(const void* bytes, size_t size) { bytes_.append(static_cast<const char*>(bytes), size); }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class ArchiveHasher : public ArchiveOutput<ArchiveHasher> {
 public:
  void raw(const void* bytes, size_t size) { hash_.add(bytes, size); }
  uint64_t value() const { return hash_.value(); }

 private:
  ByteHash hash_;
};

// Reads what a writer wrote. Every mistake (bytes that end early, a number that is not finite, a bool that is
// neither) throws Error.
class ArchiveReader {
 public:
  static constexpr bool kReads = true;

  explicit ArchiveReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  void check(bool sound) const {
    if (!sound) fail();
  }
  // From here on: of states that nobody steps on, such as that of an episode that diverged.
  void allow_non_finite() { finite_only_ = false; }
  bool finite_only() const { return finite_only_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[noreturn]] static void fail();

 private:
  void raw(void* out, size_t size) {
    check(size <= left());
    if (size > 0) std::memcpy(out, at_, size);
    at_ += size;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::same_as<T, bool>) {
      uint8_t byte = 0;
      get(byte);
      check(byte <= 1);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      raw(&value, sizeof value);
      check_finite(&value, 1);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      get(number);
      value = static_cast<T>(number);
    } else {
      visit(*this, value);
    }
  }
  template <PlainNumber T, size_t n>
  void get(T (&values)[n]) {
    raw(values, sizeof values);
    check_finite(values, n);
  }
  template <PlainNumber T, size_t n>
  void get(std::array<T, n>& values) {
    raw(values.data(), sizeof values);
    check_finite(values.data(), n);
  }
  template <typename T>
  void get(std::vector<T>& values) {
    uint64_t size = 0;
    get(size);
    check(size <= left() / (PlainNumber<T> ? sizeof(T) : 1));
    values.resize(size);
    if constexpr (PlainNumber<T>) {
      raw(values.data(), size * sizeof(T));
      check_finite(values.data(), size);
    } else {
      for (T& value : values) get(value);
    }
  }
  template <typename T>
  void check_finite(const T* values, size_t count) const {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
      constexpr auto kExponent = static_cast<Bits>(sizeof(T) == 8 ? 0x7ff0000000000000 : 0x7f800000);
      bool finite = true;
      for (size_t i = 0; i < count; ++i) finite &= (std::bit_cast<Bits>(values[i]) & kExponent) != kExponent;
      check(finite || !finite_only_);
    }
  }

  const char *at_, *end_;
  bool finite_only_ = true;
};

}  // namespace mvsim
