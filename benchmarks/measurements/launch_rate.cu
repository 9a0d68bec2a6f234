// What the host pays for a call, and how fast small work follows on itself when the queue begins empty.
//     nvcc -O2 -arch=sm_90 launch_rate.cu -o launch_rate && ./launch_rate > launch_rate.csv
// Of `calls` in a row: nanoseconds of the host a call (host_ns), between two events a call (event_ns).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

__global__ void empty() {}
__global__ void with_many(long4 a, long4 b, long4 c, long4 d) {}
__global__ void wait(int cycles) {
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

static void read(const char *what, int calls, const std::function<void()> &call) {
    std::vector<double> host, event;
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    for (int n = 0; n < 9; n++) {
        cudaDeviceSynchronize();
        cudaEventRecord(start);
        auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < calls; k++)
            call();
        host.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms;
        cudaEventElapsedTime(&ms, start, end);
        event.push_back(ms * 1e6 / calls);
    }
    std::sort(host.begin(), host.end());
    std::sort(event.begin(), event.end());
    printf("%s,%d,%.0f,%.0f\n", what, calls, host[4], event[4]);
}

int main() {
    char *x, *y, *pinned;
    cudaMalloc(&x, 1 << 24);
    cudaMalloc(&y, 1 << 24);
    cudaMallocHost(&pinned, 1 << 24);
    cudaStream_t stream, other;
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaGraph_t graph;
    cudaGraphExec_t one, many;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    empty<<<1, 32, 0, stream>>>();
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&one, graph, 0);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int n = 0; n < 100; n++)
        empty<<<1, 32, 0, stream>>>();
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&many, graph, 0);
    long4 z = {};
    printf("what,calls,host_ns,event_ns\n");
    for (int calls : {1, 2, 5, 20, 100, 1000}) {
        read("empty kernel of 32 threads", calls, [] { empty<<<1, 32>>>(); });
        read("empty kernel of 132 x 256 threads", calls, [] { empty<<<132, 256>>>(); });
        read("empty kernel of 16384 x 256 threads", calls, [] { empty<<<16384, 256>>>(); });
        read("empty kernel with 128 bytes of parameters", calls, [&] { with_many<<<1, 32>>>(z, z, z, z); });
        read("kernel that waits 2000 cycles", calls, [] { wait<<<132, 256>>>(2000); });
        read("kernel that waits 4000 cycles", calls, [] { wait<<<132, 256>>>(4000); });
        read("kernel that waits 8000 cycles", calls, [] { wait<<<132, 256>>>(8000); });
        read("kernel that waits 20000 cycles", calls, [] { wait<<<132, 256>>>(20000); });
        read("cudaMemsetAsync of 4 KiB", calls, [&] { cudaMemsetAsync(x, 0, 4096); });
        read("cudaMemsetAsync of 16 MiB", calls, [&] { cudaMemsetAsync(x, 0, 1 << 24); });
        read("cudaMemset of 4 KiB", calls, [&] { cudaMemset(x, 0, 4096); });
        read("cudaMemcpyAsync within the device of 4 KiB", calls,
             [&] { cudaMemcpyAsync(y, x, 4096, cudaMemcpyDeviceToDevice); });
        read("cudaMemcpyAsync within the device of 16 MiB", calls,
             [&] { cudaMemcpyAsync(y, x, 1 << 24, cudaMemcpyDeviceToDevice); });
        read("cudaMemcpyAsync to the device of 4 KiB", calls,
             [&] { cudaMemcpyAsync(x, pinned, 4096, cudaMemcpyHostToDevice); });
        read("cudaMemcpyAsync to the host of 4 KiB", calls,
             [&] { cudaMemcpyAsync(pinned, x, 4096, cudaMemcpyDeviceToHost); });
        read("kernel and cudaMemsetAsync of 4 KiB", calls, [&] { empty<<<1, 32>>>(); cudaMemsetAsync(x, 0, 4096); });
        read("kernel and wait for it", calls, [] { empty<<<1, 32>>>(); cudaDeviceSynchronize(); });
        read("graph of one empty kernel", calls, [&] { cudaGraphLaunch(one, nullptr); });
        if (calls <= 20)
            read("graph of 100 empty kernels", calls, [&] { cudaGraphLaunch(many, nullptr); });
        read("kernels in two streams in turn", calls, [&] { empty<<<1, 32, 0, stream>>>(); empty<<<1, 32, 0, other>>>(); });
        read("kernel and cudaEventRecord", calls, [&] {
            static cudaEvent_t event = [] { cudaEvent_t e; cudaEventCreate(&e); return e; }();
            empty<<<1, 32>>>();
            cudaEventRecord(event);
        });
    }
    printf("# %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
