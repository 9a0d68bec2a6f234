// Asynchronous copies from global to shared memory: so many stages on their way, so many bytes a thread.
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
template <int BYTES, int STAGES> __device__ void copied(const char* x, float* sink, long n, int use) {
  extern __shared__ __align__(16) char s[];
  long step = (long)gridDim.x * blockDim.x * BYTES, i = ((long)blockIdx.x * blockDim.x + threadIdx.x) * BYTES;
  unsigned own = (unsigned)__cvta_generic_to_shared(s) + threadIdx.x * BYTES;
  float sum = 0;
  for (int k = 0; k < STAGES - 1; ++k) {
    if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(own + k * blockDim.x * BYTES), "l"(x + i + k * step));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(own + k * blockDim.x * BYTES), "l"(x + i + k * step), "n"(BYTES));
    asm volatile("cp.async.commit_group;");
  }
  int stage = 0;
  for (; i < n; i += step) {
    int next = stage + STAGES - 1 < STAGES ? stage + STAGES - 1 : stage - 1;
    if (i + (STAGES - 1) * step < n) {
      if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(own + next * blockDim.x * BYTES), "l"(x + i + (STAGES - 1) * step));
      else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(own + next * blockDim.x * BYTES), "l"(x + i + (STAGES - 1) * step), "n"(BYTES));
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1));
    if (use) __syncthreads();
    float v;
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(v) : "r"(own + stage * blockDim.x * BYTES));
    sum += v;
    if (use) __syncthreads();
    stage = stage + 1 < STAGES ? stage + 1 : 0;
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
#define COPIED(bytes, stages) \
  extern "C" __global__ void copied_##bytes##_##stages(const char* x, float* sink, long n, int use) { copied<bytes, stages>(x, sink, n, use); }
COPIED(4, 1)
COPIED(4, 2)
COPIED(4, 4)
COPIED(4, 8)
COPIED(16, 1)
COPIED(16, 2)
COPIED(16, 4)
COPIED(16, 8)
#endif
