// Variations of tensor_copies.cu.

static void run_tensor_cases() {
    for (int n = 0; n < 160; n++) { seed = 1000 + n; load_case("load tiled", n, tiled(n)); }
    for (int n = 0; n < 60; n++) { seed = 2000 + n; load_case("load im2col", n, im2col(n)); }
    for (int n = 0; n < 45; n++) { seed = 3000 + n; store_case("store tiled", n, tiled(n), 0); }
    for (int n = 0; n < 16; n++) { seed = 4000 + n; store_case("store im2col", n, im2col(n), 0); }
    // Reductions: those that PTX has for bulk copies, of maps without padding.
    static const int PAIRS[][2] = {{1, 2}, {1, 3}, {1, 4}, {1, 6}, {1, 7}, {1, 9}, {2, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 9}, {3, 2},
        {3, 3}, {3, 4}, {3, 5}, {3, 6}, {3, 9}, {4, 2}, {5, 2}, {6, 2}, {7, 2}, {8, 2}, {6, 3}, {7, 4}, {8, 5}, {6, 4}, {1, 8}, {1, 5}, {1, 10}};
    for (int n = 0; n < (int)(sizeof PAIRS / sizeof *PAIRS); n++) {
        seed = 5000 + n;
        Map m = tiled(n);
        m.type = PAIRS[n][1], m.fill = m.interleave = 0, m.swizzle = n % 4;
        int unit = 16 / m.size(), span = 16 << m.swizzle;
        m.box[0] = unit * (1 + below(m.swizzle ? span / 16 : 4));
        for (int d = 1; d < m.rank; d++) m.box[d] = 1 + below(4);
        m.at[0] = m.at[0] / unit * unit;
        pitches(m);
        store_case("reduce tiled", n, m, PAIRS[n][0]);
    }
    for (int n = 0; n < 24; n++) {
        seed = 6000 + n;
        Map m = {};
        m.type = n == 17 ? 2 : 7, m.rank = 3;
        m.dims[0] = 40, m.dims[1] = 9, m.dims[2] = 7, m.steps[0] = m.steps[1] = m.steps[2] = 1;
        m.box[0] = n < 15 ? 8 : 16, m.box[1] = 4, m.box[2] = 3;
        pitches(m);
        m.at[0] = 16 * below(3), m.at[1] = below(8), m.at[2] = below(7) - 1;
        static const unsigned BYTES[] = {384, 768, 192, 640};  // where a box or a type is another
        Place p = place(m);
        if (n >= 1 && n <= 3) p.bytes = BYTES[n];
        if (n == 9 || n == 10) p.bytes = n == 9 ? 192 : 128;
        if (n == 15) p.bytes = p.bytes / 4;
        if (n == 16 || n == 19 || n == 21) p.bytes = p.bytes / 2;
        std::string name = "replace " + std::to_string(n);
        if (skipped(name)) continue;
        fill_memory(0);
        std::vector<unsigned char> data;
        CUtensorMap map;
        if (!encoded(map, m, data)) { record(name, data); continue; }
        static const u64 VALUE[] = {0, 16, 2, 5, 33, 4, 3, 192, 2048, 2, 3};
        u64 value = n == 0 ? (u64)(memory + AHEAD + 512) : n < 11 ? VALUE[n] : 0;
        CHECK(cudaMemset(result + 2 * BUFFER, 0, 128));
        replace_fields<<<1, 128, BUFFER>>>(map, p, n, value, (CUtensorMap *)(result + 2 * BUFFER), (uint4 *)result);
        append_device(data, result, BUFFER + 16);
        append_device(data, result + 2 * BUFFER + 8, 120);
        record(name, data);
    }
    for (int n = 0; n < 8; n++) {
        seed = 7000 + n;
        Map m = tiled(0);
        m.rank = 2, m.type = 6, m.steps[0] = m.steps[1] = 1, m.interleave = 0, m.at[0] = 8 * below(5), m.at[1] = below(6), m.swizzle = n % 4, m.fill = 0, m.box[0] = m.swizzle ? 8 << (m.swizzle) : 24, m.box[1] = 6, m.dims[0] = 70, m.dims[1] = 12;
        if (m.box[0] > 64) m.box[0] = 64;
        pitches(m);
        Place p = place(m);
        std::string name = "multicast tensor " + std::to_string(n);
        if (skipped(name)) continue;
        fill_memory(6);
        CHECK(cudaMemset(result, 0, 4 * BUFFER + 4096));
        std::vector<unsigned char> data;
        CUtensorMap map;
        if (!encoded(map, m, data)) { record(name, data); continue; }
        cudaLaunchConfig_t config = {};
        config.gridDim = 4, config.blockDim = 128, config.dynamicSmemBytes = BUFFER;
        cudaLaunchAttribute cluster;
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = 4, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        config.attrs = &cluster, config.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&config, load_multicast<0>, map, p, 1u + (unsigned)(2 * n) % 15, result));
        append_device(data, result, 4 * BUFFER + 4096);
        record(name, data);
    }
}

static void run_cases() {
    static const unsigned BYTES[] = {16, 32, 48, 512, 528, 1024, 4096, 8192};
    for (int n = 0; n < 8; n++) {
        Plain p = {};
        p.bytes = BYTES[n], p.shift = 16 * (unsigned)(n * 5 % 7), p.mask = 1 + (unsigned)(n * 3) % 15;
        words_case("bulk load " + std::to_string(n), 1, bulk_in, p, 64);
        words_case("bulk store " + std::to_string(n), 1, bulk_out, p, 16384);
        if (p.bytes + p.shift <= 8192) words_case("bulk across " + std::to_string(n), 2 + n % 3, bulk_across, p, 64);
        words_case("bulk multicast " + std::to_string(n), 4, bulk_multicast, p, 64);
    }
    for (int n = 0; n < 27; n++) {
        Plain p = {};
        p.bytes = 16 * (1 + n * 37 % 50), p.shift = 16 * (unsigned)(n % 5), p.operation = n, p.type = n >= 24 ? 9 : n >= 21 ? 6 : 0;
        words_case("bulk reduce " + std::to_string(n), 1, bulk_reduce, p, 4096);
        if (n < 12) words_case("bulk reduce across " + std::to_string(n), 2, bulk_reduce_across, p, 64);
    }
    for (int n = 0; n < 15; n++) {
        Plain p = {};
        p.operation = n, p.mask = 32 + 8 * (n % 7), p.bytes = n == 1 || n == 3 ? 8 : n == 2 ? 16 : 4;
        words_case("asynchronous " + std::to_string(n), 2, store_asynchronously, p, 64);
    }
    for (int n = 0; n < 12; n++) { Plain p = {}; p.type = n; words_case("barrier words " + std::to_string(n), 1, barrier_words, p, 64); }
    for (int n = 0; n < 6; n++) { Plain p = {}; p.operation = n; words_case("arrive across " + std::to_string(n), 4, arrive_across, p, 64); }
    run_tensor_cases();
}
