"""What L2 keeps of what is used at random, twice, or stored in parts."""

from __future__ import annotations

from gpu import COMMON, Gpu

THREADS = 1 << 23
KINDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
SOURCE = COMMON + """
__device__ unsigned shuffled(unsigned i, unsigned bits) {  // each of 2^bits numbers once
  unsigned m = (1u << bits) - 1, h = bits / 2;
  for (int r = 0; r < 3; ++r) { i = i * 0x2c1b3c6du + 0x9e3779b9u & m; i ^= i >> h; }
  return i;
}
extern "C" __global__ void gather(const int* x, const int* in, int* out, int* sink, unsigned words, int kind) {
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  int v = __ldcg(x + mixed(i) % words);
  if (kind & 1) v += __ldcg(in + i);
  if (kind & 2) out[i] = v;
  if (v == 12345) *sink = v;
}
extern "C" __global__ void twice(const float4* x, float4* y, float* sink, int words, int out) {
  i64 row = (i64)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * words;
  float s = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (int i = threadIdx.x % 32; i < words; i += 32) {
      float4 v = __ldcg(x + row + i);
      s += v.x;
      if (turn && out) y[row + i] = v;
    }
  if (s == 1e38f) *sink = s;
}
""" + "".join(f"""
extern "C" __global__ void chance{n}({kind}* y, const unsigned* x, unsigned bits) {{
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  y[shuffled(i, bits)] = ({kind})(x ? __ldcg(x + i) : i);
}}
extern "C" __global__ void down{n}({kind}* y, unsigned side) {{
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  y[(i64)(i % side) * side + i / side] = ({kind})i;
}}
""" for n, kind in KINDS.items())  # fmt: skip


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    what, parameter = row["what"].split(), row["parameter"].split()
    if what[0] == "gather":
        size = int(parameter[0]) << 20
        kind = {"in": 1, "out": 2, "both": 3}.get(what[-1], 0)
        streams = gpu.zeros(4 * THREADS), gpu.zeros(4 * THREADS), gpu.sink
        gpu.start("gather", THREADS // 256, 256, gpu.zeros(size), *streams, size // 4, kind)
        return True
    if what[0] == "twice":
        out, words = int(what[1] == "out"), int(what[-2]) * 64
        waves, warps = (1, int(parameter[0])) if len(parameter) == 2 else (int(parameter[0]), int(parameter[2]))
        block, grid = 32 * min(warps, 8), waves * gpu.multiprocessors * max(warps // 8, 1)
        size = 16 * words * grid * block // 32
        gpu.start("twice", grid, block, gpu.zeros(size), gpu.zeros(size), gpu.sink, words, out)
        return True
    bytes_each = int(what[1])
    if what[0] == "chance":
        n = (int(parameter[0]) << 20) // bytes_each
        x = gpu.zeros(4 * n) if what[-1] == "reads" else 0
        gpu.start(f"chance{bytes_each}", n // 256, 256, gpu.zeros(n * bytes_each), x, n.bit_length() - 1)
        return True
    if what[0] == "down":
        side = int(parameter[1])
        gpu.start(f"down{bytes_each}", side * side // 256, 256, gpu.zeros(side * side * bytes_each), side)
        return True
    return None
