// The cases of textures.cu: formats, filters, address modes, dimensions; and sweeps that show how weights are rounded.
#pragma once

static std::string named(const char *shape, const Format &f, int channels, const Case &c) {
    std::string name = std::string(shape) + " " + f.name + "x" + std::to_string(channels);
    name += c.linear ? " linear" : " point";
    name += c.as_float ? " fraction" : "";
    name += c.normalized ? " normalized" : "";
    for (int n = 0; n < 3; n++) name += std::string(" ") + MODES[c.modes[n]];
    return name;
}

static void texture_cases() {
    const Format all[] = {S8, U8, S16, U16, S32, U32, F16, F32}, smooth[] = {S8, U8, S16, U16, F16, F32};
    const int CLAMP3[3] = {1, 1, 1};
    Case c = {D2, FETCH, F32, 1, 37, 21, 1, 0, 0, 0, {1, 1, 1}, 0, 0, 0, 0};
    for (const Format &f : all)
        for (int channels : {1, 2, 4})
            for (int as_float = 0; as_float <= (f.kind != cudaChannelFormatKindFloat && f.bits < 32); as_float++) {
                c.format = f, c.channels = channels, c.as_float = as_float;
                at_random(named("2D", f, channels, c), c);
            }
    for (const Format &f : smooth)
        for (int channels : {1, 2, 4})
            for (int normalized : {0, 1}) {
                c.format = f, c.channels = channels, c.as_float = f.kind != cudaChannelFormatKindFloat;
                c.linear = 1, c.normalized = normalized;
                at_random(named("2D", f, channels, c), c);
            }
    c.format = F32, c.channels = 2, c.as_float = 0, c.normalized = 1;
    for (int linear : {0, 1})
        for (int mode = 0; mode < 16; mode++) {
            c.linear = linear, c.modes[0] = mode / 4, c.modes[1] = mode % 4;
            at_random(named("2D", F32, 2, c), c);
        }
    for (int linear : {0, 1})
        for (int normalized : {0, 1})
            for (int mode = 0; mode < 4; mode++) {
                c.linear = linear, c.normalized = normalized;
                for (int &m : c.modes) m = mode;
                c.channels = 1, c.shape = D1, c.w = 37;
                at_random(named("1D", F32, 1, c), c);
                c.shape = D3, c.w = 13, c.h = 9, c.d = 7;
                at_random(named("3D", F32, 1, c), c);
                c.shape = D2, c.w = 37, c.h = 21, c.d = 1, c.channels = 4, c.format = U8, c.as_float = 1;
                at_random(named("2D", U8, 4, c), c);
                c.format = F32, c.as_float = 0;
            }
    for (int linear : {0, 1})
        for (int normalized : {0, 1}) {
            memcpy(c.modes, CLAMP3, sizeof CLAMP3);
            c.linear = linear, c.normalized = normalized, c.channels = 4, c.d = 5;
            c.shape = L1;
            at_random(named("1D layered", F32, 4, c), c);
            c.shape = L2;
            at_random(named("2D layered", F32, 4, c), c);
            c.shape = D3, c.format = U8, c.as_float = 1, c.w = 13, c.h = 9, c.d = 7;
            at_random(named("3D", U8, 4, c), c);
            c.format = F32, c.as_float = 0, c.w = 37, c.h = 21;
            c.shape = PITCHED;
            at_random(named("pitched", F32, 4, c), c);
            c.format = U8, c.as_float = 1, c.channels = 1;
            at_random(named("pitched", U8, 1, c), c);
            c.format = F32, c.as_float = 0, c.d = 1;
        }
    for (int linear : {0, 1})
        for (int channels : {1, 4}) {
            c.linear = linear, c.normalized = 1, c.channels = channels, c.w = c.h = 16;
            c.shape = CUBE, c.d = 6;
            at_random(named("cubemap", F32, channels, c), c);
            c.shape = CUBE_LAYERED, c.d = 18;
            at_random(named("cubemap layered", F32, channels, c), c);
        }
    c.shape = D2, c.w = 37, c.h = 21, c.d = 1, c.channels = 4;
    for (int component = 0; component < 4; component++)
        for (int linear : {0, 1}) {
            c.fetch = (Fetch)(GATHER0 + component), c.linear = linear, c.normalized = 0;
            at_random(named("gather ", F32, 4, c) + " component " + std::to_string(component), c);
            c.normalized = 1, c.modes[0] = c.modes[1] = component;
            at_random(named("gather ", F32, 4, c) + " component " + std::to_string(component), c);
            c.modes[0] = c.modes[1] = 1;
        }
    c.format = U8, c.linear = 0, c.normalized = 0, c.fetch = GATHER1;
    at_random(named("gather", U8, 4, c), c);
    c.as_float = 1;
    at_random(named("gather", U8, 4, c), c);
    c.fetch = FETCH, c.shape = LINEAR, c.as_float = 0, c.linear = 0, c.w = 997, c.h = 1, c.d = 1;
    for (const Format &f : all)
        for (int channels : {1, 4}) {
            c.format = f, c.channels = channels;
            at_random(named("linear memory", f, channels, c), c);
        }
    c.format = U16, c.as_float = 1;
    at_random(named("linear memory", U16, 4, c), c);
    c.format = F32, c.as_float = 0, c.channels = 4, c.w = 37, c.h = 21;
    for (Shape shape : {D2, D3, L2}) {
        c.fetch = INTEGER, c.shape = shape, c.d = shape == D2 ? 1 : 5;
        at_random(named(shape == D2 ? "integer 2D" : shape == D3 ? "integer 3D" : "integer layered", F32, 4, c), c);
    }
    c.fetch = SIZE, c.d = 5;
    for (Shape shape : {D1, D2, D3, L2, PITCHED}) {
        c.shape = shape;
        at_random("size " + std::to_string(shape), c);
    }
    c.normalized = 1, c.d = 8, c.w = 64, c.h = 32, c.most = 3;
    for (int level_linear : {0, 1})
        for (int linear : {0, 1})
            for (int variant = 0; variant < 3; variant++)
                for (Shape shape : {MIP1, MIP2, MIP3})
                    for (Fetch how : {FETCH, LOD, GRAD}) {
                        if (how == GRAD && shape == MIP3) continue;
                        c.shape = shape, c.fetch = how, c.linear = linear, c.level_linear = level_linear;
                        c.bias = variant == 1 ? 0.75f : 0, c.least = variant == 2 ? 0.5f : 0, c.most = variant == 2 ? 1.75f : 3;
                        char text[80];
                        snprintf(text, sizeof text, "mipmap %d %s %s levels %s variant %d", 1 + shape - MIP1,
                                 how == FETCH ? "plain" : how == LOD ? "lod" : "grad", linear ? "linear" : "point",
                                 level_linear ? "linear" : "point", variant);
                        at_random(text, c);
                    }
    c.least = c.bias = c.level_linear = 0, c.fetch = GRAD, c.linear = 1, c.w = 37, c.h = 21, c.d = 5;
    for (Shape shape : {D2, L1, L2}) {
        c.shape = shape;
        at_random("gradients of one level " + std::to_string(shape), c);
    }
}

// Texels with this content, fetched along a line from `first` in steps; y and z stay, or follow x.
static void sweep(const std::string &name, Case c, const std::vector<unsigned char> &texels, float first, float step,
                  int count, float y, float z, int follow) {
    if (!starts(name)) return;
    std::vector<Places> places(count);
    for (int i = 0; i < count; i++) {
        float x = first + step * i;
        places[i] = {x, follow & 1 ? x : y, follow & 2 ? x : z, 0, 0, {0}};
    }
    failed += !run(c, places.data(), count, &texels);
}

template <class T> static std::vector<unsigned char> bytes_of(const std::vector<T> &values) {
    std::vector<unsigned char> bytes(values.size() * sizeof(T));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

static void sweeps() {
    Case c = {D1, FETCH, F32, 1, 4, 1, 1, 1, 0, 0, {1, 1, 1}, 0, 0, 0, 0};
    const float pairs[][2] = {{0, 1}, {1, 0}, {1, 1}, {1e30f, 1}, {1, 1e-8f}, {0.1f, 0.7f}, {-3.3f, 3.1f}, {1e-40f, 2e-40f}, {INFINITY, 1}};
    for (int n = 0; n < 9; n++)
        sweep("sweep 1D f32 " + std::to_string(n), c, bytes_of<float>({0, pairs[n][0], pairs[n][1], 0}), 1.5f, 1 / 4096.0f, 4224, 0, 0, 0);
    for (int n = 0; n < 3; n++) {
        const int values[][2] = {{0, 255}, {255, 254}, {17, 201}};
        c.format = U8, c.as_float = 1;
        sweep("sweep 1D u8 " + std::to_string(n), c, bytes_of<uint8_t>({0, (uint8_t)values[n][0], (uint8_t)values[n][1], 0}), 1.5f, 1 / 1024.0f, 1152, 0, 0, 0);
        c.format = S16;
        sweep("sweep 1D s16 " + std::to_string(n), c, bytes_of<int16_t>({0, (int16_t)(values[n][0] * -128), (int16_t)(values[n][1] * 100), 0}), 1.5f, 1 / 1024.0f, 1152, 0, 0, 0);
    }
    c.format = F16, c.as_float = 0;
    sweep("sweep 1D f16", c, bytes_of<uint16_t>({0, 0x3C00, 0x4123, 0}), 1.5f, 1 / 1024.0f, 1152, 0, 0, 0);
    c.format = F32, c.shape = D2, c.h = 4;
    std::vector<float> one(16, 0.0f);
    one[5] = 1; // the weight of one texel of four
    for (int n = 0; n < 8; n++)
        sweep("sweep 2D weight " + std::to_string(n), c, bytes_of(one), 1.5f, 1 / 1024.0f, 1152, 1.5f + n / 8.0f + 1 / 256.0f, 0, 0);
    sweep("sweep 2D diagonal", c, bytes_of(one), 1.5f, 1 / 4096.0f, 4224, 0, 0, 1);
    std::vector<float> many(16);
    for (int n = 0; n < 16; n++) many[n] = n * n * 0.37f - n * 1.13f;
    sweep("sweep 2D mixture", c, bytes_of(many), 0, 1 / 512.0f, 2048, 1.37f, 0, 0);
    sweep("sweep 2D mixture diagonal", c, bytes_of(many), 0, 1 / 512.0f, 2048, 0, 0, 1);
    c.shape = D3, c.d = 4;
    std::vector<float> cube(64, 0.0f);
    cube[21] = 1;
    for (int n = 0; n < 4; n++)
        sweep("sweep 3D weight " + std::to_string(n), c, bytes_of(cube), 1.5f, 1 / 1024.0f, 1152, 1.5f + n / 4.0f + 1 / 256.0f, 1.7f, 0);
    sweep("sweep 3D diagonal", c, bytes_of(cube), 1.5f, 1 / 4096.0f, 4224, 0, 0, 3);
    c.shape = D1, c.linear = 0, c.h = c.d = 1, c.normalized = 1;
    for (int size : {3, 5, 7, 100, 1000, 1023, 4096, 65535}) { // where one texel ends, of normalized coordinates
        std::vector<float> numbers(size);
        for (int n = 0; n < size; n++) numbers[n] = n;
        c.w = size;
        for (int mode = 0; mode < 4; mode++) {
            c.modes[0] = mode;
            sweep("edges " + std::to_string(size) + " " + MODES[mode], c, bytes_of(numbers), 0, 1 / 1024.0f, 2048, 0, 0, 0);
            sweep("edges " + std::to_string(size) + " " + MODES[mode] + " near 1/3", c, bytes_of(numbers), 0.33333f, 1 / 4194304.0f, 2048, 0, 0, 0);
        }
    }
    c.normalized = 0, c.modes[0] = 1;
    std::vector<uint8_t> every(256);
    for (int n = 0; n < 256; n++) every[n] = n;
    std::vector<uint16_t> words(65536);
    for (int n = 0; n < 65536; n++) words[n] = n;
    c.w = 256, c.as_float = 1, c.format = U8;
    sweep("every u8", c, bytes_of(every), 0.5f, 1, 256, 0, 0, 0);
    c.format = S8;
    sweep("every s8", c, bytes_of(every), 0.5f, 1, 256, 0, 0, 0);
    c.w = 65536, c.format = U16;
    sweep("every u16", c, bytes_of(words), 0.5f, 1, 65536, 0, 0, 0);
    c.format = S16;
    sweep("every s16", c, bytes_of(words), 0.5f, 1, 65536, 0, 0, 0);
    c.format = F16, c.as_float = 0;
    sweep("every f16", c, bytes_of(words), 0.5f, 1, 65536, 0, 0, 0);
}
