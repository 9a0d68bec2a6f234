// The column of a tile of 32 x 32 (stride 32) again, but the rows are 33 words apart: the words of a column move on by
// one bank from row to row. Costs 32 words that nobody reads.
constexpr int ROUNDS = 64;

extern "C" __global__ void walk(const int* in, int* out, int stride) {
  __shared__ int tile[32][33];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 1024 + t;
  tile[warp][lane] = in[i];
  __syncthreads();
  volatile int* word = &tile[(warp + lane) % 32][0];
  int sum = 0;
#pragma unroll 8
  for (int round = 0; round < ROUNDS; ++round) sum += *word;
  out[i] = sum;
}
