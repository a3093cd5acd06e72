/* What has to hold of any grouping of any rows: made-up postings, $CUBE_SEEDS
 * sets of them (300). */
#include "support/test.h"

#include <stdio.h>

#include "base/memory.h"
#include "ledger/bill.h"
#include "ledger/cube.h"

#define ROWS_MAX 60
#define POSTINGS (&bill_fields[BILL_POSTINGS])

static uint64_t seed;

static uint64_t below (uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

static char *word (void)
{
    static const char *const words[]
        = {NULL, "", "a", "b", "a\tb", "\\n", "\n", "ab", "ä"};

    return xstrdup (words[below (GL_ARRAY_SIZE (words))]);
}

static void random_row (posting_t *row)
{
    row->kind = (bill_kind_t)below (BILL_KIND_COUNT);
    row->outside = below (2);
    row->pool = word ();
    row->team = word ();
    row->key[0] = word ();
    row->key[2] = word ();
    mpq_set_si (row->gpu_seconds, (long)below (21) - 10, 1 + below (7));
    mpq_canonicalize (row->gpu_seconds);
    mpz_set_si (row->charge_units, (long)below (7) - 3);
    mpz_set_si (posting_own_extra (row)->adjustment_units[0],
                (long)below (3) - 1);
}

/* A list of rows, and the same in another order. */
static bill_t *random_bill (bill_t **ret_shuffled)
{
    size_t count = below (ROWS_MAX), from;
    bill_t *bill = bill_new ();
    const posting_t *rows;
    bool taken[ROWS_MAX] = {false};

    for (size_t i = 0; i < count; i++)
        random_row (bill_add (bill));
    *ret_shuffled = bill_new ();
    rows = postings (bill, &count);
    for (size_t i = 0; i < count; i++) {
        for (from = below (count); taken[from];)
            from = (from + 1) % count;
        taken[from] = true;
        bill_add_copy (*ret_shuffled, &rows[from]);
    }
    return bill;
}

static cube_t *cube_of (const bill_t *bill, const char *by)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *cube = cube_new (POSTINGS, by);

    cube_add_list (cube, rows, count);
    return cube;
}

static void add_text (const void *row, buffer_t *out)
{
    fields_text (POSTINGS, row, out);
    buffer_add_char (out, '\n');
}

/* Groups in their order. */
static char *text_of (cube_t *cube)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < cube_count (cube); i++)
        add_text (cube_row (cube, i), &out);
    return xstrdup (buffer_text (&out));
}

static char *total_of (cube_t *cube, size_t first, size_t end)
{
    BUFFER_AUTO out = BUFFER_INIT;
    posting_t sum;

    posting_init (&sum);
    cube_sum (cube, first, end, &sum);
    for (size_t i = 0; i < POSTINGS->count; i++)
        if (field_is_measure (&POSTINGS->field[i])
            && !field_is_absent (&POSTINGS->field[i], &sum)) {
            buffer_printf (&out, "%s ", POSTINGS->field[i].name);
            field_text (&POSTINGS->field[i], &sum, &out);
        }
    posting_clear (&sum);
    return xstrdup (buffer_text (&out));
}

static void check_texts (const char *a, const char *b)
{
    if (strcmp (a, b) != 0)
        fail_msg ("%s\n---\n%s", a, b);
}

static const char *const groupings[] = {
    "",           "pool", "kind,team", "pool,team,account", "outside,user,kind",
    "charge,pool"};

/* --- properties -------------------------------------------------------- */

/* What is not asked for is absent; what is asked for is as with all of them. */
static void some_measures_are_as_of_all (const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *all = cube_of (bill, "pool,team"),
           *some = cube_new (POSTINGS, "pool,team");
    BUFFER_AUTO wanted = BUFFER_INIT;
    GL_AUTOFREE char *has = NULL;

    cube_measures (some, "charge");
    cube_add_list (some, rows, count);
    for (size_t i = 0; i < cube_count (all); i++) {
        const posting_t *from = cube_row (all, i);
        posting_t row;
        posting_init (&row);
        row.pool = from->pool ? xstrdup (from->pool) : NULL;
        row.team = from->team ? xstrdup (from->team) : NULL;
        mpz_set (row.charge_units, from->charge_units);
        add_text (&row, &wanted);
        posting_clear (&row);
    }
    has = text_of (some);
    check_texts (has, buffer_text (&wanted));
    cube_free (all);
    cube_free (some);
}

static void order_is_not_of_input (bill_t *a, bill_t *shuffled)
{
    static const char *const orders[]
        = {"", "-charge", "gpu_seconds,-team", "-account,charge"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (groupings); i++)
        for (size_t k = 0; k < GL_ARRAY_SIZE (orders); k++) {
            cube_t *x = cube_of (a, groupings[i]);
            cube_t *y = cube_of (shuffled, groupings[i]);
            cube_sort (x, orders[k]);
            cube_sort (y, orders[k]);
            GL_AUTOFREE char *s = text_of (x), *t = text_of (y);
            check_texts (s, t);
            cube_free (x);
            cube_free (y);
        }
}

static void sums_are_those_of_all (bill_t *a)
{
    cube_t *whole = cube_of (a, "");
    GL_AUTOFREE char *total = total_of (whole, 0, cube_count (whole));

    for (size_t i = 0; i + 1 < GL_ARRAY_SIZE (groupings); i++) {
        cube_t *cube = cube_of (a, groupings[i]);
        GL_AUTOFREE char *text = total_of (cube, 0, cube_count (cube));
        check_texts (text, total);
        cube_free (cube);
    }
    cube_free (whole);
}

static void twice_is_once (bill_t *a)
{
    cube_t *fine = cube_of (a, "pool,team,account"),
           *once = cube_of (a, "team");
    cube_t *twice = cube_new (POSTINGS, "team");

    cube_add_cube (twice, fine);
    GL_AUTOFREE char *s = text_of (once), *t = text_of (twice);
    check_texts (s, t);
    cube_free (fine);
    cube_free (once);
    cube_free (twice);
}

static void difference_leads_back (bill_t *a, bill_t *b)
{
    cube_t *x = cube_of (a, "pool,kind"), *y = cube_of (b, "pool,kind");
    cube_t *change = cube_difference (x, y, true), *back;
    cube_t *none = cube_difference (x, x, false);

    assert_int_equal (cube_count (none), 0);
    for (size_t i = 0; i < cube_count (change); i++) {
        const void *row = cube_row (change, i);
        assert_ptr_equal (cube_later (change, i), cube_find (x, row));
        assert_ptr_equal (cube_earlier (change, i), cube_find (y, row));
        assert_true (cube_later (change, i) || cube_earlier (change, i));
    }
    cube_add_cube (change, y);
    back = cube_difference (change, x, false);
    assert_int_equal (cube_count (back), 0);
    cube_free (back);
    cube_free (none);
    cube_free (change);
    cube_free (x);
    cube_free (y);
}

static bool wants (const void *row, void *arg)
{
    const posting_t *posting = row;

    return (mpz_sgn (posting->charge_units) > 0) == *(bool *)arg;
}

/* The two parts of a predicate, and the parts of all values of a field. */
static void parts_add_up (bill_t *a)
{
    static const char *const values[]
        = {NULL, "", "a", "b", "a\\tb", "\\\\n", "\\n", "ab", "ä"};
    size_t count;
    const posting_t *rows = postings (a, &count);
    cube_t *all = cube_of (a, "kind"), *parts = cube_new (POSTINGS, "kind");
    cube_t *two = cube_new (POSTINGS, "kind");

    for (size_t i = 0; i < GL_ARRAY_SIZE (values); i++) {
        cube_t *part = cube_new (POSTINGS, "kind,pool");
        cube_where (part, "pool", values[i]);
        cube_add_list (part, rows, count);
        assert_int_equal (cube_count (part) > 0 ? cube_same (part, 0, 0) : 0,
                          cube_count (part));
        cube_add_cube (parts, part);
        cube_free (part);
    }
    for (int i = 0; i < 2; i++) {
        cube_t *part = cube_new (POSTINGS, "kind");
        bool positive = i;
        cube_where_wanted (part, wants, &positive);
        cube_add_list (part, rows, count);
        cube_add_cube (two, part);
        cube_free (part);
    }
    GL_AUTOFREE char *s = text_of (all), *t = text_of (parts),
                     *u = text_of (two);
    check_texts (s, t);
    check_texts (s, u);
    cube_free (all);
    cube_free (parts);
    cube_free (two);
}

static void top_and_rest_are_all (bill_t *a)
{
    cube_t *cube = cube_of (a, "team,account"), *both = cube_new (POSTINGS, "");
    size_t count = cube_count (cube), top = below (count + 1);
    posting_t sum;

    cube_sort (cube, "-charge");
    for (size_t i = 1; i < count; i++)
        assert_true (
            mpz_cmp (((const posting_t *)cube_row (cube, i - 1))->charge_units,
                     ((const posting_t *)cube_row (cube, i))->charge_units)
            >= 0);
    posting_init (&sum);
    for (size_t i = 0; i < top; i++)
        cube_add (both, cube_row (cube, i));
    cube_sum (cube, top, count, &sum);
    cube_add (both, &sum);
    GL_AUTOFREE char *s = total_of (cube, 0, count),
                     *t = total_of (both, 0, cube_count (both));
    check_texts (s, t);
    posting_clear (&sum);
    cube_free (cube);
    cube_free (both);
}

static void subtotals_are_groups (bill_t *a)
{
    cube_t *fine = cube_of (a, "pool,team,account"),
           *coarse = cube_of (a, "pool");
    size_t end, group = 0;
    posting_t sum;

    posting_init (&sum);
    for (size_t i = 0; i < cube_count (fine); i = end) {
        end = cube_same (fine, i, 1);
        cube_sum (fine, i, end, &sum);
        for (size_t k = 0; k < POSTINGS->count; k++)
            if (strcmp (POSTINGS->field[k].name, "team") != 0
                && strcmp (POSTINGS->field[k].name, "account") != 0)
                assert_int_equal (field_compare (&POSTINGS->field[k], &sum,
                                                 cube_row (coarse, group)),
                                  0);
        group++;
    }
    assert_int_equal (group, cube_count (coarse));
    posting_clear (&sum);
    cube_free (fine);
    cube_free (coarse);
}

static void members_are_its_rows (bill_t *a)
{
    size_t count, members, all = 0;
    const posting_t *rows = postings (a, &count);
    cube_t *cube = cube_new (POSTINGS, "user,outside");

    for (size_t i = 0; i < count; i++)
        cube_add_at (cube, &rows[i], i);
    for (size_t i = 0; i < cube_count (cube); i++) {
        const size_t *member
            = cube_members (cube, cube_row (cube, i), &members);
        all += members;
        for (size_t k = 0; k < members; k++) {
            assert_ptr_equal (cube_find (cube, &rows[member[k]]),
                              cube_row (cube, i));
            assert_true (k == 0 || member[k - 1] < member[k]);
        }
    }
    assert_int_equal (all, count);
    cube_free (cube);
}

TEST_CASE (test_properties)
{
    const char *seeds = getenv ("CUBE_SEEDS");
    unsigned long count = seeds ? strtoul (seeds, NULL, 10) : 300;

    for (unsigned long i = 1; i <= count; i++) {
        bill_t *a, *shuffled, *b, *other;
        seed = i;
        a = random_bill (&shuffled);
        b = random_bill (&other);
        order_is_not_of_input (a, shuffled);
        sums_are_those_of_all (a);
        twice_is_once (a);
        difference_leads_back (a, b);
        parts_add_up (a);
        top_and_rest_are_all (a);
        subtotals_are_groups (a);
        members_are_its_rows (a);
        some_measures_are_as_of_all (a);
        bill_free (a);
        bill_free (b);
        bill_free (shuffled);
        bill_free (other);
    }
}

/* --- a table with a count ----------------------------------------------- */

struct visit {
    char *who;
    uint64_t times;
};
static const field_t visit_fields[]
    = {FIELD ("who", TEXT, struct visit, who),
       FIELD ("times", COUNT, struct visit, times)};
static const fields_t visits = FIELDS ("visit", struct visit, visit_fields);

TEST_CASE (test_counts)
{
    struct visit list[]
        = {{(char *)"b", 2}, {(char *)"a", 1}, {(char *)"b", 3}};
    cube_t *cube = cube_new (&visits, "who");
    struct visit read;
    gl_error_t error;

    cube_add_list (cube, list, GL_ARRAY_SIZE (list));
    assert_int_equal (cube_count (cube), 2);
    assert_string_equal (((const struct visit *)cube_row (cube, 0))->who, "a");
    assert_int_equal (((const struct visit *)cube_row (cube, 1))->times, 5);
    cube_sort (cube, "-times");
    assert_string_equal (((const struct visit *)cube_row (cube, 0))->who, "b");
    fields_init (&visits, &read);
    assert_int_equal (fields_parse (&visits,
                                    "who=a\ttimes=18446744073709551615", 32,
                                    &read, &error),
                      0);
    assert_int_equal (read.times, UINT64_MAX);
    assert_int_equal (fields_parse (&visits, "times=01", 8, &read, &error), -1);
    assert_int_equal (fields_parse (&visits, "times=-1", 8, &read, &error), -1);
    fields_clear (&visits, &read);
    cube_free (cube);
}

TEST_MAIN (NULL, NULL)
