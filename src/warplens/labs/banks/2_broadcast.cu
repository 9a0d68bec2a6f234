// All lanes read the same word. One bank, but also one word: it is read once and given to everybody.
constexpr int ROUNDS = 64;

extern "C" __global__ void walk(const int* in, int* out, int stride) {
  __shared__ int tile[1024];
  int t = threadIdx.x, warp = t / 32, i = blockIdx.x * 1024 + t;
  tile[t] = in[i];
  __syncthreads();
  volatile int* word = &tile[32 * warp];
  int sum = 0;
#pragma unroll 8
  for (int round = 0; round < ROUNDS; ++round) sum += *word;
  out[i] = sum;
}
