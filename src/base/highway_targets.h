// Highway with the settings that all kernels share. A file of kernels includes itself once for each
// instruction set, and this header with it, so the header has no `#pragma once`.

#ifndef MVSIM_HIGHWAY_SETTINGS
#define MVSIM_HIGHWAY_SETTINGS

// Vectors of unknown size cannot live in arrays or structs; NEON or plain C++ serves those CPUs.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Every aarch64 has NEON, so no choice is made at run time there. With a choice, Highway would give all
// functions the attribute of AES instructions, which some of these CPUs lack.
#if defined(__aarch64__) && !defined(TOOLCHAIN_MISS_SYS_AUXV_H)
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif

#endif

#ifdef HWY_TARGET_INCLUDE
#include <hwy/foreach_target.h>
#endif
#include <hwy/highway.h>
