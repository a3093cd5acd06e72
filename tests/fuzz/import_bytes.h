/* import_bytes.h: any bytes as a file of `gpuledger import`, for sacct.c and
 * json.c.
 */
#ifndef GL_TESTS_FUZZ_IMPORT_BYTES_H
#define GL_TESTS_FUZZ_IMPORT_BYTES_H

#include <sys/mman.h>
#include <unistd.h>

#include "base/zone.h"
#include "fuzz/fuzz.h"
#include "import/import.h"

static inline const zone_t *fuzz_import_zone (const char *cluster, void *arg)
{
    (void)cluster;
    return arg;
}

/* Read the bytes as a file; `sink` gets each segment. What is taken is taken
 * the same a second time; an error says something. Returns 0 or -1. */
static inline int fuzz_import (const void *data, size_t size, bool trust,
                               import_sink_f sink, void *arg)
{
    static zone_t *zone;
    gl_error_t error = {0};
    char path[64];
    import_options_t options = {.cluster = "lab", .trust_text = trust};
    import_t *import;
    int rc = -1, fd = memfd_create ("input", MFD_CLOEXEC);

    if (!zone)
        REQUIRE ((zone = zone_open ("Europe/Oslo", &error)));
    options.zone = fuzz_import_zone;
    options.zone_arg = zone;
    REQUIRE (fd >= 0 && write (fd, data, size) == (ssize_t)size);
    snprintf (path, sizeof (path), "/proc/self/fd/%d", fd);
    import = import_open (path, &options, NULL, NULL, &error);
    if (import) {
        const import_stats_t *stats = import_stats (import);
        REQUIRE (stats->segments + stats->steps <= stats->rows);
        REQUIRE (import_run (import, sink, arg, &error) == 0);
        rc = 0;
    } else {
        REQUIRE (error.text[0] != '\0');
    }
    import_close (import);
    close (fd);
    return rc;
}

/* What every segment promises, whatever the format. */
static inline void fuzz_import_check (const segment_t *s)
{
    REQUIRE (s->id_job > 0 && s->id_job <= INT64_MAX);
    REQUIRE (s->time_submit > 0);
    REQUIRE (s->time_end == 0 || s->time_start <= s->time_end);
    REQUIRE (s->gres && s->cluster);
}

/* No byte below 0x20 and no 0x7f; NULL is none. */
static inline void fuzz_import_plain (const char *text)
{
    for (; text && *text; text++)
        REQUIRE ((unsigned char)*text >= 0x20 && *text != 0x7f);
}

#endif /* !GL_TESTS_FUZZ_IMPORT_BYTES_H */
