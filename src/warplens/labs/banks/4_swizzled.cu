// The same column without a word wasted: in row r, column c is kept at c ^ r. Row by row that is a permutation of the 32
// banks, and down a column it is one too.
constexpr int ROUNDS = 64;

extern "C" __global__ void walk(const int* in, int* out, int stride) {
  __shared__ int tile[32][32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 1024 + t;
  tile[warp][lane ^ warp] = in[i];
  __syncthreads();
  int row = (warp + lane) % 32;
  volatile int* word = &tile[row][0 ^ row];
  int sum = 0;
#pragma unroll 8
  for (int round = 0; round < ROUNDS; ++round) sum += *word;
  out[i] = sum;
}
