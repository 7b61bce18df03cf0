// What terms and infos call the things that a robot can touch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/sim_state.h"
#include "task/term_reader.h"

namespace mvsim {

struct ContactKind {
  std::string_view name;
  Contact bit;
};

inline constexpr std::array<ContactKind, 4> kContactKinds{{{"wall", kTouchesWall},
                                                           {"block", kTouchesBlock},
                                                           {"agent", kTouchesVehicle},
                                                           {"person", kTouchesPerson}}};

// The attribute `with`, names of kinds: bits of Contact, all of them without it.
uint8_t read_contact_kinds(TermReader& reader);

}  // namespace mvsim
