// Functions of Box2D that the core has its own of: quicker, and the same bits.
//
// The calls of Debian's library go through the dynamic linker, which finds ours first. Where it does not,
// steps only take longer.
#pragma once

namespace mvsim {

// Does nothing. A call of it makes the linker take this object file of the static library.
void use_own_box2d_functions();

}  // namespace mvsim
