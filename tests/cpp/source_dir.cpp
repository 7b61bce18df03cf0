#include "source_dir.h"

std::string source_dir() {
  return MVSIM_SOURCE_DIR;
}
