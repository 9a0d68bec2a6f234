// Forms of memory instructions that other kernels here do not have: scopes, widths and hints through generic pointers,
// in one block of 32 threads.  What they leave: tests/emulator/lowering/test_memory_forms.py.
typedef unsigned long long ull;
#define EXPORT extern "C" __global__ void
#define ASM asm volatile

__device__ ull long_before(ull* p, int t) {  // atomics of a block on 64 bits
  ull sum = atomicAdd_block(p, 3ull) + 5 * atomicCAS_block(p + 1, 7ull, 9ull);
  return sum + atomicExch_block(p + 2 + t, (ull)t);
}
// where: 0 global, 1 shared; `mask` keeps what follows from the order of lanes out of the results.
EXPORT generic_longs(ull* g, int where, ull* out) {
  __shared__ ull s[40];
  int t = threadIdx.x;
  s[t] = g[t]; if (t < 8) s[t + 32] = g[t + 32];
  __syncthreads();
  ull* p = where ? s : g;
  out[t] = long_before(p, t);
  __syncthreads();
  out[32 + t] = p[t];
}
EXPORT generic_words(unsigned* g, int where, unsigned* out) {
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  s[t] = g[t]; s[t + 32] = g[t + 32];
  __syncthreads();
  unsigned* p = where ? s : g;
  out[t] = atomicOr_block(p + t, 1u << t) + atomicMax_system((int*)p + 32 + t, 40 - t);
  atomicXor_block(p + (t & 7), 1u << t);
  atomicAdd((int*)p + 40, t);
  atomicMin((int*)p + 41, -t);
  __syncthreads();
  out[32 + t] = p[t]; out[64 + t] = p[t + 32];
}
EXPORT generic_rows(uint4* g, int where, uint4* out) {
  __shared__ uint4 s[32];
  int t = threadIdx.x;
  s[t] = g[t];
  __syncthreads();
  uint4* p = where ? s : g;
  uint4 v = p[t ^ 1];
  __syncwarp();
  p[t] = make_uint4(v.y, v.z, v.w, v.x);
  __syncwarp();
  out[t] = p[t ^ 3];
}
EXPORT generic_scopes(unsigned* g, int where, unsigned* out) {
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  s[t] = g[t]; s[t + 32] = g[t + 32];
  __syncthreads();
  unsigned* p = where ? s : g;
  volatile unsigned* v = p;
  volatile unsigned char* c = (unsigned char*)p;
  unsigned a, b; ull w;
  ASM("ld.relaxed.cta.u32 %0, [%1];" : "=r"(a) : "l"(p + t) : "memory");
  ASM("ld.relaxed.cta.u64 %0, [%1];" : "=l"(w) : "l"((ull*)p + t) : "memory");
  b = v[63 - t] + c[4 * t + 1];
  __syncwarp();
  v[t] = a + 1;
  __syncwarp();
  c[4 * t + 3] = (unsigned char)(t + 5);
  ((unsigned char*)p)[4 * t + 128] = (unsigned char)(t + 6);
  __syncwarp();
  out[t] = b + (unsigned)(w >> 32); out[32 + t] = p[t]; out[64 + t] = p[32 + t];
}
__constant__ signed char bytes[64] = {-1, 2, -3, 4, -5, 6, -7, 8, -9, 10, -11, 12, -13, 14, -15, 16};
__constant__ unsigned short words[64] = {65535, 2, 65533, 4, 65531, 6, 65529, 8};
EXPORT narrow_constants(const int* index, int which, int* out) {
  int t = threadIdx.x;
  out[t] = bytes[index[t] & 63] + 1000 * words[which];
}
EXPORT narrow_shared(const signed char* given, int* out) {
  __shared__ signed char b[64];
  __shared__ short h[64];
  int t = threadIdx.x;
  b[t] = given[t]; h[t] = (short)(given[t] * 300);
  __syncthreads();
  out[t] = b[31 - t] + 1000 * h[t ^ 5];
}
EXPORT hints(const uint4* in, uint4* out, const volatile signed char* narrow, uint2* pairs) {
  int t = threadIdx.x;
  uint4 v; unsigned far, once;
#if __CUDA_ARCH__ >= 800
  ASM("prefetch.global.L1 [%0];" :: "l"(in + 64));
  ASM("ld.global.L1::evict_first.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + t));
  ASM("ld.global.L2::256B.u32 %0, [%1];" : "=r"(far) : "l"((unsigned*)in + 128 + t));
  ASM("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(once) : "l"((unsigned*)in + 160 + t));
#else
  v = in[t]; far = ((unsigned*)in)[128 + t]; once = ((unsigned*)in)[160 + t];
#endif
  v.x += far; v.y ^= once; v.z += narrow[t];
#if __CUDA_ARCH__ >= 800
  ASM("st.global.L1::evict_first.v4.u32 [%0], {%1,%2,%3,%4};" :: "l"(out + t), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
  ASM("st.global.L1::evict_last.v2.u32 [%0], {%1,%2};" :: "l"(pairs + t), "r"(v.w), "r"(far));
#else
  out[t] = v; pairs[t] = make_uint2(v.w, far);
#endif
}
// Sums whose result nobody reads, and unsigned extremes in shared memory.
EXPORT unread(unsigned* g, ull* wide, unsigned* out) {
  __shared__ unsigned s[2];
  int t = threadIdx.x;
  if (t < 2) s[t] = 100;
  __syncthreads();
  atomicAdd_block(g + (t & 3), t);
  atomicOr(wide + (t & 1), 1ull << (t + 20));
  atomicMax(s, (t * 0x9E3779B9u) >> 1 << 1);
  atomicMin(s + 1, t * 0x9E3779B9u + 50);
  __syncthreads();
  if (t < 2) out[t] = s[t];
}
#if __CUDA_ARCH__ >= 900
EXPORT vector_sums(float* g, float* old) {
  int t = threadIdx.x;
  atomicAdd((float4*)g + (t & 1), make_float4(1, t, 2 * t, 0.5f));
  float2 was = atomicAdd((float2*)(g + 8) + t, make_float2(t, -t));
  old[2 * t] = was.x; old[2 * t + 1] = was.y;
}
EXPORT strong_rows(ull* g, ull* out) {
  int t = threadIdx.x;
  ASM("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w;}" :: "l"(g + 2 * t), "l"(g[64 + t]), "l"((ull)t) : "memory");
  ASM("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.cta.global.b128 [%0], w;}" :: "l"(out + 2 * t), "l"(g[96 + t]), "l"((ull)t + 9) : "memory");
}
EXPORT proxies(unsigned* g, unsigned* out) {
  __shared__ unsigned s[32];
  int t = threadIdx.x;
  s[t] = g[t];
  ASM("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  out[t] = s[t ^ 9];
}
#endif
// A message through memory: written, fenced, told of.
EXPORT fences(volatile unsigned* g, unsigned* out) {
  int t = threadIdx.x;
  if (t < 32) {
    g[t] = 3 * t; ASM("fence.acq_rel.sys;" ::: "memory"); g[64 + t] = 1;
  } else {
    while (!g[32 + t]) {}  // of warp 0, threads 0 to 31
    ASM("fence.acq_rel.cta;" ::: "memory");
    out[t - 32] = g[t - 32];
  }
}
// Words of the launch, which the uniform datapath computes with.
EXPORT uniform_words(unsigned a, unsigned b, unsigned c, ull l, ull m, unsigned* out) {
  int t = threadIdx.x;
  unsigned turned = __byte_perm(a, b, c), shifted = __funnelshift_l(a, b, c), back = __funnelshift_r(a, b, c);
  if (l == m) shifted += 7;
  if (l != m && a < b) turned += 9;
  out[t] = turned + t; out[32 + t] = shifted ^ t; out[64 + t] = back + (l < m);
}
