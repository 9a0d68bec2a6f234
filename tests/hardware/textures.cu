// Textures and surfaces: 540 variations of format, filter, address mode and dimension, each fetched at 1,024 places,
// within the texture, at the edges of texels and beyond.  The same executable runs on a GPU and under `warplens run`;
// tests/hardware/compare_textures.py compares the two files bit for bit.
//
//     nvcc -arch=sm_90 -o textures textures.cu && ./textures gpu.bin [PART OF A NAME]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
    fprintf(stderr, "%s: %s: %s\n", current.c_str(), #call, cudaGetErrorString(e_)); return false; } } while (0)

static const int N = 1024;
static std::string current;
static FILE *out;
static const char *wanted = "";
static int cases, failed;

struct Format { const char *name; cudaChannelFormatKind kind; int bits; };
static const Format S8 = {"s8", cudaChannelFormatKindSigned, 8}, U8 = {"u8", cudaChannelFormatKindUnsigned, 8},
    S16 = {"s16", cudaChannelFormatKindSigned, 16}, U16 = {"u16", cudaChannelFormatKindUnsigned, 16},
    S32 = {"s32", cudaChannelFormatKindSigned, 32}, U32 = {"u32", cudaChannelFormatKindUnsigned, 32},
    F16 = {"f16", cudaChannelFormatKindFloat, 16}, F32 = {"f32", cudaChannelFormatKindFloat, 32};
static const char *MODES[] = {"wrap", "clamp", "mirror", "border"};

enum Shape { D1, D2, D3, L1, L2, CUBE, CUBE_LAYERED, LINEAR, PITCHED, MIP1, MIP2, MIP3 };
enum Fetch { FETCH, GATHER0, GATHER1, GATHER2, GATHER3, LOD, GRAD, INTEGER, SIZE };

struct Case {
    Shape shape; Fetch fetch; Format format; int channels; int w, h, d;
    int linear, as_float, normalized; int modes[3];
    int level_linear; float bias, least, most;
};

static uint32_t seed;
static uint32_t next() { seed = seed * 1664525u + 1013904223u; return seed >> 8 ^ seed << 24; }
static float uniform() { return (next() >> 8) / 16777216.0f; }

static void fill(std::vector<unsigned char> &bytes, const Format &f) {
    for (size_t i = 0; i < bytes.size(); i += f.bits / 8) {
        uint32_t r = next();
        if (f.kind == cudaChannelFormatKindFloat && f.bits == 32) { float v = uniform() * 8 - 4; memcpy(&r, &v, 4); }
        if (f.kind == cudaChannelFormatKindFloat && f.bits == 16) r = (r & 0x83FF) | (8 + next() % 14) << 10;
        memcpy(&bytes[i], &r, f.bits / 8);
    }
}

// One coordinate of a dimension of so many texels: at random, on a grid of 1/512 of a texel, beside a grid point, special.
static float coordinate(int i, int size, int normalized) {
    static const float special[] = {0.0f, -0.0f, 1e-40f, -1e-40f, 1e10f, -1e10f, INFINITY, -INFINITY, NAN, 3e38f};
    float x;
    if (i < 10) return special[(i + next()) % 10];
    if (i % 3 == 0) x = (uniform() * 4 - 1.5f) * size;
    else if (i % 3 == 1) x = (int)(next() % (512 * (size + 2))) / 512.0f - 1;
    else x = nextafterf((int)(next() % (2 * size + 4)) / 2.0f - 1, next() & 1 ? 1e9f : -1e9f);
    return normalized ? x / size : x;
}

struct Places { float x, y, z, level; int layer; float gradients[6]; };

template <class T> static __device__ uint4 words(T v) { return make_uint4(v.x, v.y, v.z, v.w); }

__global__ void fetch(cudaTextureObject_t t, Shape shape, Fetch how, const Places *places, uint4 *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Places p = places[i];
    int4 v = make_int4(0, 0, 0, 0);
    float2 dx = make_float2(p.gradients[0], p.gradients[1]), dy = make_float2(p.gradients[2], p.gradients[3]);
    if (how == GATHER0) v = tex2Dgather<int4>(t, p.x, p.y, 0);
    else if (how == GATHER1) v = tex2Dgather<int4>(t, p.x, p.y, 1);
    else if (how == GATHER2) v = tex2Dgather<int4>(t, p.x, p.y, 2);
    else if (how == GATHER3) v = tex2Dgather<int4>(t, p.x, p.y, 3);
    else if (how == LOD) switch (shape) {
        case MIP1: v = tex1DLod<int4>(t, p.x, p.level); break;
        case MIP3: v = tex3DLod<int4>(t, p.x, p.y, p.z, p.level); break;
        default: v = tex2DLod<int4>(t, p.x, p.y, p.level);
    } else if (how == GRAD) switch (shape) {
        case MIP1: v = tex1DGrad<int4>(t, p.x, dx.x, dy.x); break;
        case L1: v = tex1DLayeredGrad<int4>(t, p.x, p.layer, dx.x, dy.x); break;
        case L2: v = tex2DLayeredGrad<int4>(t, p.x, p.y, p.layer, dx, dy); break;
        default: v = tex2DGrad<int4>(t, p.x, p.y, dx, dy);
    } else if (how == INTEGER) {
        int x = (int)p.x, y = (int)p.y, z = (int)p.z;
        if (shape == D3) asm volatile("tex.3d.v4.s32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];"
            : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), "r"(x), "r"(y), "r"(z));
        else if (shape == L2) asm volatile("tex.a2d.v4.s32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];"
            : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), "r"(p.layer), "r"(x), "r"(y));
        else asm volatile("tex.2d.v4.s32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
            : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), "r"(x), "r"(y));
    } else if (how == SIZE) {
        asm volatile("txq.width.b32 %0, [%1];" : "=r"(v.x) : "l"(t));
        asm volatile("txq.height.b32 %0, [%1];" : "=r"(v.y) : "l"(t));
        asm volatile("txq.depth.b32 %0, [%1];" : "=r"(v.z) : "l"(t));
    } else switch (shape) {
        case D1: case MIP1: v = tex1D<int4>(t, p.x); break;
        case D2: case PITCHED: case MIP2: v = tex2D<int4>(t, p.x, p.y); break;
        case D3: case MIP3: v = tex3D<int4>(t, p.x, p.y, p.z); break;
        case L1: v = tex1DLayered<int4>(t, p.x, p.layer); break;
        case L2: v = tex2DLayered<int4>(t, p.x, p.y, p.layer); break;
        case CUBE: v = texCubemap<int4>(t, p.x, p.y, p.z); break;
        case CUBE_LAYERED: v = texCubemapLayered<int4>(t, p.x, p.y, p.z, p.layer); break;
        case LINEAR: v = tex1Dfetch<int4>(t, (int)p.x); break;
    }
    result[i] = words(v);
}

static void write_record(const std::string &name, const void *data, uint32_t bytes) {
    char text[96] = {0};
    snprintf(text, sizeof text, "%s", name.c_str());
    fwrite(text, 1, sizeof text, out);
    fwrite(&bytes, 1, 4, out);
    fwrite(data, 1, bytes, out);
}

static bool copy_in(cudaArray_t array, const std::vector<unsigned char> &bytes, int element, int w, int h, int d) {
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr((void *)bytes.data(), (size_t)w * element, w, h ? h : 1);
    c.dstArray = array;
    c.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c));
    return true;
}

// The texture of a case, with this content, or random one; fetched at these places.
static bool run(const Case &c, const Places *places, int count, const std::vector<unsigned char> *content = nullptr) {
    int element = c.format.bits / 8 * c.channels;
    cudaChannelFormatDesc channel = {c.format.bits, c.channels > 1 ? c.format.bits : 0, c.channels > 2 ? c.format.bits : 0,
                                     c.channels > 2 ? c.format.bits : 0, c.format.kind};
    cudaResourceDesc resource = {};
    cudaArray_t array = nullptr;
    cudaMipmappedArray_t mipmap = nullptr;
    void *memory = nullptr;
    int h = c.shape == D1 || c.shape == L1 || c.shape == MIP1 ? 0 : c.h, d = c.shape == D1 || c.shape == D2 ? 0 : c.d;
    std::vector<unsigned char> bytes((size_t)c.w * (h ? h : 1) * (d ? d : 1) * element);
    if (content) bytes = *content; else fill(bytes, c.format);
    unsigned flags = c.shape == L1 || c.shape == L2 ? cudaArrayLayered : c.shape == CUBE ? cudaArrayCubemap
                   : c.shape == CUBE_LAYERED ? cudaArrayCubemap | cudaArrayLayered
                   : c.fetch >= GATHER0 && c.fetch <= GATHER3 ? cudaArrayTextureGather : 0;
    if (c.shape == LINEAR) {
        CHECK(cudaMalloc(&memory, bytes.size()));
        CHECK(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory, resource.res.linear.desc = channel, resource.res.linear.sizeInBytes = bytes.size();
    } else if (c.shape == PITCHED) {
        size_t pitch;
        CHECK(cudaMallocPitch(&memory, &pitch, c.w * element, c.h));
        CHECK(cudaMemcpy2D(memory, pitch, bytes.data(), c.w * element, c.w * element, c.h, cudaMemcpyHostToDevice));
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory, resource.res.pitch2D.desc = channel;
        resource.res.pitch2D.width = c.w, resource.res.pitch2D.height = c.h, resource.res.pitch2D.pitchInBytes = pitch;
    } else if (c.shape >= MIP1) {
        CHECK(cudaMallocMipmappedArray(&mipmap, &channel, make_cudaExtent(c.w, h, c.shape == MIP3 ? c.d : 0), 4, flags));
        for (int level = 0; level < 4; level++) {
            cudaArray_t part;
            CHECK(cudaGetMipmappedArrayLevel(&part, mipmap, level));
            int lw = c.w >> level ? c.w >> level : 1, lh = h ? h >> level ? h >> level : 1 : 0;
            int ld = c.shape == MIP3 ? c.d >> level ? c.d >> level : 1 : 0;
            std::vector<unsigned char> own((size_t)lw * (lh ? lh : 1) * (ld ? ld : 1) * element);
            fill(own, c.format);
            if (!copy_in(part, own, element, lw, lh, ld)) return false;
        }
        resource.resType = cudaResourceTypeMipmappedArray, resource.res.mipmap.mipmap = mipmap;
    } else {
        CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(c.w, h, d), flags));
        if (!copy_in(array, bytes, element, c.w, h, d)) return false;
        resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
    }
    cudaTextureDesc texture = {};
    for (int n = 0; n < 3; n++) texture.addressMode[n] = (cudaTextureAddressMode)c.modes[n];
    texture.filterMode = c.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    texture.readMode = c.as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    texture.normalizedCoords = c.normalized;
    for (int n = 0; n < 4; n++) texture.borderColor[n] = 0.25f * (n + 1);
    texture.mipmapFilterMode = c.level_linear ? cudaFilterModeLinear : cudaFilterModePoint;
    texture.mipmapLevelBias = c.bias, texture.minMipmapLevelClamp = c.least, texture.maxMipmapLevelClamp = c.most;
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    Places *on_gpu;
    uint4 *result;
    std::vector<uint4> got(count);
    CHECK(cudaMalloc(&on_gpu, count * sizeof(Places)));
    CHECK(cudaMalloc(&result, count * sizeof(uint4)));
    CHECK(cudaMemcpy(on_gpu, places, count * sizeof(Places), cudaMemcpyHostToDevice));
    fetch<<<count / 128, 128>>>(object, c.shape, c.fetch, on_gpu, result);
    CHECK(cudaMemcpy(got.data(), result, count * sizeof(uint4), cudaMemcpyDeviceToHost));
    write_record(current, got.data(), count * sizeof(uint4));
    write_record(current + "/places", places, count * sizeof(Places));
    CHECK(cudaDestroyTextureObject(object));
    cudaFree(on_gpu), cudaFree(result), cudaFree(memory), cudaFreeArray(array), cudaFreeMipmappedArray(mipmap);
    return true;
}

static bool starts(const std::string &name) {
    current = name;
    seed = 12345;
    for (char letter : name) seed = seed * 31 + letter;
    bool runs = name.find(wanted) != std::string::npos;
    cases += runs;
    return runs;
}

static void at_random(const std::string &name, const Case &c) {
    if (!starts(name)) return;
    std::vector<Places> places(N);
    bool cube = c.shape == CUBE || c.shape == CUBE_LAYERED;
    for (int i = 0; i < N; i++) {
        Places &p = places[i];
        p.x = cube ? uniform() * 2 - 1 : coordinate(i, c.w, c.normalized);
        p.y = cube ? uniform() * 2 - 1 : coordinate(i + 1, c.h, c.normalized);
        p.z = cube ? uniform() * 2 - 1 : coordinate(i + 2, c.d ? c.d : 1, c.normalized);
        if (cube && i % 16 == 0) p.y = i % 32 ? p.x : -p.x; // two components are alike
        if (cube && i % 48 == 0) p.z = p.x;
        if (c.shape == LINEAR) p.x = i % 8 ? (float)(next() % c.w) : (float)((int)(next() % (4 * c.w)) - c.w);
        p.level = i % 5 ? uniform() * 6 - 1 : (i % 7) * 0.5f;
        p.layer = i % 4 ? next() % (c.d ? c.d : 1) : next() % 12;
        for (float &g : p.gradients) g = (uniform() - 0.5f) * (c.normalized ? 4.0f / c.w : 4.0f) * (i % 3 + 0.1f);
    }
    failed += !run(c, places.data(), N);
}

#include "textures_cases.cuh"
#include "textures_surfaces.cuh"

int main(int count, char **arguments) {
    if (count < 2 || !(out = fopen(arguments[1], "wb"))) return fprintf(stderr, "usage: textures FILE [PART OF A NAME]\n"), 2;
    if (count > 2) wanted = arguments[2];
    texture_cases();
    sweeps();
    surface_cases();
    fclose(out);
    printf("%d cases, %d failed\n", cases, failed);
    return failed != 0;
}
