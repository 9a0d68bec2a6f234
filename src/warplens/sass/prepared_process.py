"""Prepared process: a program that was started ahead, and stopped before it reads the file of its command line.

nvdisasm opens its file twice: to see what it is, and, once it has parsed the description of the architecture, to read
it.  The parsing takes 0.4 to 0.9 s, all else some hundredths.  So a process is started on a file like the one that will
come, stopped after most of the parsing, and continued when the file has its contents.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

PARSED_SHARE = 0.85  # of the processor time of a whole run: the parsing takes 0.95 of it
POLL_SECONDS = 0.005
NANOSECONDS = 1e9


class PreparedProcess:
    """Prepared process of one command.

    file       that the command names
    seconds    of processor that the command takes as a whole
    """

    def __init__(self, command: Sequence[str], file: Path, seconds: float) -> None:
        self.file = file
        self._until = PARSED_SHARE * seconds
        self.used = 0.0  # seconds of processor of one that ended before it was asked
        self._asked, self._left = Event(), Event()
        self.process = subprocess.Popen(
            [*command, str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        Thread(target=self._stop_in_time, name="warplens nvdisasm", daemon=True).start()

    def answer(self, data: bytes, timeout: float) -> subprocess.CompletedProcess[bytes] | None:
        """What the process says of the data; None if it has read its file already."""
        self._asked.set()
        self._left.wait()
        used = processor_seconds(self.process.pid)  # of one that has ended, too, until poll()
        if self.process.poll() is not None:
            self.used = max(used, 0.0)
            self.end()
            return None
        self.file.write_bytes(data)
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.end()
            raise
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)

    def end(self) -> None:
        self._asked.set()
        with suppress(OSError):
            self.process.kill()
        self.process.communicate()

    def _stop_in_time(self) -> None:
        """A process that is asked before is stopped at once: the file is changed while it stands still."""
        while not self._asked.wait(POLL_SECONDS) and 0 <= processor_seconds(self.process.pid) < self._until:
            pass
        with suppress(OSError):
            os.kill(self.process.pid, signal.SIGSTOP)
        self._left.set()


def processor_seconds(process: int) -> float:
    """That a process has used; -1 where it has ended."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / NANOSECONDS
    except (OSError, ValueError, IndexError):
        return -1.0
