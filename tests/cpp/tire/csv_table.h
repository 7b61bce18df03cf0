// A table of numbers and names below tests/data, by column name.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "source_dir.h"

namespace mvsim::test {

class CsvRow {
 public:
  CsvRow(const std::map<std::string, size_t>& columns, std::vector<std::string> cells)
      : columns_(columns), cells_(std::move(cells)) {}
  const std::string& text(const std::string& column) const { return cells_.at(columns_.at(column)); }
  double operator[](const std::string& column) const { return std::strtod(text(column).c_str(), nullptr); }

 private:
  const std::map<std::string, size_t>& columns_;
  std::vector<std::string> cells_;
};

class CsvTable {
 public:
  explicit CsvTable(const std::string& name) {
    std::ifstream file(source_dir() + "/tests/data/" + name);
    EXPECT_TRUE(file) << name;
    std::string line;
    std::getline(file, line);
    for (const std::string& column : split(line)) columns_.emplace(column, columns_.size());
    while (std::getline(file, line)) rows_.emplace_back(columns_, split(line));
  }
  CsvTable(const CsvTable&) = delete;
  CsvTable& operator=(const CsvTable&) = delete;
  const std::vector<CsvRow>& rows() const { return rows_; }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
  }

  std::map<std::string, size_t> columns_;
  std::vector<CsvRow> rows_;
};

}  // namespace mvsim::test
