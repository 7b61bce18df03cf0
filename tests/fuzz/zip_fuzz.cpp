// Zip files: the table of members, and the member "a".
#include "assets/data_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  const int file = memfd_create("zip", MFD_CLOEXEC);
  fuzz::require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
  try {
    const auto zip = std::make_shared<const ZipFile>(OpenFile(file, "/a.zip", size));
    const OpenFile member = zip->member("a");
    fuzz::require(member.read(kMaxMemberBytes).size() == member.size());
  } catch (const Error&) {
  }
  return 0;
}
