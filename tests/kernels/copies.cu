// Asynchronous copies beside loads and stores of shared memory.
extern __shared__ __align__(16) char room[];  // 16 KB for copies, 16 KB for loads and stores
#define COPY_KERNEL(NAME, ASM, BYTES)                                                                                  \
  extern "C" __global__ void NAME(const char* in, float* out, int rounds, int copies, int loads, int stores, int to, int step) { \
    int t = threadIdx.x;                                                                                               \
    float sum = 0;                                                                                                     \
    for (int r = 0; r < rounds; ++r) {                                                                                 \
      for (int k = 0; k < copies; ++k) {                                                                               \
        unsigned at = (unsigned)__cvta_generic_to_shared(room + (t * BYTES * to + k * 1024) % 16384);                  \
        const char* from = in + (((size_t)blockIdx.x * rounds + r) * copies + k) * BYTES * blockDim.x + t * BYTES;     \
        asm volatile("cp.async." ASM ::"r"(at), "l"(from) : "memory");                                                 \
      }                                                                                                                \
      asm volatile("cp.async.commit_group;" ::: "memory");                                                             \
      for (int k = 0; k < loads; ++k) {                                                                                \
        float a, b, c, d;                                                                                              \
        unsigned at = (unsigned)__cvta_generic_to_shared(room + 16384 + ((t / step) * 16 + k * 512) % 16384);          \
        asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at) : "memory"); \
        sum += a + b + c + d;                                                                                          \
      }                                                                                                                \
      for (int k = 0; k < stores; ++k) {                                                                               \
        unsigned at = (unsigned)__cvta_generic_to_shared(room + 16384 + (t * 4 * step + k * 128) % 16384);             \
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(sum) : "memory");                                        \
      }                                                                                                                \
      asm volatile("cp.async.wait_group 0;" ::: "memory");                                                             \
      __syncthreads();                                                                                                 \
    }                                                                                                                  \
    out[blockIdx.x * blockDim.x + t] = sum + ((float*)room)[t];                                                        \
  }
COPY_KERNEL(copy_4, "ca.shared.global [%0], [%1], 4;", 4)
COPY_KERNEL(copy_8, "ca.shared.global [%0], [%1], 8;", 8)
COPY_KERNEL(copy_16, "ca.shared.global [%0], [%1], 16;", 16)
COPY_KERNEL(bypass_16, "cg.shared.global [%0], [%1], 16;", 16)
// The same with a part of the address in the instruction, as unrolled code has it.
COPY_KERNEL(bypass_16_at, "cg.shared.global [%0+8192], [%1], 16;", 16)
COPY_KERNEL(copy_16_at, "ca.shared.global [%0+8192], [%1], 16;", 16)
COPY_KERNEL(copy_4_at, "ca.shared.global [%0+8192], [%1], 4;", 4)
