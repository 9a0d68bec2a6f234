"""Case pool: runs jobs in parallel processes; one that dies takes only its own job with it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")

PRELOADED = ["warplens.commands.kernel_case"]
"""Imported once, in the process that workers are forked from: 1 s a worker less."""


def answers(
    work: Callable[[Job], Answer], jobs: Sequence[Job], processes: int, died: Callable[[Job], Answer]
) -> Iterator[tuple[int, Answer]]:
    """The number of each job with its answer, as they are ready.

    died   what to answer of a job whose process ended; jobs beside it are done again
    """
    if processes <= 1 or len(jobs) <= 1:
        yield from ((number, work(job)) for number, job in enumerate(jobs))
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    waiting = dict(enumerate(jobs))
    alone = False
    while waiting:
        batch = dict(list(waiting.items())[:1]) if alone else waiting
        with ProcessPoolExecutor(1 if alone else min(processes, len(batch)), context) as pool:
            futures = {pool.submit(partial(work, job)): number for number, job in batch.items()}
            done: dict[int, Answer] = {}
            for future in as_completed(futures):
                try:
                    done[futures[future]] = future.result()
                except BrokenProcessPool:
                    continue
                yield futures[future], done[futures[future]]
        waiting = {number: job for number, job in waiting.items() if number not in done}
        if alone and not done:
            (number,) = batch
            yield number, died(waiting.pop(number))
        alone = True
