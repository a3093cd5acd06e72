/* The definitions of words: sorted, plain, and complete for what reports show. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "report/glossary.h"
#include "report/heading.h"
#include "support/test.h"

static const glossary_term_t *find (const char *term, size_t length)
{
    for (size_t i = 0; i < glossary_count (); i++) {
        const glossary_term_t *at = glossary_at (i);
        if (strlen (at->term) == length
            && strncasecmp (at->term, term, length) == 0)
            return at;
    }
    return NULL;
}

static void defined (const char *title)
{
    static const char *const units[] = {"", " %", " kWh", " GRES s"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++) {
        size_t length = strlen (title), unit = strlen (units[i]);
        if (length > unit && !strcmp (title + length - unit, units[i])
            && find (title, length - unit))
            return;
    }
    fail_msg ("docs/glossary.md does not define '%s'", title);
}

TEST_CASE (glossary__all_terms__in_order)
{
    assert_true (glossary_count () > 70);
    for (size_t i = 1; i < glossary_count (); i++)
        assert_true (
            strcasecmp (glossary_at (i - 1)->term, glossary_at (i)->term) < 0);
}

TEST_CASE (glossary__all_terms__plain_sentences)
{
    for (size_t i = 0; i < glossary_count (); i++) {
        const glossary_term_t *at = glossary_at (i);
        assert_non_null (find (at->term, strlen (at->term)));
        assert_null (strpbrk (at->meaning, "*`[]|"));
        assert_null (strpbrk (at->source, "*`[]|"));
        assert_true (isupper ((unsigned char)at->meaning[0]));
        assert_int_equal (at->meaning[strlen (at->meaning) - 1], '.');
        assert_string_not_equal (at->source, "");
    }
}

/* Every measure that reports have in common. */
TEST_CASE (glossary__measures_of_reports__defined)
{
    report_t *report = report_new ("measures", "Measures");

    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        size_t at = report_measure (report, (measure_t)i, false);
        /* "Segments", "Jobs": the word is in the singular */
        const char *title = report->column[at].title;
        if (i == MEASURE_JOBS || i == MEASURE_SEGMENTS)
            assert_non_null (find (title, strlen (title) - 1));
        else
            defined (title);
    }
    report_free (report);
}

/* Titles of columns, sections and totals of single reports. */
TEST_CASE (glossary__titles_of_reports__defined)
{
    static const char *const titles[] = {"Adjustment",
                                         "Allocated",
                                         "Break-even %",
                                         "Budget",
                                         "Capacity",
                                         "Cost center",
                                         "Down",
                                         "Drained",
                                         "Encumbered",
                                         "Entitlement",
                                         "Excluded cost",
                                         "Forecast %",
                                         "Full cost",
                                         "Idle",
                                         "List price",
                                         "Margin over cost",
                                         "Mix",
                                         "Planned down",
                                         "Pool",
                                         "Price",
                                         "Recoverable cost",
                                         "Recovered %",
                                         "reserved, not used",
                                         "Rollover",
                                         "Shortfall",
                                         "Stranded",
                                         "Taxes",
                                         "Unallocated cost",
                                         "Unknown",
                                         "Utilization %",
                                         "Variance",
                                         "Volume",
                                         "Amount due"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (titles); i++)
        defined (titles[i]);
}

/* What rows may be grouped by, without the units of time. */
TEST_CASE (glossary__keys_of_rows__defined)
{
    static const key_id_t keys[]
        = {KEY_CLUSTER, KEY_TEAM,  KEY_COST_CENTER, KEY_ACCOUNT,   KEY_USER,
           KEY_PROJECT, KEY_LABEL, KEY_QOS,         KEY_PARTITION, KEY_POOL};

    for (size_t i = 0; i < GL_ARRAY_SIZE (keys); i++)
        defined (key_info (keys[i])->title);
}

TEST_CASE (report__all_terms__a_row_each)
{
    report_t *report = glossary_report ();

    assert_int_equal (report->row_count, glossary_count ());
    assert_string_equal (report_cell (report, 0, 0), "account");
    for (size_t i = 0; i < report->row_count; i++) {
        assert_string_equal (report_cell (report, i, 0), glossary_at (i)->term);
        assert_string_equal (report_cell (report, i, 1),
                             glossary_at (i)->meaning);
        assert_string_equal (report_cell (report, i, 2),
                             glossary_at (i)->source);
    }
    report_free (report);
}

TEST_MAIN (NULL, NULL)
