// Settings of Highway shared by all kernels; include it before hwy/highway.h.
#pragma once

// Vectors of unknown size cannot live in arrays or structs; NEON or plain C++ serves those CPUs.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
