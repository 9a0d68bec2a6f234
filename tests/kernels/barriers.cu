// Barriers that live in shared memory, barriers with a result, the cluster's barrier, and single elected lanes.
typedef unsigned long long ull;
#if __CUDA_ARCH__ >= 800
#include <cuda/barrier>
// Threads write, arrive, and read what the others wrote: four phases and one more without the upper half.
extern "C" __global__ void phases(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    int t = threadIdx.x, n = blockDim.x;
    if (t == 0) init(&bar, n);
    __syncthreads();
    s[t] = t * t;
    auto token = bar.arrive();
    out[t] = -t;
    bar.wait(std::move(token));
    int seen = s[(t + 33) % n];
    bar.arrive_and_wait();
    s[t] = seen + 1;
    bar.arrive_and_wait();
    out[n + t] = seen * 1000 + s[(t + 64) % n];
    bar.arrive_and_wait();
    if (t >= n / 2) { bar.arrive_and_drop(); return; }
    s[t] = -1 - t;
    bar.arrive_and_wait();
    out[2 * n + t] = s[(t + 5) % (n / 2)];
}
#endif
// How many threads of the first 64 and of all bring true, and whether all or any do.
extern "C" __global__ void reductions(const int *in, int *out, int first)
{
    int t = threadIdx.x, r = 0, q = 0;
    if (t < first)
        asm volatile("{.reg .pred p; setp.ne.s32 p,%1,0; barrier.red.popc.u32 %0,2,%2,p;}" : "=r"(r) : "r"(in[t]), "r"(first));
    asm volatile("{.reg .pred p,q; setp.ne.s32 p,%1,0; barrier.red.and.pred q,3,128,p; selp.s32 %0,1,0,q;}" : "=r"(q) : "r"(in[t]));
    out[t] = r + 1000 * q + 10000 * __syncthreads_or(in[t] == 7);
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void cluster_of_one(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = t;
    asm volatile("barrier.cluster.arrive.aligned;");
    out[t] = 5;
    asm volatile("barrier.cluster.wait.aligned;");
    out[t] += s[n - 1 - t];
    asm volatile("griddepcontrol.wait;");
    asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void elected(int *out)
{
    int t = threadIdx.x, one = 0, leader = 0;
    if (t % 32 >= 5)
        asm volatile("{.reg .pred p; elect.sync %1|p,0xffffffe0; selp.s32 %0,1,0,p;}" : "=r"(one), "=r"(leader));
    out[t] = 100 * leader + one;
}
#endif
#if __CUDA_ARCH__ >= 800
__device__ unsigned shared_address(const void *p) { return __cvta_generic_to_shared(p); }
__device__ bool over(unsigned barrier, int parity)
{
    int done;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0,1,0,p;}"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    return done;
}
/* Copies that arrive at a barrier when they are done: beside their thread's own arrival, or in its place. */
template <bool own> __device__ void copied(const int *in, int *out)
{
    __shared__ unsigned long long b;
    __shared__ alignas(16) int s[128];
    int t = threadIdx.x, n = blockDim.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&b)), "r"(n));
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(s + t)), "l"(in + t));
    if (own) {
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(&b)));
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(shared_address(&b)) : "memory");
    } else
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&b)) : "memory");
    while (!over(shared_address(&b), 0))
        ;
    out[t] = s[n - 1 - t];
    out[t + n] = over(shared_address(&b), 1);
}
extern "C" __global__ void copied_beside(const int *in, int *out) { copied<true>(in, out); }
extern "C" __global__ void copied_instead(const int *in, int *out) { copied<false>(in, out); }
#endif
