// Archives: plain values to bytes and back, for snapshots. The same walk over the values also computes a
// hash.
//
// A plain struct takes part with all its fields, in their order. Another struct takes part by a function
// visit(archive, value) that passes its fields to the archive. The function serves writing, reading and
// hashing. It takes the fields from a structured binding, so a new field that is missing there does not
// compile.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/geometry.h"

namespace mvsim {

static_assert(std::endian::native == std::endian::little, "snapshots are little-endian");

// Whether T is U or const U, for overloads of visit().
template <typename T, typename U>
concept ValueOf = std::same_as<std::remove_const_t<T>, U>;

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

// Stands for a value of any type where only the number of values counts.
struct AnyValue {
  template <typename T>
  operator T() const;
};

// Returns the number of fields of a struct without constructors: how many values initialise it.
template <typename T, typename... Values>
consteval size_t count_fields() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return count_fields<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

// Passes a struct to an archive: by its visit(), or without one by its fields, which are at most nine.
template <typename Archive, typename T>
void pass_fields(Archive& archive, T& value) {
  if constexpr (requires { visit(archive, value); }) {
    visit(archive, value);
  } else {
    constexpr size_t kFields = count_fields<std::remove_const_t<T>>();
    static_assert(kFields >= 1 && kFields <= 9, "the struct needs a visit()");
#define MVSIM_PASS_FIELDS(count, ...) \
  if constexpr (kFields == count) {   \
    auto& [__VA_ARGS__] = value;      \
    archive(__VA_ARGS__);             \
  }
    MVSIM_PASS_FIELDS(1, a)
    MVSIM_PASS_FIELDS(2, a, b)
    MVSIM_PASS_FIELDS(3, a, b, c)
    MVSIM_PASS_FIELDS(4, a, b, c, d)
    MVSIM_PASS_FIELDS(5, a, b, c, d, e)
    MVSIM_PASS_FIELDS(6, a, b, c, d, e, f)
    MVSIM_PASS_FIELDS(7, a, b, c, d, e, f, g)
    MVSIM_PASS_FIELDS(8, a, b, c, d, e, f, g, h)
    MVSIM_PASS_FIELDS(9, a, b, c, d, e, f, g, h, i)
#undef MVSIM_PASS_FIELDS
  }
}

// Hash of 64 bits. It detects accidental changes, not intended ones. A change of one byte always changes it.
class ByteHash {
 public:
  void add(const void* bytes, size_t size);
  uint64_t value() const;

 private:
  static constexpr size_t kLanes = 8;  // a processor multiplies in as many at once

  std::array<uint64_t, kLanes> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
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
  // Does nothing: only a reader has to check values.
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
      pass_fields(sink(), value);
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
  explicit ArchiveWriter(size_t expected_size) : bytes_(expected_size, '\0') {}

  void raw(const void* bytes, size_t size) {
    if (size > bytes_.size() - size_) [[unlikely]]
      grow(size);
    if (size > 0) std::memcpy(bytes_.data() + size_, bytes, size);
    size_ += size;
  }
  // Returns the bytes written so far. Nothing can be written after it.
  std::string finish() && {
    bytes_.resize(size_);
    return std::move(bytes_);
  }

 private:
  void grow(size_t size);

  std::string bytes_;  // the first size_ are written
  size_t size_ = 0;
};

class ArchiveHasher : public ArchiveOutput<ArchiveHasher> {
 public:
  void raw(const void* bytes, size_t size) { hash_.add(bytes, size); }
  uint64_t value() const { return hash_.value(); }

 private:
  ByteHash hash_;
};

// The largest magnitude of a number in a state. Sums and products of such numbers are finite doubles.
inline constexpr double kLargestStored = 1e30;

// Reads the bytes of a writer. Every fault throws Error: bytes that end early, a number that is not finite or
// is beyond kLargestStored, a bool that is neither 0 nor 1.
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
  // Accepts infinities and NaN in the values that follow. For states that are not stepped again, such as that
  // of an episode that diverged.
  void allow_non_finite() { finite_only_ = false; }
  bool finite_only() const { return finite_only_; }
  // Fills `out` with elements of type T.
  template <PlainNumber T>
  void fill(std::span<std::byte> out) {
    raw(out.data(), out.size());
    if constexpr (std::is_floating_point_v<T>) {
      for (size_t at = 0; at < out.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, out.data() + at, sizeof value);
        check_finite(&value, 1);
      }
    }
  }
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
      pass_fields(*this, value);
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
      constexpr auto kLargest = static_cast<T>(kLargestStored);
      bool finite = true;
      for (size_t i = 0; i < count; ++i) finite &= values[i] <= kLargest && values[i] >= -kLargest;
      check(finite || !finite_only_);
    }
  }

  const char *at_, *end_;
  bool finite_only_ = true;
};

void visit(auto& archive, ValueOf<Rotation2> auto& rotation) {
  auto& [c, s] = rotation;
  archive(c, s);
}

}  // namespace mvsim
