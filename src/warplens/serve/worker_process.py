"""Worker process: compiles and executes the kernels of the page, under limits.

It reads a question a line on stdin and writes an answer a line on stdout, both JSON, until stdin ends.  A kernel can
loop for ever or ask for all memory: the process then ends itself, or is ended by the server, with its children.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warplens.api import unsaved_file
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.emulator import available_threads
from warplens.errors import KernelFault, TimeLimitReached, WarplensError
from warplens.model import predict as _model  # noqa: F401  loaded ahead
from warplens.program.process.time_limit import time_limit
from warplens.report.html import live_result
from warplens.sass import nvdisasm
from warplens.serve.kernel_request import KernelRequest
from warplens.serve.kernel_session import KernelSession
from warplens.serve.sandbox import end_with, limit_memory, limit_processor, restrict_files
from warplens.serve.starter_kernel import STARTER, STARTER_FILE
from warplens.serve.worker_limits import STEPS, WorkerLimits
from warplens.system import disk_cache

MOST_CHARACTERS = 20_000  # of a message, or of what a kernel prints
GIBIBYTE = 1 << 30
IDLE_SECONDS = 0.3  # without a further step of the request: then there is time for what the next one will need


def main() -> None:
    parent, limits = int(sys.argv[1]), WorkerLimits(**json.loads(sys.argv[2]))
    end_with(parent)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    cache = disk_cache.directory()
    if cache:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    restrict_files(map(Path, limits.read), [Path(limits.scratch), *([cache] if cache else [])])
    nvdisasm.ahead = nvdisasm.AheadOfTime(Path(limits.scratch))
    session = KernelSession(RunOptions(limits.threads, limits.budget))
    warm_up(Path(limits.read[0]) / STARTER_FILE)
    limit_memory(int(limits.memory * GIBIBYTE))
    write(answers, {"ready": os.getpid()})
    for line in sys.stdin:
        write(answers, answer(session, json.loads(line), limits))
        if not select.select([sys.stdin], [], [], IDLE_SECONDS)[0]:
            nvdisasm.ahead.prepare()


def warm_up(file: Path) -> None:
    """Loads compiler, disassembler, executor and model: the first kernel takes as long as later ones."""
    with unsaved_file(str(file), STARTER):
        for target in targets(str(file), Flags(gpu="h200")):
            live_result.document(target.run().timed().subject, "k0")
    assert nvdisasm.ahead
    nvdisasm.ahead.prepare()


def write(answers: Any, document: Mapping[str, Any]) -> None:
    answers.write(json.dumps(document) + "\n")
    answers.flush()


def answer(session: KernelSession, question: Mapping[str, Any], limits: WorkerLimits) -> dict[str, Any]:
    """What a step gives, or {"error": ...} with the reason and the lines that it names."""
    seconds = float(question.get("seconds", limits.seconds))
    limit_processor((seconds + 1) * (limits.threads or available_threads()) + 1)
    try:
        with time_limit(seconds):
            return step(session, question)
    except WarplensError as error:
        printed = error.printed if isinstance(error, KernelFault) else ""
        return failure(session, str(error), printed)
    except TimeLimitReached as limit:
        place = f"; until then it executed most instructions at {limit.place}" if limit.place else ""
        ended = f"{STEPS[question['step']]} was ended after {seconds:g} s, the limit of --timeout"
        return failure(session, f"{ended}{place}")
    except MemoryError:
        return failure(session, f"more memory is needed than {limits.memory:g} GiB, the limit of --memory")
    except Exception:
        return failure(session, f"warplens itself failed, please report it:\n{traceback.format_exc()}")


def step(session: KernelSession, question: Mapping[str, Any]) -> dict[str, Any]:
    match question["step"]:
        case "open":
            return session.open(KernelRequest.parse(question["request"]), Path(question["file"]))
        case "count":
            return session.count(question["kernel"])
        case "predict":
            return session.predict(question["kernel"])
        case "report":
            return session.report()
        case other:
            raise ValueError(f"no step {other!r}")


def failure(session: KernelSession, text: str, printed: str = "") -> dict[str, Any]:
    """Names the file without its folders, and the lines of it that the text names."""
    file = str(session.file)
    lines = [int(line) for line in re.findall(rf"{re.escape(file)}[:(](\d+)", text)]
    shown = text.replace(file, session.file.name)[:MOST_CHARACTERS]
    return {"error": {"text": shown, "lines": sorted(set(lines)), "printed": printed[:MOST_CHARACTERS]}}


if __name__ == "__main__":
    main()
