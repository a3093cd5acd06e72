#include "collector/collector_count.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 1024

#define REASON_NAME(member, name) [member] = name,
static const char *const names[REASON_COUNT] = {REASONS (REASON_NAME)};

const char *reason_name (reason_t reason)
{
    return names[reason];
}

/* Bytes that could move a terminal's cursor or begin a line of their own. */
static void add_escaped (buffer_t *line, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < ' ' || c == 0x7f)
            buffer_printf (line, "\\x%02x", c);
        else
            buffer_add_char (line, *text);
    }
}

void collector_log (int priority, const char *fmt, ...)
{
    BUFFER_AUTO line = BUFFER_INIT;
    char text[LINE_MAX_BYTES];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    if (getenv ("JOURNAL_STREAM"))
        buffer_printf (&line, "<%d>", priority);
    buffer_add_text (&line, "gpuledger-collector: ");
    add_escaped (&line, text);
    buffer_add_char (&line, '\n');
    fputs (buffer_text (&line), stderr);
    fflush (stderr);
}

void count_refused (count_t *count, reason_t reason, int64_t now_ms,
                    const char *who, const char *why)
{
    bool first = count->refused[reason]++ == 0;

    if (!first
        && now_ms - count->logged_at[reason] < COUNT_LOG_SECONDS * 1000) {
        count->quiet[reason]++;
        return;
    }
    if (count->quiet[reason])
        collector_log (4, "refused (%s): %s: %s; and %" PRIu64 " more since",
                       reason_name (reason), who, why, count->quiet[reason]);
    else
        collector_log (4, "refused (%s): %s: %s", reason_name (reason), who,
                       why);
    count->quiet[reason] = 0;
    count->logged_at[reason] = now_ms;
}

void count_print (const count_t *count, buffer_t *out)
{
#define FIGURE_PRINT(member) \
    buffer_printf (out, #member " %" PRIu64 "\n", count->member);
    FIGURES (FIGURE_PRINT)
    for (unsigned i = 0; i < REASON_COUNT; i++)
        buffer_printf (out, "refused_%s %" PRIu64 "\n",
                       reason_name ((reason_t)i), count->refused[i]);
}
