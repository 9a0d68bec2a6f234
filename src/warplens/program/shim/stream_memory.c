/* Values in memory that a stream writes and waits for: cuStreamWriteValue, cuStreamWaitValue and both in batches. */
#include "driver.h"

#include "device.h"

#include <string.h>

enum { FLUSH = 1u << 30, WAIT_KINDS = 4 };                                         /* CU_STREAM_WAIT_VALUE_* */
enum { WAIT_32 = 1, WRITE_32 = 2, FLUSH_WRITES = 3, WAIT_64 = 4, WRITE_64 = 5, BARRIER = 6 }; /* CUstreamBatchMemOpType */

typedef union { /* CUstreamBatchMemOpParams */
    int operation;
    struct {
        int operation;
        CUdeviceptr address;
        uint64_t value;
        unsigned flags;
    } value;
    uint64_t padding[6];
} memory_operation;

static CUresult write_value(CUstream stream, CUdeviceptr address, uint64_t value, int bytes) {
    CUresult status = address % bytes ? INVALID_VALUE : SUCCESS;
    for (int part = 0; part < bytes && !status; part += 4)
        status = fill_rows(address + part, 4, 4, 1, (uint32_t)(value >> 8 * part), 4, stream, 0);
    return status;
}

static int reached(uint64_t found, uint64_t value, int bytes, unsigned kind) {
    int64_t ahead = bytes == 4 ? (int32_t)(found - value) : (int64_t)(found - value);
    switch (kind) {
    case 0:
        return ahead >= 0;
    case 1:
        return !ahead;
    case 2:
        return (found & value) != 0;
    default:
        return bytes == 4 ? (uint32_t)~(found | value) != 0 : ~(found | value) != 0;
    }
}

/* Work is done when it is queued: who would write the value later has not been asked to yet. */
static CUresult wait_for_value(CUdeviceptr address, uint64_t value, int bytes, unsigned flags) {
    uint64_t found = 0;
    unsigned kind = flags & ~FLUSH;
    if (address % bytes || kind >= WAIT_KINDS || !block_of(address, bytes))
        return INVALID_VALUE;
    before_access(address, bytes, READ);
    memcpy(&found, (void *)address, bytes);
    if (reached(found, value, bytes, kind))
        return SUCCESS;
    report_missing("cuStreamWaitValue for a value that is written later");
    return NOT_SUPPORTED;
}

static CUresult perform_one(CUstream stream, const memory_operation *wanted) {
    switch (wanted->operation) {
    case WAIT_32:
    case WAIT_64:
        return wait_for_value(wanted->value.address, wanted->value.value, wanted->operation == WAIT_32 ? 4 : 8,
                              wanted->value.flags);
    case WRITE_32:
    case WRITE_64:
        return write_value(stream, wanted->value.address, wanted->value.value, wanted->operation == WRITE_32 ? 4 : 8);
    case FLUSH_WRITES:
    case BARRIER:
        return SUCCESS;
    }
    return INVALID_VALUE;
}

EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, const memory_operation *wanted, unsigned flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = !stream_known(stream) ? INVALID_HANDLE : flags || (count && !wanted) ? INVALID_VALUE : SUCCESS;
    for (unsigned n = 0; n < count && !status; n++)
        status = perform_one(stream, &wanted[n]);
    return finish(status, CALL_NS);
}

static CUresult one(CUstream stream, int operation, CUdeviceptr address, uint64_t value, unsigned flags) {
    memory_operation wanted = {.value = {operation, address, value, flags}};
    return cuStreamBatchMemOp_v2(stream, 1, &wanted, 0);
}

EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    return one(stream, WAIT_32, address, value, flags);
}

EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
    return one(stream, WAIT_64, address, value, flags);
}

EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    return one(stream, WRITE_32, address, value, flags);
}

EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
    return one(stream, WRITE_64, address, value, flags);
}
