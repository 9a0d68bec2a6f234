"""Git revision: a file as it was in a commit, with the files around it, in a temporary folder."""

from __future__ import annotations

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from warplens.errors import UsageError

LONGEST_SECONDS = 120


@dataclass(frozen=True)
class CheckedOut:
    """A file of a commit.  folder: the root of what was taken out;  shown: "main:kernels.cu"."""

    path: str
    folder: str
    shown: str


def revision_of(word: str) -> tuple[str, str] | None:
    """("main", "kernels.cu") of "main:kernels.cu"; None where the word is a file, or has no colon."""
    if Path(word).exists() or ":" not in word:
        return None
    revision, _, path = word.partition(":")
    return (revision, path) if revision and path else None


def checked_out(revision: str, path: str, folder: Path) -> CheckedOut:
    """The file in the commit, beside what that commit has around it: headers may be anywhere.  UsageError."""
    top = Path(_git(["rev-parse", "--show-toplevel"], Path.cwd()).decode().strip())
    inside = _inside(path, top)
    commit = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], top)
    if not commit:
        raise UsageError(f"git knows no revision {revision!r}")
    archive = _git(["archive", "--format=tar", commit.decode().strip()], top)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on; git's archives have no paths out of the folder
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(folder)
    made = folder / inside
    if not made.is_file():
        raise UsageError(f"{revision} has no file {inside}")
    return CheckedOut(str(made), str(folder), f"{revision}:{inside}")


def _inside(path: str, top: Path) -> str:
    """As git names it: from the root of the repository; a path from the working directory is meant."""
    try:
        return (Path.cwd() / path).resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        raise UsageError(f"{path} is not in the repository {top}") from None


def _git(arguments: list[str], folder: Path) -> bytes:
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, check=False, timeout=LONGEST_SECONDS
        )
    except FileNotFoundError:
        raise UsageError("git is not installed here; give two files") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {arguments[0]} took over {LONGEST_SECONDS} s") from None
    if answer.returncode and "--verify" not in arguments:
        raise UsageError(f"git {arguments[0]}: {answer.stderr.decode(errors='replace').strip()}")
    return answer.stdout
