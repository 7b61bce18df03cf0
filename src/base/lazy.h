// A value that whoever needs it first makes; immutable from then on. Any thread.
#pragma once

#include <memory>
#include <mutex>

namespace mvsim {

template <typename T>
class Lazy {
 public:
  // make() returns a std::shared_ptr<const T>; what it throws is thrown here, and the next caller tries
  // again.
  template <typename Make>
  const T& get(const Make& make) const {
    return *share(make);
  }
  // Who keeps it longer than this.
  template <typename Make>
  const std::shared_ptr<const T>& share(const Make& make) const {
    const std::scoped_lock lock(mutex_);
    if (!value_) value_ = make();
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const T> value_;
};

}  // namespace mvsim
