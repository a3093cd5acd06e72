/* The rows with columns of closed months, and who may write them, on the engine
 * that the fixture chooses. */
#include <string.h>

#include "base/buffer.h"
#include "ledger/bill.h"
#include "store/chain.h"

#include "suite.h"

static const char *const names[BILL_LIST_COUNT] = {
    [BILL_POSTINGS] = "closed_posting",
    [BILL_COSTS] = "closed_cost",
    [BILL_POOLS] = "closed_pool",
    [BILL_ENTITLEMENTS] = "closed_entitlement",
    [BILL_COMPARISONS] = "closed_comparison",
    [BILL_DAYS] = "closed_day",
    [BILL_BALANCES] = "closed_balance",
    [BILL_TEAM_DAYS] = "closed_team_day",
    [BILL_CARBON] = "closed_carbon",
    [BILL_WASTE] = "closed_waste",
    [BILL_WASTEFUL_JOBS] = "closed_wasteful_job",
    [BILL_DEMAND] = "closed_demand",
};
static closed_table_t tables[BILL_LIST_COUNT];

static closed_row_t full = {.month = "2026-10", .version = 1, .number = 1};

/* A row with a value in each field that closed months have. */
static int add_full_row (store_t *store, void *arg, gl_error_t *problem)
{
    const bill_list_t list = *(bill_list_t *)arg;
    closed_table_t *t = &tables[list];

    t->table = names[list];
    for (t->count = 0; t->count < bill_fields[list].count; t->count++) {
        t->column[t->count] = bill_fields[list].field[t->count].name;
        if (list == BILL_POSTINGS && !strcmp (t->column[t->count], "day"))
            break;
        full.value[t->count] = "1";
    }
    return store_closed_add (store, t, &full, problem);
}

static int compare_full_row (const closed_row_t *row, void *arg,
                             gl_error_t *problem)
{
    assert_int_equal (row->number, 1);
    assert_int_equal (closed_row_is_whole (row, problem), 1);
    for (unsigned i = 0; i < ((closed_table_t *)arg)->count; i++)
        assert_string_equal (row->value[i], "1");
    return 0;
}

TEST_CASE (add__row_with_every_field__has_a_column_for_each)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);

    assert_non_null (store);
    for (bill_list_t list = 0; list < BILL_LIST_COUNT; list++) {
        OK (store_ledger_transaction (store, add_full_row, &list, &error));
        OK (store_closed_each (store, &tables[list], "2026-10", 1,
                               compare_full_row, &tables[list], &error));
    }
    buffer_done (&full.text);
    store_close (store);
}

static const closed_table_t costs
    = {"closed_cost", {"kind", "name", "units"}, 3};
static const closed_row_t odd
    = {.month = "2026-10",
       .version = 2,
       .number = 3,
       .value = {"power", "a\tb\nc\\", "-9223372036854775808"}};

static int add_odd_texts (store_t *store, void *arg, gl_error_t *problem)
{
    closed_row_t row = odd;
    int rc = store_closed_add (store, &costs, &row, problem);

    (void)arg;
    assert_string_equal (
        buffer_text (&row.text),
        "kind=power\tname=a\\tb\\nc\\\\\tunits=-9223372036854775808");
    buffer_done (&row.text);
    return rc;
}

static int compare_odd (const closed_row_t *row, void *arg, gl_error_t *problem)
{
    ++*(size_t *)arg;
    assert_int_equal (row->number, 3);
    assert_int_equal (closed_row_is_whole (row, problem), 1);
    for (unsigned i = 0; i < costs.count; i++)
        assert_string_equal (row->value[i], odd.value[i]);
    return 0;
}

static int count_odd (const char *month, uint32_t version, uint64_t rows,
                      void *arg, gl_error_t *problem)
{
    (void)problem;
    ++*(size_t *)arg;
    assert_string_equal (month, "2026-10");
    assert_int_equal (version, 2);
    assert_int_equal (rows, 1);
    return 0;
}

TEST_CASE (add__escaped_text_and_least_integer__same_row)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    size_t seen = 0;

    OK (store_ledger_transaction (store, add_odd_texts, NULL, &error));
    OK (store_closed_each (store, &costs, "2026-10", 2, compare_odd, &seen,
                           &error));
    OK (store_closed_each (store, &costs, "2026-10", 1, compare_odd, &seen,
                           &error));
    OK (store_closed_counts (store, &costs, count_odd, &seen, &error));
    assert_int_equal (seen, 2);
    store_close (store);
}

/* Who writes facts opens the ledger read-only, whatever its file allows. */
TEST_CASE (add__store_opened_for_facts__is_refused)
{
    store_t *store = fixture_open (fixture_store_url ());
    bill_list_t list = BILL_COSTS;

    if (fixture_on_mysql ()) {
        store_close (store);
        return;
    }
    assert_int_equal (
        store_ledger_transaction (store, add_full_row, &list, &error), -1);
    assert_non_null (strstr (error.text, "readonly"));
    store_close (store);
}

static int put_fact (store_t *store, void *arg, gl_error_t *problem)
{
    (void)arg;
    return store_put_as_of (store, "lab", 1800000000, problem);
}

TEST_CASE (transaction__of_ledger_that_puts_a_fact__is_refused)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    int64_t as_of;

    assert_int_equal (store_ledger_transaction (store, put_fact, NULL, &error),
                      -1);
    OK (store_as_of (store, "lab", &as_of, &error));
    assert_int_equal (as_of, 0);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
