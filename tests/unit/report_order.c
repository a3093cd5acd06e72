#include "support/test.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "report/report.h"

/* Two columns, a key and a number; a row is "key=number", "key=" has none. */
static report_t *make (const char *const *rows)
{
    report_t *report = report_new ("things", "Things");

    report_column (report, "name", "Name", COLUMN_TEXT, true);
    report_column (report, "charge", "Charge", COLUMN_MONEY, false);
    for (; *rows; rows++) {
        const char *equals = strchr (*rows, '=');
        GL_AUTOFREE char *name = xstrndup (*rows, (size_t)(equals - *rows));
        if (strcmp (name, "section") == 0) {
            report_section (report, equals + 1, "");
            continue;
        }
        report_row (report);
        report_put_text (report, 0, name);
        if (equals[1])
            report_put_text (report, 1, equals + 1);
    }
    return report;
}

static char *names (const report_t *report)
{
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < report->row_count; i++)
        buffer_printf (&out, "%s%s", i ? " " : "", report_cell (report, i, 0));
    return buffer_take (&out);
}

static void expect (report_t *report, const char *fields, const char *order)
{
    GL_AUTOFREE char *text = NULL;
    gl_error_t error;

    if (report_order_rows (report, fields, &error) < 0)
        fail_msg ("%s", error.text);
    text = names (report);
    if (strcmp (text, order))
        fail_msg ("by %s: %s, not %s", fields, text, order);
}

TEST_CASE (order_rows__numbers__are_ordered_by_value)
{
    static const char *const rows[] = {"b=9.50",
                                       "a=10.00",
                                       "none=",
                                       "n=-3.00",
                                       "m=-20.00",
                                       "z=0",
                                       "big=123456789012345678901.01",
                                       "word=unknown",
                                       "c=9.5",
                                       "big2=123456789012345678901.02",
                                       "half=0.5",
                                       "minus=-0",
                                       NULL};
    report_t *report = make (rows);

    expect (report, "charge", "m n z minus half b c a big big2 word none");
    expect (report, "-charge", "word big2 big a b c half z minus n m none");
    expect (report, "-charge,-name",
            "word big2 big a c b half z minus n m none");
    expect (report, "+name", "a b big big2 c half m minus n none word z");
    report_free (report);
}

TEST_CASE (order_rows__sections__keep_their_rows)
{
    static const char *const rows[] = {
        "section=one", "a=1", "b=2", "section=two", "c=5", "d=4", "e=6", NULL};
    report_t *report = make (rows);

    expect (report, "-charge", "b a e c d");
    report_limit_rows (report, 2);
    assert_int_equal (report->row_count, 4);
    assert_int_equal (report->section[1].first, 2);
    assert_string_equal (report_cell (report, 2, 0), "e");
    assert_string_equal (report->note[0].text,
                         "4 of 5 rows (--limit 2 in each table); totals are "
                         "those of all rows.");
    report_free (report);
}

TEST_CASE (group__rows_of_one_key__have_a_subtotal)
{
    static const char *const rows[]
        = {"a=1.10", "a=-3.00", "a=", "b=0.05", "c=", NULL};
    report_t *report = make (rows);

    report_totals (report);
    report_put_text (report, 1, "-1.85");
    report_group (report);
    assert_null (report_subtotal (report, 1));
    assert_string_equal (report_subtotal (report, 2)[0], "a");
    assert_string_equal (report_subtotal (report, 2)[1], "-1.90");
    assert_string_equal (report_subtotal (report, 3)[1], "0.05");
    assert_null (report_subtotal (report, 4)[1]);
    /* of some of the rows, or scattered ones, they would say nothing */
    expect (report, "-charge", "a b a a c");
    assert_null (report_subtotal (report, 4));
    report_group (report);
    report_limit_rows (report, 1);
    assert_null (report_subtotal (report, 0));
    report_free (report);
}

TEST_CASE (subtotals__of_the_rows_before__go_with_them_to_another_report)
{
    static const char *const rows[] = {"a=1.10", "b=2.00", "c=4.00", NULL};
    report_t *of = make (rows), *report = report_new ("other", "Other");
    size_t first;

    assert_null (report_subtotal (of, 2));
    report_subtotals (of);
    report_put_text (of, 1, "7.10");
    assert_string_equal (report_subtotal (of, 2)[1], "7.10");
    assert_null (report_subtotal (of, 1));
    report_column (report, "first", "First", COLUMN_TEXT, true);
    first = report_take_columns (report, of);
    report_section (report, "One", "");
    report_row (report);
    report_section (report, "Two", "");
    report_take_rows (report, of, first);
    assert_int_equal (report->row_count, 4);
    assert_string_equal (report_subtotal (report, 3)[first + 1], "7.10");
    assert_null (report_subtotal (report, 2));
    report_free (of);
    report_free (report);
}

TEST_CASE (limit_rows__as_many_as_there_are__says_nothing)
{
    static const char *const rows[] = {"a=1", "b=2", NULL};
    report_t *report = make (rows);

    report_limit_rows (report, 2);
    assert_int_equal (report->note_count, 0);
    report_limit_rows (report, 1);
    assert_int_equal (report->row_count, 1);
    assert_int_equal (report->note_count, 1);
    report_free (report);
}

TEST_CASE (order_rows__unknown_fields__are_refused)
{
    static const char *const rows[] = {"b=2", "a=1", NULL};
    static const struct {
        const char *fields;
        const char *says;
    } cases[] = {
        {"charg", "did you mean 'charge'?"},
        {"-Charge", "did you mean 'charge'?"},
        {"", "its fields are: name charge"},
        {"-", "its fields are: name charge"},
        {"name,", "its fields are: name charge"},
        {"name,--charge", "no field '-charge'"},
    };
    report_t *report = make (rows);
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        if (report_order_rows (report, cases[i].fields, &error) == 0)
            fail_msg ("'%s' was taken", cases[i].fields);
        if (!strstr (error.text, cases[i].says))
            fail_msg ("'%s': %s", cases[i].fields, error.text);
        assert_string_equal (report_cell (report, 0, 0), "b");
    }
    report_free (report);
}

TEST_MAIN (NULL, NULL)
