#include "assets/data_files.h"

#include <sys/stat.h>
#include <zlib.h>
#include <algorithm>
#include <charconv>
#include <cmath>

namespace mvsim {
namespace {

constexpr size_t kEndSize = 22, kEntrySize = 46, kHeaderSize = 30;
constexpr size_t kMaxComment = 65535;
constexpr size_t kMaxTableBytes = size_t{16} << 20;
constexpr uint64_t kSmall = 1 << 20;  // bytes that any member may unpack to
constexpr int kStored = 0, kDeflated = 8;

// Little-endian numbers at places that the caller has checked.
uint32_t number_at(std::string_view bytes, size_t at, size_t count) {
  uint32_t out = 0;
  for (size_t i = count; i-- > 0;) out = out << 8 | static_cast<uint8_t>(bytes[at + i]);
  return out;
}

Error zip_error(const std::string& path, const std::string& why) {
  return Error(shortened(path, 500) + ": " + why);
}

// The end record; zip files may have a comment behind it.
std::string read_end(const OpenFile& file) {
  const uint64_t size = std::min<uint64_t>(file.size(), kEndSize + kMaxComment);
  const std::string tail = file.read_at(file.size() - size, static_cast<size_t>(size));
  const size_t at = tail.rfind("PK\5\6");
  if (at == std::string::npos || tail.size() - at < kEndSize) throw zip_error(file.path(), "not a zip file");
  return tail.substr(at, kEndSize);
}

constexpr size_t kMaxPointBytes = size_t{256} << 20;
constexpr double kFarthest = 1e9;

}  // namespace

class ZipFile::Bytes final : public PackedBytes {
 public:
  Bytes(std::shared_ptr<const ZipFile> zip, std::string name, const Member& member)
      : zip_(std::move(zip)), name_(std::move(name)), member_(member) {}
  std::string unpack() const override { return zip_->unpack(name_, member_); }

 private:
  std::shared_ptr<const ZipFile> zip_;
  std::string name_;
  const Member& member_;  // in zip_
};

ZipFile::ZipFile(OpenFile file) : file_(std::move(file)) {
  const std::string end = read_end(file_);
  const size_t count = number_at(end, 10, 2), bytes = number_at(end, 12, 4);
  const uint64_t start = number_at(end, 16, 4);
  if (count == 0xffff || start == 0xffffffff) throw zip_error(file_.path(), "zip64 is not supported");
  if (bytes > kMaxTableBytes)
    throw zip_error(file_.path(),
                    "its table of members is larger than " + std::to_string(kMaxTableBytes) + " bytes");
  const std::string table = file_.read_at(start, bytes);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (table.size() - at < kEntrySize || table.compare(at, 4, "PK\1\2") != 0)
      throw zip_error(file_.path(), "not a readable zip file: a damaged table of members");
    const size_t name_size = number_at(table, at + 28, 2);
    const size_t next = kEntrySize + name_size + number_at(table, at + 30, 2) + number_at(table, at + 32, 2);
    if (table.size() - at < next)
      throw zip_error(file_.path(), "not a readable zip file: a damaged table of members");
    Member member;
    member.is_encrypted = (number_at(table, at + 8, 2) & 1) != 0;
    member.method = static_cast<int>(number_at(table, at + 10, 2));
    member.checksum = number_at(table, at + 16, 4);
    member.packed = number_at(table, at + 20, 4);
    member.size = number_at(table, at + 24, 4);
    member.is_link = S_ISLNK(number_at(table, at + 40, 2));  // the upper half of the external attributes
    member.offset = number_at(table, at + 42, 4);
    const auto [place, is_new] = members_.try_emplace(table.substr(at + kEntrySize, name_size), member);
    place->second.is_twice = !is_new;
    at += next;
  }
}

OpenFile ZipFile::member(const std::string& name) const {
  const std::string path = file_.path() + "/" + name;
  const auto found = members_.find(name);
  if (found == members_.end()) throw Error("the zip file has no member '" + shortened(name, 200) + "'");
  const Member& m = found->second;
  if (m.is_encrypted || m.is_link || m.is_twice)
    throw zip_error(path, m.is_link        ? "is a link in a zip file, which is refused"
                          : m.is_encrypted ? "is encrypted"
                                           : "is twice in its zip file");
  if (m.method != kStored && m.method != kDeflated)
    throw zip_error(path, "is packed by method " + std::to_string(m.method) + ", expected 0 or 8 (deflate)");
  if (m.size > kMaxMemberBytes || m.size > std::max(kSmall, kMaxZipRatio * m.packed))
    throw zip_error(path, "unpacks from " + std::to_string(m.packed) + " to " + std::to_string(m.size) +
                              " bytes, expected at most " + std::to_string(kMaxZipRatio) +
                              " times as many and " + std::to_string(kMaxMemberBytes));
  return {std::make_shared<const Bytes>(shared_from_this(), name, m), path, m.size};
}

std::string ZipFile::unpack(const std::string& name, const Member& m) const {
  const auto fail = [&](const std::string& why) {
    return zip_error(file_.path() + "/" + name, "cannot be unpacked: " + why);
  };
  const std::string header = file_.read_at(m.offset, kHeaderSize);
  if (header.size() < kHeaderSize || !header.starts_with("PK\3\4")) throw fail("damaged header");
  const uint64_t start = m.offset + kHeaderSize + number_at(header, 26, 2) + number_at(header, 28, 2);
  if (start > file_.size() || m.packed > file_.size() - start) throw fail("the file is too short");
  std::string packed = file_.read_at(start, static_cast<size_t>(m.packed));
  std::string out;
  if (m.method == kStored) {
    out = std::move(packed);
  } else {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw fail("no memory");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
    out.resize(static_cast<size_t>(m.size));
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (inflate(&stream, Z_FINISH) != Z_STREAM_END) throw fail("damaged, or larger than announced");
    out.resize(std::min<size_t>(stream.total_out, out.size()));
  }
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (out.size() != m.size || checksum != m.checksum) throw fail("damaged: the checksum is another");
  return out;
}

std::vector<double> read_point_rows(const OpenFile& file, size_t columns, size_t max_rows,
                                    const SourceLocation& where, LoadGuard& guard) {
  const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the file of points");
  const std::string text = file.read(kMaxPointBytes);
  std::vector<double> out;
  size_t line = 1, in_row = 0;
  const auto fail = [&](const std::string& why) {
    return Error(shortened(file.path(), 500) + ":" + std::to_string(line) + ": " + why +
                 ", expected rows of " + std::to_string(columns) + " numbers");
  };
  const char *at = text.data(), *const end = at + text.size();
  if (text.starts_with("\xef\xbb\xbf")) at += 3;
  const auto end_row = [&] {
    if (in_row != 0 && in_row != columns) throw fail("found " + std::to_string(in_row) + " numbers");
    in_row = 0;
  };
  while (at < end) {
    if (*at == '#') {
      while (at < end && *at != '\n') ++at;
    } else if (*at == '\n') {
      end_row();
      ++line;
      ++at;
      if (line % 256 == 0) guard.poll();
    } else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',' || *at == ';') {
      ++at;
    } else {
      double value = 0;
      if (*at == '+') ++at;
      const auto [next, status] = std::from_chars(at, end, value);
      if (status != std::errc() || !(std::fabs(value) <= kFarthest))
        throw fail("found no number that can be used");
      if (in_row++ == 0) {
        if (out.size() == max_rows * columns)
          throw Error(shortened(file.path(), 500) + ": has more than " + std::to_string(max_rows) +
                      " points");
        guard.take(static_cast<double>(columns * sizeof(double)), where, "the points");
      }
      out.push_back(value);
      at = next;
    }
  }
  end_row();
  if (out.empty()) throw fail("found none");
  return out;
}

}  // namespace mvsim
