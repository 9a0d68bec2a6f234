"""Hits in L1 of loads and stores of one warp to lines that it has just loaded from, stored or added to."""

from __future__ import annotations

from gpu import Gpu

COLD = False
ST = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
KINDS = ("load", "store", "atomic")
SOURCE = """
extern "C" __global__ void two(float* x, float* sink, int lines, int kinds, int sectors, int words, int from,
                               int wait) {
  float sum = 0;
  int of = threadIdx.x % 8;
  for (int turn = 0; turn < 2; ++turn) {
    int kind = kinds >> 4 * turn & 15, sector = sectors >> 4 * turn & 15, count = words >> 4 * turn & 15;
    int first = turn ? from : 0;
    long long until = clock64() + (turn ? wait : 0);
    while (clock64() < until) {}
    for (int line = threadIdx.x / 8; line < lines; line += 4) {
      float* p = x + line * 1024 + sector * 8 + of;
      if (of < first || of >= first + count) continue;
      if (kind == 0) sum += __ldca(p);
      if (kind == 1) *p = turn;
      if (kind == 2) atomicAdd(p, 1.0f);
    }
  }
  if (sum == 1234.5f) *sink = sum;
}
"""


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    """Of as many lines as the kept row has sectors."""
    kinds = KINDS.index(row["first"]) | KINDS.index(row["then"]) << 4
    lines = int(row[ST]) // 2 if kinds == 0x11 else 256
    sectors = int(row["sector"]) | int(row["then_sector"]) << 4
    words = int(row["words"]) | int(row["then_words"]) << 4
    sizes = (lines, kinds, sectors, words, int(row["from_word"]), int(row["cycles_between"]))
    gpu.start("two", 1, 32, gpu.zeros(4096 * lines), gpu.sink, *sizes)
    return True
