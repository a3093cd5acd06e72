/* The rows with columns of closed months, and who may write them, on the engine
 * that the fixture chooses. */
#include <string.h>

#include "base/buffer.h"
#include "ledger/bill.h"
#include "store/chain.h"

#include "suite.h"

static const chain_kind_t kinds[BILL_LIST_COUNT] = {
    [BILL_POSTINGS] = CHAIN_ROW,
    [BILL_COSTS] = CHAIN_COST,
    [BILL_POOLS] = CHAIN_POOL,
    [BILL_ENTITLEMENTS] = CHAIN_ENTITLEMENT,
    [BILL_COMPARISONS] = CHAIN_COMPARISON,
    [BILL_DAYS] = CHAIN_DAY,
};

/* A row with a value in each field. */
static int add_full_row (store_t *store, void *arg, gl_error_t *problem)
{
    const bill_list_t list = *(bill_list_t *)arg;
    BUFFER_AUTO body = BUFFER_INIT;
    chain_entry_t e = {.kind = kinds[list], .month = "2026-10", .version = 1};
    chain_head_t head;

    for (size_t i = 0; i < bill_fields[list].count; i++)
        buffer_printf (&body, "%s%s=1", i ? "\t" : "",
                       bill_fields[list].field[i].name);
    e.body = buffer_text (&body);
    e.length = body.length;
    if (store_chain_head (store, &head, problem) < 0)
        return -1;
    return store_chain_add (store, &e, &head, problem);
}

static void count_problem (const char *text, void *arg)
{
    print_message ("%s\n", text);
    ++*(size_t *)arg;
}

TEST_CASE (add__row_with_every_field__has_a_column_for_each)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    size_t problems = 0;

    assert_non_null (store);
    for (bill_list_t list = 0; list < BILL_LIST_COUNT; list++)
        OK (store_ledger_transaction (store, add_full_row, &list, &error));
    OK (store_chain_check (store, count_problem, &problems, &error));
    assert_int_equal (problems, 0);
    store_close (store);
}

static int add_odd_texts (store_t *store, void *arg, gl_error_t *problem)
{
    const char *body
        = "kind=power\tname=a\\tb\\nc\\\\t\tunits=-9223372036854775808";
    chain_entry_t e = {.kind = CHAIN_COST,
                       .month = "2026-10",
                       .version = 1,
                       .body = body,
                       .length = strlen (body)};
    chain_head_t head;

    (void)arg;
    if (store_chain_head (store, &head, problem) < 0)
        return -1;
    return store_chain_add (store, &e, &head, problem);
}

TEST_CASE (add__escaped_text_and_least_integer__same_row)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    size_t problems = 0;

    OK (store_ledger_transaction (store, add_odd_texts, NULL, &error));
    OK (store_chain_check (store, count_problem, &problems, &error));
    assert_int_equal (problems, 0);
    store_close (store);
}

static int add_unknown_field (store_t *store, void *arg, gl_error_t *problem)
{
    chain_entry_t e = {.kind = CHAIN_COST,
                       .month = "2026-10",
                       .version = 1,
                       .body = "kind=power\tcolour=red",
                       .length = strlen ("kind=power\tcolour=red")};
    chain_head_t head = {0};

    (void)arg;
    return store_chain_add (store, &e, &head, problem);
}

TEST_CASE (add__field_without_column__is_refused)
{
    store_t *store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    chain_head_t head;

    assert_int_equal (
        store_ledger_transaction (store, add_unknown_field, NULL, &error), -1);
    assert_non_null (strstr (error.text, "no column of 'colour=red'"));
    OK (store_chain_head (store, &head, &error));
    assert_int_equal (head.number, 0);
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
