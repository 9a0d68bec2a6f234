"""Threads that are kept between launches."""

from __future__ import annotations

import os
import threading

import pytest

from warplens.emulator.execute.thread_pool import StartedTask


def test_the_next_task_finds_the_thread_of_the_one_before() -> None:
    seen: list[int] = []
    for _ in range(3):
        assert StartedTask(lambda: seen.append(threading.get_ident())).done()
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_tasks_at_the_same_time_have_threads_of_their_own() -> None:
    meeting = threading.Barrier(3)
    tasks = [StartedTask(lambda: meeting.wait(10) and None) for _ in range(3)]
    assert all(task.done() for task in tasks)


def test_who_waits_is_told_what_went_wrong() -> None:
    def wrong() -> None:
        raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        StartedTask(wrong).done()
    assert StartedTask(lambda: None).done()


def test_waiting_ends_after_its_time() -> None:
    go = threading.Event()
    task = StartedTask(lambda: go.wait(10) and None)
    assert not task.done(0.01)
    go.set()
    assert task.done()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    StartedTask(lambda: None).done()
    child = os.fork()
    if child == 0:
        os._exit(0 if StartedTask(lambda: None).done(10) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_an_end_that_control_c_takes_away_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It hung: the signal came when the queue had given the outcome away and nobody had noted it."""
    task = StartedTask(lambda: None)

    class Interrupted:
        def put(self, item: None) -> None:
            ended.put(item)

        def get(self, timeout: float | None) -> None:
            ended.get(timeout=timeout)
            raise KeyboardInterrupt

    ended = task._outcome.ended
    with monkeypatch.context() as patched:
        patched.setattr(task._outcome, "ended", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            task.done()
    assert task.done(0.0)
