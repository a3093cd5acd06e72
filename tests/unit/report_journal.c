#include "support/test.h"

#include "base/memory.h"
#include "render/render_journal.h"
#include "export/journal.h"

static void add_row (bill_t *bill, const char *text)
{
    gl_error_t error;
    posting_t row;

    posting_init (&row);
    if (posting_parse (text, strlen (text), &row, &error) < 0)
        fail_msg ("%s: %s", text, error.text);
    bill_add_copy (bill, &row);
    posting_clear (&row);
}

static journal_t *journal_of (const site_t *site, const char *month,
                              const char *const *rows, const char *hash)
{
    journal_t *journal = journal_new (site);
    bill_t *bill = bill_new ();
    gl_error_t error;

    for (size_t i = 0; rows[i]; i++)
        add_row (bill, rows[i]);
    bill_sort (bill);
    if (journal_add_month (journal, journal->site, month, bill, NULL, hash,
                           &error)
        < 0)
        fail_msg ("%s", error.text);
    bill_free (bill);
    return journal;
}

static void assert_balanced (const journal_t *journal)
{
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < journal->count; i++) {
        const journal_transaction_t *t = &journal->transaction[i];
        mpz_set_ui (sum, 0);
        for (size_t k = 0; k < t->count; k++)
            mpz_add (sum, sum, t->posting[k].units);
        if (mpz_sgn (sum) != 0)
            fail_msg ("%s: off by %ld", t->description, mpz_get_si (sum));
    }
    mpz_clear (sum);
}

/* Everything after the declarations. */
static char *transactions_of (const journal_t *journal)
{
    BUFFER_AUTO out = BUFFER_INIT;
    const char *last = "";

    render_journal (journal, &out);
    for (const char *p = buffer_text (&out);
         (p = strstr (p, "\n\n2026-")) != NULL; p++) {
        last = p + 2;
        break;
    }
    return xstrdup (last);
}

/* What was changed of October by hand, a tax and a credit without a pool, in November. */
TEST_CASE (add_month__by_hand_and_taxes__posted_with_origin)
{
    static const char *const rows[] = {
        "kind=correction\tmonth=2026-10\tpool=h100\tteam=vision\taccount=cv"
        "\twhat=manual\treference=lab/7/9\tgpu_seconds=7200\tcharge=-250"
        "\treason=too much",
        "kind=tax\tmonth=2026-11\tteam=vision\taccount=cv\twhat=vat\tcharge=19",
        "kind=credit\tmonth=2026-11\tteam=vision\twhat=goodwill\tcharge=-5",
        NULL,
    };
    site_t *site = site_default ();
    journal_t *journal = journal_of (site, "2026-11", rows, "00ff");
    GL_AUTOFREE char *text = transactions_of (journal);

    assert_balanced (journal);
    assert_string_equal (
        text,
        "2026-11-30 * Charges of 2026-11 to vision\n"
        "    ; month: 2026-11\n"
        "    ; team: vision\n"
        "    ; period: closed\n"
        "    ; hash: 00ff\n"
        "    charges:vision:(none):(none):credit                        "
        "-0.05 USD\n"
        "    ; what: goodwill\n"
        "    charges:vision:cv:(none):tax                                "
        "0.19 USD\n"
        "    ; what: vat\n"
        "    charges:vision:cv:h100:correction                          "
        "-2.50 USD\n"
        "    ; gpu_hours: 2.000000\n"
        "    ; what: manual\n"
        "    ; reference: lab/7/9\n"
        "    ; reason: too much\n"
        "    ; origin: 2026-10\n"
        "    unrecovered:(none):by_hand                                  "
        "0.05 USD\n"
        "    taxes:vat                                                  "
        "-0.19 USD\n"
        "    unrecovered:h100:by_hand                                    "
        "2.50 USD\n");
    journal_free (journal);
    site_free (site);
}

/* A late job of October: five more for the team, three less idle, and the cost
 * of the pool two higher. The pool is zero, and the accruals have the two. */
TEST_CASE (add_month__computed_corrections__pool_is_zero)
{
    static const char *const rows[] = {
        "kind=correction\tmonth=2026-10\tpool=h100\tteam=vision\taccount=cv"
        "\twhat=late_job\tcharge=5\torigin=charge",
        "kind=correction\tmonth=2026-10\tpool=h100\twhat=share\tcharge=-3"
        "\torigin=remainder:idle",
        NULL,
    };
    site_t *site = site_default ();
    journal_t *journal = journal_of (site, "2026-11", rows, NULL);
    GL_AUTOFREE char *text = transactions_of (journal);

    assert_balanced (journal);
    assert_string_equal (
        text,
        "2026-11-30 * Charges of 2026-11 to vision\n"
        "    ; month: 2026-11\n"
        "    ; team: vision\n"
        "    ; period: open\n"
        "    charges:vision:cv:h100:correction                           "
        "0.05 USD\n"
        "    ; what: late_job\n"
        "    ; origin: 2026-10\n"
        "    cost:h100:corrections                                      "
        "-0.05 USD\n"
        "\n"
        "2026-11-30 * Corrections of h100 in 2026-11\n"
        "    ; month: 2026-11\n"
        "    ; pool: h100\n"
        "    ; period: open\n"
        "    unrecovered:h100:idle                                      "
        "-0.03 USD\n"
        "    ; what: share\n"
        "    ; origin: 2026-10\n"
        "    cost:h100:corrections                                       "
        "0.05 USD\n"
        "    accruals:h100:corrections                                  "
        "-0.02 USD\n");
    journal_free (journal);
    site_free (site);
}

/* A charge whose pool's cost is not there would leave the pool unbalanced. */
TEST_CASE (add_month__row_without_its_pool__refused)
{
    static const char *const rows[] = {
        "kind=charge\tmonth=2026-10\tpool=h100\tteam=a\tcharge=1",
        "kind=remainder\tmonth=2026-10\tpool=h100\twhat=idle\tcharge=1",
        "kind=remainder\tmonth=2026-09\tpool=h100\twhat=idle\tcharge=1",
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_default ();
        journal_t *journal = journal_new (site);
        bill_t *bill = bill_new ();
        gl_error_t error = {{0}};
        add_row (bill, rows[i]);
        if (journal_add_month (journal, journal->site, "2026-10", bill, NULL,
                               NULL, &error)
            == 0)
            fail_msg ("taken: %s", rows[i]);
        assert_non_null (strstr (error.text, "2026-"));
        bill_free (bill);
        journal_free (journal);
        site_free (site);
    }
}

/* The currency's smallest unit decides the digits. */
TEST_CASE (render__other_currencies__their_digits)
{
    static const char *const rows[] = {
        "kind=tax\tmonth=2026-10\tteam=a\twhat=vat\tcharge=1234", NULL};
    static const struct {
        const char *currency;
        int digits;
        const char *amount;
    } cases[] = {{"JPY", 0, "  1234 JPY\n"},
                 {"USD", 2, "  12.34 USD\n"},
                 {"KWD", 3, "  1.234 KWD\n"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = site_default ();
        journal_t *journal;
        strcpy (site->currency, cases[i].currency);
        site->currency_digits = cases[i].digits;
        journal = journal_of (site, "2026-10", rows, NULL);
        GL_AUTOFREE char *text = transactions_of (journal);
        if (!strstr (text, cases[i].amount))
            fail_msg ("no '%s' in %s", cases[i].amount, text);
        journal_free (journal);
        site_free (site);
    }
}

TEST_MAIN (NULL, NULL)
