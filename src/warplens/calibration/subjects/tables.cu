// A table in constant memory: lanes that read words of their own, one load after the other.
__constant__ unsigned table[16384];
extern "C" {
// `words` different words a warp, `apart` words from each other; the next address needs the last word.
__global__ void table_chain(long long* ticks, float* sink, int rounds, int words, int apart) {
  unsigned at = threadIdx.x % words * apart;
  TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) at += table[at & 16383]; })
  if (at == 12345678) sink[0] = at;
}
// Four loads at once.
__global__ void table_rate(long long* ticks, float* sink, int rounds, int words, int apart) {
  unsigned at = threadIdx.x % words * apart, sum = 0;
  TICKS(for (int r = 0; r < rounds; ++r) {
    UNROLLED(16) sum += table[(at + i * 37 * apart) & 16383];
    at += sum;
  })
  if (sum == 12345678) sink[0] = sum;
}
}
