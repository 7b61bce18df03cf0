// A CSV file that is written from start to end: a header, then rows of numbers with six significant digits,
// cells parted by ", " and lines by "\n", the same bytes on every machine. One thread at a time. The file
// belongs to the process that made it: a forked child writes nothing into it.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mvsim {

class CsvFile {
 public:
  // Throws Error if the file exists already or cannot be made.
  CsvFile(std::string path, std::span<const std::string> header);
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  void row(std::span<const double> values);
  // Hands all rows to the operating system; throws Error, e.g. when the disk is full.
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  pid_t owner_;
  std::string pending_;
};

}  // namespace mvsim
