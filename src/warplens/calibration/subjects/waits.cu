// Blocks that wait for the block before them.
extern "C" {
// A chain: each block waits until the one before it has said its number.
__global__ void chain_of_blocks(volatile int* said, int work) {
  if (threadIdx.x == 0) {
    int before = 1;
    if (blockIdx.x > 0) while ((before = said[blockIdx.x - 1]) == 0) {}
    said[blockIdx.x] = before + 1;
  }
  float a = F(0);
  for (int i = 0; i < work; ++i) a = fmaf(a, a, a);
  if (a == UNLIKELY) said[0] = 1;
}
// The same behind a ticket, with a barrier before and after and a fence: what scans in one pass do.
__global__ void chain_with_tickets(int* ticket, volatile int* said, int work) {
  __shared__ int mine, base;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  float a = F(0);
  for (int i = 0; i < work; ++i) a = fmaf(a, a, a);
  if (threadIdx.x == 0) {
    int before = 1;
    if (mine > 0) while ((before = said[mine - 1]) == 0) {}
    base = before;
    said[mine] = before + 1;
    __threadfence();
  }
  __syncthreads();
  if (a * base == UNLIKELY) said[0] = 1;
}
// Looks back: a warp looks at 32 blocks before it at once; what a block has is said at once, its sum later.
__global__ void look_back(int* ticket, volatile unsigned long long* said, int work) {
  __shared__ int mine;
  __shared__ long long base;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  float a = F(0);
  for (int i = 0; i < work; ++i) a = fmaf(a, a, a);
  const unsigned long long PART = 1ull << 62, WHOLE = 2ull << 62, REST = PART - 1;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) said[mine] = (mine ? PART : WHOLE) | 1;
    unsigned long long sum = 0;
    for (int from = mine - 1; from >= 0; from -= 32) {
      int at = from - threadIdx.x;
      unsigned long long found;
      do found = at >= 0 ? said[at] : WHOLE; while (__any_sync(~0u, found < PART));
      unsigned whole = __ballot_sync(~0u, found >= WHOLE);
      int first = whole ? __ffs(whole) - 1 : 31;
      sum += __reduce_add_sync(~0u, (int)threadIdx.x <= first ? (unsigned)(found & REST) : 0u);
      if (whole) break;
    }
    if (threadIdx.x == 0) { said[mine] = WHOLE | (sum + 1); base = sum; }
  }
  __syncthreads();
  if (a * base == UNLIKELY) said[0] = 1;
}
// All blocks meet: one word is counted up, and looked at until all have come.
__global__ void meeting(int* come, int rounds) {
  for (int r = 1; r <= rounds; ++r) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(come, 1);
      while (*(volatile int*)come < r * (int)gridDim.x) {}
    }
    __syncthreads();
  }
}
// A lock: one thread of each block takes it so many times, with a compare-and-swap that is tried again.
__global__ void lock(int* taken, volatile int* sum, int rounds) {
  if (threadIdx.x == 0)
    for (int r = 0; r < rounds; ++r) {
      while (atomicCAS(taken, 0, 1) != 0) {}
      __threadfence();
      *sum = *sum + 1;
      __threadfence();
      atomicExch(taken, 0);
    }
}
// A flag that another warp of the block sets in shared memory after a while.
__global__ void wait_in_block(long long* ticks, int work) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  long long t0 = clock64();
  if (threadIdx.x / 32 == 0) {
    float a = F(0);
    for (int i = 0; i < work; ++i) a = fmaf(a, a, a);
    if (a == UNLIKELY) flag = 2;
    __syncwarp();
    flag = 1;
  } else {
    while (flag == 0) {}
  }
  if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0;
}
}
