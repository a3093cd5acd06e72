#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "store/revise.h"
#include "store/segment_row.h"

static void add_escaped (buffer_t *text, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c < 0x20 || c == 0x7f || c == '\\')
            buffer_printf (text, "\\x%02x", c);
        else
            buffer_add_char (text, *value);
    }
}

static void add_line (buffer_t *text, const segment_t *s, const column_t *c)
{
    buffer_printf (text, "%s=", c->word ? c->word : c->name);
    if (c->offset == offsetof (segment_t, state))
        buffer_add_text (text, segment_state_name (s->state));
    else if (c->type == COLUMN_NAME || c->type == COLUMN_TEXT)
        add_escaped (text, column_text (c, s));
    else
        buffer_printf (text, "%" PRId64, column_number (c, s));
    buffer_add_char (text, '\n');
}

/* Of an open segment observed_at is the end; of a closed one it says nothing.
 */
static bool differs (const segment_t *before, const segment_t *after,
                     const column_t *c)
{
    if (c->offset == offsetof (segment_t, observed_at)
        && (before->time_end != 0) == (after->time_end != 0))
        return false;
    return c->flags & COLUMN_REVISED && column_known (c, before)
           && column_known (c, after) && column_compare (c, before, after) != 0;
}

/* An open one becomes what it becomes while it runs, and then ends. */
static bool is_normal (const segment_t *before, const segment_t *after,
                       const column_t *c)
{
    return before->time_end == 0 && c->flags & COLUMN_RUNS
           && segment_end (after) >= segment_end (before);
}

static bool is_revision (const segment_t *before, const segment_t *after)
{
    /* what never started was not counted */
    if (before->time_end == 0 && before->time_start == 0)
        return false;
    return GL_ANY (segment_columns, SEGMENT_COLUMNS, it,
                   differs (before, after, it)
                       && !is_normal (before, after, it));
}

bool revise (const segment_t *before, const segment_t *after,
             buffer_t *text_before, buffer_t *text_after)
{
    if (!is_revision (before, after))
        return false;
    for (size_t i = 0; i < SEGMENT_COLUMNS; i++) {
        if (differs (before, after, &segment_columns[i])) {
            add_line (text_before, before, &segment_columns[i]);
            add_line (text_after, after, &segment_columns[i]);
        }
    }
    return true;
}
