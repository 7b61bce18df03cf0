#include "record/csv_file.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace mvsim {
namespace {

constexpr size_t kMaxPending = size_t{1} << 16;  // bytes
constexpr int kDigits = 6;

}  // namespace

CsvFile::CsvFile(std::string path, std::span<const std::string> header)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wxe")), owner_(getpid()) {
  if (!file_) throw Error("cannot make the log file '" + path_ + "': " + std::strerror(errno));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // rows are gathered here
  for (size_t i = 0; i < header.size(); ++i) {
    if (i > 0) pending_ += ", ";
    pending_ += header[i];
  }
  pending_ += '\n';
}

CsvFile::~CsvFile() {
  if (file_ && getpid() == owner_) std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
}

void CsvFile::row(std::span<const double> values) {
  char cell[32];
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) pending_ += ", ";
    const auto end =
        std::to_chars(cell, cell + sizeof cell, values[i], std::chars_format::general, kDigits).ptr;
    pending_.append(cell, end);
  }
  pending_ += '\n';
  if (pending_.size() > kMaxPending) flush();
}

void CsvFile::flush() {
  if (getpid() != owner_) {
    pending_.clear();
    return;
  }
  const size_t written = std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
  const int reason = errno;
  const bool whole = written == pending_.size();
  pending_.erase(0, written);
  if (!whole) throw Error("cannot write the log file '" + path_ + "': " + std::strerror(reason));
}

}  // namespace mvsim
