// Compiles a task, checks it by driving it, and finds the keyword that an error comes from.
#include "episode/compile_task.h"

#include <algorithm>

#include "base/utf8.h"
#include "episode/episode.h"
#include "task/compile_parts.h"
#include "views/view_scenes.h"

namespace mvsim {
namespace {

void refuse_warnings(const Task& task) {
  if (task.strict && !task.warnings.empty())
    throw Error("strict refuses a warning: " + task.warnings.front());
}

// Whether an error is in a file that a keyword names.
bool is_of_caller(const WorldFileError& error, const EnvSpec& spec) {
  const std::string path = error.where().path ? *error.where().path : std::string();
  if (path == spec.path) return false;
  if (spec.world.where.line == 0) return true;
  return std::any_of(spec.knobs.begin(), spec.knobs.end(), [&](const KnobSpec& knob) {
    return std::find(knob.choices.begin(), knob.choices.end(), path) != knob.choices.end();
  });
}

template <typename Work>
bool works(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error&) {
    return false;
  }
}

WorldFileError blamed_on(const std::vector<std::string>& keywords, const WorldFileError& error) {
  std::string names = keywords.size() > 1 ? "keywords" : "keyword";
  for (size_t i = 0; i < keywords.size(); ++i) names += (i > 0 ? ", " : " ") + keywords[i];
  return {{std::make_shared<const std::string>(names), 0, 0}, error.what()};
}

}  // namespace

std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  return compile_task(spec, options, draw_by(options.camera_backend));
}

// An error that occurs only with the caller's keywords is reported at the keywords, not at the line of the
// file.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer) {
  try {
    std::unique_ptr<Task> task = assemble_task(spec, options, make_drawer);
    warn_of_no_effect(*task, options.poll);
    refuse_warnings(*task);
    return task;
  } catch (const WorldFileError& error) {
    if (!spec.as_written || error.where().line == 0 || is_of_caller(error, spec)) throw;
    if (!works([&] { assemble_task(*spec.as_written, options, make_drawer); })) throw;
    throw blamed_on(keywords_of(spec.overrides), error);
  }
}

// Returns the error with the keywords that cause it: those that each alone prevent a start, or all if there
// is none.
WorldFileError explain_start(const EnvSpec& spec, const EnvLoadOptions& options, uint64_t key,
                             uint32_t episode, const WorldFileError& error) {
  if (!spec.as_written || error.where().line == 0) return error;
  const auto starts_with = [&](const std::string& keyword) {
    std::vector<Override> own;
    for (const Override& change : spec.overrides)
      if (change.path[0] == keyword) own.push_back(change);
    return works([&] {
      EnvSpec other = *spec.as_written;
      apply_overrides(other, own);
      const std::unique_ptr<Task> task = assemble_task(other, options, draw_by(options.camera_backend));
      EnvState env = make_env(*task, key);
      env.next_episode = episode;
      start_episode(*task, env, options.poll);
    });
  };
  if (!starts_with("")) return error;
  std::vector<std::string> keywords = keywords_of(spec.overrides), binding;
  if (keywords.size() > 1)
    std::remove_copy_if(keywords.begin(), keywords.end(), std::back_inserter(binding), starts_with);
  return blamed_on(binding.empty() ? keywords : binding, error);
}

}  // namespace mvsim
