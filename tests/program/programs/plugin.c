/* As an extension module with a static runtime: a local function of the runtime, called by a constructor and later. */

static __attribute__((noinline, used, aligned(16))) int cudaRuntimeGetVersion(int *version) {
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop");
    *version = -1;
    return 0;
}

static int at_load;

__attribute__((constructor)) static void load(void) {
    cudaRuntimeGetVersion(&at_load);
}

int version_at_load(void) {
    return at_load;
}

int version_now(void) {
    int version;
    cudaRuntimeGetVersion(&version);
    return version;
}
