"""Common parts of the peers' scripts: timing, two worker processes, and the row it prints as JSON.

By hand: PYTHONPATH=benchmarks build/venvs/peers/bin/python SCRIPT [RUNS [SECONDS]]
"""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import sys
import time
from collections.abc import Callable

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
WORKERS = 2


def rate(advance: Callable[[], int], seconds: float) -> float:
    """Env steps per second: calls `advance`, which returns how many it made, until the time is up."""
    steps, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        steps += advance()
    return steps / elapsed


def runs_in_one_process(advance: Callable[[], int]) -> list[float]:
    rate(advance, min(0.5, SECONDS))  # warm up
    return [rate(advance, SECONDS) for _ in range(RUNS)]


def _worker(make: Callable[[int], Callable[[], int]], index: int, start, results) -> None:
    try:
        advance = make(index)
        rate(advance, min(0.5, SECONDS))
        for _ in range(RUNS):
            start.wait()
            results.put(rate(advance, SECONDS))
            start.wait()
    except Exception as error:
        results.put(error)
        raise


def runs_in_two_processes(make: Callable[[int], Callable[[], int]]) -> list[float]:
    """Sums of the rates of two processes that begin each run together; `make(worker)` builds an `advance`."""
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(WORKERS), context.Queue()
    workers = [
        context.Process(target=_worker, args=(make, i, start, results), daemon=True) for i in range(WORKERS)
    ]
    for worker in workers:
        worker.start()

    def next_result() -> float:
        result = results.get(timeout=60 + 10 * SECONDS)
        if isinstance(result, Exception):
            raise result
        return result

    totals = [sum(next_result() for _ in range(WORKERS)) for _ in range(RUNS)]
    for worker in workers:
        worker.join()
    return totals


def report(
    name: str, package: str, runs: list[float], same: str, leaves_out: str, unit: str = "env steps/s"
) -> None:
    """Prints one JSON line: what was the same as in our own row, and what the peer leaves out."""
    config = {
        "package": f"{package} {importlib.metadata.version(package)}",
        "work": same,
        "leaves_out": leaves_out,
    }
    print(json.dumps({"name": name, "unit": unit, "config": config, "runs": runs}), flush=True)
