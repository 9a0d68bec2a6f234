"""A program that asks NVML for the GPUs of this machine, without CUDA."""

import ctypes

nvml = ctypes.CDLL("libnvidia-ml.so.1")
count, device = ctypes.c_uint(), ctypes.c_void_p()
name, uuid = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96)
memory = (ctypes.c_ulonglong * 3)()
print("before", nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)))
nvml.nvmlInit_v2()
nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
for number in range(count.value):
    nvml.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device))
    nvml.nvmlDeviceGetName(device, name, 96)
    nvml.nvmlDeviceGetUUID(device, uuid, 96)
    nvml.nvmlDeviceGetMemoryInfo(device, memory)
    print(name.value.decode(), len(uuid.value), uuid.value[-2:].decode(), memory[0] == memory[1] + memory[2])
nvml.nvmlErrorString.restype = ctypes.c_char_p
print(nvml.nvmlErrorString(nvml.nvmlDeviceGetPowerUsage(device, ctypes.byref(count))).decode())
print(nvml.nvmlErrorString(nvml.nvmlDeviceGetSerial(device, name, 96)).decode())
