/* Per-thread default streams: the variants that code compiled with `--default-stream per-thread` calls.

   Each sets a mark of this thread, which makes a stream of 0 the per-thread one until the call ends, and goes on in the
   ordinary function with all its arguments where they are. */
#include "device.h"

static __thread int per_thread;

void mark_per_thread(void) {
    per_thread = 1;
}

int is_per_thread(void) {
    return per_thread;
}

void end_per_thread(void) {
    per_thread = 0;
}

/* x86-64: the six registers of arguments are kept over the call; the stack is aligned to 16 bytes for it. */
#define VARIANT(name, suffix) \
    __asm__(".text\n.globl " #name suffix "\n.type " #name suffix ", @function\n" #name suffix ":\n" \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\nsub $8, %rsp\n" \
            "call mark_per_thread\n" \
            "add $8, %rsp\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n" \
            "jmp " #name "@PLT\n.size " #name suffix ", . - " #name suffix "\n");
#define ASYNCHRONOUS(name) VARIANT(name, "_ptsz")
#define SYNCHRONOUS(name) VARIANT(name, "_ptds")

ASYNCHRONOUS(cudaEventRecord) ASYNCHRONOUS(cudaEventRecordWithFlags) ASYNCHRONOUS(cudaFreeAsync)
ASYNCHRONOUS(cudaGraphInstantiateWithParams) ASYNCHRONOUS(cudaGraphLaunch) ASYNCHRONOUS(cudaGraphUpload)
ASYNCHRONOUS(cudaLaunchCooperativeKernel) ASYNCHRONOUS(cudaLaunchHostFunc) ASYNCHRONOUS(cudaLaunchKernel)
ASYNCHRONOUS(cudaLaunchKernelExC) ASYNCHRONOUS(cudaMallocAsync) ASYNCHRONOUS(cudaMallocFromPoolAsync)
ASYNCHRONOUS(cudaMemPrefetchAsync) ASYNCHRONOUS(cudaMemcpy2DAsync) ASYNCHRONOUS(cudaMemcpy2DFromArrayAsync)
ASYNCHRONOUS(cudaMemcpy2DToArrayAsync) ASYNCHRONOUS(cudaMemcpy3DAsync) ASYNCHRONOUS(cudaMemcpyAsync)
ASYNCHRONOUS(cudaMemcpyFromSymbolAsync) ASYNCHRONOUS(cudaMemcpyToSymbolAsync) ASYNCHRONOUS(cudaMemset2DAsync)
ASYNCHRONOUS(cudaMemset3DAsync) ASYNCHRONOUS(cudaMemsetAsync) ASYNCHRONOUS(cudaStreamAddCallback)
ASYNCHRONOUS(cudaStreamAttachMemAsync) ASYNCHRONOUS(cudaStreamBeginCapture) ASYNCHRONOUS(cudaStreamBeginCaptureToGraph)
ASYNCHRONOUS(cudaStreamCopyAttributes) ASYNCHRONOUS(cudaStreamEndCapture) ASYNCHRONOUS(cudaStreamGetAttribute)
ASYNCHRONOUS(cudaStreamGetCaptureInfo) ASYNCHRONOUS(cudaStreamGetDevice) ASYNCHRONOUS(cudaStreamGetFlags)
ASYNCHRONOUS(cudaStreamGetId) ASYNCHRONOUS(cudaStreamGetPriority) ASYNCHRONOUS(cudaStreamIsCapturing)
ASYNCHRONOUS(cudaStreamQuery) ASYNCHRONOUS(cudaStreamSetAttribute) ASYNCHRONOUS(cudaStreamSynchronize)
ASYNCHRONOUS(cudaStreamUpdateCaptureDependencies) ASYNCHRONOUS(cudaStreamWaitEvent)
SYNCHRONOUS(cudaMemcpy) SYNCHRONOUS(cudaMemcpy2D) SYNCHRONOUS(cudaMemcpy2DFromArray) SYNCHRONOUS(cudaMemcpy2DToArray)
SYNCHRONOUS(cudaMemcpy3D) SYNCHRONOUS(cudaMemcpyFromArray) SYNCHRONOUS(cudaMemcpyFromSymbol)
SYNCHRONOUS(cudaMemcpyToArray) SYNCHRONOUS(cudaMemcpyToSymbol) SYNCHRONOUS(cudaMemset) SYNCHRONOUS(cudaMemset2D)
SYNCHRONOUS(cudaMemset3D)
ASYNCHRONOUS(cudaMemcpyBatchAsync) ASYNCHRONOUS(cudaMemPrefetchBatchAsync) ASYNCHRONOUS(cudaMemDiscardBatchAsync)
ASYNCHRONOUS(cudaMemDiscardAndPrefetchBatchAsync) ASYNCHRONOUS(cudaMemcpy3DPeerAsync)
ASYNCHRONOUS(cudaMemcpyToArrayAsync) ASYNCHRONOUS(cudaMemcpyFromArrayAsync) ASYNCHRONOUS(cudaGetDriverEntryPoint)
ASYNCHRONOUS(cudaGetDriverEntryPointByVersion) SYNCHRONOUS(cudaMemcpy3DPeer) SYNCHRONOUS(cudaMemcpyArrayToArray)
SYNCHRONOUS(cudaMemcpy2DArrayToArray)
