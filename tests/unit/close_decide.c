/* A decision whose transaction is run again, after somebody has closed the month
 * that was open the first time: it is of the month that is open when it is written. */
#include "support/book.h"
#include "support/store_fixture.h"

#include "month/close.h"

int __real_store_ledger_transaction (store_t *store, store_transaction_f fn,
                                     void *arg, gl_error_t *error);
int __wrap_store_ledger_transaction (store_t *store, store_transaction_f fn,
                                     void *arg, gl_error_t *error);

static const site_t *the_site;
static bool interrupted; /* the next transaction is: others come in between */

struct attempt {
    store_transaction_f fn;
    void *arg;
};

/* All of it, and then the server has it back. */
static int lose (store_t *store, void *arg, gl_error_t *error)
{
    const struct attempt *attempt = arg;

    if (attempt->fn (store, attempt->arg, error) < 0)
        fail_msg ("%s", error->text);
    return gl_error (error, "deadlock");
}

static void close_october (store_t *store)
{
    const close_request_t request
        = {.month = "2026-10", .who = "another", .now = 1793600000};
    close_done_t done;
    gl_error_t error;

    if (close_month (store, the_site, &request, &done, &error) < 0)
        fail_msg ("%s", error.text);
}

int __wrap_store_ledger_transaction (store_t *store, store_transaction_f fn,
                                     void *arg, gl_error_t *error)
{
    struct attempt attempt = {fn, arg};

    if (interrupted) {
        interrupted = false;
        assert_int_equal (
            __real_store_ledger_transaction (store, lose, &attempt, error), -1);
        close_october (store);
    }
    return __real_store_ledger_transaction (store, fn, arg, error);
}

static int put_facts (store_t *store, void *arg, gl_error_t *error)
{
    (void)arg;
    return store_put_as_of (store, "lab", 1793600000, error);
}

static int take_month (store_t *store, const site_t *site,
                       const periods_t *periods, decision_t *decision,
                       void *arg, gl_error_t *error)
{
    char *seen = arg;

    (void)store;
    (void)site;
    (void)periods;
    (void)error;
    strcat (seen, decision->month);
    strcat (seen, " ");
    return 0;
}

/* `month`: "": of the open one. What checks were asked of; the month it is in. */
static void check_decided (const char *month, const char *asked,
                           const char *decided)
{
    site_t *site = book_new ("UTC");
    store_t *store;
    decision_t d = {.kind = CHAIN_CREDIT, .when = 1793600000};
    char seen[64] = "", who[] = "ann", reason[] = "a test";
    periods_t *periods;
    gl_error_t error;
    chain_head_t head;

    the_site = site;
    store = store_open (fixture_store_url (), STORE_LEDGER, &error);
    if (!store)
        fail_msg ("%s", error.text);
    site->go_live = (civil_t){.year = 2026, .month = 10, .day = 1};
    assert_int_equal (store_transaction (store, put_facts, NULL, &error), 0);
    d.who = who;
    d.reason = reason;
    strcpy (d.month, month);
    interrupted = true;
    if (close_decide (store, site, &d, take_month, seen, &head, &error) < 0
        || periods_read (store, &periods, &error) < 0)
        fail_msg ("%s", error.text);
    assert_string_equal (seen, asked);
    assert_int_equal (periods->closing_count, 1);
    assert_int_equal (periods->decision_count, 1);
    assert_string_equal (periods->decisions[0].month, decided);
    assert_true (periods->decisions[0].number == head.number);
    assert_true (head.number > periods->closings[0].number);
    periods_free (periods);
    store_close (store);
    site_free (site);
    fixture_done ();
}

TEST_CASE (decision__run_again__is_of_the_month_open_then)
{
    check_decided ("", "2026-10 2026-11 ", "2026-11");
}

TEST_CASE (decision__of_a_month__stays_in_it)
{
    check_decided ("2026-10", "2026-10 2026-10 ", "2026-10");
}

/* Of a closing that was accepted in spite of findings, as the page of closed months has it. */
TEST_CASE (reason__findings_of_one_check__are_all_there)
{
    char body[] = "accept=why\nwarning.centers=one\nfinding.fresh=a: old\n"
                  "finding.fresh=b: 1=\\t2\nfinding.rates=gap\nfinding.\n";
    const closing_t closing = {.body = body};
    GL_AUTOFREE char *text = closing_reason_text (&closing);

    assert_string_equal (text, "Reason: why. Findings: fresh: a: old; "
                               "fresh: b: 1=\t2; rates: gap.");
}

TEST_MAIN (NULL, NULL)
