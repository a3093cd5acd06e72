/*
 * print_records DIR|FILE: the records of a spool as text, one a line:
 *
 *     kind name=value name=value ...
 *
 * with -e also key, stamp and version. Last comes a line "stats ..." when
 * bytes were skipped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record/spool_read.h"

static int print_envelope;

static void print_head (const record_t *record)
{
    const char *kind = record_kind_name (record->kind);

    if (kind)
        printf ("%s", kind);
    else
        printf ("kind-%u", record->kind);
    if (!print_envelope)
        return;
    printf (" version=%u key=", record->version);
    for (int i = 0; i < RECORD_KEY_SIZE; i++)
        printf ("%02x", record->key[i]);
    printf (" stamp=%" PRId64, record->stamp);
}

static int print (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    const char *name, *text;
    unsigned cursor = 0;
    int64_t number;

    (void)arg;
    (void)error;
    print_head (&entry->record);
    if (!entry->understood)
        printf (" not-understood size=%zu", entry->size);
    while (record_next_field (&entry->record, &cursor, &name, &text, &number)) {
        if (text)
            printf (" %s=%s", name, text);
        else
            printf (" %s=%" PRId64, name, number);
    }
    if (entry->record.unknown > 0)
        printf (" unknown-fields=%u", entry->record.unknown);
    printf ("\n");
    return 0;
}

int main (int argc, char **argv)
{
    spool_stats_t stats = {0};
    gl_error_t error;
    struct stat st;
    int rc;

    print_envelope = argc == 3 && strcmp (argv[1], "-e") == 0;
    if (argc != 2 + print_envelope || stat (argv[argc - 1], &st) < 0) {
        fprintf (stderr, "usage: print_records [-e] DIR|FILE\n");
        return 2;
    }
    rc = S_ISDIR (st.st_mode)
             ? spool_read_dir (argv[argc - 1], print, NULL, &stats, &error)
             : spool_read_file (argv[argc - 1], print, NULL, &stats, &error);
    if (rc < 0) {
        fprintf (stderr, "print_records: %s\n", error.text);
        return 1;
    }
    if (stats.skipped_bytes > 0)
        printf ("stats damaged=%" PRIu64 " skipped=%" PRIu64 " tail=%" PRIu64
                "\n",
                stats.damaged, stats.skipped_bytes, stats.tail_bytes);
    return 0;
}
