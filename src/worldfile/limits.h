// How much of everything one world may use, so that a hostile file ends in an error and not in a full
// machine.
//
// A Budget belongs to one load; not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/load_guard.h"

namespace mvsim {

inline constexpr int kMaxIncludeDepth = 16;
inline constexpr int kMaxIncludes = 10000;
inline constexpr int kMaxElements = 200000;                   // of the text, those of loops counted each time
inline constexpr int kMaxBodies = 50000;                      // vehicles, blocks and walls
inline constexpr int kMaxXmlDepth = 64;                       // nested elements of one file
inline constexpr int kMaxNesting = 64;                        // for, if and include inside each other
inline constexpr int kMaxExpansionDepth = 32;                 // ${} in the value of ${}
inline constexpr int kMaxReferences = 1000000;                // ${}, $f{} and $env{} that are replaced
inline constexpr int kMaxExpressionDepth = 64;                // parentheses and calls inside $f{}
inline constexpr size_t kMaxExpandedBytes = size_t{4} << 20;  // written by ${}, $f{} and $env{}
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;     // values read, those of loops counted each time
inline constexpr size_t kMaxFileBytes = size_t{8} << 20;      // of one XML file
inline constexpr size_t kMaxFilesBytes = size_t{32} << 20;    // of all XML files
inline constexpr int64_t kMaxParsedElements = 1000000;        // of all XML files
inline constexpr int64_t kMaxWork = 5000000;                  // elements looked at, those of classes included
inline constexpr int64_t kMaxRows = 5000000;                  // of files of points
inline constexpr size_t kLeastRowBytes = 16;
inline constexpr int64_t kMaxComparisons = 250000000;  // of points of DEMs with nodes: one to three seconds
inline constexpr int64_t kMaxSeenPoints = 1000000;     // of clouds and markers

// Memory that an object takes once it is compiled, about.
inline constexpr double kVehicleBytes = 16e3, kBlockBytes = 4e3, kElementBytes = 500, kValueBytes = 200;
inline constexpr double kSeenPointBytes = 300;  // four triangles

// Counts what a load takes, and throws an error that names the place beyond a limit. `place` is a
// SourceLocation or an element, whose line is searched for only if an error needs it.
class Budget {
 public:
  explicit Budget(LoadGuard& guard) : guard_(guard) {}

  void element(const auto& place) {
    take(elements_, 1, kMaxElements, "elements", place);
    if (!guard_.try_take(kElementBytes)) guard_.take(kElementBytes, where_of(place), "the world");
  }
  void work(int64_t n, const auto& place) { take(work_, n, kMaxWork, "elements of classes", place); }
  void parsed(int64_t n, const SourceLocation& where) {
    take(parsed_, n, kMaxParsedElements, "elements in all files", where);
    guard_.take(static_cast<double>(n) * kValueBytes, where, "the file");
  }
  void body(double bytes, const SourceLocation& where) {
    take(bodies_, 1, kMaxBodies, "vehicles, blocks and walls", where);
    guard_.take(bytes, where, "the world");
  }
  // Counts the values of a component, such as a controller: they are kept until it is compiled.
  void values(size_t n, const SourceLocation& where) {
    guard_.take(static_cast<double>(n) * kValueBytes, where, "the world");
  }
  // Counts the rows of a file of points, each time that it is read. A file of comments counts by its bytes,
  // kLeastRowBytes a row.
  void rows(size_t n, const SourceLocation& where) {
    take(rows_, n, kMaxRows, "rows of points in files", where);
  }
  void comparisons(int64_t n, const SourceLocation& where) {
    take(comparisons_, n, kMaxComparisons, "comparisons of points with nodes of elevation maps", where);
  }
  void seen_points(size_t n, const SourceLocation& where) {
    take(seen_points_, n, kMaxSeenPoints, "points of clouds and markers", where);
    guard_.take(static_cast<double>(n) * kSeenPointBytes, where, "the points");
  }
  void include(const SourceLocation& where) { take(includes_, 1, kMaxIncludes, "includes", where); }
  void file(size_t bytes, const SourceLocation& where) {
    take(file_bytes_, bytes, kMaxFilesBytes, "bytes of XML files", where);
    guard_.take(3.0 * static_cast<double>(bytes), where, "the file");
  }
  void text(size_t bytes, const SourceLocation& where) {
    take(text_bytes_, bytes, kMaxTextBytes, "bytes of values", where);
  }
  // Counts a reference that was replaced by so many bytes. An empty one costs time, too.
  void expanded(size_t bytes, const SourceLocation& where) {
    take(references_, 1, kMaxReferences, "references ${}", where);
    take(expanded_bytes_, bytes, kMaxExpandedBytes, "bytes of expanded text", where);
  }

 private:
  static SourceLocation where_of(const auto& place) {
    if constexpr (requires { place.where(); })
      return place.where();
    else
      return place;
  }

  template <typename T, typename N, typename M>
  void take(T& used, N n, M max, const char* of, const auto& place) {
    if (n != 1 || ++singles_ % kSinglesPerPoll == 0) guard_.poll();
    used += static_cast<T>(n);
    if (used > static_cast<T>(max))
      throw WorldFileError(where_of(place), "the world uses too many " + std::string(of) + ": more than " +
                                                std::to_string(max));
  }

  static constexpr int64_t kSinglesPerPoll = 16;  // of what takes a microsecond each

  LoadGuard& guard_;
  int64_t singles_ = 0;
  int64_t elements_ = 0, work_ = 0, parsed_ = 0, bodies_ = 0, includes_ = 0, references_ = 0;
  int64_t rows_ = 0, comparisons_ = 0, seen_points_ = 0;
  uint64_t file_bytes_ = 0, text_bytes_ = 0, expanded_bytes_ = 0;
};

}  // namespace mvsim
