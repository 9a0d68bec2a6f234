"""Replay: repeats the launches kept in a folder, one after the other, under Nsight Compute.

python -m warplens.hardware.replay FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from warplens.errors import WarplensError
from warplens.hardware.device import launch, open_gpu
from warplens.hardware.launch_job import Job


def main(folder: str) -> int:
    try:
        gpu = open_gpu()
        for path in sorted(Path(folder).glob("*.npz")):
            launch(Job.load(path), gpu)
    except WarplensError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
