"""One module a family of figures; importing this package registers them all."""

from . import (
    environments,
    identifying,
    learner,
    learning,
    loading,
    memory,
    overhead,
    physics,
    scan,
    snapshots,
    startup,
    threads,
    throughput,
    views,
    watching,
)

__all__ = [
    "environments",
    "identifying",
    "learner",
    "learning",
    "loading",
    "memory",
    "overhead",
    "physics",
    "scan",
    "snapshots",
    "startup",
    "threads",
    "throughput",
    "views",
    "watching",
]
