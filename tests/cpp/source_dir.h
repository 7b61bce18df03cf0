// The folder of the checkout, for tests that read its files. Only source_dir.cpp is compiled with the path,
// so a compiler cache serves every checkout.
#pragma once

#include <string>

std::string source_dir();
