"""Memory remedies: what to write instead of faults in the use of memory; a function a rule, of its name.

Each gives the expression at fault, and what to write instead; "" for what is not known.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.advice.remedies.faulty_source import FULL, WARP, FaultySource
from warplens.core.cubin import SourceLine
from warplens.report.live_registers import live_registers
from warplens.report.wording import decimal
from warplens.transform.syntax.array_element import ArrayElement
from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.lane_stride import NONE

SECTOR, LINE = 32, 128  # bytes
NARROW = {
    "char": "char4", "signed char": "char4", "unsigned char": "uchar4", "int8_t": "char4", "uint8_t": "uchar4",
    "short": "short4", "unsigned short": "ushort4", "half": "half2", "__half": "half2",
}  # fmt: skip
Words = tuple[str, str]


def uncoalesced_access(source: FaultySource) -> Words:
    worst = source.evidence.worst
    element = _farthest(source, "Store" in worst.name)
    if element is None:
        return "", ""
    text, index, step = source.text(element.node), source.text(element.indices[-1]), source.stride(element)
    size = source.bytes_of(element.type)
    ideal = f"{decimal(worst.per_request)} sectors a request become {decimal(worst.ideal_per_request)}"
    if element.fields and size:
        return text, _fields_apart(source, element, size)
    if step is None:
        return text, _gathered(source, element, index)
    if step.value == 1 and source.condition is not None and source.lanes.get(source.line, WARP) < FULL * WARP:
        return text, _partly(source, element)
    if step.value == 1 or step == NONE:
        return text, (
            f"of {element.array} a warp's first element lies inside a sector: let index {index} begin at a multiple of "
            f"{SECTOR // (size or 4)} elements, or load the row of {element.array} once and pass neighbours on by "
            "__shfl_sync or shared memory"
        )
    far = f" ({step.value * size:,} bytes)" if step.value is not None and size else ""
    apart = f"neighbouring threads access elements of {element.array} that are {step.text}{far} apart"
    return text, f"{apart}; {_along(source, element)}: {ideal}"


def _farthest(source: FaultySource, stored: bool) -> ArrayElement | None:
    """The element of the line whose threads are farthest apart."""
    elements = [one for one in source.elements("global") if one.stored or not stored] or source.elements("global")

    def apart(one: ArrayElement) -> float:
        step = source.stride(one)
        if step is None or step.value is None:
            return 2.0  # an index that was loaded, or a width that is not known
        return 0.5 if step.value == 1 else float(abs(step.value))

    return max(elements, key=apart, default=None)


def _along(source: FaultySource, element: ArrayElement) -> str:
    """How neighbouring threads get neighbouring elements."""
    counters = source.counters(element)
    index = source.index or "the index"
    still = [name for name in source.counted(element) if source.stride(element, name) == NONE]
    if counters and still:
        return (
            f"each {still[0]} reads the same again: let the block load its part of {element.array} in rows into "
            "shared memory "
            f"once, before the loop over {still[0]}, with rows of one element more, and read that"
        )
    if counters:
        k = counters[0]
        return (
            f"let the 32 threads of a warp share the loop over {k}, one warp for each {index} ({k} = lane, lane + 32, "
            f"...), or keep {element.array} with {k} as its slow index"
        )
    for axis in "yz":
        if (along := source.stride(element, f"blockIdx.{axis}")) is not None and along.value == 1:
            return (
                f"let the threads of a block run along what blockIdx.{axis} counts now (threadIdx.x there, "
                f"blockIdx.{axis} for "
                f"{source.index or 'the other index'})"
            )
        across = source.stride(element, f"threadIdx.{axis}")
        if across is not None and across.value == 1:
            return f"exchange x and {axis}: let threadIdx.x count what threadIdx.{axis} counts now"
    others = [one for one in source.elements("global") if one.array != element.array]
    rows = [one.array for one in others if (step := source.stride(one)) is not None and step.value == 1]
    if element.stored and rows:
        return (
            f"go through a tile in shared memory: a block loads rows of {rows[0]} into it and, after __syncthreads(), "
            f"stores rows of {element.array}"
        )
    array = element.array
    return f"let {source.text(element.indices[-1])} grow by 1, or load rows of {array} into shared memory first"


def _partly(source: FaultySource, element: ArrayElement) -> str:
    """Of neighbours some are accessed by one side of a condition, some by the other."""
    assert source.condition is not None
    condition = source.text(unwrapped(source.condition))
    return (
        f"only {decimal(source.lanes[source.line])} of 32 threads get to this line, those for which {condition} "
        "decides so: "
        f"the sectors of {element.array} are moved for them and again for the others; choose the value first "
        f"({condition} ? "
        f"a : b) and access {element.array} once for all threads"
    )


def _fields_apart(source: FaultySource, element: ArrayElement, size: int) -> str:
    up, array = element.node.parent, element.array
    used = source.text(up.children[-1]) if up is not None and up.type == "field_expression" else ""
    field = next((one for one in element.fields if one.name == used), element.fields[0])
    arrays = ", ".join(f"{array}_{one.name}" for one in element.fields[:3])
    more = ", ..." if len(element.fields) > 3 else ""
    new, old = (
        (f"{array}_{field.name}[i]", f"{array}[i].{field.name}")
        if field.length == 1
        else (f"{array}_{field.name}[k][i]", f"{array}[i].{field.name}[k]")
    )
    whole = source.bytes_of(field.type) or 4
    sectors = 32 * whole // SECTOR
    text = (
        f"{array} is an array of structs: neighbouring threads are {size} bytes apart, each load or store of a field "
        f"touches up to {min(32, 32 * size // SECTOR)} sectors. An array for each field ({field.type} *{arrays}{more}; "
        f"{new} instead of {old}) touches {sectors}; callers must keep their data so"
    )
    if size % 16 == 0:
        text += f". Without another layout: struct alignas(16) {element.type} loads 16 bytes at once"
    return text


def _gathered(source: FaultySource, element: ArrayElement, index: str) -> str:
    kernel = source.kernel
    assert kernel is not None
    makers = [name for name in sorted(kernel.reached(element.indices[-1])) if source.parameter(name)]
    from_arrays = [name for name in makers if (one := source.parameter(name)) and one.pointer and name != element.array]
    if from_arrays:
        listed = " and ".join(from_arrays)
        return (
            f"{element.array} is read where {listed} says: sort {listed} (or renumber {element.array}) so that "
            f"neighbouring threads get neighbouring indices; else each access of {element.array} costs a sector a "
            "thread"
        )
    return f"the index {index} has no fixed stride from thread to thread: let it grow by 1 with threadIdx.x"


def unused_bytes(source: FaultySource) -> Words:
    found = source.elements("global")
    for element in found:
        size = source.bytes_of(element.type)
        if element.fields and size:
            return source.text(element.node), _fields_apart(source, element, size)
    if not found or source.kernel is None:
        return "", ""
    element = found[0]
    step = source.stride(element)
    if step is not None and step.value == 1 and source.condition is not None:
        return source.text(element.node), _partly(source, element)
    far = f", {step.text} elements apart" if step is not None else ""
    return source.text(element.node), (
        f"threads use {decimal(source.evidence.used)} of {SECTOR} bytes of each sector of {element.array}{far}: keep "
        "what "
        f"{source.text(element.node)} reads in an array of its own"
    )


def narrow_access(source: FaultySource) -> Words:
    moved = [one for one in source.elements("global") if not one.updated]
    narrow = [one for one in moved if source.bytes_of(one.type) == source.evidence.bytes]
    element = next(iter(narrow or moved), None)
    if element is None:
        return "", ""
    kind = source.kernel.plain_type(element.type) if source.kernel else element.type
    wide = NARROW.get(kind, f"Pack<{element.type}>")
    number, part = ("2", "half") if wide.endswith("2") else ("4", "a quarter")
    pack = f" (struct alignas(4 * sizeof({element.type})) Pack)" if "Pack" in wide else ""
    return source.text(element.node), (
        f"{number} elements of {element.array} a thread as one {wide}{pack}, "
        f"reinterpret_cast<{wide}*>({element.array})[i]: "
        f"{part} of the threads and instructions; what is left over one by one"
    )


def bank_conflicts(source: FaultySource) -> Words:
    kernel = source.kernel
    element = max(source.elements("shared"), key=lambda one: _rows_crossed(source, one), default=None)
    if kernel is None or element is None:
        return "", ""
    step, text, array = source.stride(element), source.text(element.node), element.array
    sizes = dimensions(source, array)
    if len(sizes) > 1:
        rows = "".join(f"[{size}]" for size in sizes[:-1])
        return text, (
            f"__shared__ {element.type} {array}{rows}[{sizes[-1]} + 1]: with one element more a row, the threads of a "
            f"warp reach {array} in different banks"
        )
    far = f", {step.text} elements apart from thread to thread," if step is not None and step.value != 1 else ""
    return text, (
        f"{array}{far} falls into few banks: let its index grow by 1, or by an odd number, from thread to thread (in a "
        f"reduction: threads below half add the element of {array} half a block further on)"
    )


def _rows_crossed(source: FaultySource, element: ArrayElement) -> int:
    """Worse where the threads of a warp walk along a slow index."""
    slow = sum(source.stride(element, place=place) != NONE for place in range(len(element.indices) - 1))
    step = source.stride(element)
    return 2 * slow + (step is None or step.value not in (0, 1))


def dimensions(source: FaultySource, array: str) -> list[str]:
    """Sizes of a local array, as they are declared."""
    sizes: list[str] = []
    for declarator in source.kernel.declarators(array) if source.kernel else ():
        node: Node | None = declarator
        while node is not None and node.type in ("array_declarator", "init_declarator"):
            size = node.child_by_field_name("size")
            sizes = [source.text(size), *sizes] if size is not None else sizes
            node = node.child_by_field_name("declarator")
    return sizes


def redundant_loads(source: FaultySource) -> Words:
    element = next((one for one in source.elements("global") if not one.stored), None)
    if element is None:
        return "", ""
    axes = " and ".join(f"threadIdx.{axis}" for axis in source.evidence.axes)
    text, array, block = source.text(element.node), element.array, source.run.launch.block
    counters = source.counters(element) or source.counted(element)
    over = f" for {block[0]} values of {counters[0]} at a time" if counters else ""
    return text, (
        f"{axes} is not in the index, so {source.evidence.warps} warps load the same of {array}: declare __shared__ "
        f"{element.type} {array}_tile[...], let each thread load another element of {array} into it{over}, then "
        f"__syncthreads(), and read {array}_tile instead of {text}"
    )


def contended_atomics(source: FaultySource) -> Words:
    call = next((call for call in source.within_line("call_expression")
                 if source.kernel and source.kernel.called(call).startswith("atomic")), None)  # fmt: skip
    if source.kernel is None or call is None:
        return "", ""
    listed, function = call.child_by_field_name("arguments"), source.kernel.called(call)
    target, *values = [source.text(node) for node in (listed.named_children if listed else ())]
    name = target.lstrip("&").partition("[")[0]
    same = not listed or not {"threadIdx"} & source.kernel.reached(listed.named_children[0])
    if same:
        how = (
            f"all threads update {target}: let each add up its own {values[0] if values else 'values'} in a register, "
            f"join them by __shfl_down_sync within the warp, and let lane 0 alone call {function}({target}, ...)"
        )
    else:
        one = source.parameter(name)
        how = (
            f"declare __shared__ {one.type if one else 'int'} {name}_of_block[...] as long as {name}, call "
            f"{function} on "
            f"that, and after __syncthreads() add each of its elements to {name} once a block"
        )
    return source.text(call), how


def latency_bound(source: FaultySource) -> Words:
    kernel = source.kernel
    loads = _global_reads(source)
    if kernel is None or not loads:
        return "", ""
    loops = source.loops_of(loads[0])
    text = source.text(loads[0].node)
    more = f"{source.evidence.needed / max(source.evidence.bytes, 1):.1f} times as many bytes must be under way"
    if loops:
        return (
            text,
            f"{more}: #pragma unroll 8 in front of `{loops[0]}`, so that 8 loads of {text} go before the first is used",
        )
    return text, (
        f"{more}: let a thread load several elements of {loads[0].array} into registers (as {loads[0].type}4, or at "
        f"{source.index or 'i'}, {source.index or 'i'} + blockDim.x, ...) before it uses the first"
    )


def _global_reads(source: FaultySource) -> list[ArrayElement]:
    """Loads of the kernel, those in loops first."""
    if source.kernel is None:
        return []
    lines = range(source.kernel.line(source.kernel.body), source.kernel.body.end_point[0] + 2)
    found = {one.node.id: one for line in lines for one in source.elements_of(line, "global")
             if not one.stored and not one.updated}  # fmt: skip
    return sorted(found.values(), key=lambda one: not source.loops_of(one))


def local_memory(source: FaultySource) -> Words:
    kernel, array = source.kernel, source.evidence.array
    if kernel is None:
        return "", ""
    if array:
        return _indexed(source, array)
    compiled, threads = source.run.kernel.kernel, source.run.launch.threads_per_block
    room = min(source.run.machine.limits.registers_per_multiprocessor // max(threads, 1), 255) // 8 * 8
    crowded = _most_live(source)
    where = (
        f", most of them in line {crowded.line} (`{source.run.subject.text_of(crowded).strip()[:60]}`)"
        if crowded
        else ""
    )
    capped = f"{compiled.registers} registers a thread do not hold what is live{where}"
    if compiled.registers < room:
        cure = (
            f"blocks of {threads} threads leave room for {room}: declare {kernel.name} __launch_bounds__({threads}), "
            "and "
            "take away --maxrregcount or a second number in __launch_bounds__"
        )
    else:
        cure = "keep fewer values at once: a smaller factor of unrolling or tile a thread, or two kernels"
    return source.line_text, f"{capped}: {cure}"


def _indexed(source: FaultySource, array: str) -> Words:
    kernel = source.kernel
    assert kernel is not None
    line = source.evidence.indexed_at
    elements = [one for one in source.elements_of(line, "local") if one.array == array]
    sizes = "".join(f"[{size}]" for size in dimensions(source, array)) or "[...]"
    kind = next((one.type for one in elements), "float")
    text = source.text(elements[0].node) if elements else array
    index = source.text(elements[0].indices[-1]) if elements else "the index"
    threads = source.run.launch.threads_per_block
    loops = source.loops_of(elements[0]) if elements else []
    counted = source.counted(elements[0]) if elements else []
    fixed = bool(counted) and kernel.reached(elements[0].indices[-1]) <= {*counted}
    if fixed and loops:
        return text, (
            f"{array} is in local memory because {index} is not known when it is compiled: #pragma unroll in front of "
            f"`{loops[0]}`, with a number of rounds that is a constant, makes {array} registers"
        )
    return text, (
        f"{array} is in local memory because {index} is known only at run time: keep it in shared memory, an element "
        "of "
        f"each thread beside that of the next, __shared__ {kind} {array}{sizes}[{threads}], as "
        f"{array}[{index}][threadIdx.x]; or compare with every constant index in an unrolled loop, which leaves "
        f"{array} "
        "in registers"
    )


def _most_live(source: FaultySource) -> SourceLine | None:
    live = live_registers(source.run.subject.flow)
    lines = [instruction.source for instruction in source.run.subject.program.instructions]
    known = [(number, line) for number, line in zip(live, lines, strict=True) if line is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def misaligned_rows(source: FaultySource) -> Words:
    element = next((one for one in source.elements("global") if source.stride(one, "threadIdx.x")), None)
    if element is None or source.kernel is None:
        return "", ""
    index, size = element.indices[-1], source.bytes_of(element.type) or 4
    text, each = source.text(element.node), LINE // size
    for along in ("threadIdx.y", "blockIdx.y", "threadIdx.z", "blockIdx.x", *source.counted(element)):
        row = source.stride(element, along)
        if row is None or row in (NONE,) or row.value is None or row.value * size % LINE == 0 or row.value == 1:
            continue
        padded = -(-row.value // each) * each
        return text, (
            f"rows of {element.array} are {row.text} = {row.value:,} elements long: allocate them {padded:,} long "
            f"(cudaMallocPitch) and index {element.array} with that pitch in place of {row.text}"
        )
    moving = [loop for loop in source.loops_of(element) if loop]
    if moving:
        return text, (
            f"`{moving[0]}` reads {element.array} at shifted places, most of which begin inside a line: load the "
            "block's "
            f"part of {element.array} and its neighbours into shared memory once, and read the shifted places there"
        )
    return text, (
        f"the first thread of a warp accesses {element.array} at {source.text(index)}, which is no multiple of {each} "
        f"elements: shift {element.array} (or the threads) so that it is"
    )


def missing_restrict(source: FaultySource) -> Words:
    found = [one for name in source.evidence.pointers if (one := source.parameter(name))]
    declared = ", ".join(f"const {one.type}* __restrict__ {one.name}" for one in found)
    if not found or source.kernel is None:
        return "", ""
    written = ", ".join(source.text(one.node) for one in found)
    return written, f"{declared}: no other pointer of {source.kernel.name} may then write there"
