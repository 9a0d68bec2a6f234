// Bulk copies and tensor maps: some 400 variations of type, box, strides, swizzle, interleave, fill and place, tiled and
// im2col: loads, stores, reductions, multicast, transactions.  The same executable runs on a GPU and under
// `warplens run`; tests/hardware/compare_tensor_copies.py compares the two files bit for bit.
//
//     nvcc -gencode arch=compute_90a,code=sm_90a -o tensor_copies tensor_copies.cu && ./tensor_copies gpu.bin [PART OF A NAME [AFTER]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

#include "tensor_copies_kernels.cuh"

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
    fprintf(stderr, "%s: %s: %s\n", current.c_str(), #call, cudaGetErrorString(e_)); puts(current.c_str()); exit(1); } } while (0)

static std::string current;
static FILE *out;
static const char *wanted = "", *after = "";  // a case that failed ends the process: the next one goes on after it
static int cases;

static uint32_t seed;
static uint32_t next() { seed = seed * 1664525u + 1013904223u; return seed >> 8 ^ seed << 24; }
static int below(int n) { return (int)((next() >> 7) % n); }
static int from(std::initializer_list<int> choices) { return choices.begin()[below((int)choices.size())]; }

typedef CUresult (*EncodeTiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
    const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*EncodeIm2col)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
    const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave,
    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static EncodeTiled encode_tiled;
static EncodeIm2col encode_im2col;

static const int SIZE[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const char *TYPE[] = {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32 ftz", "tf32",
    "tf32 ftz"};
static const int MEMORY = 1 << 20;  // bytes that the tensor may reach
static const int AHEAD = 4096;      // and what lies before it

struct Map {
    int type, rank, im2col, interleave, swizzle, fill, l2;
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5], channels, pixels;
    int lower[3], upper[3];
    int at[5]; unsigned offsets;
    int size() const { return SIZE[type]; }
    unsigned bytes() const {  // of the box in shared memory
        unsigned n = interleave ? 16 * interleave : size();
        if (im2col) return n * channels * pixels;
        for (int d = 0; d < rank; d++) {
            unsigned step = d || interleave ? steps[d] : 1;
            if (!(interleave && d == rank - 2)) n *= (box[d] + step - 1) / step;  // of groups of channels one
        }
        return n;
    }
};

static void extents(Map &m, int least_rank) {
    m.rank = least_rank + below(6 - least_rank);
    m.interleave = 0;
    m.swizzle = below(4);
    m.fill = m.type >= 6 ? below(2) : 0;
    m.l2 = below(4);
    static const int LARGEST[] = {90, 60, 14, 8, 5};  // so that the tensor fits into the memory
    for (int d = 0; d < m.rank; d++) m.dims[d] = 1 + below(d ? LARGEST[m.rank - 1] : m.rank == 5 ? 24 : 90), m.steps[d] = 1;
}

static void pitches(Map &m) {
    uint64_t s = m.dims[0] * m.size();
    int unit = m.interleave == 2 ? 32 : 16;
    if (m.interleave) s = 16 * m.interleave;
    for (int d = 0; d + 1 < m.rank; d++) {
        s = (s + unit - 1) / unit * unit + unit * (uint64_t)from({0, 0, 1, 3});
        m.strides[d] = s;
        s *= m.dims[d + 1];
    }
}

static Map tiled(int part) {
    Map m = {};
    m.type = below(13);
    extents(m, part % 3 == 2 ? 3 : 1);
    if (part % 3 == 2) m.interleave = 1 + below(2), m.swizzle = m.interleave == 2 ? 1 : 0;
    int span[] = {256, 32, 64, 128}, unit = 16 / m.size() > 0 ? 16 / m.size() : 1;
    int most = span[m.swizzle] / m.size();
    if (most > 256) most = 256;
    m.box[0] = (1 + below(most / unit > 0 ? most / unit : 1)) * unit;
    if (m.interleave) m.box[0] = m.interleave * unit * (1 + below(3));
    int room = 12288 / ((int)m.box[0] * m.size());
    for (int d = 1; d < m.rank; d++) {
        int n = 1 + below(d < 3 ? 9 : 3);
        if (n > room) n = room;
        m.box[d] = n, room /= n;
        if (part % 3 == 1) m.steps[d] = 1 + below(4);
    }
    if (part % 6 == 1) m.steps[0] = 1 + below(3);
    pitches(m);
    for (int d = 0; d < m.rank; d++) {
        m.at[d] = below(4) ? below((int)m.dims[d]) : below(2 * (int)m.dims[d] + 20) - (int)m.dims[d] - 8;
        if (d == 0 && !m.interleave) m.at[d] = m.at[d] / unit * unit;  // else it is an illegal instruction
    }
    return m;
}

static Map im2col(int part) {
    Map m = {};
    m.type = below(13);
    extents(m, 3);
    m.im2col = 1;
    if (part % 4 == 3) m.interleave = 1 + below(2), m.swizzle = m.interleave == 2 ? 1 : 0;
    int span[] = {256, 32, 64, 128}, unit = 16 / m.size() > 0 ? 16 / m.size() : 1;
    int most = span[m.swizzle] / m.size();
    if (most > 256) most = 256;
    m.channels = m.box[0] = (1 + below(most / unit > 0 ? most / unit : 1)) * unit;
    if (m.interleave) m.channels = m.interleave * unit * (1 + below(2));
    m.pixels = 1 + below(60);
    for (int d = 1; d < m.rank; d++) m.dims[d] = 4 + m.dims[d] % (m.rank == 5 ? 4 : 9);
    int spatial = m.rank - 2;
    for (int d = 0; d < spatial; d++) {
        m.lower[d] = below(6) - 3, m.upper[d] = below(6) - 3;
        if (part % 2) m.steps[d + 1] = 1 + below(3);
        if ((int)m.dims[d + 1] + m.upper[d] <= m.lower[d]) m.upper[d] = m.lower[d];
        int first = m.lower[d], last = (int)m.dims[d + 1] - 1 + m.upper[d];
        m.at[d + 1] = first + below(last - first + 1);
        m.offsets |= below(4) << (spatial == 1 ? 0 : spatial == 2 ? 8 * d : 5 * d);
    }
    pitches(m);
    m.at[0] = below((int)m.dims[0]) / unit * unit;
    m.at[m.rank - 1] = below((int)m.dims[m.rank - 1]);
    return m;
}

static std::string describe(const Map &m) {
    char text[200];
    int n = snprintf(text, sizeof text, "%s %dd", TYPE[m.type], m.rank);
    if (m.interleave) n += snprintf(text + n, sizeof text - n, " i%d", 16 * m.interleave);
    if (m.swizzle) n += snprintf(text + n, sizeof text - n, " s%d", 16 << m.swizzle);
    if (m.fill) n += snprintf(text + n, sizeof text - n, " nan");
    for (int d = 0; d < m.rank; d++) if (m.steps[d] > 1) { snprintf(text + n, sizeof text - n, " steps"); break; }
    return text;
}

static void record(const std::string &name, const std::vector<unsigned char> &data) {
    char title[96] = {};
    snprintf(title, sizeof title, "%s", name.c_str());
    uint32_t size = (uint32_t)data.size();
    fwrite(title, 1, sizeof title, out), fwrite(&size, 4, 1, out), fwrite(data.data(), 1, size, out), fflush(out);
    cases++;
}

static unsigned char *memory, *result;  // of the device
static std::vector<unsigned char> content;

static void fill_memory(int type) {
    content.resize(MEMORY);
    for (int i = 0; i < MEMORY; i += 4) {
        uint32_t r = next();
        if (type == 6) r = (r & 0x83FF83FF) | (8u + next() % 14) << 10 | (8u + next() % 14) << 26;
        if (type == 9) r = (r & 0x807F807F) | (120u + next() % 14) << 7 | (120u + next() % 14) << 23;
        memcpy(&content[i], &r, 4);
    }
    CHECK(cudaMemcpy(memory, content.data(), MEMORY, cudaMemcpyHostToDevice));
}

static uint64_t reach(const Map &m) {
    uint64_t bytes = m.dims[0] * m.size();
    for (int d = 1; d < m.rank; d++) bytes += (m.dims[d] - 1) * m.strides[d - 1];
    return bytes;
}

static bool encoded(CUtensorMap &map, const Map &m, std::vector<unsigned char> &data) {
    memset(&map, 0xEE, sizeof map);
    void *at = memory + AHEAD;
    if (reach(m) + AHEAD > MEMORY) return printf("%s: too large\n", current.c_str()), false;
    CUresult e = m.im2col
        ? encode_im2col(&map, (CUtensorMapDataType)m.type, m.rank, at, m.dims, m.strides, m.lower, m.upper, m.channels,
              m.pixels, m.steps, (CUtensorMapInterleave)m.interleave, (CUtensorMapSwizzle)m.swizzle,
              (CUtensorMapL2promotion)m.l2, (CUtensorMapFloatOOBfill)m.fill)
        : encode_tiled(&map, (CUtensorMapDataType)m.type, m.rank, at, m.dims, m.strides, m.box, m.steps,
              (CUtensorMapInterleave)m.interleave, (CUtensorMapSwizzle)m.swizzle, (CUtensorMapL2promotion)m.l2,
              (CUtensorMapFloatOOBfill)m.fill);
    data.insert(data.end(), (unsigned char *)&e, (unsigned char *)&e + 4);
    if (e != CUDA_SUCCESS) return false;
    data.insert(data.end(), (unsigned char *)&map + 8, (unsigned char *)&map + 128);  // the address differs
    return true;
}

static void append_device(std::vector<unsigned char> &data, const void *from, size_t size) {
    size_t start = data.size();
    data.resize(start + size);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&data[start], from, size, cudaMemcpyDeviceToHost));
}

static bool skipped(const std::string &name) {
    current = name;
    if (*after) {
        if (name == after) after = "";
        return true;
    }
    return !strstr(name.c_str(), wanted);
}

static Place place(const Map &m) {
    Place p = {{m.at[0], m.at[1], m.at[2], m.at[3], m.at[4]}, m.offsets, 128u * (unsigned)below(12), m.bytes()};
    return p;
}

static void load_case(const char *what, int number, const Map &m) {
    std::string name = std::string(what) + " " + std::to_string(number) + " " + describe(m);
    Place p = place(m);
    if (skipped(name)) return;
    seed += 77;
    fill_memory(m.type);
    std::vector<unsigned char> data;
    CUtensorMap map;
    if (encoded(map, m, data)) {
        load_kernel(m.rank, m.im2col)<<<1, 128, BUFFER>>>(map, p, (uint4 *)result);
        append_device(data, result, BUFFER + 16);
    }
    record(name, data);
}

static void store_case(const char *what, int number, const Map &m, int operation) {
    static const char *OPERATION[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
    std::string name = std::string(what) + " " + std::to_string(number) + " " + OPERATION[operation] + " " + describe(m);
    Place p = place(m);
    if (skipped(name)) return;
    seed += 78;
    fill_memory(m.type);
    CHECK(cudaMemcpy(result, content.data() + 4, BUFFER, cudaMemcpyHostToDevice));
    fill_memory(m.type);
    std::vector<unsigned char> data;
    CUtensorMap map;
    if (encoded(map, m, data)) {
        store_kernel(m.rank, m.im2col, operation)<<<1, 128, BUFFER>>>(map, p, (const uint4 *)result);
        append_device(data, memory, MEMORY);
        // Only what has changed: address and byte.
        std::vector<unsigned char> changed(data.begin(), data.begin() + 124);
        for (int i = 0; i < MEMORY; i++)
            if (data[124 + i] != content[i]) {
                unsigned char entry[4] = {(unsigned char)i, (unsigned char)(i >> 8), (unsigned char)(i >> 16), data[124 + i]};
                changed.insert(changed.end(), entry, entry + 4);
            }
        data = changed;
    }
    record(name, data);
}

static void words_case(const std::string &name, int blocks, void (*kernel)(Plain), Plain p, size_t size) {
    if (skipped(name)) return;
    seed = 900 + 64 * (unsigned)p.operation + p.bytes;
    fill_memory(p.type);
    CHECK(cudaMemset(result, 0, 4 * BUFFER + 4096));
    p.memory = memory + AHEAD, p.result = result;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = 128, config.dynamicSmemBytes = BUFFER;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster, config.numAttrs = blocks > 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, p));
    std::vector<unsigned char> data;
    append_device(data, result, 4 * BUFFER + 4096);
    append_device(data, memory + AHEAD, size);
    record(name, data);
}

#include "tensor_copies_cases.cuh"

int main(int argc, char **argv) {
    if (argc < 2 || !(out = fopen(argv[1], argc > 3 ? "ab" : "wb"))) return fprintf(stderr, "usage: %s FILE [PART OF A NAME [AFTER]]\n", argv[0]), 2;
    if (argc > 2) wanted = argv[2];
    if (argc > 3) after = argv[3];
    CHECK(cudaMalloc(&memory, MEMORY));
    CHECK(cudaMalloc(&result, 4 * BUFFER + 4096));
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode_tiled, 12000, cudaEnableDefault, &found));
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void **)&encode_im2col, 12000, cudaEnableDefault, &found));
    run_cases();
    printf("%d cases\n", cases);
    return 0;
}
