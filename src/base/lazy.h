// A value that is made on first use and immutable from then on. Any thread.
#pragma once

#include <memory>
#include <mutex>

namespace mvsim {

template <typename T>
class Lazy {
 public:
  // make() returns a std::shared_ptr<const T>. Its exceptions are passed on, and the next caller tries again.
  template <typename Make>
  const T& get(const Make& make) const {
    return *share(make);
  }
  // The same, shared: the pointer may outlive this object.
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
