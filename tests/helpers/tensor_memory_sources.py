"""CUDA source for kernels that use tensor memory (tcgen05): allocation, loads and stores by shape."""

from __future__ import annotations

REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}  # of a thread, for .x1

COMMON = """
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void allocate(unsigned* to, int columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
               :: "r"(shared_address(to)), "r"(columns) : "memory");
}
__device__ void release(unsigned at, int columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(at), "r"(columns));
}
"""


def _registers(count: int, first: int = 0) -> str:
    return "{" + ",".join(f"%{first + k}" for k in range(count)) + "}"


def load(name: str, shape: str, number: int, packed: bool = False, split: int | None = None) -> str:
    """A device function `name(unsigned* r, unsigned address)`; split: columns to the second half of .16x32bx2."""
    count = REGISTERS[shape] * number
    outputs = ",".join(f'"=r"(r[{k}])' for k in range(count))
    text = f"tcgen05.ld.sync.aligned.{shape}.x{number}{'.pack::16b' * packed}.b32 {_registers(count)}, [%{count}]"
    text += f", {split};" if split is not None else ";"
    return f"""__device__ void {name}(unsigned* r, unsigned at) {{
      asm volatile("{text}" : {outputs} : "r"(at));
      asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    }}"""


def store(name: str, shape: str, number: int, packed: bool = False, split: int | None = None) -> str:
    count = REGISTERS[shape] * number
    inputs = ",".join(f'"r"(r[{k}])' for k in range(count))
    offset = f", {split}" if split is not None else ""
    text = f"tcgen05.st.sync.aligned.{shape}.x{number}{'.unpack::16b' * packed}.b32 [%{count}]{offset}, "
    return f"""__device__ void {name}(const unsigned* r, unsigned at) {{
      asm volatile("{text}{_registers(count)};" :: {inputs}, "r"(at));
      asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    }}"""


def moved(shape: str, number: int, packed: bool = False, split: int | None = None) -> str:
    """A kernel for 128 threads: what is given, a column a register, goes to tensor memory by 32x32b and comes back by
    `shape`; then what came back is stored by `shape` and read by 32x32b."""
    count = REGISTERS[shape] * number
    return f"""{COMMON}
    {load("load_whole", "32x32b", 32)} {store("store_whole", "32x32b", 32)}
    {load("load_shape", shape, number, packed, split)} {store("store_shape", shape, number, packed, split)}
    extern "C" __global__ void moved(const unsigned* in, unsigned* by_shape, unsigned* back) {{
      __shared__ unsigned address;
      if (threadIdx.x < 32) allocate(&address, 64);
      __syncthreads();
      const unsigned t = address + (threadIdx.x / 32 * 32 << 16);
      unsigned r[32], s[{count}];
      for (int k = 0; k < 32; k++) r[k] = in[threadIdx.x * 32 + k];
      store_whole(r, t);
      load_shape(s, t);
      for (int k = 0; k < {count}; k++) by_shape[threadIdx.x * {count} + k] = s[k];
      store_shape(s, t + 32);
      load_whole(r, t + 32);
      for (int k = 0; k < 32; k++) back[threadIdx.x * 32 + k] = r[k];
      __syncthreads();
      if (threadIdx.x < 32) release(address, 64);
    }}"""
