"""Instruction remedies: what to write instead of faults in what warps execute; a function a rule, of its name.

Each gives the expression at fault, and what to write instead; "" for what is not known.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.advice.remedies.faulty_source import FaultySource
from warplens.report.wording import decimal
from warplens.transform.syntax.block_reduction import FIRST_THREAD
from warplens.transform.syntax.canonical_form import canonical, unwrapped
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.lane_stride import number_of

Words = tuple[str, str]
DOUBLES = {"sqrt": "sqrtf", "exp": "expf", "log": "logf", "pow": "powf", "sin": "sinf", "cos": "cosf", "tanh": "tanhf",
           "fabs": "fabsf", "floor": "floorf", "ceil": "ceilf", "fmax": "fmaxf", "fmin": "fminf"}  # fmt: skip
WARP = 32
DOUBLING = (("*=", "2"), ("<<=", "1"))  # how a loop's variable doubles


def barrier_stalls(source: FaultySource) -> Words:
    loop = source.head(source.loop)
    if source.loop is None or not loop:
        return source.line_text, ""
    within = f"the rounds of `{loop}` in which the threads of one warp are enough need no __syncthreads()"
    shared = next((one for line in range(source.loop.start_point[0] + 1, source.loop.end_point[0] + 2)
                   for one in source.elements_of(line, "shared")), None)  # fmt: skip
    if shared is None:
        return f"__syncthreads() in {loop}", f"{within}: __syncwarp() there"
    return f"__syncthreads() in {loop}", (
        f"{within}: keep {shared.array} in a register and pass it on by __shfl_down_sync (or __shfl_up_sync), then "
        f"join the warps through {shared.array} once; or give each thread several elements first"
    )


def division_by_variable(source: FaultySource) -> Words:
    found = [node for node in source.within_line("binary_expression") if _divides(source, node)]
    if not found or source.kernel is None:
        return source.line_text, ""
    text, divisor = source.text(found[0]), source.text(unwrapped(found[0].children[2]))
    takes = f"{text} takes {source.evidence.instructions} instructions"
    if _doubles(source, found[0].children[2]):
        left, remainder = source.text(found[0].children[0]), found[0].children[1].type == "%"
        shifted = f"{left} >> its logarithm, which the loop counts beside it"
        return text, f"{takes}: {divisor} is a power of two: {f'{left} & ({divisor} - 1)' if remainder else shifted}"
    value = source.numbers.get(divisor)
    number = f", a template argument {divisor} = {value}" if isinstance(value, int) else ", or a template argument"
    power = isinstance(value, int) and value > 0 and not value & value - 1
    mask = f" ({divisor} is a power of two here: & ({divisor} - 1) and a shift, if it always is)" if power else ""
    two = (
        "; where row and column come from one number, a grid of two dimensions has them already"
        if any(name in source.kernel.reached(found[0]) for name in ("threadIdx", "blockIdx")) else ""
    )  # fmt: skip
    stepping = ""
    if found[0].children[1].type == "%" and source.loop is not None and source.loop.type == "for_statement":
        stepping = f"; in a loop that steps by 1, compare instead: if (++k == {divisor}) k = 0"
    return text, f"{takes}: make {divisor} a constant{number}{mask}{two}{stepping}"


def _doubles(source: FaultySource, divisor: Node) -> bool:
    """Whether it is a power of two in each round of the loop: the loop's variable begins as one and doubles."""
    kernel, loop = source.kernel, source.loop
    if kernel is None or loop is None or loop.type != "for_statement":
        return False
    begin, step = loop.child_by_field_name("initializer"), loop.child_by_field_name("update")
    declared = next((node for node in begin.named_children if node.type == "init_declarator"), None) if begin else None
    value = declared.child_by_field_name("value") if declared else None
    start = number_of(kernel, value, source.numbers) if value else None
    if declared is None or start is None or step is None or step.type != "assignment_expression":
        return False
    name, (target, operator, factor) = kernel[declared.child_by_field_name("declarator") or declared], step.children
    if kernel[target] != name or (kernel[operator], kernel[factor]) not in DOUBLING:
        return False
    first, second = (number_of(kernel, divisor, {**source.numbers, name: start * times}) for times in (1, 2))
    return first is not None and first > 0 and second == 2 * first and not first & first - 1


def _divides(source: FaultySource, node: Node) -> bool:
    kernel = source.kernel
    assert kernel is not None
    return kernel[node.children[1]] in ("/", "%") and kernel.constant(unwrapped(node.children[2])) is None


def double_literal(source: FaultySource) -> Words:
    if source.kernel is None:
        return "", ""
    literals = [source.text(node) for node in source.within_line("number_literal") if is_double(source.text(node))]
    calls = [source.kernel.called(node) for node in source.within_line("call_expression")]
    changes = [f"{text}f" for text in dict.fromkeys(literals)]
    changes += [f"{DOUBLES[name]} for {name}" for name in dict.fromkeys(calls) if name in DOUBLES]
    return source.line_text, f"in line {source.line} write {', '.join(changes)}" if changes else ""


def is_double(text: str) -> bool:
    lower = text.lower()
    return not lower.startswith("0x") and lower[-1] not in "fl" and ("." in lower or "e" in lower)


def inactive_lanes(source: FaultySource) -> Words:
    block = source.run.launch.threads_per_block
    if source.evidence.partial_block:
        up = -(-block // WARP) * WARP
        return f"{block} threads a block", f"blocks of {up} threads, a multiple of 32, with a test of the index"
    if source.kernel is None:
        return "", ""
    condition = source.condition
    if condition is None:
        return source.line_text, ""
    text = source.text(unwrapped(condition))
    if condition.parent is not None and condition.parent.type in LOOPS:
        head = source.head(condition.parent)
        return text, (
            f"the threads of a warp go round `{head}` differently often: give the threads of one warp rounds of equal "
            "length (sort the work by its length, or share a long loop among the lanes of a warp)"
        )
    names = source.kernel.reached(condition)
    if canonical(source.kernel, unwrapped(condition)) in FIRST_THREAD:
        loop = next((source.head(node) for node in source.kernel.find(*LOOPS, within=condition.parent)), "")
        work = f"`{loop}`" if loop else "what stands behind it"
        return text, (
            f"one thread does {work} while the block waits: let every thread do a part, from threadIdx.x on in steps "
            "of "
            "blockDim.x, and join the parts by __shfl_down_sync within warps and through shared memory among them"
        )
    loaded = [one.name for one in source.kernel.parameters if one.pointer and one.name in names]
    if loaded:
        return text, (
            f"whether {text} holds depends on {loaded[0]}, thread by thread: compute both sides and choose "
            "(condition ? a "
            f": b), or sort by {loaded[0]} so that whole warps agree"
        )
    return text, (
        f"let the threads for which {text} holds be neighbours: number the work that is to be done from 0 on, and let "
        f"thread {source.index or 'threadIdx.x'} do the one of its number, so that whole warps are busy or idle"
    )


def loop_not_unrolled(source: FaultySource) -> Words:
    head = source.head(source.loop)
    if not head:
        return source.line_text, ""
    return head, (
        f"#pragma unroll 4 in front of `{head}`, or a number of rounds that the compiler knows "
        f"({decimal(source.evidence.rounds)} here): {source.evidence.overhead} of {source.evidence.instructions} "
        "instructions of a round only count"
    )


def needless_barrier(source: FaultySource) -> Words:
    if source.evidence.one_warp:
        return (
            source.line_text,
            f"__syncwarp() in line {source.line}, as blocks of {source.run.kernel.name} are one warp",
        )
    return (
        source.line_text,
        f"take away the barrier in line {source.line}: no thread reads what another wrote before it",
    )


def slow_conversion(source: FaultySource) -> Words:
    head = source.head(source.loop)
    counted = next(iter(source.loop_counters), "")
    if not head:
        return source.line_text, ""
    beside = f" (float {counted}_f beside {counted}, stepped by 1.0f)" if counted else ""
    return source.line_text, f"convert in front of `{head}`, or keep a float that is stepped along{beside}"


def tensor_cores_unused(source: FaultySource) -> Words:
    shared = list(dict.fromkeys(one.array for one in source.elements("shared")))
    if len(shared) < 2:
        return source.line_text, ""
    a, b = shared[:2]
    return source.line_text, (
        f"load 16 x 16 of {a} and {b} by wmma::load_matrix_sync and multiply them by wmma::mma_sync, a warp for each "
        "16 x 16 "
        f"of the result, instead of the sums in line {source.line}"
    )


def unfused_multiply_add(source: FaultySource) -> Words:
    options = "compile without --fmad=false" if "__fmul_rn" not in source.line_text else "a * b + c without __fmul_rn"
    kernel = source.kernel
    calls = source.within_line("call_expression", "binary_expression")
    added = next((node for node in calls if _is_sum(source, node)), None)
    if kernel is None or added is None:
        return source.line_text, f"fmaf(a, b, c) in line {source.line}, or {options}" if source.line else ""
    return source.text(added), f"fmaf(...) for {source.text(added)}, or {options}"


def _is_sum(source: FaultySource, node: Node) -> bool:
    """Whether it adds a product."""
    assert source.kernel is not None
    if node.type == "call_expression":
        return source.kernel.called(node).startswith(("__fadd_", "__dadd_", "__hadd"))
    return source.kernel[node.children[1]] in ("+", "-") and "*" in source.kernel[node]


def work_per_thread(source: FaultySource) -> Words:
    index, block = source.index, source.run.launch
    if source.kernel is None or not index:
        return "", ""
    return index, (
        f"4 elements a thread: {index} = 4 * ({index}), then {index} to {index} + 3 with one test of the bound, in a "
        "grid of "
        f"{-(-block.grid[0] // 4):,} instead of {block.grid[0]:,} blocks in x"
    )
