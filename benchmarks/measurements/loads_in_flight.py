"""What waits while 4 to 256 KiB a multiprocessor are asked for: loads of 16 bytes, 1 to 8 a thread, and a merge."""

from __future__ import annotations

from gpu import Gpu

MIB = 256
STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
COUNTERS = {
    "us": "gpu__time_duration.sum", "lg_throttle": STALL % "lg_throttle",
    "long_scoreboard": STALL % "long_scoreboard", "mio_throttle": STALL % "mio_throttle",
}  # fmt: skip
SOURCE = "".join(f"""
extern "C" __global__ void read{n}(const float4* x, float* sink, int words) {{
  int all = gridDim.x * blockDim.x;
  float s = 0;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += {n} * all) {{
    float4 had[{n}];
#pragma unroll
    for (int k = 0; k < {n}; ++k) had[k] = i + k * all < words ? x[i + k * all] : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < {n}; ++k) s += had[k].x + had[k].w;
  }}
  if (s == 1e38f) *sink = s;
}}
""" for n in (1, 2, 3, 4, 6, 8)) + """
extern "C" __global__ void merge(const float4* x, const float4* y, float4* z, int words) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    float4 a = x[i], b = y[i];
    z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
"""  # fmt: skip


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    size = MIB << 20
    arrays = [gpu.zeros(size) for _ in range(3)] if row["kernel"] == "merge" else [gpu.zeros(size), gpu.sink]
    gpu.start(row["kernel"], int(row["blocks"]), int(row["threads"]), *arrays, size // 16)
    return True


def values(found: dict[str, float]) -> dict[str, float]:
    return found | {"us": found["us"] / 1000}
