"""Launch archive: the first launch of each kernel and launch shape of a program, each saved in a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from warplens.core.launch import Launch
from warplens.program.saved_launch import SaveRequest

ROOM = 4 << 30  # bytes of all files together


class LaunchArchive:
    """Launch archive: `files` by kernel and launch, in `folder`; nothing is saved beyond `room` bytes."""

    def __init__(self, folder: Path, room: int = ROOM) -> None:
        self.folder, self.room = folder, room
        self.files: dict[tuple[str, Launch], Path] = {}
        self._launches: Counter[str] = Counter()

    def requests(self, kernel: str, launch: Launch) -> list[SaveRequest]:
        """For the next launch: one, or none."""
        self._launches[kernel] += 1
        if (kernel, launch) in self.files or self._bytes > self.room:
            return []
        file = self.files[kernel, launch] = self.folder / f"{len(self.files)}.npz"
        return [SaveRequest(kernel, self._launches[kernel], str(file))]

    @property
    def _bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files.values() if file.is_file())
