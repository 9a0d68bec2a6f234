/* Memory pools of the runtime API: the driver's functions. */
#include "driver.h"
#include "runtime.h"

EXPORT CUresult cudaMemPoolCreate(struct pool **pool, const pool_properties *properties) {
    return RUNTIME(cuMemPoolCreate(pool, properties));
}

EXPORT CUresult cudaMemPoolDestroy(struct pool *pool) {
    return RUNTIME(cuMemPoolDestroy(pool));
}

EXPORT CUresult cudaMemPoolTrimTo(struct pool *pool, size_t keep) {
    return RUNTIME(cuMemPoolTrimTo(pool, keep));
}

EXPORT CUresult cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value) {
    return RUNTIME(cuMemPoolSetAttribute(pool, attribute, value));
}

EXPORT CUresult cudaMemPoolGetAttribute(struct pool *pool, int attribute, void *value) {
    return RUNTIME(cuMemPoolGetAttribute(pool, attribute, value));
}

EXPORT CUresult cudaMemPoolSetAccess(struct pool *pool, const memory_access *accesses, size_t count) {
    return RUNTIME(cuMemPoolSetAccess(pool, accesses, count));
}

EXPORT CUresult cudaMemPoolGetAccess(int *access, struct pool *pool, const memory_location *location) {
    return RUNTIME(cuMemPoolGetAccess(access, pool, location));
}
