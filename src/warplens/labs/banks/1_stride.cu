// A warp reads 32 words of shared memory that lie `stride` apart, 64 times over. Word k is in bank k % 32, and a bank
// gives one word at a time: with stride 1 each lane has its own bank, with 2 two lanes share one, with 32 all of them do.
constexpr int ROUNDS = 64;

extern "C" __global__ void walk(const int* in, int* out, int stride) {
  __shared__ int tile[1024];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 1024 + t;
  tile[t] = in[i];
  __syncthreads();
  volatile int* word = &tile[(32 * warp + stride * lane) % 1024];  // volatile: really read in each round
  int sum = 0;
#pragma unroll 8
  for (int round = 0; round < ROUNDS; ++round) sum += *word;
  out[i] = sum;
}
