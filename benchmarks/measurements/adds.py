"""Sums, copies and reads of two arrays: how far waiting for DRAM's turns depends on what is mixed."""

from __future__ import annotations

from gpu import Gpu

READS = ("us",)
SOURCE = "".join(
    f"""
extern "C" __global__ void add{n}(const float{t}* x, const float{t}* y, float{t}* z, long long words) {{
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {{
    float{t} a = x[i], b = y[i];
    reinterpret_cast<float&>(a) += reinterpret_cast<float&>(b);
    z[i] = a;
  }}
}}
extern "C" __global__ void copy{n}(const float{t}* x, const float{t}* y, float{t}* z, long long words) {{
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    z[i] = x[i];
}}
extern "C" __global__ void read_two{n}(const float{t}* x, const float{t}* y, float{t}* z, long long words) {{
  float s = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {{
    float{t} a = x[i], b = y[i];
    s += reinterpret_cast<float&>(a) + reinterpret_cast<float&>(b);
  }}
  if (s == 1e38f) reinterpret_cast<float&>(*z) = s;
}}
"""
    for n, t in ((1, ""), (2, "2"), (4, "4"))
)  # fmt: skip


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    size, pad = int(row["mib"]) << 20, int(row["pad"])
    all_three = gpu.zeros(3 * (size + pad)).view(gpu.cupy.uint8)
    arrays = [all_three[k * (size + pad) :] for k in range(3)]
    words = size // 4 // int(row["kernel"][-1])
    return {"us": gpu.time(row["kernel"], int(row["grid"]), int(row["block"]), *arrays, words)}
