"""The public API: what dir() and help() show, examples in docstrings, short reprs, errors in notebooks."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import sys
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import warplens as wl
from warplens import api, kernel, run
from warplens.advice import run_comparison
from warplens.core import metric
from warplens.errors import UsageError
from warplens.launchspec import pitched_array
from warplens.model.result import prediction
from warplens.sweep import sweep_table

ROOT = Path(__file__).parents[1]
COPY = str(ROOT / "examples" / "copy.cu")
PUBLIC = [name for name in wl.__all__ if name != "__version__"]


def test_dir_lists_the_public_names_and_each_is_there() -> None:
    assert dir(wl) == sorted(wl.__all__)
    assert all(getattr(wl, name) is not None for name in wl.__all__)
    with pytest.raises(AttributeError, match="module 'warplens' has no attribute 'run_it'"):
        wl.run_it  # noqa: B018


def test_help_shows_the_public_names_with_their_signatures() -> None:
    text = pydoc.plain(pydoc.render_doc(wl))
    assert "module = wl.compile(" in text
    for name in PUBLIC:
        assert name in text, name
    plain = " ".join(text.replace("'", "").split()).replace("( ", "(")  # Python 3.14 breaks the lines of a signature
    assert "compile(path: str | Path | None = None, *, source" in plain


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    found = getattr(wl, name)
    assert inspect.getdoc(found)
    if inspect.isclass(found):
        own = {n: member for n, member in vars(found).items() if not n.startswith("_")}
        members = {n: m for n, m in own.items() if inspect.isfunction(m) or isinstance(m, property | cached_property)}
        undocumented = [n for n, member in members.items() if not inspect.getdoc(member)]
        assert undocumented == []


def test_every_public_function_and_class_has_an_example() -> None:
    """Errors aside, whose message is all that they say."""
    said = {name: inspect.getdoc(getattr(api if name == "report" else wl, name)) or "" for name in PUBLIC}
    classes = {name: getattr(wl, name) for name in PUBLIC if inspect.isclass(getattr(wl, name))}
    errors = {name for name, found in classes.items() if issubclass(found, Exception)}
    assert [name for name in said.keys() - errors if ">>> " not in said[name]] == []


@pytest.mark.parametrize("module", [api, kernel, metric, pitched_array, prediction, run, run_comparison, sweep_table])
def test_examples_give_what_they_show(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tried = doctest.testmod(module, extraglobs={"wl": wl, "np": np})
    assert tried.failed == 0
    assert tried.attempted


@pytest.fixture(scope="module")
def launched() -> wl.Run:
    x = np.arange(4096, dtype=np.float32)
    return wl.compile(COPY)["nccopy"].launch(32, 128, x, np.zeros_like(x), np.int32(x.size))


def test_what_a_prompt_shows_fits_into_a_line(launched: wl.Run) -> None:
    kernel = launched.kernel
    shown = [
        wl.compare(launched, launched),
        launched, launched.metrics, launched.metrics["smsp__inst_executed.sum"], launched.trace, launched.floor(),
        launched.predict("h200"), launched.machine, kernel, kernel.cubin, kernel.kernel, kernel.program,
        wl.empty_pitched((3, 5), np.float32), wl.compile(source="__device__ int here;").variables,
    ]  # fmt: skip
    for one in shown:
        assert len(repr(one)) < 160, one
        assert " object at 0x" not in repr(one)


def test_a_prediction_is_shown_as_tables(launched: wl.Run) -> None:
    prediction = launched.predict("h200")
    html = prediction._repr_html_()
    assert html.count("<table>") == 3
    assert f"<td>Event time</td><td>{prediction.time_us:.3g}</td>" in html
    assert "<td>1,234,568</td>" in replace(prediction, time_us=1234567.8)._repr_html_()
    assert f"<caption>h200 (modelled): {prediction.limit}</caption>" in html
    assert "(modelled, uncalibrated)" in replace(prediction, calibrated="")._repr_html_()


def test_a_comparison_is_shown_as_its_page() -> None:
    x = np.arange(4096, dtype=np.float32)
    module = wl.compile(COPY)
    first, second = (module[name].launch(32, 128, x, np.zeros_like(x), np.int32(x.size)) for name in module)
    compared = wl.compare(first, second)
    assert compared.ratio("smsp__inst_executed.sum") == 4864 / 2048
    html = compared._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "nccopy executes 2.38 times the instructions of ccopy" in html
    with pytest.raises(UsageError, match="smsp__inst_executed"):
        compared.ratio("smsp__inst_executed.summ")


def test_an_unknown_metric_is_answered_with_the_nearest(launched: wl.Run) -> None:
    for metrics in (launched, launched.metrics):
        with pytest.raises(KeyError, match=r"did you mean smsp__inst_executed\.sum"):
            metrics["smsp__inst_executed.summ"]
    assert launched.metrics.get("nothing") is None


def test_metrics_become_a_data_frame(launched: wl.Run) -> None:
    frame = launched.metrics.to_frame()
    assert list(frame.columns) == ["value", "unit", "provenance"]
    assert frame.index.name == "metric"
    assert frame.shape == (len(launched.metrics), 3)
    row = frame.loc["smsp__inst_executed.sum"]
    assert (row["value"], row["unit"], row["provenance"]) == (4864, "inst", "exact")
    assert "smsp__inst_executed.sum</td><td>4,864" in launched.metrics._repr_html_()


def test_without_pandas_the_message_says_what_to_install(launched: wl.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        launched.metrics.to_frame()


def test_a_notebook_shows_the_users_frames_alone() -> None:
    """IPython asks an exception for _render_traceback_()."""
    kernel = wl.compile(COPY)["nccopy"]
    with pytest.raises(wl.UsageError) as refused:
        kernel.launch(32, 128, np.zeros(8, np.float32))
    lines = refused.value._render_traceback_()
    assert lines[-1] == f"UsageError: {refused.value}"
    (place,) = (line for line in lines if line.lstrip().startswith("File "))
    assert __file__ in place
    assert any("kernel.launch(32, 128" in line for line in lines)
