/* sacct.c: any bytes as text of sacct. Each line makes one segment at most,
 * none of a header that has a column which users fill in; names are printable.
 */
#include "fuzz/import_bytes.h"

static int take (const segment_t *s, void *arg, gl_error_t *error)
{
    size_t *count = arg;

    (void)error;
    (*count)++;
    fuzz_import_check (s);
    fuzz_import_plain (s->user);
    fuzz_import_plain (s->account);
    fuzz_import_plain (s->partition);
    fuzz_import_plain (s->qos);
    fuzz_import_plain (s->wckey);
    fuzz_import_plain (s->reservation);
    fuzz_import_plain (s->nodelist);
    return 0;
}

static int check_untrusted (const segment_t *s, void *arg, gl_error_t *error)
{
    REQUIRE (!s->job_name && !s->admin_comment && !s->wckey);
    return take (s, arg, error);
}

static size_t lines_of (const uint8_t *data, size_t size)
{
    size_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    size_t trusted = 0, untrusted = 0;
    int rc;

    /* JSON and gzip have targets and a checksum of their own */
    if (size == 0 || data[0] == '{' || data[0] == '[' || data[0] == 0x1f)
        return 0;
    rc = fuzz_import (data, size, true, take, &trusted);
    REQUIRE (rc < 0 || trusted < lines_of (data, size));
    /* what is taken from anybody is taken from the trusted as well */
    if (fuzz_import (data, size, false, check_untrusted, &untrusted) == 0)
        REQUIRE (rc == 0 && trusted == untrusted);
    return 0;
}
