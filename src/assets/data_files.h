// Files of data: members of zip archives, and rows of points.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assets/open_file.h"

namespace mvsim {

// Zip files whose members are unpacked in memory: nothing is ever written, so a member's name is only
// compared. Refused: encrypted and zip64 ones, links, a member that unpacks to more than kMaxZipRatio of its
// size. Immutable after construction, thread-safe.

inline constexpr uint64_t kMaxZipRatio = 100;
inline constexpr uint64_t kMaxMemberBytes = uint64_t{256} << 20;  // unpacked

class ZipFile : public std::enable_shared_from_this<ZipFile> {
 public:
  // Reads the table of its members. Throws Error.
  explicit ZipFile(OpenFile file);

  // Throws Error if there is no member of this name or it is refused.
  OpenFile member(const std::string& name) const;

 private:
  struct Member {
    uint64_t offset = 0;  // of its header
    uint64_t packed = 0, size = 0;
    uint32_t checksum = 0;
    int method = 0;
    bool is_encrypted = false, is_link = false, is_twice = false;
  };
  class Bytes;

  std::string unpack(const std::string& name, const Member& member) const;

  OpenFile file_;
  std::map<std::string, Member> members_;
};

// Text files of numbers, a row a line, as point clouds come. Thread-safe.

// All numbers of a file whose rows have `columns` each, row by row; blanks, tabs, commas and semicolons
// separate, '#' begins a comment. At least one row, at most `max_rows`. Throws Error with the line;
// WorldFileError at `where` if memory does not suffice.
std::vector<double> read_point_rows(const OpenFile& file, size_t columns, size_t max_rows,
                                    const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
