"""Two source trees side by side: processor time of `--help`, launches and predictions.

    benchmarks/two_trees.py OLD NEW [ROUNDS]     folders with a `warplens` package; 7 rounds

Each round runs both trees in turn, in processes of their own; the least of all rounds is compared, which other work of
the machine changes least.  Markdown.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {  # the second is run with the cache of the first
    "`warplens --help`": ["--help"],
    "`explain examples/copy.cu`, empty cache": ["explain", "examples/copy.cu"],
    "`explain examples/copy.cu`, again": ["explain", "examples/copy.cu"],
    "`lab reduction --size small`, again": ["lab", "reduction", "--size", "small"],
}


def in_process() -> dict[str, float]:
    """Milliseconds of processor time within one process: the least of several."""
    import numpy as np

    import warplens as wl

    def least(action: object, times: int) -> float:
        found = []
        for _ in range(times):
            begun = time.process_time()
            action()  # type: ignore[operator]
            found.append(time.process_time() - begun)
        return 1000 * min(found)

    x = np.arange(1 << 23, dtype=np.float32)
    y = np.zeros_like(x)
    copies = wl.compile(ROOT / "examples/copy.cu", arch="sm_90")
    times = {}
    for name in ("ccopy", "nccopy"):
        kernel = copies[name]
        times[f"launch of `{name}`, 2^23 floats"] = least(
            lambda kernel=kernel: kernel.launch(1 << 16, 128, x, y, np.int32(x.size), threads=1), 7
        )
    product = wl.compile(ROOT / "src/warplens/labs/sgemm/3_tiled.cu", arch="sm_90")["sgemm"]
    n = 256
    a, b, c = (np.ones(n * n, np.float32) for _ in range(3))
    launch = lambda: product.launch((n // 32, n // 32), (32, 32), a, b, c, n, threads=1)  # noqa: E731
    times["launch of `sgemm` 3_tiled, n = 256"] = least(launch, 7)
    run = launch()
    run.predict("h200")
    times["prediction of it, recorded before"] = least(lambda: run.predict("h200"), 5)
    times["launch and prediction of it"] = least(lambda: launch().predict("h200"), 5)
    return times


def measured(tree: Path) -> dict[str, float]:
    """Milliseconds of processor time, by what was measured."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(tree), "WARPLENS_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""}
        times = {}
        run_in(environment, ["lab", "reduction", "--size", "small"])
        for name, words in COMMANDS.items():
            times[name] = run_in(environment, words)
        command = [sys.executable, __file__, "--in-process"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
        return times | json.loads(done.stdout)


def run_in(environment: dict[str, str], words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "warplens", *words]
    subprocess.run(command, env=environment, capture_output=True, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    if sys.argv[1:] == ["--in-process"]:
        print(json.dumps(in_process()))
        return
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    trees = [Path(word).resolve() for word in sys.argv[1:3]]
    least: list[dict[str, float]] = [{}, {}]
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 7):
        for place, tree in enumerate(trees):
            for name, value in measured(tree).items():
                least[place][name] = min(value, least[place].get(name, value))
    print("| Milliseconds of processor time | before | after | |\n|---|--:|--:|--:|")
    for name, old in least[0].items():
        new = least[1][name]
        print(f"| {name} | {old:.1f} | {new:.1f} | {100 * (new / old - 1):+.1f} % |")


if __name__ == "__main__":
    main()
