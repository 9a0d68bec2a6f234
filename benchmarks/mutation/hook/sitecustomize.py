"""Line coverage: which lines of the package a process and its children run, one file a process.

Python imports this module by itself when its folder stands in PYTHONPATH.  A function is traced line by line until each
of its lines was seen; one that is called often, only now and then, so that tests take about as long as without it.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

OFTEN = 300  # calls, from which on one in OFTEN is traced
FOLDER = os.environ.get("MUTATION_COVERAGE", "")
ROOT = os.environ.get("MUTATION_SOURCES", "")

calls: dict[CodeType, int] = {}
unseen: dict[CodeType, set[int]] = {}


def on_call(frame: FrameType, event: str, arg: Any) -> Any:
    """The tracer of calls: gives the tracer of lines where lines of the function have not been seen."""
    code = frame.f_code
    count = calls.get(code)
    if count is None:
        if not code.co_filename.startswith(ROOT):
            calls[code] = -1
            return None
        unseen[code] = {line for _, _, line in code.co_lines() if line is not None}
        count = 0
    if count < 0:
        return None
    calls[code] = count + 1
    if count > OFTEN and count % OFTEN:
        return None
    return on_line if unseen[code] else None


def on_line(frame: FrameType, event: str, arg: Any) -> Any:
    """The tracer of lines."""
    if event == "line":
        unseen[frame.f_code].discard(frame.f_lineno)
    return on_line


def write() -> None:
    """One line a function: path, first line, and the lines that were run."""
    sys.settrace(None)
    with open(os.path.join(FOLDER, f"{os.getpid()}-{os.urandom(4).hex()}.lines"), "w", encoding="utf-8") as out:
        for code, left in list(unseen.items()):
            run = sorted({line for _, _, line in code.co_lines() if line is not None} - left)
            out.write(f"{code.co_filename[len(ROOT) :]}\t{code.co_firstlineno}\t{','.join(map(str, run))}\n")


if FOLDER:
    atexit.register(write)
    threading.settrace(on_call)
    sys.settrace(on_call)
