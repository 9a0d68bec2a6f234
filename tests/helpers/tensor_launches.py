"""One kernel for each shape of mma.sync: a warp's fragments in, its results out.

Inputs and what an H200 made of them are kept in measurements/h200/tensor.npz.
"""

from __future__ import annotations

from dataclasses import dataclass

TYPES = {"r": "unsigned", "f": "float", "d": "double"}


@dataclass(frozen=True)
class Form:
    """`ptx` with so many registers of A, B and C a lane; a sparse one names the lanes that hold its metadata."""

    ptx: str
    registers: tuple[int, int, int]
    inputs: str = "r"
    results: str = "f"
    selector: int | None = None

    @property
    def source(self) -> str:
        """The kernel `product(a, b, c, d, metadata)`: each lane's registers lie side by side."""
        of_a, of_b, of_c = self.registers
        counts = [of_c, of_a, of_b, of_c]
        starts = [sum(counts[:k]) for k in range(4)]
        lists = ["{" + ",".join(f"%{s + j}" for j in range(n)) + "}" for s, n in zip(starts, counts, strict=True)]
        outputs = ",".join(f'"={self.results}"(d[{k}])' for k in range(of_c))
        given = [f'"{self.inputs}"({x}[{k}])' for x, n in (("a", of_a), ("b", of_b)) for k in range(n)]
        given += [f'"{self.results}"(c[{k}])' for k in range(of_c)]
        sparse = ""
        if self.selector is not None:
            sparse, given = f", %{sum(counts)}, {self.selector:#x}", [*given, '"r"(m)']
        of_input, of_result = TYPES[self.inputs], TYPES[self.results]
        return f"""extern "C" __global__ void product(const {of_input}* pa, const {of_input}* pb, const {of_result}* pc,
            {of_result}* pd, const unsigned* pm) {{
          const int i = blockIdx.x * 32 + threadIdx.x;
          {of_input} a[{of_a}], b[{of_b}]; {of_result} c[{of_c}], d[{of_c}]; const unsigned m = pm[i];
          for (int k = 0; k < {of_a}; k++) a[k] = pa[i * {of_a} + k];
          for (int k = 0; k < {of_b}; k++) b[k] = pb[i * {of_b} + k];
          for (int k = 0; k < {of_c}; k++) c[k] = pc[i * {of_c} + k];
          asm volatile("mma.{self.ptx} {", ".join(lists)}{sparse};" : {outputs} : {", ".join(given)});
          for (int k = 0; k < {of_c}; k++) pd[i * {of_c} + k] = d[k];
        }}"""


def dense(shape: str, types: str, *registers: int, how: str = "", tail: str = "", **kinds: str) -> Form:
    return Form(f"sync.aligned.{shape}.row.col{how}.{types}{tail}", registers, **kinds)  # type: ignore[arg-type]


def sparse(shape: str, types: str, *registers: int, selector: int, results: str = "f") -> Form:
    return Form(f"sp.sync.aligned.{shape}.row.col.{types}", registers, "r", results, selector)  # type: ignore[arg-type]


def of_bytes(shape: str, x: str, y: str, result: str, *registers: int, **kinds: str) -> Form:
    return dense(shape, f"{result}.{x}.{y}.{result}", *registers, **kinds)


F16, INT = {"results": "r"}, {"results": "r"}
DOUBLE = {"inputs": "d", "results": "d"}
FORMS = {
    "m16n8k8_f16": dense("m16n8k8", "f16.f16.f16.f16", 2, 1, 2, **F16),
    "m16n8k16_f16": dense("m16n8k16", "f16.f16.f16.f16", 4, 2, 2, **F16),
    "m16n8k8_f32": dense("m16n8k8", "f32.f16.f16.f32", 2, 1, 4),
    "m16n8k16_f32": dense("m16n8k16", "f32.f16.f16.f32", 4, 2, 4),
    "bf16k8": dense("m16n8k8", "f32.bf16.bf16.f32", 2, 1, 4),
    "bf16k16": dense("m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4),
    "tf32k4": dense("m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4),
    "tf32k8": dense("m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4),
    "f64k4": dense("m8n8k4", "f64.f64.f64.f64", 1, 1, 2, **DOUBLE),
    "f64_16x8x4": dense("m16n8k4", "f64.f64.f64.f64", 2, 1, 4, **DOUBLE),
    "f64_16x8x8": dense("m16n8k8", "f64.f64.f64.f64", 4, 2, 4, **DOUBLE),
    "f64_16x8x16": dense("m16n8k16", "f64.f64.f64.f64", 8, 4, 4, **DOUBLE),
    "i8816_s8s8": dense("m8n8k16", "s32.s8.s8.s32", 1, 1, 2, **INT),
    "i16816_u8s8": dense("m16n8k16", "s32.u8.s8.s32", 2, 1, 4, **INT),
    "i16832_s8u8": dense("m16n8k32", "s32.s8.u8.s32", 4, 2, 4, **INT),
    "i16832_u8u8sat": dense("m16n8k32", "s32.u8.u8.s32", 4, 2, 4, how=".satfinite", **INT),
    "i8832_s4u4": dense("m8n8k32", "s32.s4.u4.s32", 1, 1, 2, **INT),
    "i16864_s4s4": dense("m16n8k64", "s32.s4.s4.s32", 4, 2, 4, **INT),
    "b88128_xor": dense("m8n8k128", "s32.b1.b1.s32", 1, 1, 2, tail=".xor.popc", **INT),
    "b168256_and": dense("m16n8k256", "s32.b1.b1.s32", 4, 2, 4, tail=".and.popc", **INT),
    "sp_16_f16_s1": sparse("m16n8k16", "f16.f16.f16.f16", 2, 2, 2, selector=1, **F16),
    "sp_32_f32_s1": sparse("m16n8k32", "f32.f16.f16.f32", 4, 4, 4, selector=1),
    "sp_16_bf16_s0": sparse("m16n8k16", "f32.bf16.bf16.f32", 2, 2, 4, selector=0),
    "sp_8_tf32_s1": sparse("m16n8k8", "f32.tf32.tf32.f32", 2, 2, 4, selector=1),
    "sp_16_tf32_s1": sparse("m16n8k16", "f32.tf32.tf32.f32", 4, 4, 4, selector=1),
    "sp_32_s8_s1": sparse("m16n8k32", "s32.s8.u8.s32", 2, 2, 4, selector=1, **INT),
    "sp_64_s8_s0": sparse("m16n8k64", "s32.s8.u8.s32", 4, 4, 4, selector=0, **INT),
    "sp_64_s4_s1": sparse("m16n8k64", "s32.s4.u4.s32", 2, 2, 4, selector=1, **INT),
    "sp_128_s4_s0": sparse("m16n8k128", "s32.s4.u4.s32", 4, 4, 4, selector=0, **INT),
}

BYTE_FORMS = {
    "e4m3_e4m3": of_bytes("m16n8k32", "e4m3", "e4m3", "f32", 4, 2, 4),
    "e4m3_e5m2": of_bytes("m16n8k32", "e4m3", "e5m2", "f32", 4, 2, 4),
    "e5m2_e4m3": of_bytes("m16n8k32", "e5m2", "e4m3", "f32", 4, 2, 4),
    "e5m2_e5m2": of_bytes("m16n8k32", "e5m2", "e5m2", "f32", 4, 2, 4),
    "e4m3k16": of_bytes("m16n8k16", "e4m3", "e4m3", "f32", 2, 1, 4),
    "e5m2k16": of_bytes("m16n8k16", "e5m2", "e5m2", "f32", 2, 1, 4),
    "e4m3_f16": of_bytes("m16n8k32", "e4m3", "e4m3", "f16", 4, 2, 2, **F16),
    "e5m2k16_f16": of_bytes("m16n8k16", "e5m2", "e5m2", "f16", 2, 1, 2, **F16),
}
"""Floats of 8 bits: QMMA on sm_89 and sm_120, which no GPU was asked about; HMMA of halves on sm_90 and sm_100."""
