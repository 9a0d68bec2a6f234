"""Names and texts from files do not steer the terminal: no escape sequence of theirs reaches it."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from pathlib import Path

import numpy as np
import pytest
from rich.text import Text

import warplens as wl
from warplens.cli.main import main
from warplens.control_characters import CONTROL, escaped, visible
from warplens.errors import UsageError
from warplens.report.terminal.console_layout import Page

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\x08\x7f\u202e"
SEEN = "\u241b[31mred\u241b]0;title\u2407\ufffd2J\u240d\u2408\u2421\ufffd"
OWN = re.compile(r"\x1b\[\??[\d;]*[a-zA-Z]|\r")  # of ours: colours, and the progress bar's


class Terminal(io.StringIO):
    """Where click and rich leave escape sequences as they are."""

    def isatty(self) -> bool:
        return True


def test_pictures_stand_in_their_place() -> None:
    assert visible(f"a\n\t{HOSTILE}é×") == f"a\n\t{SEEN}é×"
    assert json.loads(escaped(json.dumps([HOSTILE], ensure_ascii=False, indent=1))) == [HOSTILE]
    assert not CONTROL.search(escaped(json.dumps([HOSTILE], ensure_ascii=False)))


def test_errors_and_tables() -> None:
    assert str(UsageError(f"no kernel {HOSTILE}")) == f"no kernel {SEEN}"
    out = io.StringIO()
    Page(file=out, force_terminal=True, color_system="truecolor", width=100).print(Text(HOSTILE, "bold"))
    shown = OWN.sub("", out.getvalue())
    assert "\u241b[31mred" in shown
    assert not CONTROL.search(shown)


SOURCE = """\
// /// warplens
// ["{title}"]
// name = "f"
// grid = 1
// block = 32
// args = ["{label}zeros f32[32]"]
// ///
extern "C" __global__ void f(float* y) {{  // {raw}
  y[threadIdx.x] += 1;  // {raw}
  if (threadIdx.x == 0) printf("{c}\\n");
}}
"""
IN_TOML = "\\u001b[31m\\u0007\\u009b2J"
IN_C = "\\033[31m\\007"


@pytest.mark.parametrize("flags", [(), ("--gpu", "h200"), ("--json",), ("--csv",), ("--metrics", "regex:inst")])
@pytest.mark.parametrize("label", ["", IN_TOML])
def test_a_hostile_source(tmp_path: Path, flags: tuple[str, ...], label: str) -> None:
    path = tmp_path / "\x1b[32mf.cu"
    raw = HOSTILE.replace("\r", "")  # which ends a line of the source
    path.write_text(SOURCE.format(title=IN_TOML, label=label, raw=raw, c=IN_C), encoding="utf-8")
    terminal = Terminal()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        assert main(["explain", str(path), *flags]) == (2 if label else 0)
    shown = OWN.sub("", terminal.getvalue())
    assert "\u241b" in shown or "\\u001b" in shown
    assert not CONTROL.search(shown)


def test_a_hostile_name_in_a_cubin() -> None:
    data = wl.compile(source='extern "C" __global__ void eeeeeee(float* y) { *y = 1; }', arch="sm_90").cubin.data
    y = np.zeros(1, np.float32)
    wl.load(data.replace(b"eeeeeee", b'"} , {}'))['"} , {}'].launch(1, 1, y)
    assert y == 1
    module = wl.load(data.replace(b"eeeeeee", b"\x1b[31m\x07e"))
    (name,) = module
    shown = [repr(module), repr(module[name]), repr(module[name].launch(1, 1, np.zeros(1, np.float32)))]
    with pytest.raises(UsageError) as refused:
        module["other"]
    assert not CONTROL.search("".join([*shown, str(refused.value)]))


def test_html_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "f.cu"
    text = SOURCE.format(title="<script>alert(1)</script>", label="", raw="<img src=x onerror=a()>", c="<b>printed</b>")
    path.write_text(text)
    assert main(["explain", str(path), "--gpu", "h200", "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for tag in ("<script>alert", "<img", "<b>printed"):
        assert tag not in page
        assert escape(tag) in page
