/* Devices of the driver API: all are of the same kind. */
#define _GNU_SOURCE
#include "driver.h"

#include "device.h"

#include <stdio.h>
#include <string.h>

int device_attribute(int attribute, CUdevice device) {
    return gpu.attributes[attribute] + (attribute == PCI_BUS ? device : 0);
}

CUresult begin_on(CUdevice device) {
    CUresult status = begin(INITIALIZED);
    return status ? status : device < 0 || device >= gpu.devices ? INVALID_DEVICE : SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
    CUresult status = begin(INITIALIZED);
    if (!status)
        *count = gpu.devices;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CUresult status = begin_on(ordinal);
    if (!status)
        *device = ordinal;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        snprintf(name, length, "%s", gpu.name);
    return finish(status, CALL_NS);
}

void give_uuid(char *uuid, CUdevice device) {
    memcpy(uuid, gpu.uuid, sizeof gpu.uuid);
    uuid[sizeof gpu.uuid - 1] += device;
}

EXPORT CUresult cuDeviceGetUuid_v2(char *uuid, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        give_uuid(uuid, device);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetUuid(char *uuid, CUdevice device) {
    return cuDeviceGetUuid_v2(uuid, device);
}

EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        snprintf(text, length, "0000:%02x:00.0", device_attribute(PCI_BUS, device));
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
    CUresult status = begin(INITIALIZED);
    unsigned domain = 0, bus = 0, slot;
    if (!status && !(device && text))
        status = INVALID_VALUE;
    if (!status && sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 3 && sscanf(text, "%x:%x", &bus, &slot) < 2)
        status = INVALID_VALUE;
    for (int n = 0; n < gpu.devices && !status; n++)
        if (device_attribute(PCI_BUS, n) == (int)bus) {
            *device = n;
            return finish(SUCCESS, CALL_NS);
        }
    return finish(status ? status : INVALID_DEVICE, CALL_NS);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        *bytes = gpu.memory_bytes;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && (attribute <= 0 || attribute >= ATTRIBUTES || !value))
        status = INVALID_VALUE;
    if (!status)
        *value = device_attribute(attribute, device);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUresult status = cuDeviceGetAttribute(major, 75, device);
    return status ? status : cuDeviceGetAttribute(minor, 76, device);
}

EXPORT CUresult cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice device) {
    (void)luid, (void)mask; /* of Windows alone */
    CUresult status = begin_on(device);
    return finish(status ? status : NOT_SUPPORTED, CALL_NS);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    CUresult status = begin_on(device);
    if (!status && (peer < 0 || peer >= gpu.devices))
        status = INVALID_DEVICE;
    if (!status)
        *can = device != peer;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to) {
    CUresult status = begin_on(from);
    if (!status && (to < 0 || to >= gpu.devices || from == to))
        status = INVALID_DEVICE;
    if (!status && (attribute < 1 || attribute > 4 || !value))
        status = INVALID_VALUE;
    if (!status)
        *value = attribute != 1; /* 1: rank of performance; access, native atomics, arrays */
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, CUdevice device) {
    (void)format;
    CUresult status = begin_on(device);
    if (!status && !(width && channels))
        status = INVALID_VALUE;
    if (!status)
        *width = ((size_t)1 << 28) / channels;
    return finish(status, CALL_NS);
}
