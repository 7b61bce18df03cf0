// Memory of large tables, and whether a sanitizer watches it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace mvsim {

// Allocator for large tables with random access. It asks the system for pages of 2 MiB, so that the page
// table stays in the processor's cache.

template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > kMaxBytes / sizeof(T)) throw std::bad_alloc();
    const size_t bytes = count * sizeof(T);
    const size_t alignment = bytes < kPage ? std::max(alignof(T), alignof(std::max_align_t)) : kPage;
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    // advice only: without such pages the table works and is a little slower
    if (bytes >= kPage) (void)madvise(memory, bytes / kPage * kPage, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, size_t) {
    std::free(memory);
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) {
    return true;
  }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  static constexpr size_t kMaxBytes = ~size_t{0} / 2;
};

// Whether this build has a sanitizer. Its library reserves terabytes of addresses and makes system calls of
// its own, so some limits must be off.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace mvsim
