#include "render/gl/cuda_device.h"

#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace mvsim {
namespace {

// Without the option load_cuda() throws. Every use of CUDA begins with it, so the rest needs no check.
#ifdef MVSIM_CUDA
constexpr bool kIsBuiltIn = true;
#else
constexpr bool kIsBuiltIn = false;
#endif

constexpr const char* kCudaRemedy =
    "it is part of NVIDIA's driver: install that, in a container start it with its GPUs "
    "(NVIDIA_DRIVER_CAPABILITIES=all), or leave out device= to have NumPy arrays";

template <typename Function>
void require(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw Error(std::string("libcuda.so.1 lacks ") + name + ", expected CUDA 11 or later: " + kCudaRemedy);
}

// Numbers of streams in DLPack.
constexpr int64_t kLegacyStream = 1, kNoWaiting = -1;
constexpr unsigned kMostDevices = 64;

}  // namespace

CudaApi load_cuda() {
  if (!kIsBuiltIn)
    throw Error(
        "this build has no arrays on a GPU, which are experimental: build from source with "
        "MVSIM_CUDA=ON pip install ., or leave out device= to have NumPy arrays");
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* const reason = dlerror();
    throw Error(std::string("arrays on a GPU need libcuda.so.1 (") + (reason ? reason : "cannot be loaded") +
                "): " + kCudaRemedy);
  }
  CudaApi api;
  require(library, api.init, "cuInit");
  require(library, api.get_error_name, "cuGetErrorName");
  require(library, api.device_get_count, "cuDeviceGetCount");
  require(library, api.device_get, "cuDeviceGet");
  require(library, api.device_get_name, "cuDeviceGetName");
  require(library, api.primary_context_retain, "cuDevicePrimaryCtxRetain");
  require(library, api.context_push, "cuCtxPushCurrent_v2");
  require(library, api.context_pop, "cuCtxPopCurrent_v2");
  require(library, api.context_synchronize, "cuCtxSynchronize");
  require(library, api.stream_create, "cuStreamCreate");
  require(library, api.stream_synchronize, "cuStreamSynchronize");
  require(library, api.stream_wait_event, "cuStreamWaitEvent");
  require(library, api.event_create, "cuEventCreate");
  require(library, api.event_record, "cuEventRecord");
  require(library, api.memory_alloc, "cuMemAlloc_v2");
  require(library, api.memory_free, "cuMemFree_v2");
  require(library, api.copy_on_device, "cuMemcpyDtoDAsync_v2");
  require(library, api.copy_to_host, "cuMemcpyDtoH_v2");
  require(library, api.set_words, "cuMemsetD32Async");
  require(library, api.set_bytes, "cuMemsetD8Async");
  require(library, api.gl_get_devices, "cuGLGetDevices_v2");
  require(library, api.gl_register_buffer, "cuGraphicsGLRegisterBuffer");
  require(library, api.unregister_resource, "cuGraphicsUnregisterResource");
  require(library, api.map_resources, "cuGraphicsMapResources");
  require(library, api.unmap_resources, "cuGraphicsUnmapResources");
  require(library, api.mapped_pointer, "cuGraphicsResourceGetMappedPointer_v2");
  if (const cuda::Result result = api.init(0); result != 0)
    throw Error("CUDA does not start: cuInit says " + api.name_of(result) +
                "; check that nvidia-smi lists a GPU, or leave out "
                "device= to have NumPy arrays");
  return api;
}

std::string CudaApi::name_of(cuda::Result result) const {
  const char* name = nullptr;
  if (get_error_name(result, &name) != 0 || !name) return "error " + std::to_string(result);
  return name;
}

// Makes the context current on this thread for its lifetime.
class CudaDevice::Current {
 public:
  explicit Current(const CudaDevice& device) : api_(device.api_) {
    if (device.in_forked_process())
      throw ForkedProcessError(
          device.text() +
          " was opened before the process forked; make the environment in the child, or use spawn");
    device.check(api_.context_push(device.context_), "cuCtxPushCurrent");
  }
  ~Current() {
    cuda::Context ours = nullptr;
    api_.context_pop(&ours);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const CudaApi& api_;
};

CudaDevice::CudaDevice(int ordinal) : api_(load_cuda()), ordinal_(ordinal), owner_(getpid()) {
  int count = 0;
  api_.device_get_count(&count);
  if (ordinal >= count)
    throw Error("device: found '" + text() + "', but CUDA lists " +
                (count == 0
                     ? "no GPU"
                     : "cuda:0" + (count > 1 ? " to cuda:" + std::to_string(count - 1) : "") + " only") +
                " (CUDA_VISIBLE_DEVICES may hide some)");
  const auto open = [&](cuda::Result result, const char* function) {
    if (result != 0) throw Error(text() + " cannot be opened: " + function + " says " + api_.name_of(result));
  };
  open(api_.device_get(&device_, ordinal), "cuDeviceGet");
  char name[256] = "";
  api_.device_get_name(name, sizeof name, device_);
  name_ = name;
  open(api_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  const Current current(*this);
  open(api_.stream_create(&stream_, cuda::kBlockingStream), "cuStreamCreate");
  open(api_.event_create(&event_, cuda::kEventWithoutTime), "cuEventCreate");
}

bool CudaDevice::in_forked_process() const {
  return getpid() != owner_;
}

void CudaDevice::check(cuda::Result result, const char* function) const {
  if (result == 0) return;
  const std::string what = text() + ": " + function + " says " + api_.name_of(result);
  if (result == cuda::kOutOfMemory) throw RenderMemoryError(what);
  throw RendererLost(what + "; after an error of a kernel a process cannot go on with CUDA");
}

std::shared_ptr<CudaMemory> CudaDevice::allocate(size_t bytes) {
  return std::make_shared<CudaMemory>(shared_from_this(), bytes);
}

// A blocking stream is in order with the legacy default stream, which most work uses, but not with others.
// Consumers may have queued work on such streams, so this waits for the whole context.
void CudaDevice::begin_writing() {
  if (!has_others_.exchange(false)) return;
  const Current current(*this);
  check(api_.context_synchronize(), "cuCtxSynchronize");
}

void CudaDevice::fill(cuda::Address to, size_t bytes, uint32_t word) {
  if (bytes == 0) return;
  const Current current(*this);
  if (word == 0)
    check(api_.set_bytes(to, 0, bytes, stream_), "cuMemsetD8Async");
  else
    check(api_.set_words(to, word, bytes / sizeof word, stream_), "cuMemsetD32Async");
}

void CudaDevice::copy(cuda::Address to, cuda::Address from, size_t bytes) {
  if (bytes == 0) return;
  const Current current(*this);
  check(api_.copy_on_device(to, from, bytes, stream_), "cuMemcpyDtoDAsync");
}

void CudaDevice::fetch(void* to, cuda::Address from, size_t bytes) {
  if (bytes == 0) return;
  const Current current(*this);
  check(api_.stream_synchronize(stream_), "cuStreamSynchronize");
  check(api_.copy_to_host(to, from, bytes), "cuMemcpyDtoH");  // complete when the call returns
}

void CudaDevice::ready_for(int64_t stream) {
  if (stream != kLegacyStream) has_others_ = true;
  if (stream == kNoWaiting) return;
  const Current current(*this);
  const std::scoped_lock lock(event_mutex_);
  check(api_.event_record(event_, stream_), "cuEventRecord");
  // 1 and 2 are CUDA's handles of the two default streams
  check(api_.stream_wait_event(static_cast<cuda::Stream>(cuda::pointer_of(static_cast<uint64_t>(stream))),
                               event_, 0),
        "cuStreamWaitEvent");
}

std::string CudaDevice::why_elsewhere() const {
  const Current current(*this);
  std::vector<cuda::Device> devices(kMostDevices);
  unsigned count = 0;
  const cuda::Result result = api_.gl_get_devices(&count, devices.data(), kMostDevices, cuda::kAllDevices);
  if (result != 0) return "it is no GPU of CUDA's (cuGLGetDevices says " + api_.name_of(result) + ")";
  devices.resize(std::min(count, kMostDevices));
  return std::ranges::find(devices, device_) != devices.end() ? "" : "it is another GPU";
}

cuda::Resource CudaDevice::take_buffer(unsigned gl_buffer) {
  const Current current(*this);
  cuda::Resource resource = nullptr;
  check(api_.gl_register_buffer(&resource, gl_buffer, cuda::kReadOnly), "cuGraphicsGLRegisterBuffer");
  return resource;
}

void CudaDevice::release_buffer(cuda::Resource resource) noexcept {
  try {
    const Current current(*this);
    api_.unregister_resource(resource);
  } catch (const Error&) {  // a lost context has freed its resources
  }
}

CudaDevice::Mapped::Mapped(CudaDevice& device, cuda::Resource resource)
    : device_(device), resource_(resource) {
  const Current current(device);
  device.check(device.api_.map_resources(1, &resource_, device.stream_), "cuGraphicsMapResources");
  is_mapped_ = true;
  size_t bytes = 0;
  const cuda::Result result = device.api_.mapped_pointer(&address_, &bytes, resource);
  if (result == 0) return;
  device.api_.unmap_resources(1, &resource_, device.stream_);
  device.check(result, "cuGraphicsResourceGetMappedPointer");
}

CudaDevice::Mapped::~Mapped() {
  try {
    unmap();
  } catch (const Error&) {  // the destructor runs for another error
  }
}

void CudaDevice::Mapped::unmap() {
  if (!std::exchange(is_mapped_, false)) return;
  const Current current(device_);
  device_.check(device_.api_.unmap_resources(1, &resource_, device_.stream_), "cuGraphicsUnmapResources");
}

std::shared_ptr<CudaDevice> cuda_device(int ordinal) {
  static std::mutex mutex;
  // never destroyed, since the driver has exit handlers of its own
  static auto* const kOpen =
      new std::map<int, std::shared_ptr<CudaDevice>>;  // NOLINT(cppcoreguidelines-owning-memory)
  const std::scoped_lock lock(mutex);
  std::shared_ptr<CudaDevice>& device = (*kOpen)[ordinal];
  if (!device) device = std::make_shared<CudaDevice>(ordinal);
  return device;
}

CudaMemory::CudaMemory(std::shared_ptr<CudaDevice> device, size_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  const CudaDevice::Current current(*device_);
  const CudaApi& api = device_->api_;
  const cuda::Result result = api.memory_alloc(&address_, std::max<size_t>(bytes, 1));
  if (result == cuda::kOutOfMemory)
    throw RenderMemoryError(device_->text() + " has no memory for " + std::to_string(bytes) +
                            " bytes of observations");
  device_->check(result, "cuMemAlloc");
  try {
    device_->fill(address_, bytes, 0);
  } catch (...) {
    api.memory_free(address_);
    throw;
  }
}

// Waits for queued work, as cuMemFree does.
CudaMemory::~CudaMemory() {
  try {
    const CudaDevice::Current current(*device_);
    device_->api_.memory_free(address_);
  } catch (const Error&) {  // after a fork, or CUDA has ended
  }
}

}  // namespace mvsim
