// A libcuda.so.1 without a GPU, for tests: the functions that mvsim_gym asks for, over the host's memory. It
// stands in where the real one cannot run, so it holds callers to what CUDA's documentation promises and no
// more:
//
//   - work on a stream is queued and runs only when its result is needed: without waiting for an event, a
//     consumer sees the bytes from before;
//   - a buffer of OpenGL can be read between its mapping and its unmapping, as OpenGL had left it at the
//   mapping;
//   - every address must lie in memory that is allocated, or mapped, when a copy is queued;
//   - calls that need a context find none unless one was made the thread's.
//
// FAKE_CUDA_COUNT: GPUs. FAKE_CUDA_DRAWS: those that the current OpenGL context is of. fake_cuda_* are for
// the tests.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using Result = int;
constexpr Result kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kInvalidContext = 201,
                 kInvalidHandle = 400;

struct Stream {
  unsigned flags = 1;
  std::vector<std::function<void()>> work;
  size_t done = 0;
};

struct Event {
  Stream* stream = nullptr;
  size_t position = 0;
};

struct Resource {
  unsigned buffer = 0;
  bool is_mapped = false;
  std::vector<char> bytes;
};

struct Fake {
  std::recursive_mutex mutex;
  std::map<uintptr_t, size_t> memory;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Resource*> resources;
  Stream legacy{0, {}, 0}, per_thread{0, {}, 0};
  std::map<std::string, std::pair<Result, int>> failures;  // by function: the result, from which call on
  std::vector<std::string> calls;
  int context = 0;
};

Fake& fake() {
  static auto* const kFake = new Fake;
  return *kFake;
}
thread_local std::vector<void*> contexts;

void run(Stream& stream, size_t until) {
  while (stream.done < std::min(until, stream.work.size())) {
    const auto work = stream.work[stream.done++];
    work();
  }
}

Stream* stream_of(void* handle) {
  Fake& f = fake();
  if (handle == nullptr || handle == reinterpret_cast<void*>(1)) return &f.legacy;
  if (handle == reinterpret_cast<void*>(2)) return &f.per_thread;
  auto* const stream = static_cast<Stream*>(handle);
  return f.streams.count(stream) ? stream : nullptr;
}

// Blocking streams and the legacy one go in the order in which work was queued.
void queue(Stream& stream, std::function<void()> work) {
  Fake& f = fake();
  std::vector<std::pair<Stream*, size_t>> before;
  if (&stream == &f.legacy) {
    for (Stream* other : f.streams)
      if (other->flags == 0) before.emplace_back(other, other->work.size());
  } else if (stream.flags == 0) {
    before.emplace_back(&f.legacy, f.legacy.work.size());
  }
  stream.work.push_back([before, work = std::move(work)] {
    for (const auto& [other, position] : before) run(*other, position);
    work();
  });
}

void run_all() {
  Fake& f = fake();
  for (Stream* s : {&f.legacy, &f.per_thread}) run(*s, s->work.size());
  for (Stream* s : f.streams) run(*s, s->work.size());
}

bool is_allocated(uintptr_t address, size_t bytes) {
  const auto after = fake().memory.upper_bound(address);
  if (after == fake().memory.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address + bytes <= begin + size;
}

bool is_mapped(uintptr_t address, size_t bytes) {
  return std::any_of(fake().resources.begin(), fake().resources.end(), [&](const Resource* r) {
    const auto begin = reinterpret_cast<uintptr_t>(r->bytes.data());
    return r->is_mapped && address >= begin && address + bytes <= begin + r->bytes.size();
  });
}

// Notes the call. Returns the failure that the test asked for, or else that of a wrong use, or else 0.
Result enter(const char* name, bool needs_context = true) {
  Fake& f = fake();
  f.calls.emplace_back(name);
  if (const auto failure = f.failures.find(name); failure != f.failures.end() && --failure->second.second < 0)
    return failure->second.first;
  return needs_context && contexts.empty() ? kInvalidContext : 0;
}

template <typename Function>
Function gl(const char* name) {
  void* const egl = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!egl) return nullptr;
  const auto find = reinterpret_cast<void* (*)(const char*)>(dlsym(egl, "eglGetProcAddress"));
  return reinterpret_cast<Function>(find(name));
}

int from_environment(const char* name, int fallback) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : fallback;
}

}  // namespace

#define ENTER(name, ...)                     \
  const std::scoped_lock lock(fake().mutex); \
  if (const Result wrong = enter(name, ##__VA_ARGS__)) return wrong

FAKE Result cuInit(unsigned) {
  ENTER("cuInit", false);
  return 0;
}
FAKE Result cuGetErrorName(Result result, const char** name) {
  static const std::map<Result, const char*> kNames{{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                                    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
                                                    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
                                                    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto known = kNames.find(result);
  if (known == kNames.end()) return kInvalidValue;
  *name = known->second;
  return 0;
}
FAKE Result cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount", false);
  *count = from_environment("FAKE_CUDA_COUNT", 1);
  return 0;
}
FAKE Result cuDeviceGet(int* device, int ordinal) {
  ENTER("cuDeviceGet", false);
  *device = ordinal;
  return ordinal < from_environment("FAKE_CUDA_COUNT", 1) ? 0 : kInvalidDevice;
}
FAKE Result cuDeviceGetName(char* name, int size, int device) {
  ENTER("cuDeviceGetName", false);
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU %d", device);
  return 0;
}
FAKE Result cuDevicePrimaryCtxRetain(void** context, int) {
  ENTER("cuDevicePrimaryCtxRetain", false);
  *context = &fake().context;
  return 0;
}
FAKE Result cuCtxPushCurrent_v2(void* context) {
  ENTER("cuCtxPushCurrent_v2", false);
  if (context != &fake().context) return kInvalidContext;
  contexts.push_back(context);
  return 0;
}
FAKE Result cuCtxPopCurrent_v2(void** context) {
  const std::scoped_lock lock(fake().mutex);
  if (contexts.empty()) return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
FAKE Result cuCtxSynchronize() {
  ENTER("cuCtxSynchronize");
  run_all();
  return 0;
}
FAKE Result cuStreamCreate(void** out, unsigned flags) {
  ENTER("cuStreamCreate");
  auto* const stream = new Stream{flags, {}, 0};
  fake().streams.insert(stream);
  *out = stream;
  return 0;
}
FAKE Result cuStreamSynchronize(void* handle) {
  ENTER("cuStreamSynchronize");
  Stream* const stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  run(*stream, stream->work.size());
  return 0;
}
FAKE Result cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
  ENTER("cuStreamWaitEvent");
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(event_handle);
  if (!stream || !fake().events.count(event)) return kInvalidHandle;
  queue(*stream, [e = *event] { run(*e.stream, e.position); });
  return 0;
}
FAKE Result cuEventCreate(void** out, unsigned) {
  ENTER("cuEventCreate");
  auto* const event = new Event;
  fake().events.insert(event);
  *out = event;
  return 0;
}
FAKE Result cuEventRecord(void* event_handle, void* handle) {
  ENTER("cuEventRecord");
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(event_handle);
  if (!stream || !fake().events.count(event)) return kInvalidHandle;
  *event = {stream, stream->work.size()};
  return 0;
}
FAKE Result cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return kOutOfMemory;
  std::memset(memory, 0xab, bytes);  // as memory of a GPU may hold anything
  *address = reinterpret_cast<uintptr_t>(memory);
  fake().memory[*address] = bytes;
  return 0;
}
FAKE Result cuMemFree_v2(unsigned long long address) {
  ENTER("cuMemFree_v2");
  run_all();
  if (fake().memory.erase(address) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
FAKE Result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* handle) {
  ENTER("cuMemcpyDtoDAsync_v2");
  Stream* const stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  if (!is_allocated(to, bytes) || (!is_allocated(from, bytes) && !is_mapped(from, bytes)))
    return kInvalidValue;
  queue(*stream, [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
  return 0;
}
FAKE Result cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  ENTER("cuMemcpyDtoH_v2");
  if (!is_allocated(from, bytes)) return kInvalidValue;
  queue(fake().legacy, [=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
  run(fake().legacy, fake().legacy.work.size());
  return 0;
}
FAKE Result cuMemsetD32Async(unsigned long long to, unsigned value, size_t count, void* handle) {
  ENTER("cuMemsetD32Async");
  Stream* const stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  if (!is_allocated(to, 4 * count) || to % 4 != 0) return kInvalidValue;
  queue(*stream, [=] { std::fill_n(reinterpret_cast<unsigned*>(to), count, value); });
  return 0;
}
FAKE Result cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void* handle) {
  ENTER("cuMemsetD8Async");
  Stream* const stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  if (!is_allocated(to, bytes)) return kInvalidValue;
  queue(*stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  return 0;
}
FAKE Result cuGLGetDevices_v2(unsigned* count, int* devices, unsigned room, unsigned) {
  ENTER("cuGLGetDevices_v2");
  *count = room > 0 ? 1 : 0;
  if (room > 0) devices[0] = from_environment("FAKE_CUDA_DRAWS", 0);
  return 0;
}
FAKE Result cuGraphicsGLRegisterBuffer(void** out, unsigned buffer, unsigned) {
  ENTER("cuGraphicsGLRegisterBuffer");
  const auto is_buffer = gl<unsigned char (*)(unsigned)>("glIsBuffer");
  if (!is_buffer || !is_buffer(buffer)) return kInvalidValue;
  auto* const resource = new Resource{buffer, false, {}};
  fake().resources.insert(resource);
  *out = resource;
  return 0;
}
FAKE Result cuGraphicsUnregisterResource(void* handle) {
  ENTER("cuGraphicsUnregisterResource");
  auto* const resource = static_cast<Resource*>(handle);
  if (!fake().resources.count(resource) || resource->is_mapped) return kInvalidHandle;
  run_all();
  fake().resources.erase(resource);
  delete resource;
  return 0;
}
FAKE Result cuGraphicsMapResources(unsigned count, void** handles, void* handle) {
  ENTER("cuGraphicsMapResources");
  Stream* const stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  run(*stream, stream->work.size());  // copies from the mapping before
  for (unsigned i = 0; i < count; ++i) {
    auto* const resource = static_cast<Resource*>(handles[i]);
    if (!fake().resources.count(resource)) return kInvalidHandle;
    if (resource->is_mapped) return 208;  // CUDA_ERROR_ALREADY_MAPPED
    int bytes = 0;
    gl<void (*)(unsigned, unsigned, int*)>("glGetNamedBufferParameteriv")(resource->buffer, 0x8764, &bytes);
    resource->bytes.resize(static_cast<size_t>(bytes));
    gl<void (*)(unsigned, ptrdiff_t, ptrdiff_t, void*)>("glGetNamedBufferSubData")(resource->buffer, 0, bytes,
                                                                                   resource->bytes.data());
    resource->is_mapped = true;
  }
  return 0;
}
FAKE Result cuGraphicsUnmapResources(unsigned count, void** handles, void*) {
  ENTER("cuGraphicsUnmapResources");
  for (unsigned i = 0; i < count; ++i) {
    auto* const resource = static_cast<Resource*>(handles[i]);
    if (!fake().resources.count(resource) || !resource->is_mapped) return kInvalidHandle;
    resource->is_mapped = false;
  }
  return 0;
}
FAKE Result cuGraphicsResourceGetMappedPointer_v2(unsigned long long* address, size_t* bytes, void* handle) {
  ENTER("cuGraphicsResourceGetMappedPointer_v2");
  auto* const resource = static_cast<Resource*>(handle);
  if (!fake().resources.count(resource) || !resource->is_mapped) return kInvalidHandle;
  *address = reinterpret_cast<uintptr_t>(resource->bytes.data());
  *bytes = resource->bytes.size();
  return 0;
}

// -- for the tests
// A function's result from its call number `after` on; 0 takes that back.
FAKE void fake_cuda_fail(const char* function, int result, int after) {
  const std::scoped_lock lock(fake().mutex);
  if (result == 0)
    fake().failures.erase(function);
  else
    fake().failures[function] = {result, after};
}
// Does all that a consumer's work on a stream has to wait for.
FAKE void fake_cuda_run(void* stream) {
  const std::scoped_lock lock(fake().mutex);
  if (Stream* const s = stream_of(stream)) run(*s, s->work.size());
}
FAKE void* fake_cuda_stream() {  // a consumer's, not in order with the default one
  const std::scoped_lock lock(fake().mutex);
  auto* const stream = new Stream{1, {}, 0};
  fake().streams.insert(stream);
  return stream;
}
// A consumer's copy of memory, queued on his stream.
FAKE void fake_cuda_read(void* to, unsigned long long from, size_t bytes, void* stream) {
  const std::scoped_lock lock(fake().mutex);
  queue(*stream_of(stream), [=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
}
FAKE int fake_cuda_allocations() {
  const std::scoped_lock lock(fake().mutex);
  return static_cast<int>(fake().memory.size());
}
FAKE int fake_cuda_count(const char* function) {
  const std::scoped_lock lock(fake().mutex);
  return static_cast<int>(std::count(fake().calls.begin(), fake().calls.end(), function));
}
