// Graphs of kernels and fills, in a chain; the same work in a stream.
#include <chrono>
#include <cstdio>
#include <vector>
#include <algorithm>
using clk = std::chrono::steady_clock;
__global__ void small(float* x) { x[threadIdx.x] += 1; }
__global__ void sized(float* x, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += 1; }
static float* x;
static void work(cudaStream_t s, char kind, size_t bytes) {
    if (kind == 'k') small<<<1, 32, 0, s>>>(x);
    if (kind == 'K') sized<<<264, 256, 0, s>>>(x, 1 << 20);
    if (kind == 'f') cudaMemsetAsync(x, 0, bytes, s);
    if (kind == 'c') cudaMemcpyAsync(x, x + (32 << 20), bytes, cudaMemcpyDeviceToDevice, s);
}
int main() {
    cudaMalloc(&x, 512 << 20); cudaMemset(x, 0, 512 << 20);
    cudaStream_t s; cudaStreamCreate(&s);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    const char* patterns[] = {"k", "f", "c", "K", "kf", "fk", "kc", "ff", "kkf", "Kf", "KKf", "Kc", "fK", "KfKc"};
    size_t sizes[] = {4, 256, 4096, 65536, 1 << 20, 16 << 20};
    for (const char* p : patterns) for (size_t bytes : sizes) for (int nodes : {1, 20, 100, 300}) {
        bool sizeless = true; for (const char* q = p; *q; q++) sizeless &= *q == 'k' || *q == 'K';
        if (sizeless && bytes > 4) continue;
        int length = 0; while (p[length]) length++;
        cudaGraph_t graph; cudaGraphExec_t exec;
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        for (int i = 0; i < nodes; i++) work(s, p[i % length], bytes);
        cudaStreamEndCapture(s, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        std::vector<float> g, l; float first = 0, ms; double host = 0;
        for (int i = 0; i < 12; i++) {
            cudaDeviceSynchronize(); cudaEventRecord(a, s); auto t = clk::now(); cudaGraphLaunch(exec, s);
            double h = std::chrono::duration<double, std::micro>(clk::now() - t).count();
            cudaEventRecord(b, s); cudaEventSynchronize(b); cudaEventElapsedTime(&ms, a, b);
            if (i == 0) first = ms; else g.push_back(ms), host = h;
        }
        for (int i = 0; i < 7; i++) {
            cudaDeviceSynchronize(); cudaEventRecord(a, s); for (int i = 0; i < nodes; i++) work(s, p[i % length], bytes);
            cudaEventRecord(b, s); cudaEventSynchronize(b); cudaEventElapsedTime(&ms, a, b); if (i) l.push_back(ms);
        }
        std::sort(g.begin(), g.end()); std::sort(l.begin(), l.end());
        printf("%s,%zu,%d,%.2f,%.2f,%.2f,%.2f\n", p, bytes, nodes, 1000 * first, 1000 * g[g.size() / 2], 1000 * l[l.size() / 2], host);
        cudaGraphExecDestroy(exec); cudaGraphDestroy(graph); fflush(stdout);
    }
}
