"""Source files: a text of a test as a file, at the same path in every test and worker of a run.

A cubin names the file that it was compiled from, so a source in `tmp_path` is another one in each test, to be compiled
and disassembled again (1 to 4 s); what the tests of a run compile is kept by its path and contents.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from warplens.system.atomic_write import write_whole


def source_file(text: str, name: str = "k.cu") -> Path:
    """A file with this text, in a folder of its own; not to be changed."""
    folder = Path(os.environ["WARPLENS_TEST_SOURCES"]) / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        write_whole(path, text.encode())
    return path
