"""The line about a long run."""

from __future__ import annotations

import pytest

from warplens.report.terminal import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_long_launch_says_once_how_long_and_what_is_quicker(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    told = progress.bar("copy", hint=True)
    assert told
    for seconds, done in ((1, 1), (9.9, 300), (10, 400), (60, 4000)):
        clock[0] = 100 + seconds
        told(done, 16777216)
    said = capsys.readouterr().err
    assert said == (
        "copy: 400 of 16,777,216 blocks after 10 s, about 6307 min left; --sample 64 runs 64 blocks and scales the "
        "counts to the grid\n"
    )


@pytest.mark.parametrize(("done", "blocks"), [(60, 64), (900, 1000)])
def test_nothing_is_said_of_few_blocks_or_of_an_end_that_is_near(
    clock: list[float], capsys: pytest.CaptureFixture[str], done: int, blocks: int
) -> None:
    told = progress.bar("copy", hint=True)
    assert told
    clock[0] = 101
    told(1, blocks)
    clock[0] = 111
    told(done, blocks)
    assert capsys.readouterr().err == ""
    assert progress.bar("copy") is None


def test_a_launch_of_which_no_block_has_ended(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    told = progress.bar("copy", hint=True)
    assert told
    clock[0] = 112
    told(0, 1000)
    assert capsys.readouterr().err.startswith("copy: 0 of 1,000 blocks after 12 s; --sample 64")


@pytest.mark.parametrize(("seconds", "words"), [(12.4, "12 s"), (99.4, "99 s"), (100.0, "2 min"), (450.0, "8 min")])
def test_from_100_seconds_on_minutes_are_told(seconds: float, words: str) -> None:
    assert progress._spoken(seconds) == words


def test_what_passes_before_the_first_block_is_no_measure(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = progress.bar("copy", hint=True)
    assert shown
    for seconds, done in ((9, 4), (11, 404)):
        clock[0] = 100 + seconds
        shown(done, 10_404)
    assert "404 of 10,404 blocks after 11 s, about 50 s left" in capsys.readouterr().err


def test_steps_outside_of_a_terminal_are_lines_now_and_then(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.steps("lab transpose") as show:
        for seconds, done in ((1, 0), (12, 1), (15, 2), (23, 3)):
            clock[0] = 100 + seconds
            show(f"rung {done + 1}", done, 6)
    assert capsys.readouterr().err == "lab transpose: 2 of 6: rung 2\nlab transpose: 4 of 6: rung 4\n"
