/* A program as CUDA 12 links it: with a runtime of its own inside, here one whose functions all fail.  `warplens run` puts
   others in their places, with the parameters of CUDA 12.  With SHARED: one that loads libcudart.so.12. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static volatile int unknown = 999;

#ifdef SHARED
#define INSIDE extern int
#define FAILS ;
#else
#ifndef INSIDE
#define INSIDE __attribute__((noinline, used, aligned(16))) static int
#endif
#define FAILS \
    { \
        for (int n = 0; n < 3; n++) /* long enough for a jump */ \
            unknown = unknown; \
        return unknown; \
    }
#endif

INSIDE cudaGetDeviceProperties_v2(void *properties, int device) FAILS
INSIDE cudaMallocManaged(void **pointer, size_t size, unsigned flags) FAILS
INSIDE cudaMemPrefetchAsync(const void *pointer, size_t size, int device, void *stream) FAILS
INSIDE cudaMemAdvise(const void *pointer, size_t size, int advice, int device) FAILS
INSIDE cudaRuntimeGetVersion(int *version) FAILS
INSIDE cudaGraphCreate(void **graph, unsigned flags) FAILS
INSIDE cudaGraphAddEmptyNode(void **node, void *graph, void **before, size_t count) FAILS
INSIDE cudaGraphAddDependencies(void *graph, void **from, void **to, size_t count) FAILS
INSIDE cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count) FAILS
INSIDE cudaGraphNodeGetDependencies(void *node, void **nodes, size_t *count) FAILS
INSIDE cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, void ***nodes, size_t *count) FAILS

__asm__(".section .nv_fatbin, \"a\"\n.quad 0\n.previous\n");

/* Through pointers that may change, for a compiler that knows what the functions above do not touch. */
#define CALL(name) ((__typeof__(&name))choose((void *)name))

static void *volatile chosen;

static void *choose(void *function) {
    chosen = function;
    return chosen;
}

int main(void) {
    char properties[1032];
    int clock, multiprocessors, capturing = 9;
    size_t edges = 4, found = 4;
    void *memory, *graph, *nodes[2], *from[4], *to[4];
    int failed = CALL(cudaGetDeviceProperties_v2)(properties, 0);
    memcpy(&clock, properties + 348, 4);
    memcpy(&multiprocessors, properties + 388, 4);
    printf("%d %s %d multiprocessors at %d MHz\n", failed, properties, multiprocessors, clock / 1000);
    printf("%d", CALL(cudaMallocManaged)(&memory, 4096, 1));
    printf(" %d", CALL(cudaMemAdvise)(memory, 4096, 1, 0));
    printf(" %d", CALL(cudaMemPrefetchAsync)(memory, 4096, 0, NULL));
    printf(" no such stream %d\n", CALL(cudaMemPrefetchAsync)(memory, 4096, 0, &clock));
    int version = 0;
    failed = CALL(cudaRuntimeGetVersion)(&version);
    printf("%d version %d\n", failed, version / 1000);
    failed = CALL(cudaGraphCreate)(&graph, 0);
    for (int n = 0; n < 2; n++)
        failed += CALL(cudaGraphAddEmptyNode)(&nodes[n], graph, NULL, 0);
    failed += CALL(cudaGraphAddDependencies)(graph, nodes, nodes + 1, 1) + CALL(cudaGraphGetEdges)(graph, from, to, &edges);
    failed += CALL(cudaGraphNodeGetDependencies)(nodes[1], from, &found);
    failed += CALL(cudaStreamGetCaptureInfo_v2)(NULL, &capturing, NULL, NULL, NULL, NULL);
    printf("%d edges %zu before %zu capturing %d\n", failed, edges, found, capturing);
    return 0;
}
