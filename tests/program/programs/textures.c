/* Texture and surface objects of both APIs: of arrays, linear memory, rows and mipmaps; their descriptions and errors. */
#include "cuda_api.h"

#include <stdint.h>

typedef struct {
    int bits[4], kind;
} channel_format;

typedef struct {
    size_t width, height, depth;
} extent;

typedef struct { /* cudaResourceDesc */
    int type;
    union {
        void *handle;
        struct {
            void *data;
            channel_format format;
            size_t size, height, pitch;
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
} resource;

typedef struct { /* cudaTextureDesc */
    int modes[3], filter, as_float, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int level_filter;
    float bias, least, most;
    int optimization, seamless;
} description;

typedef struct { /* CUDA_RESOURCE_DESC of an array */
    int type;
    union {
        void *handle;
        int reserved[32];
    } of;
    unsigned flags;
} driver_resource;

typedef struct { /* CUDA_TEXTURE_DESC */
    int modes[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float bias, least, most, border[4];
    int reserved[12];
} driver_description;

int cudaMallocArray(void **array, const channel_format *format, size_t width, size_t height, unsigned flags);
int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);
int cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, void *array, size_t x, size_t y, size_t width, size_t height, int kind);
int cudaFreeArray(void *array);
int cudaMallocMipmappedArray(void **array, const channel_format *format, extent size, unsigned levels, unsigned flags);
int cudaGetMipmappedArrayLevel(void **level, void *array, unsigned number);
int cudaFreeMipmappedArray(void *array);
int cudaCreateTextureObject(uint64_t *object, const resource *r, const description *d, const void *view);
int cudaDestroyTextureObject(uint64_t object);
int cudaGetTextureObjectTextureDesc(description *d, uint64_t object);
int cudaGetTextureObjectResourceDesc(resource *r, uint64_t object);
int cudaCreateSurfaceObject(uint64_t *object, const resource *r);
int cudaDestroySurfaceObject(uint64_t object);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cuTexObjectCreate(uint64_t *object, const driver_resource *r, const driver_description *d, const void *view);
int cuTexObjectGetTextureDesc(driver_description *d, uint64_t object);
int cuTexObjectDestroy(uint64_t object);

enum { ARRAY, MIPMAPPED, LINEAR, PITCHED };
enum { TO_DEVICE = 1, TO_HOST = 2, WIDTH = 8, HEIGHT = 4, COUNT = WIDTH * HEIGHT };

static const channel_format FLOAT = {{32, 0, 0, 0}, 2}, BYTE = {{8, 0, 0, 0}, 1};
static float *out, numbers[COUNT], got[COUNT];

static void sample_stub(void) {}
static void number_stub(void) {}
static void level_stub(void) {}
static void write_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)sample_stub, "sample");
    add_kernel(module, (void *)number_stub, "number");
    add_kernel(module, (void *)level_stub, "level");
    add_kernel(module, (void *)write_stub, "write");
    __cudaRegisterFatBinaryEnd(module);
}

static int run(void (*kernel)(void), uint64_t object, float x) {
    void *values[] = {&object, &out, &x};
    OK(cudaLaunchKernel((void *)kernel, (dim3){1, 1, 1}, (dim3){COUNT, 1, 1}, values, 0, 0));
    return cudaMemcpy(got, out, sizeof got, TO_HOST);
}

static void show(const char *what) {
    printf("%s %g %g %g %g\n", what, got[0], got[1], got[9], got[31]);
}

static void *array_of(const channel_format *format, const void *content, size_t element) {
    void *array;
    OK(cudaMallocArray(&array, format, WIDTH, HEIGHT, 2));
    OK(cudaMemcpy2DToArray(array, 0, 0, content, WIDTH * element, WIDTH * element, HEIGHT, TO_DEVICE));
    return array;
}

static void of_arrays(void) {
    void *array = array_of(&FLOAT, numbers, 4);
    resource r = {.type = ARRAY, .of.handle = array}, same;
    description d = {.modes = {1, 1, 1}, .filter = 1, .border = {1, 2, 3, 4}}, read;
    uint64_t object, nearest;
    OK(cudaCreateTextureObject(&object, &r, &d, NULL));
    OK(run(sample_stub, object, 0.25f));
    show("linear");
    OK(cudaGetTextureObjectTextureDesc(&read, object));
    OK(cudaGetTextureObjectResourceDesc(&same, object));
    printf("described %d %g %d\n", read.filter, read.border[3], same.of.handle == array);
    d.filter = 0;
    OK(cudaCreateTextureObject(&nearest, &r, &d, NULL));
    OK(run(sample_stub, nearest, 0.25f));
    show("point");
    numbers[9] = 100;
    OK(cudaMemcpy2DToArray(array, 0, 0, numbers, WIDTH * 4, WIDTH * 4, HEIGHT, TO_DEVICE));
    OK(run(sample_stub, nearest, 0.25f)); /* as before, but for the texels */
    show("changed");
    uint64_t surface;
    OK(cudaCreateSurfaceObject(&surface, &r));
    OK(run(write_stub, surface, 7));
    OK(cudaMemcpy2DFromArray(got, WIDTH * 4, array, 0, 0, WIDTH * 4, HEIGHT, TO_HOST));
    show("written");
    OK(run(sample_stub, nearest, 0.25f));
    show("read again");
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaDestroyTextureObject(nearest));
    OK(cudaDestroyTextureObject(object));
    OK(cudaFreeArray(array));
}

static void of_memory(void) {
    void *data;
    size_t pitch;
    uint64_t object;
    OK(cudaMalloc(&data, sizeof numbers));
    OK(cudaMemcpy(data, numbers, sizeof numbers, TO_DEVICE));
    resource r = {.type = LINEAR, .of.memory = {data, FLOAT, 20 * 4}};
    description d = {0};
    OK(cudaCreateTextureObject(&object, &r, &d, NULL));
    OK(run(number_stub, object, 0));
    show("numbered");
    OK(cudaMallocPitch(&data, &pitch, WIDTH * 4, HEIGHT));
    OK(cudaMemcpy2D(data, pitch, numbers, WIDTH * 4, WIDTH * 4, HEIGHT, TO_DEVICE));
    r = (resource){.type = PITCHED, .of.memory = {data, FLOAT, WIDTH, HEIGHT, pitch}};
    OK(cudaCreateTextureObject(&object, &r, &d, NULL));
    OK(run(sample_stub, object, 0.5f));
    show("pitched");
    printf("pitch %zu\n", pitch);
    r.of.memory.data = (char *)data + 4;
    printf("misaligned %s\n", cudaGetErrorName(cudaCreateTextureObject(&object, &r, &d, NULL)));
}

static void of_mipmaps(void) {
    void *mipmap, *level;
    float small[COUNT / 4];
    for (int n = 0; n < COUNT / 4; n++)
        small[n] = 1000 + n;
    OK(cudaMallocMipmappedArray(&mipmap, &FLOAT, (extent){WIDTH, HEIGHT, 0}, 2, 0));
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 0));
    OK(cudaMemcpy2DToArray(level, 0, 0, numbers, WIDTH * 4, WIDTH * 4, HEIGHT, TO_DEVICE));
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    OK(cudaMemcpy2DToArray(level, 0, 0, small, WIDTH * 2, WIDTH * 2, HEIGHT / 2, TO_DEVICE));
    printf("level 2 %s\n", cudaGetErrorName(cudaGetMipmappedArrayLevel(&level, mipmap, 2)));
    resource r = {.type = MIPMAPPED, .of.handle = mipmap};
    description d = {.modes = {1, 1, 1}, .normalized = 1, .most = 1};
    uint64_t object;
    OK(cudaCreateTextureObject(&object, &r, &d, NULL));
    OK(run(level_stub, object, 1));
    show("level 1");
    OK(run(level_stub, object, 0));
    show("level 0");
    OK(cudaFreeMipmappedArray(mipmap));
}

static void by_driver(void) {
    unsigned char bytes[COUNT];
    for (int n = 0; n < COUNT; n++)
        bytes[n] = 5 * n;
    driver_resource r = {.type = ARRAY, .of.handle = array_of(&BYTE, bytes, 1)};
    driver_description d = {.modes = {3, 3, 3}, .filter = 1, .border = {0.5f}}, read;
    uint64_t object;
    OK(cuTexObjectCreate(&object, &r, &d, NULL));
    OK(run(sample_stub, object, 0.5f));
    printf("fractions %d\n", (int)(got[9] * 255 + 0.5f));
    OK(cuTexObjectGetTextureDesc(&read, object));
    printf("flags %u mode %d border %g\n", read.flags, read.modes[1], read.border[0]);
    OK(cuTexObjectDestroy(object));
}

static void errors(void) {
    unsigned char bytes[COUNT] = {0};
    resource r = {.type = ARRAY, .of.handle = array_of(&BYTE, bytes, 1)};
    description d = {.filter = 1};
    uint64_t object = 0, none = 77;
    printf("filter %s\n", cudaGetErrorName(cudaCreateTextureObject(&object, &r, &d, NULL)));
    resource whole = {.type = ARRAY, .of.handle = array_of(&FLOAT, numbers, 4)};
    d = (description){.srgb = 1, .as_float = 1};
    printf("srgb %s\n", cudaGetErrorName(cudaCreateTextureObject(&object, &r, &d, NULL)));
    d = (description){0};
    printf("view %s\n", cudaGetErrorName(cudaCreateTextureObject(&object, &whole, &d, &none)));
    printf("unknown %s\n", cudaGetErrorName(cudaDestroyTextureObject(none)));
    OK(cudaCreateTextureObject(&object, &whole, &d, NULL));
    OK(cudaDestroyTextureObject(object));
    printf("destroyed %s\n", cudaGetErrorName(run(sample_stub, object, 0.5f)));
}

int main(void) {
    for (int n = 0; n < COUNT; n++)
        numbers[n] = n;
    OK(cudaMalloc((void **)&out, sizeof numbers));
    int alignment, width; /* of rows of a texture; of a texture in two dimensions, at most */
    OK(cudaDeviceGetAttribute(&alignment, 51, 0));
    OK(cudaDeviceGetAttribute(&width, 22, 0));
    printf("rows %d width %d\n", alignment, width);
    of_arrays();
    of_memory();
    of_mipmaps();
    by_driver();
    errors();
    return 0;
}
