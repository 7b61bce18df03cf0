// Contacts of an agent, by the kinds of bodies.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/sim_state.h"
#include "task/term_reader.h"

namespace mvsim {

// The names that terms and infos give to the kinds of bodies that a robot can touch.

struct ContactKind {
  std::string_view name;
  Contact bit;
};

inline constexpr std::array<ContactKind, 4> kContactKinds{{{"wall", kTouchesWall},
                                                           {"block", kTouchesBlock},
                                                           {"agent", kTouchesVehicle},
                                                           {"person", kTouchesPerson}}};

// Reads the attribute `with`, names of kinds, as bits of Contact. Without the attribute all bits are set.
uint8_t read_contact_kinds(TermReader& reader);

}  // namespace mvsim
