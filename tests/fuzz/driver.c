/*
 * driver.c: a fuzz target without a fuzzer. Gives it every kept input, each
 * beginning of every kept input and, where FUZZ_MUTATIONS says so, as many
 * altered copies of each, the same in every run, and prints TAP. A target that
 * finds something aborts: then the plan is missing and the last line names the
 * file.
 */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

/* Longer inputs are cut in steps, to keep this short. */
#define BEGINNINGS 256

static int visible (const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

#ifndef FUZZ_MUTATIONS
#define FUZZ_MUTATIONS 0
#endif

/* Bytes that mean something to a reader of text. */
static const char telling[] = "\n\r\t|,:;=\"\\{}[]0129-+.eE \0\x1b\x7f\xff\xc3";

/* xorshift64: the same numbers everywhere. */
static uint64_t next_number (uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One to four changes: a byte altered, a stretch left out or repeated. */
static size_t mutate (unsigned char *bytes, size_t size, uint64_t *state)
{
    for (uint64_t n = next_number (state) % 4 + 1; n > 0 && size > 1; n--) {
        size_t at = next_number (state) % size;
        size_t length = next_number (state) % 16 % (size - at) + 1;
        switch (next_number (state) % 4) {
        case 0:
            bytes[at] = (unsigned char)next_number (state);
            break;
        case 1:
            bytes[at] = telling[next_number (state) % (sizeof (telling) - 1)];
            break;
        case 2:
            memmove (bytes + at, bytes + at + length, size - at - length);
            size -= length;
            break;
        case 3:
            memmove (bytes + next_number (state) % (size - length + 1),
                     bytes + at, length);
            break;
        }
    }
    return size;
}

static void try_mutations (const unsigned char *bytes, size_t size)
{
    uint64_t state = 0x9e3779b97f4a7c15 + size;

    for (int i = 0; i < FUZZ_MUTATIONS && size > 0; i++) {
        unsigned char *copy = fuzz_copy (bytes, size), *altered;
        size_t length = mutate (copy, size, &state);
        altered = fuzz_copy (copy, length);
        LLVMFuzzerTestOneInput (altered, length);
        free (altered);
        free (copy);
    }
}

static void try_input (const unsigned char *bytes, size_t size)
{
    size_t step = size / BEGINNINGS + 1;

    for (size_t n = 0; n < size; n += step) {
        unsigned char *beginning = fuzz_copy (bytes, n);
        LLVMFuzzerTestOneInput (beginning, n);
        free (beginning);
    }
    LLVMFuzzerTestOneInput (bytes, size);
    try_mutations (bytes, size);
}

static void try_file (const char *name)
{
    FILE *file = fopen (name, "rb");
    struct stat st;
    unsigned char *bytes;

    printf ("# %s\n", name);
    fflush (stdout);
    REQUIRE (file);
    REQUIRE (fstat (fileno (file), &st) == 0);
    REQUIRE ((bytes = malloc (st.st_size ? st.st_size : 1)));
    REQUIRE (fread (bytes, 1, st.st_size, file) == (size_t)st.st_size);
    fclose (file);
    try_input (bytes, st.st_size);
    free (bytes);
}

/* Returns how many there were. */
static int try_directory (const char *dir)
{
    struct dirent **entries;
    int count;

    if (chdir (dir) < 0)
        return 0;
    count = scandir (".", &entries, visible, alphasort);
    for (int i = 0; i < count; i++) {
        try_file (entries[i]->d_name);
        free (entries[i]);
    }
    if (count >= 0)
        free (entries);
    return count;
}

int main (void)
{
    const char *top = getenv ("abs_top_srcdir");
    char dir[PATH_MAX];
    int count;

    snprintf (dir, sizeof (dir), "%s/tests/fuzz/corpus/%s", top ? top : ".",
              FUZZ_TARGET);
    LLVMFuzzerTestOneInput ((const uint8_t *)"", 0);
    count = try_directory (dir);
    printf ("%s 1 - %s: %d kept inputs and their beginnings\n",
            count > 0 ? "ok" : "not ok", FUZZ_TARGET, count);
    printf ("1..1\n");
    return count <= 0;
}
