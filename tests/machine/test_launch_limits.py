"""Launches that a GPU would refuse."""

from __future__ import annotations

import pytest

from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.errors import UsageError
from warplens.machine import machine
from warplens.machine.launch_limits import check_launch


def kernel(registers: int = 16, shared_bytes: int = 0, max_threads: int | None = None) -> Kernel:
    return Kernel(
        name="k",
        arch="sm_90",
        registers=registers,
        shared_bytes=shared_bytes,
        local_bytes=0,
        parameters=(),
        parameter_base=0,
        barriers=1,
        max_threads=max_threads,
        code=b"",
        functions={},
        constants={},
        relocations=(),
        lines=(),
    )


@pytest.mark.parametrize(
    ("launch", "started"),
    [
        (Launch((2**31 - 1, 65535, 65535), (1024, 1, 1)), kernel()),
        (Launch((1, 1, 1), (4, 4, 64)), kernel()),
        (Launch((1, 1, 1), (1024, 1, 1)), kernel(registers=64)),
        (Launch((1, 1, 1), (256, 1, 1)), kernel(registers=255)),
        (Launch((1, 1, 1), (256, 1, 1)), kernel(max_threads=256)),
        (Launch((1, 1, 1), (32, 1, 1), 227 * 1024 - 1024), kernel(shared_bytes=1024)),
    ],
)
def test_just_possible(launch: Launch, started: Kernel) -> None:
    check_launch(launch, machine("h200"), started)


@pytest.mark.parametrize(
    ("launch", "started", "reason"),
    [
        (
            Launch((1, 65536, 1), (1, 1, 1)),
            kernel(),
            "grid of 1 x 65536 x 1 has y = 65536; .*takes 1 to 65535",
        ),
        (Launch((2**31, 1, 1), (1, 1, 1)), kernel(), "has x = 2147483648; .* takes 1 to 2147483647"),
        (Launch((0, 1, 1), (1, 1, 1)), kernel(), "has x = 0"),
        (Launch((1, 1, 1), (1, 1, 65)), kernel(), "block of 1 x 1 x 65 has z = 65; .* takes 1 to 64"),
        (Launch((1, 1, 1), (32, 33, 1)), kernel(), "block of 32 x 33 x 1 is 1056 threads; .* takes 1024"),
        (Launch((1, 1, 1), (257, 1, 1)), kernel(max_threads=256), "__launch_bounds__; up to 256 threads"),
        (
            Launch((1, 1, 1), (32, 1, 1), 227 * 1024),
            kernel(shared_bytes=1024),
            "1024 bytes of static and 232448 of dynamic .* has 232448 a block, so up to 231424 dynamic",
        ),
        # 65 registers are 2,080 a warp, reserved as 2,304: 28 warps fit into 65,536 registers
        (
            Launch((1, 1, 1), (1024, 1, 1)),
            kernel(registers=65),
            "1024 threads of 65 registers take 73728 registers .* has 65536, so up to 896 threads",
        ),
    ],
)
def test_refused(launch: Launch, started: Kernel, reason: str) -> None:
    with pytest.raises(UsageError, match=f"k: invalid launch configuration: .*{reason}"):
        check_launch(launch, machine("h200"), started)


def test_the_limit_is_the_machine_s() -> None:
    launch = Launch((1, 1, 1), (32, 1, 1), 100 * 1024)
    check_launch(launch, machine("a100"), kernel())
    with pytest.raises(UsageError, match="65536 a block"):
        check_launch(launch, machine("t4"), kernel())
