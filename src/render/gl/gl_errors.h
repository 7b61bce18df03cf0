// Errors of drawing by OpenGL that callers tell apart.
#pragma once

#include "base/error.h"

namespace mvsim {

// The driver has no memory for a picture of the size asked.
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
