// Zip files of the tests, made byte by byte so that they may lie.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mvsim {

struct ZipEntry {
  std::string name, content;
  bool deflated = true;
  uint32_t mode = 0100644;  // of its file
  int64_t announced = -1;   // size in the table; -1: the true one
  std::string packed{};     // in place of the content's own
};

inline std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

inline std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  std::string in = content;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zip_of(const std::vector<ZipEntry>& entries, int64_t announced_count = -1) {
  std::string out, table;
  for (const ZipEntry& entry : entries) {
    const std::string packed = !entry.packed.empty() ? entry.packed
                               : entry.deflated      ? deflated(entry.content)
                                                     : entry.content;
    const uint64_t size = entry.announced < 0 ? entry.content.size() : static_cast<uint64_t>(entry.announced);
    const auto* bytes = reinterpret_cast<const Bytef*>(entry.content.data());
    const std::string common = little(20, 2) + little(0, 2) + little(entry.deflated ? 8 : 0, 2) +
                               little(0, 4) + little(crc32_z(0, bytes, entry.content.size()), 4) +
                               little(packed.size(), 4) + little(size, 4) + little(entry.name.size(), 2) +
                               little(0, 2);
    table += "PK\1\2" + little(20 | 3 << 8, 2) + common + little(0, 6) +
             little(uint64_t{entry.mode} << 16, 4) + little(out.size(), 4) + entry.name;
    out += "PK\3\4" + common + entry.name + packed;
  }
  const uint64_t start = out.size();
  const uint64_t count = announced_count < 0 ? entries.size() : static_cast<uint64_t>(announced_count);
  out += table + "PK\5\6" + little(0, 4) + little(count, 2) + little(count, 2) + little(table.size(), 4) +
         little(start, 4) + little(0, 2);
  return out;
}

}  // namespace mvsim
