/*
 * driver.c: a fuzz target without a fuzzer. Gives it every kept input and each
 * beginning of every kept input, and prints TAP. A target that finds something
 * aborts: then the plan is missing and the last line names the file.
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

static void try_input (const unsigned char *bytes, size_t size)
{
    size_t step = size / BEGINNINGS + 1;

    for (size_t n = 0; n < size; n += step) {
        unsigned char *beginning = fuzz_copy (bytes, n);
        LLVMFuzzerTestOneInput (beginning, n);
        free (beginning);
    }
    LLVMFuzzerTestOneInput (bytes, size);
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
