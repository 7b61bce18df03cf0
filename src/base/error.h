// Errors that name their place. They hold only values, so they may cross threads.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mvsim {

// A place in a text file. Lines and columns count from 1; line 0 means "no place known".
struct SourceLocation {
  std::shared_ptr<const std::string> path;
  int line = 0;
  int column = 0;

  std::string text() const;  // "path:line:column"
};

// Bad input of a caller: a wrong name, a value out of range. The message is one line of UTF-8, whatever it
// quotes.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string_view message);
};

// Bad content of a world or environment file: "path:line:column: what was found, what was expected".
class WorldFileError : public Error {
 public:
  WorldFileError(SourceLocation where, const std::string& message);
  const SourceLocation& where() const { return where_; }
  const std::string& message() const { return message_; }  // without the place

 private:
  SourceLocation where_;
  std::string message_;
};

// Use of threads or graphics in a process forked after their creation.
class ForkedProcessError : public Error {
 public:
  using Error::Error;
};

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

// Returns the name of `candidates` nearest to `name` by edit distance, or "" if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// Returns text of a user as a message quotes it: shortened between characters, with "..." at the cut. Control
// characters and invalid UTF-8 appear as \n and \xff.
std::string shortened(std::string_view text, size_t max_bytes = 60);

// ", did you mean 'x'?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

// "a, b, c"
std::string listed(const std::vector<std::string>& names);

// "expected one of a, b, c, did you mean 'b'?", for an unknown `name`.
std::string expected_one_of(std::string_view name, const std::vector<std::string>& known);

// The names of objects.
template <typename Objects>
std::vector<std::string> names_in(const Objects& objects) {
  std::vector<std::string> out;
  for (const auto& object : objects) out.emplace_back(object.name);
  return out;
}

}  // namespace mvsim
