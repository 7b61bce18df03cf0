// Errors of OpenGL that callers distinguish.
#pragma once

#include "base/error.h"

namespace mvsim {

// The driver has no memory for a picture of the requested size.
class RenderMemoryError : public Error {
 public:
  using Error::Error;
};

// The driver lost the context or does not answer; a new Renderer may work.
class RendererLost : public Error {
 public:
  using Error::Error;
};

}  // namespace mvsim
