// Registers classes: gives the only object of a class to the registry that has its row. Only the files of
// such classes include this header, because the other classes of a registry are incomplete there. After its
// class, a file writes, for example,
//
//   template const TireModel& registered<TireModel, DefaultTire>();
#pragma once

#include "base/params.h"

namespace mvsim {

template <class Base, class T>
const Base& registered() {
  static const T kOnly;
  return kOnly;
}

}  // namespace mvsim
