// Moves finished views of a target to arrays in a GPU's memory without a copy to the host. A shader packs
// them into a buffer (render/gl/gl_pack.cpp), which CUDA maps and copies from. The context must be
// current in calls that take it.
#pragma once

#include <glad/gl.h>

#include <memory>
#include <span>
#include <vector>

#include "render/gl/cuda_device.h"
#include "render/gl/gl_objects.h"
#include "render/gl/gl_view_list.h"

namespace mvsim {

// A picture in the layout that the shader reads.
struct GlPackFrame {
  double sigma;
  uint32_t layer, flags, key[2], stream, unused;
  float in_place_of_zero, low, high, noise_low, noise_high, unused2;
};

// Pictures of one content, and their places in the packed buffer. They are sorted by address, so that
// neighbours are copied at once.
struct GlPackJob {
  ViewContent content;
  size_t first_word = 0, words = 0, first_frame = 0, frame_bytes = 0;
  std::vector<std::byte*> places;
};

struct GlPackList {
  std::vector<GlPackFrame> frames;
  std::vector<GlPackJob> jobs;
  size_t words = 0;
};

// Lists the pictures of shots that are on a GPU; a pure function. `pixels`: number of pixels of a view.
GlPackList make_pack_list(std::span<const GlShot> shots, size_t pixels);

// Pictures of a job that are contiguous in memory.
struct GlPackRun {
  std::byte* to;
  size_t first_byte, bytes;  // in the packed buffer
};
std::vector<GlPackRun> runs_of(const GlPackJob& job);

class GlPack {
 public:
  void make(const GladGLContext& gl);  // throws Error with the driver's log
  // Queues the packing and the copies on the device's stream. Throws RenderMemoryError, RendererLost or
  // Error.
  void pack(const GladGLContext& gl, const GlViewTarget& target, int layers, std::span<const GlShot> shots);
  void free(const GladGLContext& gl);

 private:
  void take_room(const GladGLContext& gl, CudaDevice& device, size_t words);
  void free_room(const GladGLContext& gl);

  GLuint program_ = 0, frames_ = 0, packed_ = 0;
  size_t room_ = 0;  // words of `packed_`
  std::shared_ptr<CudaDevice> device_;
  cuda::Resource resource_ = nullptr;  // CUDA's handle of `packed_`
};

}  // namespace mvsim
