/* Graphs: captured from streams, and made of nodes; launched, updated, and what is refused. */
#include "cuda_api.h"

typedef struct {
    void *function;
    dim3 grid, block;
    unsigned shared;
    void **values, **extra;
} kernel_parameters;

typedef struct {
    void *to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} fill_parameters;

typedef struct {
    void (*call)(void *);
    void *data;
} host_parameters;

typedef struct { /* cudaGraphNodeParams of a conditional node */
    int type, reserved[3];
    unsigned long long handle;
    int kind;
    unsigned count;
    void **bodies;
    long long room[27];
} condition_parameters;

int cudaGraphConditionalHandleCreate(unsigned long long *handle, void *graph, unsigned value, unsigned flags);
int cudaGraphAddNode(void **node, void *graph, void **before, void *data, size_t count, condition_parameters *p);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaStreamIsCapturing(void *stream, int *found);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphGetNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetEdges(void *graph, void **from, void **to, void *data, size_t *count);
int cudaGraphNodeGetType(void *node, int *type);
int cudaGraphAddKernelNode(void **node, void *graph, void **before, size_t count, const kernel_parameters *p);
int cudaGraphAddMemsetNode(void **node, void *graph, void **before, size_t count, const fill_parameters *p);
int cudaGraphAddMemcpyNode1D(void **node, void *graph, void **before, size_t count, void *to, const void *from, size_t size,
                             int kind);
int cudaGraphAddHostNode(void **node, void *graph, void **before, size_t count, const host_parameters *p);
int cudaGraphAddEmptyNode(void **node, void *graph, void **before, size_t count);
int cudaGraphAddEventRecordNode(void **node, void *graph, void **before, size_t count, void *event);
int cudaGraphAddChildGraphNode(void **node, void *graph, void **before, size_t count, void *child);
int cudaGraphAddDependencies(void *graph, void **from, void **to, void *data, size_t count);
int cudaGraphKernelNodeGetParams(void *node, kernel_parameters *p);
int cudaGraphExecKernelNodeSetParams(void *exec, void *node, const kernel_parameters *p);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphExecUpdate(void *exec, void *graph, void *result);
int cudaGraphLaunch(void *exec, void *stream);
int cudaUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned count, unsigned flags);
int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);
int cudaGraphExecDestroy(void *exec);
int cudaGraphDestroy(void *graph);

enum { N = 1 << 16, BYTES = 4 * N, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

static void add_stub(void) {}
static void scale_stub(void) {}
static void again_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)add_stub, "add");
    add_kernel(module, (void *)scale_stub, "scale");
    add_kernel(module, (void *)again_stub, "again");
    __cudaRegisterFatBinaryEnd(module);
}

static const dim3 grid = {N / 256, 1, 1}, block = {256, 1, 1};
static int calls;
static float *x, *y, host[N];

static void called(void *data) {
    calls += *(int *)data;
}

static void launch_add(void *stream) {
    int n = N;
    void *values[] = {&x, &y, &n};
    OK(cudaLaunchKernel((void *)add_stub, grid, block, values, 0, stream));
}

static void launch_scale(float *which, float factor, void *stream) {
    int n = N;
    void *values[] = {&which, &factor, &n};
    OK(cudaLaunchKernel((void *)scale_stub, grid, block, values, 0, stream));
}

/* x doubles on one stream while y is filled on another; then y += x. */
static void *capture(void *first, void *second, float factor) {
    static int one = 1;
    void *fork, *join, *graph;
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(first, 0));
    OK(cudaEventRecord(fork, first));
    OK(cudaStreamWaitEvent(second, fork, 0));
    launch_scale(x, factor, first);
    OK(cudaMemsetAsync(y, 0, BYTES, second));
    OK(cudaEventRecord(join, second));
    OK(cudaStreamWaitEvent(first, join, 0));
    launch_add(first);
    OK(cudaMemcpyAsync(host, y, BYTES, DEVICE_TO_HOST, first));
    OK(cudaLaunchHostFunc(first, called, &one));
    OK(cudaStreamEndCapture(first, &graph));
    return graph;
}

static void print_shape(void *graph) {
    void *nodes[16], *from[16], *to[16];
    size_t count = 16, roots = 16, edges = 16;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    printf("types");
    for (size_t n = 0; n < count; n++) {
        int type;
        OK(cudaGraphNodeGetType(nodes[n], &type));
        printf(" %d", type);
    }
    OK(cudaGraphGetRootNodes(graph, from, &roots));
    OK(cudaGraphGetEdges(graph, from, to, 0, &edges));
    printf(" roots %zu edges %zu\n", roots, edges);
}

static void captured(void) {
    void *first, *second, *exec;
    float one = 1;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreate(&second));
    for (int n = 0; n < N; n++)
        host[n] = one;
    OK(cudaMemcpy(x, host, BYTES, HOST_TO_DEVICE));
    void *graph = capture(first, second, 2);
    print_shape(graph);
    printf("before the launch %g calls %d\n", host[N - 1], calls);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int n = 0; n < 3; n++)
        OK(cudaGraphLaunch(exec, first));
    OK(cudaStreamSynchronize(first));
    printf("after three %g calls %d\n", host[N - 1], calls);
    void *another = capture(first, second, 0.5f);
    char result[64];
    OK(cudaGraphExecUpdate(exec, another, result));
    OK(cudaGraphLaunch(exec, first));
    OK(cudaStreamSynchronize(first));
    printf("updated %g\n", host[N - 1]);
    OK(cudaStreamBeginCapture(first, 0));
    launch_add(first);
    OK(cudaStreamEndCapture(first, &another));
    printf("other topology %s", cudaGetErrorName(cudaGraphExecUpdate(exec, another, result)));
    printf(" result %d\n", *(int *)result);
    cudaGetLastError();
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void of_nodes(void) {
    static int ten = 10;
    int n = N;
    float factor = 3;
    void *graph, *child, *exec, *nodes[6], *event, *inner;
    fill_parameters fill = {x, 0, 0x3f800000, 4, N, 1}; /* 1.0 */
    void *scaled[] = {&x, &factor, &n}, *added[] = {&x, &y, &n};
    kernel_parameters scale = {(void *)scale_stub, grid, block, 0, scaled, 0}, add = {(void *)add_stub, grid, block, 0, added, 0};
    host_parameters call = {called, &ten};
    OK(cudaEventCreate(&event));
    OK(cudaMemset(y, 0, BYTES));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddKernelNode(&inner, child, 0, 0, &add));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&nodes[4], graph, 0, 0, host, y, BYTES, DEVICE_TO_HOST)); /* the last, made first */
    OK(cudaGraphAddMemsetNode(&nodes[0], graph, 0, 0, &fill));
    OK(cudaGraphAddKernelNode(&nodes[1], graph, nodes, 1, &scale));
    OK(cudaGraphAddChildGraphNode(&nodes[2], graph, nodes + 1, 1, child));
    OK(cudaGraphAddEmptyNode(&nodes[3], graph, nodes + 2, 1));
    OK(cudaGraphAddDependencies(graph, nodes + 3, nodes + 4, 0, 1));
    OK(cudaGraphAddHostNode(&nodes[5], graph, nodes + 4, 1, &call));
    OK(cudaGraphAddEventRecordNode(&inner, graph, nodes + 4, 1, event));
    print_shape(graph);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    calls = 0;
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventSynchronize(event));
    printf("nodes %g calls %d\n", host[N - 1], calls);
    kernel_parameters found;
    OK(cudaGraphKernelNodeGetParams(nodes[1], &found));
    printf("same kernel %d factor %g\n", found.function == (void *)scale_stub, *(float *)found.values[1]);
    factor = 5;
    OK(cudaGraphExecKernelNodeSetParams(exec, nodes[1], &scale));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    printf("changed %g\n", host[N - 1]);
    void *back[] = {nodes[4], nodes[0]};
    OK(cudaGraphAddDependencies(graph, back, back + 1, 0, 1));
    printf("cycle %s\n", cudaGetErrorName(cudaGraphInstantiate(&exec, graph, 0)));
}

static void refused(void) {
    void *first, *second, *event, *graph = (void *)1;
    int found;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreate(&second));
    OK(cudaEventCreate(&event));
    printf("default %s\n", cudaGetErrorName(cudaStreamBeginCapture(0, 0)));
    OK(cudaStreamBeginCapture(first, 0));
    printf("wait %s", cudaGetErrorName(cudaStreamSynchronize(first)));
    OK(cudaStreamIsCapturing(first, &found));
    printf(" status %d end %s", found, cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    printf(" graph %d\n", graph != 0);
    OK(cudaStreamBeginCapture(first, 0));
    void *some;
    printf("malloc %s", cudaGetErrorName(cudaMalloc(&some, 64)));
    printf(" end %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    OK(cudaStreamBeginCapture(first, 0));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event, 0));
    launch_add(second);
    printf("other stream %s", cudaGetErrorName(cudaStreamEndCapture(second, &graph)));
    printf(" unjoined %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    OK(cudaStreamBeginCapture(first, 0));
    printf("legacy %s", cudaGetErrorName(cudaMemset(x, 0, 4)));
    printf(" then %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    printf("not capturing %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
}

/* Two branches of one kernel each last as long as one; two in a row twice as long. */
static float timed(int branches) {
    void *graph, *exec, *node, *last = 0, *begin, *end;
    int n = N;
    float factor = 1, ms;
    void *of_x[] = {&x, &factor, &n}, *of_y[] = {&y, &factor, &n};
    kernel_parameters p[] = {{(void *)scale_stub, {4, 1, 1}, block, 0, of_x, 0}, {(void *)scale_stub, {4, 1, 1}, block, 0, of_y, 0}};
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, 0, 0, &p[0]));
    OK(cudaGraphAddKernelNode(&last, graph, &node, !branches, &p[1]));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(begin, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventRecord(end, 0));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

static int destroyed;

static void destroy(void *data) {
    destroyed += *(int *)data;
}

static void owned(void) {
    static int one = 1;
    void *object, *graph, *exec;
    OK(cudaUserObjectCreate(&object, &one, destroy, 1, 1));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphRetainUserObject(graph, object, 1, 1)); /* moved */
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    printf("destroyed with the graph %d", destroyed);
    OK(cudaGraphExecDestroy(exec));
    printf(" with what was made of it %d\n", destroyed);
}

static unsigned long long condition(void *graph, unsigned value) {
    unsigned long long handle;
    OK(cudaGraphConditionalHandleCreate(&handle, graph, value, 1));
    return handle;
}

static void **add_condition(void **node, void *graph, void **before, unsigned long long handle, int kind, unsigned count) {
    condition_parameters p = {.type = 13, .handle = handle, .kind = kind, .count = count};
    OK(cudaGraphAddNode(node, graph, before, NULL, before != NULL, &p));
    return p.bodies;
}

static void add_fill(void *graph, void *to, unsigned value) {
    void *node;
    fill_parameters fill = {to, 0, value, 4, 1, 1};
    OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
}

/* While: a kernel counts down and adds.  If, with an else.  Switch by what the first has left. */
static void conditions(void) {
    enum { WHILE = 1, SWITCH = 2 };
    unsigned *words, start[4] = {4, 0, 0, 0}, found[4];
    void *graph, *exec, *loop, *node;
    OK(cudaMalloc((void **)&words, sizeof start));
    OK(cudaGraphCreate(&graph, 0));
    unsigned long long more = condition(graph, 1), no = condition(graph, 0), which = condition(graph, 2);
    void *body = add_condition(&loop, graph, NULL, more, WHILE, 1)[0];
    void *values[] = {&more, &words};
    kernel_parameters again = {(void *)again_stub, {1, 1, 1}, {1, 1, 1}, 0, values, NULL};
    OK(cudaGraphAddKernelNode(&node, body, NULL, 0, &again));
    void **branches = add_condition(&node, graph, &loop, no, 0, 2);
    add_fill(branches[0], words + 2, 7);
    add_fill(branches[1], words + 2, 8);
    void **cases = add_condition(&node, graph, &loop, which, SWITCH, 3);
    for (int n = 0; n < 3; n++)
        add_fill(cases[n], words + 3, 10 + n);
    int type;
    OK(cudaGraphNodeGetType(node, &type));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 2; turn++) {
        OK(cudaMemcpy(words, start, sizeof start, HOST_TO_DEVICE));
        OK(cudaGraphLaunch(exec, NULL));
        OK(cudaMemcpy(found, words, sizeof found, DEVICE_TO_HOST));
        printf("type %d left %u sum %u else %u case %u\n", type, found[0], found[1], found[2], found[3]);
    }
    condition_parameters unknown = {.type = 13, .handle = 5, .count = 1};
    printf("unknown %s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &unknown)));
}

/* Microseconds of a chain of fills, and of a kernel behind each. */
static float chain_of(int fills, unsigned bytes, int kernels) {
    void *graph, *exec, *node, *last = NULL, *begin, *end;
    int n = 1;
    float factor = 1, ms;
    void *values[] = {&x, &factor, &n};
    kernel_parameters scale = {(void *)scale_stub, {1, 1, 1}, {32, 1, 1}, 0, values, NULL};
    fill_parameters fill = {y, 0, 0, 1, bytes, 1};
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaGraphCreate(&graph, 0));
    for (int k = 0; k < fills; k++) {
        OK(cudaGraphAddMemsetNode(&node, graph, &last, k > 0, &fill));
        last = node;
        if (kernels) {
            OK(cudaGraphAddKernelNode(&node, graph, &last, 1, &scale));
            last = node;
        }
    }
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(begin, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventRecord(end, 0));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    return 1000 * ms;
}

int main(int count, char **words) {
    OK(cudaMalloc((void **)&x, BYTES));
    OK(cudaMalloc((void **)&y, BYTES));
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "capture"))
        captured();
    else if (!strcmp(what, "nodes"))
        of_nodes();
    else if (!strcmp(what, "refused"))
        refused(), owned();
    else if (!strcmp(what, "conditions"))
        conditions();
    else if (!strcmp(what, "fills"))
        for (int n = 0; n < 4; n++) {
            unsigned bytes = n < 2 ? 4 : 65536;
            chain_of(2, bytes, n % 2);
            printf("%.3f\n", (chain_of(102, bytes, n % 2) - chain_of(2, bytes, n % 2)) / 100);
        }
    else {
        timed(1); /* L2 has their data from here on */
        float branches = timed(1), chain = timed(0);
        printf("%.3f %.3f\n", 1000 * branches, 1000 * chain);
    }
    return 0;
}
