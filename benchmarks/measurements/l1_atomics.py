"""Sectors that L1 counts for 32 atomic instructions of one warp."""

from __future__ import annotations

from gpu import Gpu

COLD = False
ATOM, RED = (f"l1tex__t_%s_pipe_lsu_mem_global_op_{op}.sum" for op in ("atom", "red"))
COUNTERS = {"requests": ATOM % "requests", "sectors": ATOM % "sectors", "r": RED % "requests", "s": RED % "sectors"}
KINDS = {
    "add s32": ("int", "atomicAdd(p, 1);"), "add f32": ("float", "atomicAdd(p, 1.0f);"),
    "max s32": ("int", "atomicMax(p, 1);"), "add s32, result used": ("int", "s += atomicAdd(p, 1);"),
    "add u64": ("unsigned long long", "atomicAdd(p, 1ull);"), "or b32": ("unsigned", "atomicOr(p, 1u << k);"),
    "cas b32, result used": ("unsigned", "s += atomicCAS(p, 1u, 2u);"),
}  # fmt: skip
NAMES = {what: "a" + "".join(c for c in what if c.isalnum()) for what in KINDS}
SOURCE = "".join(
    f"""
extern "C" __global__ void {NAMES[what]}({kind}* x, int* sink, int lanes, int words, int apart, int in_turn) {{
  int lane = threadIdx.x, s = 0;
  if (lane >= lanes) return;
  {kind}* p = x + (in_turn ? lane % words : lane / (lanes / words)) * apart;
  for (int k = 0; k < 32; ++k) {{ {body} }}
  if (s == 12345) *sink = s;
}}
"""
    for what, (kind, body) in KINDS.items()
)  # fmt: skip


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    lanes, words, apart, in_turn = (int(row[key]) for key in ("lanes", "words", "words_apart", "lane_by_lane"))
    apart = apart // 2 if "u64" in row["what"] else apart  # words of 4 bytes
    gpu.start(NAMES[row["what"]], 1, 32, gpu.zeros(1 << 16), gpu.sink, lanes, words, apart, in_turn)
    return True


def values(found: dict[str, float]) -> dict[str, float]:
    """Where no result is used the compiler makes reductions of them, which are counted apart."""
    return {"requests": found["requests"] + found["r"], "sectors": found["sectors"] + found["s"]}
