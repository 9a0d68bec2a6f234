"""Sweeps: a row for each launch, the same inputs for all of them, refused launches, tables."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import warplens as wl

SOURCE = """
__device__ int calls;
__global__ void add(int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) y[0] = ++calls;
    if (i < n) x[i] += 1;
}
"""
EXECUTED = "smsp__inst_executed.sum"


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE)


@pytest.fixture(scope="module")
def timed(module: wl.Module) -> wl.Sweep:
    x = np.zeros(4096, np.int32)
    return module["add"].sweep(
        lambda block: x.size // block, [64, 2048], (x, x, x.size), gpu=["h200", "a100"], metrics=EXECUTED
    )


def test_every_combination_of_the_lists_is_a_row(module: wl.Module) -> None:
    x = np.zeros(1024, np.int32)
    sweep = module["add"].sweep([4, (2, 2)], [32, (16, 2)], (x, x.copy(), 1024), shared=[0, 64])
    assert [(row["block"], row["grid"], row["shared"]) for row in sweep] == [
        (block, grid, shared) for block in (32, (16, 2)) for grid in (4, (2, 2)) for shared in (0, 64)
    ]


def test_each_launch_sees_the_same_inputs_and_the_arrays_stay(module: wl.Module) -> None:
    seen = []

    def recorded(grid: int, block: int, *args: object, **options: object) -> wl.Run:
        run = launch(grid, block, *args, **options)
        seen.append((args[0].copy(), int(args[1][0])))
        return run

    kernel, x, y = module["add"], np.zeros(256, np.int32), np.zeros(1, np.int32)
    launch = kernel.launch
    kernel.launch = recorded
    try:
        kernel.sweep(lambda block: 256 // block, [32, 64, 128], (x, y, 256))
    finally:
        del kernel.launch
    assert [calls for _, calls in seen] == [1, 1, 1]
    assert all((values == 1).all() for values, _ in seen)
    assert not x.any()
    assert not y.any()
    assert module.variables["calls"].read(np.int32)[0] == 0


def test_functions_of_the_block_make_arguments_and_shared_memory(module: wl.Module) -> None:
    x = np.zeros(256, np.int32)
    few, many = module["add"].sweep(
        1, [32, 64], (x, x.copy(), lambda block: block // 2), shared=lambda block: 4 * block, metrics=[EXECUTED]
    )
    assert (few["shared"], many["shared"]) == (128, 256)
    assert few[EXECUTED] < many[EXECUTED]


def test_a_row_has_the_time_and_the_counts_of_its_launch(module: wl.Module, timed: wl.Sweep) -> None:
    x = np.zeros(4096, np.int32)
    run = module["add"].launch(64, 64, x, x, x.size, gpu="h200")
    prediction, row = run.predict(), timed[0]
    assert (row["block"], row["grid"], row["gpu"]) == (64, 64, "h200")
    assert (row["time_us"], row["low_us"], row["high_us"], row["limit"]) == (
        prediction.time_us, prediction.low_us, prediction.high_us, prediction.limit,
    )  # fmt: skip
    assert row[EXECUTED] == run[EXECUTED]
    assert row["error"] == ""
    assert timed.best is row


def test_a_refused_launch_is_a_row_with_its_error(timed: wl.Sweep) -> None:
    assert "2048" in timed[2]["error"].replace(",", "")
    assert timed[2]["time_us"] is timed[2][EXECUTED] is None
    assert "compile with arch=sm_80" in timed[1]["error"]


def test_if_all_launches_are_refused_the_first_error_is_raised(module: wl.Module) -> None:
    with pytest.raises(wl.UsageError, match="takes 3 arguments"):
        module["add"].sweep(1, [32, 64], (np.zeros(1, np.int32),))
    with pytest.raises(wl.UsageError, match=r"block = \[\]"):
        module["add"].sweep(1, [], ())
    with pytest.raises(wl.UsageError, match="did you mean smsp__inst_executed"):
        module["add"].sweep(1, 32, (), metrics="smsp__inst_executed.summ")


def test_without_a_gpu_there_is_no_best(module: wl.Module) -> None:
    x = np.zeros(32, np.int32)
    sweep = module["add"].sweep(1, [32, 64], (x, x, 32))
    with pytest.raises(wl.UsageError, match="name a GPU with gpu="):
        _ = sweep.best
    assert repr(sweep) == "<Sweep of add: 2 launches>"
    assert "time_us" not in sweep._repr_html_()


def test_a_sweep_is_a_table(timed: wl.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = timed.to_frame()
    assert list(frame.columns) == [
        "block", "grid", "shared", "gpu", "time_us", "low_us", "high_us", "limit", EXECUTED, "error",
    ]  # fmt: skip
    assert frame.loc[0, "time_us"] == timed[0]["time_us"]
    html = timed._repr_html_()
    assert f"<th>{EXECUTED} (exact)</th>" in html
    assert "<th>time_us (modelled)</th>" in html
    assert html.count("<tr>") == 5
    assert "4 launches, least time" in repr(timed)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(wl.UsageError, match="pip install pandas"):
        timed.to_frame()


def test_progress_is_shown_on_a_terminal_alone(
    module: wl.Module, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from warplens.report.terminal import progress

    advanced: list[tuple[int, int]] = []
    monkeypatch.setattr(progress.Bar, "advance", lambda bar, done, of: advanced.append((done, of)))
    x = np.zeros(32, np.int32)
    module["add"].sweep(1, [32, 64], (x, x, 32))
    assert advanced == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    module["add"].sweep(1, [32, 64], (x, x, 32))
    assert advanced == [(0, 2), (1, 2), (2, 2)]
    assert capsys.readouterr().err == ""
