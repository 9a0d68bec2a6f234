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
        "copy: 400 of 16,777,216 blocks after 10 s, about 6990 min left; --sample 64 runs 64 blocks and scales the "
        "counts to the grid\n"
    )


@pytest.mark.parametrize(("done", "blocks"), [(60, 64), (900, 1000)])
def test_nothing_is_said_of_few_blocks_or_of_an_end_that_is_near(
    clock: list[float], capsys: pytest.CaptureFixture[str], done: int, blocks: int
) -> None:
    told = progress.bar("copy", hint=True)
    assert told
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
