"""Fault report: the message of a kernel fault, with kernel, line, block, thread, address and buffer."""

from __future__ import annotations

from warplens.core.demangle import demangled, plain_name
from warplens.core.launch import Launch
from warplens.core.memory_opcodes import BULK
from warplens.core.program import Constant, Instruction, Label, Program
from warplens.core.tensor_map import BYTES, TensorExtent
from warplens.emulator.access.site import SPACES
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state import abi
from warplens.emulator.state.structs import FaultKind, WorkerEnv
from warplens.errors import KernelFault

ACTIONS = {
    "LDGSTS": "copy",
    "UBLKRED": "reduction",
    "UTMAREDG": "reduction",
    "UBLK": "copy",
    "UTMA": "copy",
    "LD": "read",
    "HGMMA": "read",
    "IGMMA": "read",
    "QGMMA": "read",
    "BGMMA": "read",
    "UTC": "read",
    "ST": "write",
    "ATOM": "atomic",
    "RED": "atomic",
}
"""Memory action of an instruction, by the start of its opcode."""


OF_OBJECTS = {
    FaultKind.NO_TEXTURE: "the handle is that of no texture or surface object, or its memory has been freed",
    FaultKind.WRONG_REGISTERS: "setmaxnreg names {registers} registers: it must be .dec to at most, or .inc to at "
    "least, the number that the warp has, {held}",
    FaultKind.OFF_SURFACE: "out-of-bounds surface access: beyond the edges of the surface (cudaBoundaryModeTrap)",
    FaultKind.NO_TENSOR_MAP: "no tensor map for this: of another rank, im2col for a tile, or of a type not reduced so",
    FaultKind.MISPLACED_BOX: "misaligned box: its address in shared memory is not a multiple of 128",
    FaultKind.BOX_AHEAD: "a box is stored at a negative coordinate, or its bounding box reaches beyond the tensor",
    FaultKind.UNALIGNED_BOX: "misaligned box: its coordinate in dimension 0 is not at a multiple of 16 bytes",
    FaultKind.TENSOR_COLUMN: "tensor memory that is not allocated is accessed: column {number}",
    FaultKind.TENSOR_RANGE: "out-of-bounds tensor memory access: it ends before column {number}",
    FaultKind.TENSOR_LANE: "tensor memory of another warp is accessed, or from a lane that does not start a quarter "
    "(or half of one, where the shape has 16 lanes): lane {number}",
    FaultKind.TENSOR_FORM: "tcgen05.mma with an instruction descriptor of no product, or of one that is not emulated: "
    "{number:#010x}",
    FaultKind.TENSOR_RESULT: "tcgen05.mma to lane {number}: it must be 0, or 16 where it has 64 rows",
    FaultKind.TENSOR_PEER: "cta_group::2, and the other block of the pair has not started, or the cluster has none",
    FaultKind.TENSOR_SIZE: "tcgen05.alloc asks for {number} columns: it must be a power of two from 32 to 512",
}

GUARDRAILS = {
    "phase_invalid_during_alloc": "tcgen05.alloc after tcgen05.relinquish_alloc_permit",
    "unallocated_columns_being_dealloced": "tcgen05.dealloc of tensor memory that is not allocated",
    "col_being_dealloced_not_returned_by_alloc": "tcgen05.dealloc of columns that no tcgen05.alloc returned",
}
"""What the compiler's own checks of tensor memory have found, by the end of the name of the function that traps."""


def place(program: Program, instruction: Instruction) -> str:
    source = f"{instruction.source.file}:{instruction.source.line}, " if instruction.source else ""
    code = f"{instruction.opcode} {instruction.text}".rstrip()
    return f"{source}{plain_name(program.name)} at {instruction.offset:#x}: {code}"


def thread(launch: Launch, warp: int, lane: int) -> str:
    linear = 32 * warp + lane
    x, y, _ = launch.block
    return f"({linear % x},{linear // x % y},{linear // (x * y)})"


def format_fault(
    env: WorkerEnv,
    program: Program,
    launch: Launch,
    memory: DeviceMemory,
    budget: int,
    hung: str = "",
    syscall: str = "",
) -> KernelFault:
    """The exception for a recorded fault.

    hung     wait list of a hung block's warps, or why a warp waits for an mbarrier or for registers
    syscall  the message of a system call that failed
    """
    fault = env.fault
    kind = FaultKind(fault.kind)
    block = "({},{},{})".format(*fault.ctaid)
    if kind is FaultKind.DEADLOCK:
        return KernelFault(f"{demangled(program.name)} hangs: no thread of block {block} can make progress\n{hung}")
    if kind is FaultKind.TENSOR_KEPT:
        return KernelFault(
            f"{demangled(program.name)} ends without tcgen05.dealloc: block {block} has {fault.bytes} columns of "
            "tensor memory allocated when its last thread exits"
        )
    instruction = program.instructions[min(fault.instruction, len(program.instructions) - 1)]
    lane = (fault.lanes & -fault.lanes).bit_length() - 1 if fault.lanes else 0
    thread_text = f"block {block}, thread {thread(launch, fault.warp, lane)}"
    if instruction.base in BULK:  # of a warp
        thread_text = f"block {block}, warp {fault.warp}"
    where = place(program, instruction)
    if kind is FaultKind.BUDGET and hung:
        return KernelFault(f"{demangled(program.name)} hangs: {hung}\n  in block {block}")
    if kind is FaultKind.BUDGET:
        return KernelFault(
            f"endless loop? a warp executed more than {budget:,} instructions and spins at {where} ({thread_text}); "
            "raise the limit with --budget (in warplens.toml: instructions)"
        )
    if kind is FaultKind.TRAP and (found := _guardrail(program, instruction)):
        return KernelFault(f"{found[0]}\n  at {place(program, found[1])}\n  in {thread_text}")
    if kind is FaultKind.TRAP:
        return KernelFault(f"the kernel trapped at {where} ({thread_text}){_grid_barrier_missed(program, launch)}")
    if kind is FaultKind.WRONG_LANES:
        return KernelFault(f"__syncwarp() mask does not contain the calling lanes\n  at {where}\n  in {thread_text}")
    if kind is FaultKind.STRAY_CONSTANT:
        return KernelFault(f"{_constant(fault, instruction)}\n  at {where}\n  in {thread_text}")
    if kind is FaultKind.DRIVER:
        return KernelFault(f"{syscall}\n  at {where}\n  in {thread_text}")
    if kind is FaultKind.BAD_JUMP:
        return KernelFault(f"jump to an address that is not code, from {where} ({thread_text})")
    if kind in OF_OBJECTS:
        what = OF_OBJECTS[kind].format(registers=fault.bytes, held=fault.space, number=fault.bytes)
        others = _others(program, instruction) if kind is FaultKind.WRONG_REGISTERS else ""
        return KernelFault(f"{what}\n  at {where}\n  in {thread_text}{others}")
    what = _access(fault, instruction, fault.address[lane], memory)
    described = _tensor(fault.tensor_map, memory) if instruction.base.startswith("UTMA") else ""
    return KernelFault(f"{what}\n  at {where}\n  in {thread_text}{described}")


def _grid_barrier_missed(program: Program, launch: Launch) -> str:
    """Why a kernel with grid.sync() traps in an ordinary launch."""
    place = abi.bank0(program.arch).grid_barrier
    reads = any(
        isinstance(operand, Constant) and operand.bank == 0 and operand.offset == place
        for instruction in program.instructions
        for operand in instruction.operands
    )
    if launch.cooperative or not reads:
        return ""
    return "; grid.sync() needs a cooperative launch: cooperative=True, --cooperative, or the same in the launch block"


def _guardrail(program: Program, instruction: Instruction) -> tuple[str, Instruction] | None:
    """What a check of the compiler has found that traps here, and the call of the function that does."""
    for call in program.instructions:
        for operand in call.operands if call.base == "CALL" else ():
            if isinstance(operand, Label) and operand.offset == instruction.offset:
                return next(((what, call) for end, what in GUARDRAILS.items() if operand.name.endswith(end)), None)
    return None


def _constant(fault: object, instruction: Instruction) -> str:
    size, offset = fault.bytes, fault.space  # type: ignore[attr-defined]
    bank = next(operand.bank for operand in instruction.operands if isinstance(operand, Constant))
    owner = {0: "the kernel's parameters", 3: "the module's __constant__ variables"}.get(bank, "its contents")
    return f"out-of-bounds constant read at byte {offset:#x} of bank {bank}, past {owner}, which end at {size:#x}"


def _others(program: Program, instruction: Instruction) -> str:
    """The other instructions like it, one of which changed the registers before."""
    found = [other for other in program.instructions if other.base == instruction.base and other != instruction]
    return "".join(f"\n  the kernel's other setmaxnreg: {place(program, other)}" for other in found)


def _tensor(address: int, memory: DeviceMemory) -> str:
    """What the tensor map at an address says of its tensor, and whether that is as large as its buffer."""
    holder = memory.nearest(address)
    if holder is None or not 0 <= address - holder[0].address <= holder[0].size - BYTES:
        return ""
    start = address - holder[0].address
    tensor = TensorExtent.decode(holder[0].data[start : start + BYTES].tobytes())
    sizes, strides = (", ".join(map(str, reversed(numbers))) for numbers in (tensor.sizes, tensor.strides))
    what = f"the tensor map describes a tensor of {sizes} elements of {tensor.element_bytes} bytes"
    rows = f", strides {strides} bytes" if strides else ""
    found = memory.nearest(tensor.address)
    if found is None or not 0 <= tensor.address - found[0].address < found[0].size:
        return f"\n  {what}{rows}, at {tensor.address:#x}, where no buffer is"
    buffer = found[0]
    asked = buffer.size - buffer.slack
    over = tensor.address + tensor.bytes - buffer.address - asked
    fits = f"{over:,} bytes past its end" if over > 0 else "within it"
    return f"\n  {what}{rows}: from byte {tensor.address - buffer.address:,} of {buffer.name} to {fits}"


def _action(instruction: Instruction) -> str:
    """ "read", "write", "atomic" or "copy"; "access" for any other opcode."""
    return next((action for start, action in ACTIONS.items() if instruction.base.startswith(start)), "access")


def _access(fault: object, instruction: Instruction, address: int, memory: DeviceMemory) -> str:
    size, space = fault.bytes, SPACES[fault.space]  # type: ignore[attr-defined]
    lanes = int(fault.lanes).bit_count()  # type: ignore[attr-defined]
    many = f" ({lanes} lanes of the warp)" if lanes > 1 and instruction.base not in BULK else ""
    length, what = f"{size} byte{'s' * (size > 1)}", _action(instruction)
    if address % size:
        return f"misaligned {space} {what} of {length} at {address:#x}: not a multiple of {size}{many}"
    if space != "global":
        return (
            f"out-of-bounds {space} {what} of {length} at {address:#x}: outside the {space} memory of the block{many}"
        )
    head = f"out-of-bounds global {what} of {length} at {address:#x}{many}"
    if known := memory.remark(address):
        return f"{head}: {known}"
    nearest = memory.nearest(address)
    if nearest is None:
        return f"{head}: the kernel has no buffers"
    allocation, distance = nearest
    asked = allocation.size - allocation.slack
    if allocation.address <= address < allocation.address + asked:
        over = address + size - allocation.address - asked
        last = f"its last {over} byte{'s' * (over > 1)}"
        return f"{head}: {last} past the end of {allocation.name} ({asked:,} bytes)"
    past = address - allocation.address - asked
    side = f"{-distance:,} bytes before" if distance < 0 else f"{past:,} bytes past the end of"
    return f"{head}: {side} {allocation.name} ({asked:,} bytes)"
