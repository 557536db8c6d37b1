/*
 * The fuzz targets without a fuzzer: fuzz_replay CORPUS gives each file of the
 * folder CORPUS/TARGET to its target, then random inputs; TAP.  A broken promise aborts, which the
 * missing points of the plan show.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <dirent.h>

#include "fuzz.h"
#include "testlib.h"

enum { SEED = 4711, RANDOM_INPUTS = 3000, INPUT_BYTES_MAX = 1 << 16, PATH_BYTES = 4096 };

/* One random input, to be freed. */
typedef uint8_t *random_input_fn_t(test_random_t *random, unsigned n, size_t *bytes);

/* Random bytes are mostly refused as floats, so half of the inputs have moderate exponents. */
static uint8_t *random_floats(test_random_t *random, unsigned n, size_t *bytes)
{
    const size_t floats = test_random_below(random, 200);
    uint8_t *data = fuzz_alloc(sizeof(fuzz_head_t) + floats * sizeof(uint32_t));

    for (size_t i = 0; i < sizeof(fuzz_head_t); ++i) {
        data[i] = (uint8_t) test_random_bits(random);
    }
    data[sizeof(fuzz_head_t) - 1] &= 0xf; /* up to 4096 elements: more take longer, no more */
    for (size_t i = 0; i < floats; ++i) {
        uint32_t bits = (uint32_t) test_random_bits(random);
        bits = 0 == n % 2 ? bits : (bits & 0x807fffff) | (uint32_t) (120 + i % 20) << 23;
        memcpy(data + sizeof(fuzz_head_t) + i * sizeof(bits), &bits, sizeof(bits));
    }
    *bytes = sizeof(fuzz_head_t) + floats * sizeof(uint32_t);
    return data;
}

/* Words of rules in any order, and now and then any byte. */
static uint8_t *random_words(test_random_t *random, unsigned n, size_t *bytes)
{
    static const char *const words[] = {
        "ranks=1:nodes=2:over=messages:below:5-11",
        "nodes=4:ranks=1-2:over=puts:doubling_by_leaders:767-1k",
        "nodes=",
        "ranks=",
        "over=",
        "cores=",
        "shared",
        "oneshot",
        "halving",
        "16777216",
        "16k",
        "inf",
        ":",
        ",",
        "(",
        ")",
        "-",
        "#",
        " ",
        "\n",
        "\r\n",
    };
    enum { WORDS = sizeof(words) / sizeof(words[0]), WORD_BYTES_MAX = 80, COUNT_MAX = 60, ANY = 8 };
    const unsigned count = (unsigned) test_random_below(random, COUNT_MAX);
    uint8_t *data = fuzz_alloc((size_t) COUNT_MAX * WORD_BYTES_MAX);

    *bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
        const char *word = words[test_random_below(random, WORDS)];
        if (0 == test_random_below(random, ANY)) {
            data[(*bytes)++] = (uint8_t) test_random_bits(random);
        } else {
            memcpy(data + *bytes, word, strlen(word));
            *bytes += strlen(word);
        }
    }
    return data;
}

static const struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t bytes);
    random_input_fn_t *random_input;
} targets[] = {{"decode", fuzz_decode, random_floats},
               {"roundtrip", fuzz_roundtrip, random_floats},
               {"rules", fuzz_rules, random_words}};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* In memory of just this size: a sanitizer then sees reads behind it. */
static void run_exact(const struct target *target, const uint8_t *data, size_t bytes)
{
    uint8_t *exact = fuzz_alloc(bytes);

    memcpy(exact, data, bytes);
    (void) target->run(exact, bytes);
    free(exact);
}

/* False: there is no such file. */
static bool replay_file(const struct target *target, const char *path)
{
    static uint8_t data[INPUT_BYTES_MAX];
    FILE *file = fopen(path, "rb");

    if (NULL == file) {
        return false;
    }
    size_t bytes = fread(data, 1, sizeof(data), file);
    (void) fclose(file);
    run_exact(target, data, bytes);
    return true;
}

/* The files of the target's folder; their number. */
static unsigned replay_folder(const struct target *target, const char *corpus)
{
    char path[PATH_BYTES];
    unsigned files = 0;

    (void) snprintf(path, sizeof(path), "%s/%s", corpus, target->name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; NULL != folder && NULL != (entry = readdir(folder));) {
        if ('.' != entry->d_name[0]) {
            (void) snprintf(path, sizeof(path), "%s/%s/%s", corpus, target->name, entry->d_name);
            files += replay_file(target, path);
        }
    }
    if (NULL != folder) {
        (void) closedir(folder);
    }
    return files;
}

static void replay_random(const struct target *target)
{
    test_random_t random = test_random_of(SEED, (uint64_t) (target - targets));

    for (unsigned n = 0; n < RANDOM_INPUTS; ++n) {
        size_t bytes = 0;
        uint8_t *data = target->random_input(&random, n, &bytes);

        run_exact(target, data, bytes);
        free(data);
    }
}

int main(int argc, char **argv)
{
    if (2 != argc) {
        fprintf(stderr, "usage: fuzz_replay CORPUS\n");
        return EXIT_FAILURE;
    }
    printf("1..%d\n", 2 * TARGETS);
    for (unsigned t = 0; t < TARGETS; ++t) {
        unsigned files = replay_folder(&targets[t], argv[1]);
        printf("%s %u - %s: the %u files of the corpus\n", files > 0 ? "ok" : "not ok", 2 * t + 1,
               targets[t].name, files);
        (void) fflush(stdout);
        replay_random(&targets[t]);
        printf("ok %u - %s: %d random inputs, seed %d\n", 2 * t + 2, targets[t].name, RANDOM_INPUTS,
               SEED);
        (void) fflush(stdout);
    }
    return EXIT_SUCCESS;
}
