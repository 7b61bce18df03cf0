// Functions of Box2D that the core has its own of: quicker, and the same bits.
//
// The calls of Debian's library go through the dynamic linker, which finds ours first. Where it does not,
// steps only take longer.
#pragma once

namespace mvsim {

// A linker takes this part of a static library only because somebody calls it.
void use_own_box2d_functions();

}  // namespace mvsim
