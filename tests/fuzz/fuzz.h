/*
 * fuzz.h: what a fuzz target is.
 *
 * One file, one function LLVMFuzzerTestOneInput(), any bytes. It must end, and
 * what the decoded thing promises must hold: REQUIRE. With libFuzzer
 * (tests/fuzz/run) the fuzzer calls it; in make check, driver.c calls it with
 * each file of tests/fuzz/corpus/NAME and with each of its beginnings.
 */
#ifndef GL_TESTS_FUZZ_FUZZ_H
#define GL_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define REQUIRE(condition)                                              \
    do {                                                                \
        if (!(condition)) {                                             \
            fprintf (stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
                     #condition);                                       \
            abort ();                                                   \
        }                                                               \
    } while (0)

/* A copy that ends where its memory does, so that a read past it is seen. */
static inline unsigned char *fuzz_copy (const void *data, size_t size)
{
    unsigned char *copy = calloc (size ? size : 1, 1);

    REQUIRE (copy);
    if (size > 0)
        memcpy (copy, data, size);
    return copy;
}

#endif /* !GL_TESTS_FUZZ_FUZZ_H */
