// The surfaces of textures.cu: reads and writes of every width beyond the edges, and reductions.
#pragma once

template <class T, int ZERO>
__global__ void read_surface(cudaSurfaceObject_t s, Shape shape, const int4 *places, T *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 p = places[i];
    constexpr cudaSurfaceBoundaryMode mode = ZERO ? cudaBoundaryModeZero : cudaBoundaryModeClamp;
    int x = p.x * (int)sizeof(T);
    if (shape == D1) result[i] = surf1Dread<T>(s, x, mode);
    else if (shape == D2) result[i] = surf2Dread<T>(s, x, p.y, mode);
    else if (shape == D3) result[i] = surf3Dread<T>(s, x, p.y, p.z, mode);
    else if (shape == L1) result[i] = surf1DLayeredread<T>(s, x, p.z, mode);
    else if (shape == L2) result[i] = surf2DLayeredread<T>(s, x, p.y, p.z, mode);
    else result[i] = surfCubemapread<T>(s, x, p.y, p.z, mode);
}

template <class T, int ZERO>
__global__ void write_surface(cudaSurfaceObject_t s, Shape shape, const int4 *places, const T *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 p = places[i];
    constexpr cudaSurfaceBoundaryMode mode = ZERO ? cudaBoundaryModeZero : cudaBoundaryModeClamp;
    int x = p.x * (int)sizeof(T);
    T v = values[p.w]; // equal where lanes meet at an edge
    if (shape == D1) surf1Dwrite<T>(v, s, x, mode);
    else if (shape == D2) surf2Dwrite<T>(v, s, x, p.y, mode);
    else if (shape == D3) surf3Dwrite<T>(v, s, x, p.y, p.z, mode);
    else if (shape == L1) surf1DLayeredwrite<T>(v, s, x, p.z, mode);
    else if (shape == L2) surf2DLayeredwrite<T>(v, s, x, p.y, p.z, mode);
    else surfCubemapwrite<T>(v, s, x, p.y, p.z, mode);
}

__global__ void reduce_surface(cudaSurfaceObject_t s, const int4 *places) {
    int4 p = places[blockIdx.x * blockDim.x + threadIdx.x];
    int x = p.x * 4;
    asm volatile("sured.b.add.2d.u32.zero [%0, {%1,%2}], %3;" ::"l"(s), "r"(x), "r"(p.y), "r"(p.w));
    asm volatile("sured.b.min.2d.s32.zero [%0, {%1,%2}], %3;" ::"l"(s), "r"(x), "r"(p.y + 8), "r"(p.w - 500));
    asm volatile("sured.b.max.2d.u32.zero [%0, {%1,%2}], %3;" ::"l"(s), "r"(x), "r"(p.y + 16), "r"(p.w * 4000000));
    asm volatile("sured.b.or.2d.b32.zero [%0, {%1,%2}], %3;" ::"l"(s), "r"(x), "r"(p.y + 24), "r"(1 << p.w % 32));
}

// Of an array of these elements: reads, or writes and the whole array after them, or reductions.
template <class T, int ZERO> static bool surface(const Format &f, int channels, Shape shape, int kind) {
    const int w = 19, h = shape == D1 || shape == L1 ? 0 : 33, d = shape == D1 || shape == D2 ? 0 : 6;
    int side = shape == CUBE ? 19 : h;
    cudaChannelFormatDesc channel = {f.bits, channels > 1 ? f.bits : 0, channels > 2 ? f.bits : 0, channels > 2 ? f.bits : 0, f.kind};
    unsigned flags = cudaArraySurfaceLoadStore | (shape == L1 || shape == L2 ? cudaArrayLayered : shape == CUBE ? cudaArrayCubemap : 0);
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(w, side, d), flags));
    std::vector<unsigned char> bytes((size_t)w * (side ? side : 1) * (d ? d : 1) * sizeof(T));
    fill(bytes, f);
    if (!copy_in(array, bytes, sizeof(T), w, side, d)) return false;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
    cudaSurfaceObject_t object;
    CHECK(cudaCreateSurfaceObject(&object, &resource));
    std::vector<int4> places(N);
    for (int i = 0; i < N; i++)
        places[i] = make_int4((int)(next() % (2 * w)) - w / 2, side ? (int)(next() % (2 * side)) - side / 2 : 0,
                              i % 4 ? next() % 6 : (int)(next() % 12) - 3, kind == 1 ? 7 : next() % N);
    int4 *on_gpu;
    T *values;
    std::vector<unsigned char> content(N * sizeof(T));
    CHECK(cudaMalloc(&on_gpu, N * sizeof(int4)));
    CHECK(cudaMalloc(&values, N * sizeof(T)));
    CHECK(cudaMemcpy(on_gpu, places.data(), N * sizeof(int4), cudaMemcpyHostToDevice));
    fill(content, f);
    CHECK(cudaMemcpy(values, content.data(), content.size(), cudaMemcpyHostToDevice));
    if (kind == 0) {
        read_surface<T, ZERO><<<N / 128, 128>>>(object, shape, on_gpu, values);
        CHECK(cudaMemcpy(content.data(), values, content.size(), cudaMemcpyDeviceToHost));
        write_record(current, content.data(), content.size());
    } else {
        if (kind == 1) write_surface<T, ZERO><<<N / 128, 128>>>(object, shape, on_gpu, values);
        else reduce_surface<<<N / 128, 128>>>(object, on_gpu);
        cudaMemcpy3DParms c = {};
        c.srcArray = array;
        c.dstPtr = make_cudaPitchedPtr(bytes.data(), w * sizeof(T), w, side ? side : 1);
        c.extent = make_cudaExtent(w, side ? side : 1, d ? d : 1);
        c.kind = cudaMemcpyDeviceToHost;
        CHECK(cudaMemcpy3D(&c));
        write_record(current, bytes.data(), bytes.size());
    }
    write_record(current + "/places", places.data(), N * sizeof(int4));
    CHECK(cudaDestroySurfaceObject(object));
    cudaFree(on_gpu), cudaFree(values), cudaFreeArray(array);
    return true;
}

template <class T> static void surfaces_of(const Format &f, int channels) {
    const Shape shapes[] = {D1, D2, D3, L1, L2, CUBE};
    for (int n = 0; n < 6; n++)
        for (int kind = 0; kind < 2; kind++)
            for (int zero = 0; zero < 2; zero++) {
                char text[80];
                snprintf(text, sizeof text, "surface %d %sx%d %s %s", n, f.name, channels, kind ? "write" : "read", zero ? "zero" : "clamp");
                if (starts(text)) failed += !(zero ? surface<T, 1>(f, channels, shapes[n], kind) : surface<T, 0>(f, channels, shapes[n], kind));
            }
}

static void surface_cases() {
    surfaces_of<unsigned char>(U8, 1);
    surfaces_of<short>(S16, 1);
    surfaces_of<float>(F32, 1);
    surfaces_of<uint2>(U32, 2);
    surfaces_of<float4>(F32, 4);
    if (starts("surface reductions")) failed += !surface<unsigned, 1>(U32, 1, D2, 2);
}
