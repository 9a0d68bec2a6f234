"""Launch remedies: what to write instead of faults of grid, block and what an SM holds; a function a rule, of its name.

Each gives the expression at fault, and what to write instead; "" for what is not known.
"""

from __future__ import annotations

from warplens.advice.remedies.faulty_source import FaultySource
from warplens.advice.remedies.memory_remedy import dimensions
from warplens.report.wording import count

Words = tuple[str, str]
USUAL = 256  # threads of a block


def _name(source: FaultySource) -> str:
    return source.kernel.name if source.kernel else source.run.kernel.name


def _blocks(source: FaultySource) -> int:
    """That the GPU holds at once."""
    return source.run.machine.multiprocessors * source.run.occupancy.blocks


def _call(source: FaultySource) -> str:
    launch = source.run.launch
    return f"{_name(source)}<<<{launch.blocks:,}, {launch.threads_per_block}>>>"


def low_occupancy(source: FaultySource) -> Words:
    launch, limits = source.run.launch, source.run.machine.limits
    threads, limiters = launch.threads_per_block, source.evidence.limiters
    if "registers" in limiters:
        most = limits.registers_per_multiprocessor // limits.warps_per_multiprocessor // 32
        used = source.run.kernel.kernel.registers
        blocks = limits.warps_per_multiprocessor * 32 // threads
        return f"{used} registers a thread", (
            f"__launch_bounds__({threads}, {blocks}) on {_name(source)} asks for {most} registers instead of {used} "
            "(watch for spills), or give each thread more independent work, which needs fewer warps"
        )
    if "shared_mem" in limiters:
        used = source.run.kernel.kernel.shared_bytes + launch.shared
        arrays = ", ".join(_shared_arrays(source)) or "the shared arrays"
        return f"{used:,} bytes of shared memory a block", (
            f"smaller tiles in {arrays}: with {used // 2:,} bytes a block an SM holds twice as many; or more than "
            f"{threads} threads in the block that shares them"
        )
    most_blocks = source.run.occupancy.blocks
    return f"{threads} threads a block", f"blocks of {USUAL} threads: an SM holds {most_blocks} blocks of any size"


def _shared_arrays(source: FaultySource) -> list[str]:
    if source.kernel is None:
        return []
    kernel = source.kernel
    called = [kernel.functions.get(kernel.called(node).partition("<")[0]) for node in kernel.find("call_expression")]
    parts = [kernel.body, *(node for node in called if node is not None)]
    nodes = (node for part in parts for node in kernel.find("declaration", within=part))
    declared = [node for node in nodes if "__shared__" in kernel[node].split()]
    names = []
    for node in declared:
        for one in node.children_by_field_name("declarator"):
            leaf = next(kernel.find("identifier", within=one), None)
            if leaf is not None:
                names.append(kernel[leaf] + "".join(f"[{size}]" for size in dimensions(source, kernel[leaf])))
    return names


def register_cliff(source: FaultySource) -> Words:
    threads = source.run.launch.threads_per_block
    blocks = source.evidence.more * 32 // max(-(-threads // 32) * 32, 32)
    return f"{source.evidence.registers} registers a thread", (
        f"__launch_bounds__({threads}, {blocks}) on {_name(source)}: at most {source.evidence.fewer} registers, "
        f"{source.evidence.more} warps an SM; no gain where it spills"
    )


def shared_memory_cliff(source: FaultySource) -> Words:
    arrays = ", ".join(_shared_arrays(source)) or "the shared arrays"
    spare = source.evidence.bytes - source.evidence.fewer
    return f"{source.evidence.bytes:,} bytes of shared memory a block", (
        f"{spare:,} bytes fewer in {arrays}: less padding, a smaller tile, or two arrays in the same bytes where "
        "they are not "
        "needed at the same time"
    )


def small_blocks(source: FaultySource) -> Words:
    launch = source.run.launch
    times = max(USUAL // launch.threads_per_block, 1)
    larger = f"blocks of {launch.threads_per_block * times} threads, {-(-launch.blocks // times):,} of them"
    loop = f"a grid-stride loop over {source.index or 'the index'}"
    stride = f"{loop} with {_blocks(source):,} blocks instead of {launch.blocks:,}"
    return _call(source), f"{larger}, or {stride}" if times > 1 else stride


def small_grid(source: FaultySource) -> Words:
    launch, most = source.run.launch, source.run.machine.multiprocessors
    threads = launch.threads_per_block
    smaller = threads
    while smaller > 32 and launch.blocks * threads // smaller < most:
        smaller //= 2
    blocks = -(-launch.blocks * threads // smaller)
    text = f"blocks of {smaller} threads ({count(blocks, 'block')}) instead of {threads}" if smaller < threads else ""
    loops = list(source.kernel.find("for_statement")) if source.kernel else []
    if loops and blocks < most:
        head = source.head(loops[0])
        text += (
            f"{', and ' if text else ''}several threads or blocks that share `{head}`, each with a part, whose results "
        )
        text += "are joined"
    if not text:
        text = f"more of the problem in one launch: the GPU has {most} SMs for {count(launch.blocks, 'block')}"
    return _call(source), text


def tail_effect(source: FaultySource) -> Words:
    launch, left = source.run.launch, source.evidence.left
    resident = source.evidence.resident
    return _call(source), (
        f"{launch.blocks - left:,} or {launch.blocks - left + resident:,} blocks instead of {launch.blocks:,} fill "
        "whole waves; a grid-stride "
        "loop over "
        f"{source.index or 'the index'} with {resident:,} blocks needs one"
    )
