#include "task/contact_kinds.h"

#include <algorithm>
#include <sstream>

namespace mvsim {

uint8_t read_contact_kinds(TermReader& reader) {
  if (!reader.has("with")) return 0xff;
  std::istringstream words(reader.text("with", ""));
  uint8_t bits = 0;
  for (std::string word; words >> word;) {
    const auto* const kind = std::find_if(kContactKinds.begin(), kContactKinds.end(),
                                          [&](const ContactKind& k) { return k.name == word; });
    if (kind == kContactKinds.end())
      reader.fail("with", "found '" + shortened(word) + "', expected some of wall, block, agent, person");
    bits |= kind->bit;
  }
  if (bits == 0) reader.fail("with", "found nothing, expected some of wall, block, agent, person");
  return bits;
}

}  // namespace mvsim
