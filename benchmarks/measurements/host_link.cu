// Copies between host and GPU: memory that is not page-locked, by size; used before, or fresh in each copy.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <sys/mman.h>
using clk = std::chrono::steady_clock;
static double us(clk::time_point a) { return std::chrono::duration<double, std::micro>(clk::now() - a).count(); }
static void print(const char* what, size_t size, std::vector<double>& t) {
    std::sort(t.begin(), t.end());
    printf("%s,%zu,1,%.2f,%.2f,%.2f,us\n", what, size, t.front(), t[t.size() / 2], t.back());
}
int main() {
    size_t most = size_t(1) << 30;
    char* d; cudaMalloc(&d, most);
    char* h = (char*)malloc(most); memset(h, 1, most);
    char* p; cudaMallocHost(&p, 64 << 20); memset(p, 1, 64 << 20);
    cudaMemcpy(d, h, 1 << 20, cudaMemcpyHostToDevice);
    size_t sizes[] = {4, 256, 1024, 4096, 16384, 32768, 65536, 65540, 131072, 262144, 524288, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20, 256 << 20, 1 << 30};
    for (size_t n : sizes) {
        int times = n > (64 << 20) ? 5 : n > (1 << 20) ? 11 : 31;
        std::vector<double> t;
        for (int i = 0; i <= times; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); cudaDeviceSynchronize(); if (i) t.push_back(us(a)); }
        print("host to device pageable", n, t); t.clear();
        for (int i = 0; i <= times; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); double v = us(a); cudaDeviceSynchronize(); if (i) t.push_back(v); }
        print("host to device pageable returns", n, t); t.clear();
        for (int i = 0; i <= times; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost); if (i) t.push_back(us(a)); }
        print("device to host pageable", n, t); t.clear();
        if (n <= (64 << 20)) {
            for (int i = 0; i <= times; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(d, p, n, cudaMemcpyHostToDevice); cudaDeviceSynchronize(); if (i) t.push_back(us(a)); }
            print("host to device pinned", n, t); t.clear();
            for (int i = 0; i <= times; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(p, d, n, cudaMemcpyDeviceToHost); if (i) t.push_back(us(a)); }
            print("device to host pinned", n, t); t.clear();
            // elsewhere in a large buffer each time: not in the host's caches
            size_t room = most / n, step = std::max<size_t>(room / (times + 1), 1);
            for (int i = 0; i < times && (i + 1) * step * n <= most; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(d, h + i * step * n, n, cudaMemcpyHostToDevice); cudaDeviceSynchronize(); t.push_back(us(a)); }
            print("host to device pageable elsewhere", n, t); t.clear();
            for (int i = 0; i < times && (i + 1) * step * n <= most; i++) { cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(h + i * step * n, d, n, cudaMemcpyDeviceToHost); t.push_back(us(a)); }
            print("device to host pageable elsewhere", n, t); t.clear();
        }
        if (n >= 4096 && n <= (256 << 20)) {
            for (int i = 0; i < std::min(times, 7); i++) {
                char* fresh = (char*)mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(fresh, d, n, cudaMemcpyDeviceToHost); t.push_back(us(a)); munmap(fresh, n); }
            print("device to host never touched", n, t); t.clear();
            for (int i = 0; i < std::min(times, 7); i++) {
                char* fresh = (char*)malloc(n); memset(fresh, i, n);
                cudaDeviceSynchronize(); auto a = clk::now(); cudaMemcpy(d, fresh, n, cudaMemcpyHostToDevice); cudaDeviceSynchronize(); t.push_back(us(a)); free(fresh); }
            print("host to device just written", n, t); t.clear();
        }
        fflush(stdout);
    }
}
