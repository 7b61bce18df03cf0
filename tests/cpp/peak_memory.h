// The most memory that a process has at one time, as Linux counts it.
#pragma once

#include <fstream>
#include <string>

namespace mvsim {

class PeakMemory {
 public:
  PeakMemory() : start_(resident_mb()) {}

  // Forgets the peak so far. False: this machine does not let one.
  bool reset() const {
    std::ofstream file("/proc/self/clear_refs");
    file << 5 << std::flush;
    return file.good();
  }
  // MB beyond what the process had when this was made.
  double grown_mb() const { return line_mb("VmHWM:") - start_; }

 private:
  static double resident_mb() { return line_mb("VmRSS:"); }
  static double line_mb(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;)
      if (double kilobytes = 0; word == name && file >> kilobytes) return kilobytes / 1024;
    return 0;
  }

  double start_ = 0;
};

}  // namespace mvsim
