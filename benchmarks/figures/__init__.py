"""One module a family of figures; importing this package registers them all."""

from . import (
    deploying,
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
    "deploying",
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
