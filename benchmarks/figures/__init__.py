"""One module a family of figures; importing this package registers them all."""

from . import learning, memory, physics, scan, startup, throughput

__all__ = ["learning", "memory", "physics", "scan", "startup", "throughput"]
