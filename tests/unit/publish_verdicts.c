/* What several months decide of a pool: how sure that is, and what is given up. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "publish/verdicts.h"
#include "report/plan.h"
#include "support/test.h"

/* What a month decides by itself. */
struct month {
    const char *name;
    const char *action;
    const char *reason;
    uint64_t kept; /* of 8 GPUs */
};

static report_t *report_of (const struct month *month, unsigned unknown,
                            bool priced)
{
    report_t *report = report_new ("plan", "Decisions");
    report_figure_t *figure;

    report_figure (report, "a", month->action, "Why.", COLUMN_WORDS);
    figure = &report->figure[0];
    figure->changes = month->kept < 8;
    figure->decision = xcalloc (1, sizeof (*figure->decision));
    *figure->decision = (report_decision_t){
        .action = xstrdup (month->action),
        .reason = month->reason ? xstrdup (month->reason) : NULL,
        .grounds = xstrdup ("Grounds."),
        .least = month->kept < 8 ? xstrdup ("60.00") : NULL,
        .most = month->kept < 8 ? xstrdup ("100.00") : NULL,
        .needs = xstrdup ("Ask them."),
        .waits = month->kept == 8,
        .off = xstrdup ("7.50"),
        .off_sure = xstrdup ("Not sure. Why not."),
        .kept = month->kept,
        .months = 1,
        .unknown_percent = unknown,
        .priced = priced};
    return report;
}

/* The months in their order; the figure of the last one, next to the others. */
static report_t *last_of (const struct month *months, size_t count,
                          unsigned unknown, bool priced)
{
    verdicts_t before = {.item = NULL};
    report_t *report = NULL;

    for (size_t i = 0; i < count; i++) {
        verdicts_t own = {.item = NULL};
        report_free (report);
        report = report_of (&months[i], unknown, priced);
        verdicts_take (&own, &before, months[i].name, report);
        verdicts_compare (&before, months[i].name, "2026-12", report);
        verdicts_clear (&before);
        before = own;
    }
    verdicts_clear (&before);
    return report;
}

#define SAY(month, action, kept)  \
    {                             \
        month, action, NULL, kept \
    }

static const struct month same[]
    = {SAY ("2026-08", "Buy nothing.", 8), SAY ("2026-09", "Buy nothing.", 8),
       SAY ("2026-10", "Buy nothing.", 8), SAY ("2026-11", "Buy nothing.", 8)};

static void check (const struct month *months, size_t count, unsigned unknown,
                   bool priced, const char *sure)
{
    report_t *report = last_of (months, count, unknown, priced);

    assert_string_equal (report->figure[0].sure, sure);
    report_free (report);
}

#define SURER " Three months that say the same would make it surer. Grounds."

static void test_words (void **state)
{
    (void)state;
    check (same, 1, 0, true,
           "Not sure. There is no month before to compare with." SURER);
    check (same, 2, 0, true, "Fairly sure. 2026-08 says the same." SURER);
    check (same, 3, 0, true, "Sure. 2026-09 says the same. Grounds.");
    check (same, 4, 0, true, "Sure. 2026-10 says the same. Grounds.");
    /* what is unknown, and rent that is not compared with, leave less */
    check (same, 3, 10, true, "Sure. 2026-09 says the same. Grounds.");
    check (same, 3, 11, true, "Fairly sure. 2026-09 says the same. Grounds.");
    check (same, 3, 0, false, "Fairly sure. 2026-09 says the same. Grounds.");
    check (same, 3, 50, false, "Fairly sure. 2026-09 says the same. Grounds.");
    check (same, 3, 51, true, "Not sure. 2026-09 says the same. Grounds.");
    /* then a third month that says the same would not make it surer */
    check (same, 2, 0, false, "Fairly sure. 2026-08 says the same. Grounds.");
    check (same, 2, 51, true, "Not sure. 2026-08 says the same. Grounds.");
}

/* Two months that say the same after one that does not are two. */
static void test_another (void **state)
{
    static const struct month months[] = {SAY ("2026-08", "Nothing to do.", 8),
                                          SAY ("2026-09", "Buy nothing.", 8),
                                          SAY ("2026-10", "Buy nothing.", 8)};

    (void)state;
    check (months, 2, 0, true, "Not sure. 2026-08 says: Nothing to do." SURER);
    check (months, 3, 0, true, "Fairly sure. 2026-09 says the same." SURER);
}

/* All stays until two months give up as much; the report says which month may be the second. */
static void test_give_up (void **state)
{
    static const struct month months[]
        = {{"2026-09", "Keep the pool.", "There is no room.", 8},
           SAY ("2026-10", "Give 1 of 2 nodes up.", 4),
           SAY ("2026-11", "Give the pool up.", 0)};
    static const struct month agree[]
        = {SAY ("2026-10", "Give the pool up.", 0),
           SAY ("2026-11", "Give 1 of 2 nodes up.", 4)};
    report_t *report = last_of (months, 2, 0, true);

    (void)state;
    assert_string_equal (report->figure[0].value,
                         "Change nothing now; decide after 2026-12.");
    assert_string_equal (report->figure[0].hint,
                         "If 2026-12 says the same as 2026-10: Give 1 of 2 "
                         "nodes up. Why.");
    assert_string_equal (report->figure[0].sure,
                         "Not sure. 2026-09 says: Keep the pool. Its reason: "
                         "There is no room." SURER);
    assert_false (report->figure[0].changes);
    report_free (report);
    /* the month before gives up less */
    report = last_of (months, 3, 0, true);
    assert_string_equal (report->figure[0].value,
                         "Change nothing now; decide after 2026-12.");
    report_free (report);
    report = last_of (agree, 2, 0, true);
    assert_string_equal (report->figure[0].value, "Give 1 of 2 nodes up.");
    assert_string_equal (report->figure[0].hint, "Why.");
    assert_true (report->figure[0].changes);
    report_free (report);
}

static void check_row (const report_list_t *table, size_t row,
                       const char *const *want)
{
    for (size_t i = 0; i < table->head_count; i++) {
        const char *got = table->cell[row * table->head_count + i];
        if (want[i])
            assert_string_equal (got, want[i]);
        else
            assert_null (got);
    }
}

/* What is given up saves without staff and with it; what waits for another month says so. */
static void test_table (void **state)
{
    static const struct month give[] = {SAY ("2026-10", "Give it up.", 0)};
    report_t *report = last_of (same, 2, 0, true), *index, *other;

    (void)state;
    index = report_new ("index", "Index");
    verdicts_table (report, "USD", "2026-09", "None had to wait.", LIST_NEXT, index);
    assert_int_equal (index->list_count, 1);
    assert_int_equal (index->list[0].row_count, 2);
    check_row (&index->list[0], 0,
               (const char *[]){"a", "Buy nothing.", NULL, NULL,
                                "Fairly sure. 2026-08 says the same. Grounds.",
                                "Ask them. None had to wait."});
    check_row (&index->list[0], 1,
               (const char *[]){"a", "Switch idle GPUs off.", "7.50", NULL,
                                "Not sure. Why not.",
                                "Only full nodes switch off."});
    report_free (report);
    report_free (index);
    report = last_of (give, 1, 0, true);
    other = report_new ("index", "Index");
    verdicts_table (report, "USD", "2026-10", NULL, LIST_TOP, other);
    check_row (
        &other->list[0], 0,
        (const char *[]){"a",
                         "Change nothing now; decide after 2026-12. If that "
                         "month says the same: Give it up.",
                         "60.00", "100.00",
                         "Not sure. There is no month before to compare with. "
                         "Grounds.",
                         "Ask them."});
    assert_non_null (strstr (other->list[0].cell[11], "Not in addition"));
    report_free (report);
    report_free (other);
}

int main (void)
{
    const struct CMUnitTest tests[]
        = {cmocka_unit_test (test_words), cmocka_unit_test (test_another),
           cmocka_unit_test (test_give_up), cmocka_unit_test (test_table)};

    return cmocka_run_group_tests (tests, NULL, NULL);
}
