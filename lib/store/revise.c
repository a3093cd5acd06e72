#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "store/revise.h"

typedef enum {
    INSTANT, /* int64_t; never unknown */
    STATE,
    SECONDS, /* int64_t */
    COUNT,   /* uint64_t */
    TEXT,
} revise_kind_t;

/* What usage and charges are made of. `runs`: changes while a job runs. */
static const struct field {
    const char *name;
    size_t offset;
    revise_kind_t kind;
    bool runs;
} fields[] = {
    {"time_start", offsetof (segment_t, time_start), INSTANT, false},
    {"time_end", offsetof (segment_t, time_end), INSTANT, true},
    {"time_seen", offsetof (segment_t, time_seen), INSTANT, true},
    {"state", offsetof (segment_t, state), STATE, true},
    {"suspended", offsetof (segment_t, suspended), SECONDS, true},
    {"user", offsetof (segment_t, user), TEXT, false},
    {"account", offsetof (segment_t, account), TEXT, false},
    {"partition", offsetof (segment_t, partition), TEXT, false},
    {"qos", offsetof (segment_t, qos), TEXT, false},
    {"wckey", offsetof (segment_t, wckey), TEXT, false},
    {"reservation", offsetof (segment_t, reservation), TEXT, false},
    {"nodelist", offsetof (segment_t, nodelist), TEXT, false},
    {"admin_comment", offsetof (segment_t, admin_comment), TEXT, false},
    {"gres", offsetof (segment_t, gres), TEXT, false},
    {"cpus", offsetof (segment_t, cpus), COUNT, false},
    {"memory_mb", offsetof (segment_t, memory_mb), COUNT, false},
    {"nodes", offsetof (segment_t, nodes), COUNT, false},
};

static const void *at (const segment_t *s, const struct field *f)
{
    return (const char *)s + f->offset;
}

static bool known (const segment_t *s, const struct field *f)
{
    switch (f->kind) {
    case SECONDS:
        return *(const int64_t *)at (s, f) != SECONDS_UNKNOWN;
    case COUNT:
        return *(const uint64_t *)at (s, f) != COUNT_UNKNOWN;
    case TEXT:
        return *(const char *const *)at (s, f) != NULL;
    default:
        return true;
    }
}

static bool same (const segment_t *a, const segment_t *b, const struct field *f)
{
    switch (f->kind) {
    case STATE:
        return a->state == b->state;
    case TEXT:
        return !strcmp (*(const char *const *)at (a, f),
                        *(const char *const *)at (b, f));
    default:
        return !memcmp (at (a, f), at (b, f), sizeof (int64_t));
    }
}

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

static void add_line (buffer_t *text, const segment_t *s, const struct field *f)
{
    buffer_printf (text, "%s=", f->name);
    switch (f->kind) {
    case INSTANT:
    case SECONDS:
        buffer_printf (text, "%" PRId64, *(const int64_t *)at (s, f));
        break;
    case COUNT:
        buffer_printf (text, "%" PRIu64, *(const uint64_t *)at (s, f));
        break;
    case STATE:
        buffer_add_text (text, segment_state_name (s->state));
        break;
    case TEXT:
        add_escaped (text, *(const char *const *)at (s, f));
        break;
    }
    buffer_add_char (text, '\n');
}

/* Of an open segment time_seen is the end; of a closed one it says nothing. */
static bool differs (const segment_t *before, const segment_t *after,
                     const struct field *f)
{
    if (f->offset == offsetof (segment_t, time_seen)
        && (before->time_end != 0) == (after->time_end != 0))
        return false;
    return known (before, f) && known (after, f) && !same (before, after, f);
}

/* An open one becomes what it becomes while it runs, and then ends. */
static bool is_normal (const segment_t *before, const segment_t *after,
                       const struct field *f)
{
    return before->time_end == 0 && f->runs
           && segment_end (after) >= segment_end (before);
}

static bool is_revision (const segment_t *before, const segment_t *after)
{
    /* what never started was not counted */
    if (before->time_end == 0 && before->time_start == 0)
        return false;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (differs (before, after, &fields[i])
            && !is_normal (before, after, &fields[i]))
            return true;
    }
    return false;
}

bool revise (const segment_t *before, const segment_t *after,
             buffer_t *text_before, buffer_t *text_after)
{
    if (!is_revision (before, after))
        return false;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (differs (before, after, &fields[i])) {
            add_line (text_before, before, &fields[i]);
            add_line (text_after, after, &fields[i]);
        }
    }
    return true;
}
