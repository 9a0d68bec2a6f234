// Matrix loads and stores, and asynchronous copies, at chosen rows by the lanes of one warp: the patterns behind
// measurements/h200/matrix_patterns.csv.
// Shared memory holds ROWS rows of 16 bytes; lane l names row idx[l].
#define ROWS 256
#define ELEMENTS 1024
#define FILL extern __shared__ __align__(128) int words[]; const int l = threadIdx.x;
#define AT(row) ((unsigned)__cvta_generic_to_shared(words) + 16 * (row))

#define LDSM(NAME, KIND, COUNT, LIST, ...)                                                              \
  extern "C" __global__ void ldsm_##NAME(const int* idx, int* out) {                                    \
    FILL                                                                                                \
    for (int k = l; k < 4 * ROWS; k += 32) words[k] = 3 * k;                                       \
    __syncthreads();                                                                                    \
    int r[4] = {};                                                                                      \
    asm volatile("ldmatrix.sync.aligned.m8n8." KIND ".shared.b16 " LIST : __VA_ARGS__ : "r"(AT(idx[l]))); \
    for (int k = 0; k < COUNT; ++k) out[l * 4 + k] = r[k];                                              \
  }
LDSM(1, "x1", 1, "{%0}, [%1];", "=r"(r[0]))
LDSM(2, "x2", 2, "{%0, %1}, [%2];", "=r"(r[0]), "=r"(r[1]))
LDSM(4, "x4", 4, "{%0, %1, %2, %3}, [%4];", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))
LDSM(1t, "x1.trans", 1, "{%0}, [%1];", "=r"(r[0]))
LDSM(2t, "x2.trans", 2, "{%0, %1}, [%2];", "=r"(r[0]), "=r"(r[1]))
LDSM(4t, "x4.trans", 4, "{%0, %1, %2, %3}, [%4];", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))

#if __CUDA_ARCH__ >= 900
#define STSM(NAME, KIND, LIST, ...)                                                                     \
  extern "C" __global__ void stsm_##NAME(const int* idx, int* out) {                                    \
    FILL                                                                                                \
    for (int k = l; k < 4 * ROWS; k += 32) words[k] = 0;                                           \
    __syncthreads();                                                                                    \
    const int r[4] = {0x20001 * l + 0x10001, 0x20001 * l + 0x1010101, 0x20001 * l + 0x2010201, 0x20001 * l + 0x3010301}; \
    asm volatile("stmatrix.sync.aligned.m8n8." KIND ".shared.b16 [%0], " LIST ::"r"(AT(idx[l])), __VA_ARGS__ : "memory"); \
    __syncthreads();                                                                                    \
    for (int k = l; k < 4 * ROWS; k += 32) out[k] = words[k];                                           \
  }
STSM(1, "x1", "{%1};", "r"(r[0]))
STSM(2, "x2", "{%1, %2};", "r"(r[0]), "r"(r[1]))
STSM(4, "x4", "{%1, %2, %3, %4};", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]))
STSM(1t, "x1.trans", "{%1};", "r"(r[0]))
STSM(2t, "x2.trans", "{%1, %2};", "r"(r[0]), "r"(r[1]))
STSM(4t, "x4.trans", "{%1, %2, %3, %4};", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]))
#endif

#if __CUDA_ARCH__ >= 800
// Lane l copies element from[l] to element to[l] if on[l]; only bytes[l] of it, the rest becomes zero.
#define COPY(NAME, SIZE, ASM, ...)                                                                      \
  extern "C" __global__ void copy_##NAME(const int* to, const int* from, const int* on, const int* bytes, const char* in, int* out) { \
    FILL                                                                                                \
    for (int k = l; k < SIZE * ELEMENTS / 4; k += 32) words[k] = -1;                                       \
    __syncthreads();                                                                                    \
    const unsigned place = (unsigned)__cvta_generic_to_shared(words) + SIZE * to[l];                    \
    const char* source = in + SIZE * from[l];                                                           \
    if (on[l]) asm volatile("cp.async." ASM ::"r"(place), "l"(source) __VA_ARGS__ : "memory");          \
    asm volatile("cp.async.wait_all;" ::: "memory");                                                    \
    __syncthreads();                                                                                    \
    for (int k = l; k < SIZE * ELEMENTS / 4; k += 32) out[k] = words[k];                                        \
  }
COPY(4, 4, "ca.shared.global [%0], [%1], 4;")
COPY(8, 8, "ca.shared.global [%0], [%1], 8;")
COPY(16, 16, "ca.shared.global [%0], [%1], 16;")
COPY(16_bypass, 16, "cg.shared.global [%0], [%1], 16;")
COPY(4_fill, 4, "ca.shared.global [%0], [%1], 4, %2;", , "r"(bytes[l]))
COPY(8_fill, 8, "ca.shared.global [%0], [%1], 8, %2;", , "r"(bytes[l]))
COPY(16_fill, 16, "cg.shared.global [%0], [%1], 16, %2;", , "r"(bytes[l]))
#endif
