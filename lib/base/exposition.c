#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/exact.h"
#include "base/exposition.h"
#include "base/utf8.h"

void exposition_family (exposition_t *e, const char *name,
                        exposition_type_t type, const char *help)
{
    e->name = name;
    e->type = type;
    e->help = help;
    e->headed = e->begun = false;
}

/* One bad label would cost the whole file: readers refuse all of it when a part
 * is not UTF-8. */
static void add_escaped (buffer_t *out, const char *text)
{
    while (*text) {
        int32_t code;
        size_t length = utf8_decode (text, &code);
        if (code == '\\' || code == '"')
            buffer_printf (out, "\\%c", (char)code);
        else if (code == '\n')
            buffer_add_text (out, "\\n");
        else if (code < ' ' || code == 0x7f)
            buffer_add_text (out, UTF8_REPLACEMENT);
        else
            buffer_add (out, text, length);
        text += length;
    }
}

static void add_label (buffer_t *out, char before, const char *name,
                       const char *value)
{
    buffer_printf (out, "%c%s=\"", before, name);
    add_escaped (out, value);
    buffer_add_char (out, '"');
}

static void begin (exposition_t *e)
{
    static const char *const types[] = {
        [EXPOSITION_GAUGE] = "gauge",
        [EXPOSITION_COUNTER] = "counter",
    };

    if (!e->headed)
        buffer_printf (e->out, "# HELP %s %s\n# TYPE %s %s\n", e->name, e->help,
                       e->name, types[e->type]);
    e->headed = true;
    buffer_add_text (e->out, e->name);
    if (e->common_name)
        add_label (e->out, '{', e->common_name, e->common_value);
}

void exposition_label (exposition_t *e, const char *name, const char *value)
{
    bool first = !e->begun && !e->common_name;

    if (!e->begun)
        begin (e);
    e->begun = true;
    add_label (e->out, first ? '{' : ',', name, value);
}

void exposition_label_number (exposition_t *e, const char *name, int64_t value)
{
    char text[24];

    snprintf (text, sizeof (text), "%" PRId64, value);
    exposition_label (e, name, text);
}

/* The sample's name and labels are complete. */
static void end_labels (exposition_t *e)
{
    if (!e->begun)
        begin (e);
    buffer_add_text (e->out, e->begun || e->common_name ? "} " : " ");
    e->begun = false;
}

void exposition_number (exposition_t *e, int64_t number, int64_t unit)
{
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
    int digits = 0;

    for (int64_t i = unit; i > 1; i /= 10)
        digits++;
    end_labels (e);
    buffer_printf (e->out, "%s%" PRIu64, number < 0 ? "-" : "",
                   size / (uint64_t)unit);
    if (digits)
        buffer_printf (e->out, ".%0*" PRIu64, digits, size % (uint64_t)unit);
    buffer_add_char (e->out, '\n');
}

void exposition_exact (exposition_t *e, const mpq_t value, int digits)
{
    char *text = exact_text (value, digits);

    end_labels (e);
    buffer_printf (e->out, "%s\n", text);
    free (text);
}

void exposition_end (exposition_t *e)
{
    /* a comment to readers of the text format, the end to those of OpenMetrics
     */
    buffer_add_text (e->out, "# EOF\n");
}
