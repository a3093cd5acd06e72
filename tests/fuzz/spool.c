/* spool.c: any bytes as a segment. Every byte is in one record or counted as
 * skipped, records come in order, and a whole record behind any rubbish is
 * found. */
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/seal.h"
#include "record/spool_read.h"

struct seen {
    const unsigned char *bytes;
    size_t size;
    uint64_t end; /* of the last record */
    uint64_t records;
    uint64_t in_records;
    uint64_t unknown;
    uint64_t last;    /* where the last record began */
    uint64_t stop_at; /* the function fails at this record; 0: never */
};

static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    struct seen *seen = arg;

    REQUIRE (entry->offset >= seen->end);
    REQUIRE (entry->offset + entry->size <= seen->size);
    REQUIRE (entry->bytes == seen->bytes + entry->offset);
    REQUIRE (record_probe (entry->bytes, seen->size - entry->offset)
             == (int)entry->size);
    REQUIRE (entry->file[0] == '\0');
    seen->last = entry->offset;
    seen->end = entry->offset + entry->size;
    seen->in_records += entry->size;
    seen->unknown += !entry->understood;
    return ++seen->records == seen->stop_at ? gl_error (error, "enough") : 0;
}

static struct seen read_all (const unsigned char *bytes, size_t size)
{
    struct seen seen = {.bytes = bytes, .size = size};
    spool_stats_t stats = {0};
    gl_error_t error = {0};

    REQUIRE (spool_read_buffer (bytes, size, take, &seen, &stats, &error) == 0);
    REQUIRE (stats.bytes == size);
    REQUIRE (stats.records == seen.records);
    REQUIRE (stats.unknown == seen.unknown);
    REQUIRE (seen.in_records + stats.skipped_bytes == size);
    REQUIRE (stats.tail_bytes == size - seen.end);
    REQUIRE ((stats.damaged == 0) == (stats.skipped_bytes == 0));
    REQUIRE (stats.damaged <= seen.records + 1);
    return seen;
}

/* Reading that is stopped has given what came before, and no more. */
static void stop_early (const unsigned char *bytes, size_t size,
                        uint64_t records)
{
    struct seen seen = {.bytes = bytes, .size = size, .stop_at = records};
    gl_error_t error = {0};

    REQUIRE (spool_read_buffer (bytes, size, take, &seen, NULL, &error) == -1);
    REQUIRE (strcmp (error.text, "enough") == 0);
    REQUIRE (seen.records == records);
}

/* A record that an unfinished one hides would be lost for ever. */
static void append_one (const unsigned char *bytes, size_t size)
{
    record_t record = {.version = RECORD_VERSION, .kind = RECORD_JOB_END};
    unsigned char tail[RECORD_MAX], *all;
    size_t length;
    struct seen seen;

    record_set_number (&record, RECORD_FIELD_job_id, 46);
    length = record_encode (&record, tail);
    all = malloc (size + length);
    REQUIRE (all);
    memcpy (all, bytes, size);
    memcpy (all + size, tail, length);
    seen = read_all (all, size + length);
    REQUIRE (seen.records > 0 && seen.last == size);
    free (all);
}

static void check (const unsigned char *bytes, size_t size)
{
    struct seen seen = read_all (bytes, size);

    if (seen.records > 0)
        stop_early (bytes, size, (seen.records + 1) / 2);
    append_one (bytes, size);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *bytes = fuzz_copy (data, size);

    check (bytes, size);
    seal_records (bytes, size);
    check (bytes, size);
    free (bytes);
    return 0;
}
