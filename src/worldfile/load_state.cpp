#include "worldfile/load_state.h"

namespace mvsim {

static constexpr size_t kMaxKinds = 200;

bool WarningList::is_new(const std::string& kind) {
  return entries_.size() < kMaxKinds && !index_.contains(kind);
}

void WarningList::add(const std::string& kind, const SourceLocation& where, const std::string& text) {
  const auto known = index_.find(kind);
  if (known != index_.end()) {
    ++entries_[known->second].count;
  } else if (entries_.size() < kMaxKinds) {
    index_[kind] = entries_.size();
    entries_.push_back({where.text() + ": " + text, 1});
  } else {
    ++left_out_;
  }
}

std::vector<std::string> WarningList::texts() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_)
    out.push_back(entry.count == 1 ? entry.text
                                   : entry.text + " (" + std::to_string(entry.count) + " times, here first)");
  if (left_out_ > 0) out.push_back(std::to_string(left_out_) + " more warnings are left out");
  return out;
}

}  // namespace mvsim
