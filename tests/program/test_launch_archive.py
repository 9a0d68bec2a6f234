"""Launch archive: which launches are saved, and where."""

from __future__ import annotations

from pathlib import Path

from warplens.core.launch import Launch
from warplens.program.launch_archive import LaunchArchive

SMALL, LARGE = Launch((1, 1, 1), (32, 1, 1)), Launch((64, 1, 1), (32, 1, 1))


def test_the_first_launch_of_each_shape_is_saved_once(tmp_path: Path) -> None:
    archive = LaunchArchive(tmp_path)
    made = [archive.requests("scale", launch) for launch in (SMALL, SMALL, LARGE, LARGE)]
    assert [[request.number for request in requests] for requests in made] == [[1], [], [3], []]
    assert archive.requests("other", SMALL)[0].number == 1
    assert len(set(archive.files.values())) == 3


def test_nothing_is_saved_beyond_the_room(tmp_path: Path) -> None:
    archive = LaunchArchive(tmp_path, room=10)
    (request,) = archive.requests("scale", SMALL)
    Path(request.file).write_bytes(bytes(11))
    assert archive.requests("scale", LARGE) == []
    assert ("scale", LARGE) not in archive.files
