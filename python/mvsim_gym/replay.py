"""Drives a world by a script of commands (`tools/replay.py`)."""

from mvsim_gym.tools.replay import KINDS, Command, read_commands, replay

__all__ = ["KINDS", "Command", "read_commands", "replay"]
