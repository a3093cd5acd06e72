#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "record/spool.h"

#include "outbox.h"
#include "words.h"

static void drop_first (outbox_t *outbox, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free (outbox->record[i].bytes);
    outbox->count -= count;
    if (count > 0 && outbox->count > 0)
        memmove (outbox->record, outbox->record + count,
                 outbox->count * sizeof (*outbox->record));
}

void outbox_done (outbox_t *outbox)
{
    drop_first (outbox, outbox->count);
    free (outbox->record);
    *outbox = (outbox_t){0};
}

static void add_bytes (outbox_t *outbox, const unsigned char *bytes,
                       size_t size)
{
    outbox_record_t record = {size, xmalloc (size)};

    memcpy (record.bytes, bytes, size);
    if (outbox->count == OUTBOX_MAX) {
        drop_first (outbox, 1);
        outbox->dropped++;
    }
    *GL_APPEND (outbox->record, outbox->count) = record;
}

void outbox_add (outbox_t *outbox, const record_t *record)
{
    unsigned char bytes[RECORD_MAX];

    add_bytes (outbox, bytes, record_encode (record, bytes));
}

size_t outbox_write (outbox_t *outbox, const char *spool, gl_error_t *error)
{
    size_t done = 0;
    record_t record;

    for (; done < outbox->count; done++) {
        const outbox_record_t *next = &outbox->record[done];
        if (record_decode (next->bytes, next->size, &record, NULL) == 0
            && spool_append (spool, &record, error) < 0)
            break;
    }
    drop_first (outbox, done);
    return done;
}

void outbox_print (const outbox_t *outbox, buffer_t *out)
{
    for (size_t i = 0; i < outbox->count; i++) {
        buffer_add_text (out, "record");
        words_add_bytes (out, outbox->record[i].bytes, outbox->record[i].size);
        buffer_add_char (out, '\n');
    }
}

int outbox_parse (outbox_t *outbox, const char *line)
{
    unsigned char bytes[RECORD_MAX];
    record_t record;
    size_t size;

    if (!words_is (&line, "record"))
        return 0;
    size = words_some_bytes (&line, bytes, sizeof (bytes));
    if (size == 0 || record_decode (bytes, size, &record, NULL) != 0)
        return -1;
    add_bytes (outbox, bytes, size);
    return 1;
}
