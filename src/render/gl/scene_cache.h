// Cache of scenes in the memory of a driver.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <glad/gl.h>

namespace mvsim {

// GpuCopy has upload(gl, scene) and free(gl). The context must be current in each call. A cached copy does
// not keep its scene alive.
template <typename Scene, typename GpuCopy>
class SceneCache {
 public:
  explicit SceneCache(size_t most) : most_(most) {}

  // Returns the copy of this scene, and uploads it if it is not cached. The copy is valid until the next
  // call.
  GpuCopy& get(const GladGLContext& gl, const std::shared_ptr<const Scene>& scene) {
    std::erase_if(kept_, [&](Kept& kept) {
      if (!kept.scene.expired()) return false;
      kept.copy.free(gl);
      return true;
    });
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& kept) { return kept.scene.lock() == scene; });
    if (known != kept_.end()) {
      std::rotate(kept_.begin(), known, known + 1);
      return kept_.front().copy;
    }
    if (kept_.size() == most_) {
      kept_.back().copy.free(gl);
      kept_.pop_back();
    }
    kept_.insert(kept_.begin(), Kept{scene, {}});
    try {
      kept_.front().copy.upload(gl, *scene);
    } catch (...) {
      kept_.front().copy.free(gl);
      kept_.erase(kept_.begin());
      throw;
    }
    return kept_.front().copy;
  }

  void free(const GladGLContext& gl) {
    for (Kept& kept : kept_) kept.copy.free(gl);
    kept_.clear();
  }

 private:
  struct Kept {
    std::weak_ptr<const Scene> scene;
    GpuCopy copy;
  };
  std::vector<Kept> kept_;  // latest first
  size_t most_;
};

}  // namespace mvsim
