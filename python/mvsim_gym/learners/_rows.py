"""A check for learners that treat every row as an environment of its own, without a mask."""

from __future__ import annotations


def refuse_waiting(num_agents: int, on_end: str, library: str, instead: str = "") -> None:
    """Raises ValueError if agents of a world may wait for each other. Their rows are zero while they wait, and a
    learner without a mask would learn from them. `instead` ends the message."""
    if num_agents > 1 and on_end == "wait":
        raise ValueError(
            f"on_end: found 'wait', where rows may have no robot for a while, but {library} cannot mask them,"
            f" expected 'respawn' or 'end_all'{instead}"
        )
