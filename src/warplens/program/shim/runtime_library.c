/* Libraries of the runtime API: code that a program loads, and its kernels by handle. */
#include "driver.h"
#include "runtime.h"

EXPORT CUresult cudaLibraryLoadData(CUmodule *library, const void *image, int *compiler_options, void **compiler_values,
                                    unsigned compiler_count, int *options, void **values, unsigned count) {
    return RUNTIME(cuLibraryLoadData(library, image, compiler_options, compiler_values, compiler_count, options, values, count));
}

EXPORT CUresult cudaLibraryLoadFromFile(CUmodule *library, const char *path, int *compiler_options, void **compiler_values,
                                        unsigned compiler_count, int *options, void **values, unsigned count) {
    return RUNTIME(
        cuLibraryLoadFromFile(library, path, compiler_options, compiler_values, compiler_count, options, values, count));
}

EXPORT CUresult cudaLibraryUnload(CUmodule library) {
    return RUNTIME(cuLibraryUnload(library));
}

EXPORT CUresult cudaLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name) {
    return RUNTIME(cuLibraryGetKernel(kernel, library, name));
}

EXPORT CUresult cudaLibraryGetGlobal(void **pointer, size_t *size, CUmodule library, const char *name) {
    return RUNTIME(cuLibraryGetGlobal((CUdeviceptr *)pointer, size, library, name));
}

EXPORT CUresult cudaLibraryGetKernelCount(unsigned *count, CUmodule library) {
    return RUNTIME(cuLibraryGetKernelCount(count, library));
}

EXPORT CUresult cudaLibraryEnumerateKernels(CUfunction *kernels, unsigned most, CUmodule library) {
    return RUNTIME(cuLibraryEnumerateKernels(kernels, most, library));
}

EXPORT CUresult cudaKernelSetAttributeForDevice(CUfunction kernel, int attribute, int value, int device) {
    return RUNTIME(cuKernelSetAttribute(attribute, value, kernel, device));
}

EXPORT CUresult cudaGetKernel(CUfunction *kernel, const void *host) {
    return RUNTIME(function_of(host, kernel));
}
