// What a confined child may still ask of the kernel. Called in the child alone.
#pragma once

namespace mvsim {

// From here on this process may take memory, write to what is open and end; all else (opening files, sockets,
// programs, signals to others) fails with EPERM. For ever. Does nothing where the kernel has no such filters.
void confine_system_calls();

}  // namespace mvsim
