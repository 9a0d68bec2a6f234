/* NVML: the calls that programs make to find GPUs and their memory, for libnvidia-ml.so.1.

   What a sensor would measure (power, temperature, utilization) is "not supported", as on GPUs without that sensor. */
#define _GNU_SOURCE
#include "driver.h"

#include "device.h"

#include <stdio.h>
#include <string.h>

enum { /* nvmlReturn_t */
    NVML_SUCCESS,
    NVML_UNINITIALIZED,
    NVML_INVALID_ARGUMENT,
    NVML_NOT_SUPPORTED,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE,
    NVML_DRIVER_NOT_LOADED = 9,
};
enum { UUID_LENGTH = 41, CUDA_VERSION = 13000, CLOCK = 13, MEMORY_CLOCK = 36 /* attributes, in kHz */ };

struct nvml_device { /* a handle is the address of one */
    int number;
};

typedef struct { /* nvmlPciInfo_t */
    char legacy[16];
    unsigned domain, bus, slot, device_id, subsystem;
    char text[32];
} pci_info;

static struct nvml_device handles[MOST_DEVICES];
static int users;

static int begin_nvml(const struct nvml_device *device) {
    begin(NOTHING);
    return !users ? NVML_UNINITIALIZED : device ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

static int end_nvml(int status) {
    return finish(status, CALL_NS);
}

/* Of a call that needs no device. */
static int begin_any(void) {
    return begin_nvml(handles);
}

static int give_text(char *text, unsigned length, const char *content) {
    if (!text || length <= strlen(content))
        return text ? NVML_INSUFFICIENT_SIZE : NVML_INVALID_ARGUMENT;
    strcpy(text, content);
    return NVML_SUCCESS;
}

EXPORT int nvmlInit_v2(void) {
    if (cuInit(0))
        return NVML_DRIVER_NOT_LOADED;
    begin(NOTHING);
    users++;
    for (int n = 0; n < gpu.devices; n++)
        handles[n].number = n;
    return end_nvml(NVML_SUCCESS);
}

EXPORT int nvmlInit(void) {
    return nvmlInit_v2();
}

EXPORT int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    return nvmlInit_v2();
}

EXPORT int nvmlShutdown(void) {
    int status = begin_any();
    users -= users > 0;
    return end_nvml(status);
}

EXPORT const char *nvmlErrorString(int status) {
    static const char *const texts[] = {"Success", "Uninitialized", "Invalid Argument", "Not Supported",
                                        "Insufficient Permissions", "Already Initialized", "Not Found",
                                        "Insufficient Size", "Insufficient External Power", "Driver Not Loaded"};
    return status >= 0 && status <= NVML_DRIVER_NOT_LOADED ? texts[status] : "Unknown Error";
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned length) {
    int status = begin_any();
    return end_nvml(status ? status : give_text(text, length, "580.00"));
}

EXPORT int nvmlSystemGetNVMLVersion(char *text, unsigned length) {
    int status = begin_any();
    return end_nvml(status ? status : give_text(text, length, "13.580.00"));
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    int status = begin_any();
    if (!status)
        *version = CUDA_VERSION;
    return end_nvml(status);
}

EXPORT int nvmlSystemGetCudaDriverVersion(int *version) {
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* Devices */

EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
    int status = begin_any();
    if (!status)
        *count = gpu.devices;
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetCount(unsigned *count) {
    return nvmlDeviceGetCount_v2(count);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device) {
    int status = begin_any();
    if (!status && index >= (unsigned)gpu.devices)
        status = NVML_INVALID_ARGUMENT;
    if (!status)
        *device = &handles[index];
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, struct nvml_device **device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static void write_uuid(char text[UUID_LENGTH], int number) {
    unsigned char u[16];
    give_uuid((char *)u, number);
    int at = sprintf(text, "GPU-");
    for (int n = 0; n < 16; n++)
        at += sprintf(text + at, "%s%02x", n == 4 || n == 6 || n == 8 || n == 10 ? "-" : "", u[n]);
}

EXPORT int nvmlDeviceGetUUID(struct nvml_device *device, char *text, unsigned length) {
    int status = begin_nvml(device);
    char uuid[UUID_LENGTH];
    if (!status) {
        write_uuid(uuid, device->number);
        status = give_text(text, length, uuid);
    }
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *text, struct nvml_device **device) {
    int status = begin_any();
    char uuid[UUID_LENGTH];
    for (int n = 0; n < gpu.devices && !status; n++) {
        write_uuid(uuid, n);
        if (!strcmp(uuid, text)) {
            *device = &handles[n];
            return end_nvml(NVML_SUCCESS);
        }
    }
    return end_nvml(status ? status : NVML_NOT_FOUND);
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *text, struct nvml_device **device) {
    int status = begin_any();
    end_nvml(status);
    CUdevice found;
    if (!status && cuDeviceGetByPCIBusId(&found, text))
        status = NVML_NOT_FOUND;
    if (!status)
        *device = &handles[found];
    return status;
}

EXPORT int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned length) {
    int status = begin_nvml(device);
    return end_nvml(status ? status : give_text(text, length, gpu.name));
}

EXPORT int nvmlDeviceGetIndex(struct nvml_device *device, unsigned *index) {
    int status = begin_nvml(device);
    if (!status)
        *index = device->number;
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetMinorNumber(struct nvml_device *device, unsigned *number) {
    return nvmlDeviceGetIndex(device, number);
}

EXPORT int nvmlDeviceGetPciInfo_v3(struct nvml_device *device, pci_info *pci) {
    int status = begin_nvml(device);
    if (!status) {
        *pci = (pci_info){.bus = device_attribute(PCI_BUS, device->number)};
        snprintf(pci->legacy, sizeof pci->legacy, "0000:%02x:00.0", pci->bus & 255);
        snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", pci->bus & 255);
    }
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetCudaComputeCapability(struct nvml_device *device, int *major, int *minor) {
    int status = begin_nvml(device);
    if (!status)
        *major = gpu.attributes[75], *minor = gpu.attributes[76];
    return end_nvml(status);
}

/* Memory: nvmlMemory_t is total, free, used; the second version begins with a version and has what is reserved. */

EXPORT int nvmlDeviceGetMemoryInfo(struct nvml_device *device, unsigned long long bytes[3]) {
    int status = begin_nvml(device);
    if (!status) {
        bytes[0] = gpu.memory_bytes;
        bytes[1] = bytes_free(device->number);
        bytes[2] = bytes[0] - bytes[1];
    }
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *device, unsigned long long info[5]) {
    unsigned long long bytes[3];
    int status = nvmlDeviceGetMemoryInfo(device, bytes);
    if (!status)
        info[1] = bytes[0], info[2] = 0, info[3] = bytes[1], info[4] = bytes[2];
    return status;
}

/* Clocks in MHz; kind 0: graphics, 1: SM, 2: memory. */
EXPORT int nvmlDeviceGetMaxClockInfo(struct nvml_device *device, int kind, unsigned *megahertz) {
    int status = begin_nvml(device);
    if (!status && (kind < 0 || kind > 2))
        status = NVML_NOT_SUPPORTED;
    if (!status)
        *megahertz = gpu.attributes[kind == 2 ? MEMORY_CLOCK : CLOCK] / 1000;
    return end_nvml(status);
}

EXPORT int nvmlDeviceGetClockInfo(struct nvml_device *device, int kind, unsigned *megahertz) {
    return nvmlDeviceGetMaxClockInfo(device, kind, megahertz);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count, void *processes) {
    (void)processes; /* none but this one, which is not told of itself */
    int status = begin_nvml(device);
    if (!status)
        *count = 0;
    return end_nvml(status);
}

/* The others exist, so that programs can be linked. */
#define NO_SENSOR(name) \
    EXPORT int name(struct nvml_device *device) { \
        int status = begin_nvml(device); \
        return end_nvml(status ? status : NVML_NOT_SUPPORTED); \
    }
#define NO_FUNCTION(name) \
    EXPORT int name(void) { \
        return NVML_NOT_SUPPORTED; \
    }
#include "nvml_missing.h"
