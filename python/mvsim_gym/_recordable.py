"""`record()` of environments; what writes is imported when it is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mvsim_gym._keywords import path_text
from mvsim_gym._overrides import portable_paths

if TYPE_CHECKING:
    from mvsim_gym import _core
    from mvsim_gym._build import Recipe
    from mvsim_gym.recording.env_recording import EnvRecording

__all__ = ["RecordableEnvs"]


class RecordableEnvs:
    """The part of environments that recordings read."""

    _recording: EnvRecording | None = None
    _recipe: Recipe

    if TYPE_CHECKING:

        def _open(self) -> _core.Batch: ...

    def record(self, path: str | os.PathLike[str], *, env: int = 0) -> EnvRecording:
        """Writes what one of the envs does from now on, each control period, into an MCAP file, as ROS 2 messages
        (docs/tools-recordings.md lists them):

            with envs.record("run.mcap"):
                evaluate(envs)

        Its episodes follow each other, with stamps that go on. Recording changes nothing in the env; what its sensors
        see is read for the recording alone, at their period, with noise of its own. Where an env is reset within the
        step that ends its episode, the last period of that is missing. A copy of the environments records nothing.

        Args:
            path: the file; one that is there is overwritten.
            env: which one; of several agents, which world.

        Raises:
            ImportError: the extra `record` is missing.
            ValueError: there is no such env, or one is being recorded already.
        """
        from mvsim_gym.recording.env_recording import EnvRecording

        batch = self._open()
        if not 0 <= env < batch.num_envs:
            raise ValueError(f"env: found {env}, expected 0 to {batch.num_envs - 1}")
        if self._recording is not None and not self._recording.closed:
            raise ValueError("record: one of these is being recorded already, expected close() of that first")
        recipe = self._recipe
        portable = recipe.portable()
        told = {
            "env": portable.env,
            "keywords": portable_paths(portable.overrides, batch.spec.files),
            "roots": portable.options["roots"],
            "resources": recipe.options["resources"] or {},
        }
        self._recording = EnvRecording(path_text("path", path), batch, env, told)
        return self._recording

    def _close_recording(self) -> None:
        if self._recording is not None:
            self._recording.close()
            self._recording = None
