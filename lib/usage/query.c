#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/tag.h"
#include "usage/query.h"

static int add_key (key_list_t *keys, const char *word, size_t length,
                    char **ret_label, gl_error_t *error)
{
    const key_info_t *info = key_by_word (word, length);

    if (!info) {
        BUFFER_AUTO words = BUFFER_INIT;
        GL_AUTOFREE char *typed = xstrndup (word, length);
        nearest_t nearest = {.word = typed};
        for (size_t i = 0; i < KEY_COUNT; i++)
            nearest_offer (&nearest, key_info (i)->word);
        if (nearest.name)
            return gl_error (error, "cannot group by '%s'; did you mean '%s'?",
                             typed, nearest.name);
        for (size_t i = 0; i < KEY_COUNT; i++)
            buffer_printf (&words, "%s%s%s", i ? " " : "", key_info (i)->word,
                           i == KEY_LABEL ? ":KEY" : "");
        return gl_error (error, "cannot group by '%.*s'; the keys are: %s",
                         (int)(length < 60 ? length : 60), word,
                         buffer_text (&words));
    }
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->id[i] == info->id && info->id == KEY_LABEL)
            return gl_error (error,
                             "'%.*s' is a second label; one report groups by "
                             "one of them",
                             (int)length, word);
        if (keys->id[i] == info->id)
            return gl_error (error, "'%.*s' is given twice", (int)length, word);
    }
    if (info->id == KEY_LABEL) {
        size_t prefix = strlen ("label:");
        if (!tag_valid (word + prefix, length - prefix))
            return gl_error (error, "'%.*s' is not a label's name", (int)length,
                             word);
        *ret_label = xstrndup (word + prefix, length - prefix);
    }
    keys->id[keys->count++] = info->id;
    return 0;
}

int report_keys_parse (const char *text, key_list_t *ret_keys, char **ret_label,
                       gl_error_t *error)
{
    key_list_t keys = {.count = 0};
    char *label = NULL;

    for (const char *word = text, *end; word; word = *end ? end + 1 : NULL) {
        end = word + strcspn (word, ",");
        if (add_key (&keys, word, end - word, &label, error) < 0) {
            free (label);
            return -1;
        }
    }
    keys.label = label;
    *ret_keys = keys;
    *ret_label = label;
    return 0;
}

int64_t report_as_of (const report_query_t *query)
{
    int64_t as_of = 0;

    for (size_t i = 0; i < query->cluster_count; i++)
        if (query->clusters[i].as_of > as_of)
            as_of = query->clusters[i].as_of;
    return as_of;
}

period_t report_default_period (const zone_t *zone, int64_t as_of)
{
    period_t month = zone_unit (zone, CALENDAR_MONTH, as_of);

    return zone_unit (zone, CALENDAR_MONTH,
                      month.start > 0 ? month.start - 1 : 0);
}

/* --- months --------------------------------------------------------------- */

#define LAST "last"
#define TO ".."

bool report_months_relative (const char *text)
{
    const char *to = strstr (text, TO);

    return text[0] == '-' || !strcmp (text, LAST) || !strncmp (text, LAST TO, 6)
           || (to && !strcmp (to + 2, LAST));
}

static int parse_month (const zone_t *zone, const char *text, size_t length,
                        period_t *ret_period)
{
    civil_t civil;

    if (calendar_parse_month (text, length, &civil) < 0
        || civil.year < REPORT_YEAR_MIN || civil.year > REPORT_YEAR_MAX)
        return -1;
    *ret_period = zone_unit (zone, CALENDAR_MONTH, zone_instant (zone, &civil));
    return 0;
}

int report_month_parse (const zone_t *zone, const char *text,
                        period_t *ret_period, gl_error_t *error)
{
    if (parse_month (zone, text, strlen (text), ret_period) == 0)
        return 0;
    if (report_months_relative (text) || strstr (text, TO))
        return gl_error (error,
                         "'%.40s' is not the name of one month; write "
                         "e.g. 2026-10",
                         text);
    return gl_error (error, "'%.40s' is not a month; write e.g. 2026-10", text);
}

/* "-3": the last three months that are over. */
static int parse_count (const zone_t *zone, const char *text, int64_t as_of,
                        period_t *ret_period, gl_error_t *error)
{
    period_t period = report_default_period (zone, as_of);
    uint64_t count;

    if (number_u64_text (text + 1, &count) < 0 || count == 0)
        return gl_error (
            error,
            "'%.40s' is not a number of months; write e.g. -3 for the "
            "last three that are complete",
            text);
    for (; count > 1 && period.start > 0; count--)
        period.start = zone_unit (zone, CALENDAR_MONTH, period.start - 1).start;
    if (period.start <= 0)
        return gl_error (error, "%s months reach back before 1970; give fewer",
                         text + 1);
    *ret_period = period;
    return 0;
}

/* An end of a range. */
static int parse_end (const zone_t *zone, const char *text, size_t length,
                      int64_t as_of, period_t *ret_period)
{
    if (length != strlen (LAST) || memcmp (text, LAST, length))
        return parse_month (zone, text, length, ret_period);
    *ret_period = report_default_period (zone, as_of);
    return 0;
}

static int parse_range (const zone_t *zone, const char *text, const char *to,
                        int64_t as_of, period_t *ret_period, gl_error_t *error)
{
    period_t first, last;

    if (parse_end (zone, text, (size_t)(to - text), as_of, &first) < 0
        || parse_end (zone, to + 2, strlen (to + 2), as_of, &last) < 0)
        return gl_error (error,
                         "'%.40s' is not a range of months; write e.g. "
                         "2026-05..2026-10",
                         text);
    if (last.start < first.start)
        return gl_error (error,
                         "'%.40s' ends before it begins; write the earlier "
                         "month first",
                         text);
    *ret_period = (period_t){first.start, last.end};
    return 0;
}

int report_months_parse (const zone_t *zone, const char *text, int64_t as_of,
                         period_t *ret_period, gl_error_t *error)
{
    const char *to = strstr (text, TO);

    if (to)
        return parse_range (zone, text, to, as_of, ret_period, error);
    if (text[0] == '-')
        return parse_count (zone, text, as_of, ret_period, error);
    if (parse_end (zone, text, strlen (text), as_of, ret_period) == 0)
        return 0;
    return gl_error (error,
                     "'%.40s' is not a month; write e.g. 2026-10, "
                     "2026-05..2026-10, last, or -3 for the last three",
                     text);
}

/* --- for people ----------------------------------------------------------- */

static bool begins (const zone_t *zone, calendar_unit_t unit, int64_t instant)
{
    return zone_unit (zone, unit, instant).start == instant;
}

char *report_period_text (const zone_t *zone, period_t p)
{
    char from[ZONE_STAMP_SIZE], to[ZONE_STAMP_SIZE];
    static const calendar_unit_t units[] = {CALENDAR_MONTH, CALENDAR_DAY};

    for (size_t i = 0; i < GL_ARRAY_SIZE (units) && p.end > p.start; i++) {
        if (!begins (zone, units[i], p.start)
            || !begins (zone, units[i], p.end))
            continue;
        zone_unit_name (zone, units[i], p.start, from);
        zone_unit_name (zone, units[i], p.end - 1, to);
        return strcmp (from, to) ? xasprintf ("%s to %s", from, to)
                                 : xstrdup (from);
    }
    return xasprintf ("%s to %s", zone_stamp (zone, p.start, from),
                      zone_stamp (zone, p.end, to));
}

bool report_filter_passes (const usage_filter_t *filter, const char *text)
{
    bool found = false;

    if (!text)
        text = key_info (filter->key)->absent;
    for (size_t i = 0; i < filter->values.count && !found; i++)
        found = !strcmp (filter->values.item[i], text);
    return found;
}

bool report_passes_user (const report_query_t *query, const char *user)
{
    for (size_t i = 0; i < query->filter_count; i++)
        if (query->filters[i].key == KEY_USER
            && !report_filter_passes (&query->filters[i], user))
            return false;
    return true;
}

bool report_filters_within (const report_query_t *query, const key_id_t *keys,
                            size_t count)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        bool found = false;
        for (size_t k = 0; k < count; k++)
            found = found || keys[k] == query->filters[i].key;
        if (!found)
            return false;
    }
    return true;
}
