/* Settlement: a worked example of each rule, and properties that hold for any
 * rules, on random sites and months. GPULEDGER_WORLDS=N for more of them. */
#include "support/test.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"
#include "ledger/settlement.h"

/* --- a site and its months ------------------------------------------------ */

static const char head[]
    = "ledger: {fiscal_year: 07-01}\n"
      "pools: [{name: h100, nodes: n1, gpu: H100-SXM5-80GB, gpus_per_node: 8},"
      " {name: a100, nodes: n2, gpu: A100-SXM4-80GB, gpus_per_node: 8},"
      " {name: cpu, nodes: n3, resource: cpu, cpus_per_node: 64}]\n"
      "teams: [{name: a, accounts: [a]}, {name: b, accounts: [b]},"
      " {name: c, accounts: [c]}]\n"
      "entitlements: [{team: b, pool: h100, gpus: 12},"
      " {team: b, pool: a100, gpus: 8, to: 2026-11-15},"
      " {team: a, pool: a100, gpus: 16, from: 2026-10-02},"
      " {team: c, pool: a100, gpu_hours: 16}]\n"
      "settlement:\n";

static site_t *site_of (const char *rules)
{
    GL_AUTOFREE char *text
        = xasprintf ("%s%s", strncmp (rules, "teams:", 6) ? head : "", rules);
    gl_error_t error;
    site_t *site = NULL;

    if (config_load_text ("test.yaml", text, strlen (text), &site, &error) < 0)
        fail_msg ("%s", error.text);
    return site;
}

/* A charge of so many hours and smallest units on a day of the month; kind 'c',
 * 'p' a purchase, 's' another service, 'r' a credit. Project "@ann": of that user,
 * without a project. */
struct line {
    char kind;
    const char *team;
    const char *pool;
    const char *project;
    long hours;
    long units;
    int day;
};

static void add_line (bill_t *bill, const char *month, const struct line *line)
{
    posting_t *row = bill_add (bill);

    row->kind = line->kind == 'p'   ? BILL_PURCHASE
                : line->kind == 's' ? BILL_SERVICE
                : line->kind == 'r' ? BILL_CREDIT
                                    : BILL_CHARGE;
    row->month = xstrdup (month);
    row->pool = xstrdup (line->pool);
    row->team = xstrdup (line->team);
    row->key[0] = xstrdup (line->team);
    if (line->project && *line->project == '@')
        row->key[2] = xstrdup (line->project + 1);
    else {
        row->key[3] = xstrdup (line->project);
        row->key[2] = xstrdup (line->project ? line->project : "u");
    }
    mpq_set_si (line->pool && !strcmp (line->pool, "cpu") ? row->cpu_seconds
                                                          : row->gpu_seconds,
                line->hours * 3600, 1);
    mpz_set_si (row->charge_units, line->units);
}

struct world {
    const site_t *site;
    const struct line *line; /* of the month; ends with a kind of 0 */
    const char *month;
    period_t period;
};

static bill_t *bill_of (const struct world *w, period_t part)
{
    bill_t *bill = bill_new ();

    for (const struct line *l = w->line; l->kind; l++) {
        int64_t at
            = w->period.start + (int64_t)(l->day ? l->day - 1 : 0) * 86400;
        size_t count;
        add_line (bill, w->month, l);
        if (at < part.start || at >= part.end) {
            posting_t *rows = (posting_t *)postings (bill, &count);
            rows[count - 1].outside = true;
        }
    }
    return bill;
}

static int take_part (period_t part, bill_t **ret_bill, void *arg,
                      gl_error_t *error)
{
    (void)error;
    *ret_bill = bill_of (arg, part);
    return 0;
}

static void sum_rows (const bill_t *bill, mpz_t ret_sum)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    mpz_set_ui (ret_sum, 0);
    for (size_t i = 0; i < count; i++)
        mpz_add (ret_sum, ret_sum, rows[i].charge_units);
}

static void check_balances (const bill_t *bill)
{
    size_t count;
    const bill_balance_t *b = bill_balances (bill, &count);
    mpq_t in, out;

    mpq_inits (in, out, NULL);
    for (size_t i = 0; i < count; i++) {
        mpq_add (in, b[i].opening, b[i].added);
        mpq_add (out, b[i].used, b[i].expired);
        mpq_add (out, out, b[i].closing);
        assert_true (mpq_equal (in, out));
        assert_true (mpq_sgn (b[i].closing) >= 0);
        assert_true (mpq_sgn (b[i].used) >= 0);
        assert_true (mpq_cmp (b[i].rolled_over, b[i].closing) <= 0);
        for (size_t k = 0; k < i; k++)
            assert_false (!strcmp (b[k].rule, b[i].rule)
                          && text_same (b[k].team, b[i].team)
                          && text_same (b[k].user, b[i].user));
    }
    mpq_clears (in, out, NULL);
}

/* The month's bill, settled; it adds up to what it did. */
static bill_t *settle (struct world *w, const bill_t *before, bool ended)
{
    settlement_t how = {.site = w->site,
                        .month = w->month,
                        .period = w->period,
                        .ended = ended,
                        .before = before,
                        .part = take_part,
                        .arg = w};
    bill_t *bill = bill_of (w, w->period);
    gl_error_t error;
    mpz_t was, is;

    mpz_inits (was, is, NULL);
    sum_rows (bill, was);
    if (bill_settle (bill, &how, &error) < 0)
        fail_msg ("%s", error.text);
    sum_rows (bill, is);
    assert_int_equal (mpz_cmp (was, is), 0);
    check_balances (bill);
    mpz_clears (was, is, NULL);
    return bill;
}

static void add_money (buffer_t *out, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, 2);

    buffer_printf (out, " %s", text);
}

static void add_number (buffer_t *out, const char *name, mpq_srcptr value,
                        bool hours)
{
    mpq_t number;

    if (mpq_sgn (value) == 0)
        return;
    mpq_init (number);
    mpq_set (number, value);
    if (hours) {
        mpq_set_ui (number, 3600, 1);
        mpq_div (number, value, number);
    }
    GL_AUTOFREE char *text = exact_shortest (number);
    buffer_printf (out, " %s %s", name, text);
    mpq_clear (number);
}

/* "MONTH TEAM>COUNTERPARTY POOL AMOUNT", then "= RULE TEAM opening ...". */
static void describe (const bill_t *bill, buffer_t *out)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const bill_balance_t *b;

    for (size_t i = 0; i < count; i++) {
        if (!rows[i].what)
            continue;
        buffer_printf (out, "%s %s %s%s%s%s%s", rows[i].month + 5, rows[i].what,
                       rows[i].team ? rows[i].team : "site",
                       rows[i].counterparty ? ">" : "",
                       rows[i].counterparty ? rows[i].counterparty : "",
                       rows[i].cost_object ? "/" : "",
                       rows[i].cost_object ? rows[i].cost_object : "");
        if (rows[i].kind == BILL_SETTLEMENT && rows[i].key[2])
            buffer_printf (out, " %s", rows[i].key[2]);
        if (rows[i].pool)
            buffer_printf (out, " %s", rows[i].pool);
        add_money (out, rows[i].charge_units);
        buffer_add_char (out, '\n');
    }
    b = bill_balances (bill, &count);
    for (size_t i = 0; i < count; i++) {
        bool hours = strcmp (b[i].unit, "money") != 0;
        buffer_printf (out, "%s = %s%s%s", b[i].month + 5,
                       b[i].team ? b[i].team : "all", b[i].user ? " " : "",
                       b[i].user ? b[i].user : "");
        add_number (out, "opening", b[i].opening, hours);
        add_number (out, "added", b[i].added, hours);
        add_number (out, "used", b[i].used, hours);
        add_number (out, "expired", b[i].expired, hours);
        add_number (out, "closing", b[i].closing, hours);
        buffer_add_char (out, '\n');
    }
}

#define MONTHS 4

/* From October 2026 on, all over. */
static void check (const char *rules, const struct line *const months[MONTHS],
                   const char *wanted)
{
    site_t *site = site_of (rules);
    BUFFER_AUTO text = BUFFER_INIT;
    bill_t *before = NULL;

    for (int i = 0; i < MONTHS && months[i]; i++) {
        civil_t civil = civil_add_months (
            (civil_t){.year = 2026, .month = 10, .day = 1}, i);
        GL_AUTOFREE char *month
            = xasprintf ("%04d-%02d", civil.year, civil.month);
        struct world w = {.site = site, .line = months[i], .month = month};
        bill_t *bill;
        w.period = zone_unit (site->zone, CALENDAR_MONTH,
                              zone_instant (site->zone, &civil));
        bill = settle (&w, before, true);
        describe (bill, &text);
        bill_free (before);
        before = bill;
    }
    bill_free (before);
    site_free (site);
    assert_string_equal (buffer_text (&text), wanted);
}

#define LINES(...) ((const struct line[]){__VA_ARGS__, {0}})
#define SEQUENCE(...) ((const struct line *const[MONTHS]){__VA_ARGS__})
#define NOTHING ((const struct line[]){{0}})

/* --- each rule ------------------------------------------------------------ */

TEST_CASE (waiver__part_of_a_month__its_days_alone)
{
    check ("- {name: w, rule: waiver, teams: [a], from: 2026-10-16}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 10, 1000, 3},
                            {'c', "a", "h100", NULL, 10, 1001, 16},
                            {'c', "b", "h100", NULL, 10, 1000, 20})),
           "10 waived site h100 10.01\n"
           "10 waiver a h100 -10.01\n");
}

/* Team d is new until the 16th, and again from the 25th on. */
TEST_CASE (grant__class_for_a_part_of_a_month__its_days_alone)
{
    check ("teams: [{name: d, accounts: [d], class: new, to: 2026-10-16},"
           " {name: d, accounts: [d], class: old, from: 2026-10-16,"
           " to: 2026-10-25},"
           " {name: d, accounts: [d], class: new, from: 2026-10-25}]\n"
           "pools: [{name: h100, nodes: n1, gpu: H100-SXM5-80GB,"
           " gpus_per_node: 8}]\n"
           "settlement:\n"
           "- {name: f, rule: fee, amount: 7}\n"
           "- {name: g, rule: grant, amount: 100, classes: [new],"
           " of: [charges, fees]}\n",
           SEQUENCE (LINES ({'c', "d", "h100", NULL, 10, 1000, 3},
                            {'c', "d", "h100", NULL, 10, 2000, 16},
                            {'c', "d", "h100", NULL, 10, 400, 30})),
           "10 fees site -7.00\n"
           "10 granted site 7.00\n"
           "10 fee d 7.00\n"
           "10 grant d -7.00\n"
           "10 granted site h100 14.00\n"
           "10 grant d h100 -14.00\n"
           "10 = d added 7 used 7\n"
           "10 = d added 100 used 21 expired 79\n");
}

TEST_CASE (grant__money__dearest_first_and_what_is_left_expires)
{
    check ("- {name: g, rule: grant, amount: 50, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "a100", NULL, 10, 1000, 0},
                            {'c', "a", "h100", NULL, 10, 3000, 0},
                            {'p', "a", "h100", NULL, 0, 9000, 0}),
                     LINES ({'c', "a", "a100", NULL, 60, 6000, 0})),
           "10 granted site a100 10.00\n"
           "10 grant a a100 -10.00\n"
           "10 granted site h100 30.00\n"
           "10 grant a h100 -30.00\n"
           "10 = a added 50 used 40 expired 10\n"
           "11 granted site a100 50.00\n"
           "11 grant a a100 -50.00\n"
           "11 = a added 50 used 50\n");
}

TEST_CASE (grant__hours_of_a_quarter__carried_once)
{
    /* The fiscal year begins in July: October to December is a quarter. */
    check ("- {name: g, rule: grant, gpu_hours: 100, per: quarter, unused: "
           "carry_once, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 30, 3000, 0}), NOTHING,
                     LINES ({'c', "a", "h100", NULL, 10, 1000, 0}),
                     LINES ({'c', "a", "h100", NULL, 200, 20000, 0})),
           "10 granted site h100 30.00\n"
           "10 grant a h100 -30.00\n"
           "10 = a added 100 used 30 closing 70\n"
           "11 = a opening 70 closing 70\n"
           "12 granted site h100 10.00\n"
           "12 grant a h100 -10.00\n"
           "12 = a opening 70 used 10 closing 60\n"
           "01 granted site h100 160.00\n"
           "01 grant a h100 -160.00\n"
           "01 = a opening 60 added 100 used 160\n");
}

TEST_CASE (grant__first_months__from_each_teams_first_use)
{
    check ("- {name: g, rule: grant, amount: 5, first_months: 2}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 800, 0}),
                     LINES ({'c', "a", "h100", NULL, 1, 800, 0},
                            {'c', "b", "h100", NULL, 1, 300, 0}),
                     LINES ({'c', "a", "h100", NULL, 1, 800, 0},
                            {'c', "b", "h100", NULL, 1, 800, 0})),
           "10 granted site h100 5.00\n"
           "10 grant a h100 -5.00\n"
           "10 = a added 5 used 5\n"
           "11 granted site h100 8.00\n"
           "11 grant a h100 -5.00\n"
           "11 grant b h100 -3.00\n"
           "11 = a added 5 used 5\n"
           "11 = b added 5 used 3 expired 2\n"
           "12 granted site h100 5.00\n"
           "12 grant b h100 -5.00\n"
           "12 = a\n"
           "12 = b added 5 used 5\n");
}

TEST_CASE (sponsor__share_up_to_a_cap_of_the_year__the_payer_has_it)
{
    check ("- {name: s, rule: sponsor, payer: c, share: 75%, amount: 100, per: "
           "year, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 10, 10001, 0}),
                     LINES ({'c', "a", "h100", NULL, 10, 10000, 0},
                            {'c', "c", "h100", NULL, 10, 10000, 0})),
           "10 sponsor a>c h100 -75.01\n"
           "10 sponsor c>a h100 75.01\n"
           "10 = a added 100 used 75.01 closing 24.99\n"
           "11 sponsor a>c h100 -24.99\n"
           "11 sponsor c>a h100 24.99\n"
           "11 = a opening 24.99 used 24.99\n");
}

TEST_CASE (fee__of_a_year__once_in_it)
{
    check ("- {name: f, rule: fee, amount: 12.50, per: year, quantity: 3, "
           "teams: [a, b]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 100, 0}), NOTHING),
           "10 fees site -75.00\n"
           "10 fee a 37.50\n"
           "10 fee b 37.50\n"
           "10 = a added 37.5 used 37.5\n"
           "10 = b added 37.5 used 37.5\n"
           "11 = a\n"
           "11 = b\n");
}

TEST_CASE (fee__each_user__who_used_gpus)
{
    check ("- {name: f, rule: fee, amount: 2, each: user, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", "x", 1, 100, 0},
                            {'c', "a", "h100", "y", 1, 100, 0},
                            {'c', "a", "a100", "y", 1, 100, 0})),
           "10 fees site -4.00\n"
           "10 fee a 4.00\n"
           "10 = a added 4 used 4\n");
}

TEST_CASE (minimum__of_a_quarter__what_is_missing_at_its_end)
{
    check (
        "- {name: m, rule: minimum, amount: 100, per: quarter, teams: [a]}\n",
        SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 0}), NOTHING,
                  LINES ({'c', "a", "h100", NULL, 1, 2550, 0})),
        "10 = a added 100 used 30 closing 70\n"
        "11 = a opening 70 closing 70\n"
        "12 fees site -44.50\n"
        "12 minimum a 44.50\n"
        "12 = a opening 70 used 25.5 expired 44.5\n");
}

TEST_CASE (cap__of_a_year__the_site_pays_what_is_above)
{
    check ("- {name: m, rule: cap, amount: 50, per: year, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 0}),
                     LINES ({'c', "a", "h100", NULL, 1, 3000, 0},
                            {'r', "a", "h100", NULL, 0, -500, 0})),
           "10 = a added 50 used 30 closing 20\n"
           "11 capped site h100 5.00\n"
           "11 cap a h100 -5.00\n"
           "11 = a opening 20 used 20\n");
}

TEST_CASE (prepaid__deposits__are_drawn_and_given_back)
{
    check ("- {name: p, rule: prepaid, teams: [a, b], refund: yes, to: "
           "2026-12-01, deposits: [{on: 2026-10-05, amount: 100, team: a}, "
           "{on: 2026-11-05, amount: 50, team: c}]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 0},
                            {'p', "b", "a100", NULL, 0, 1000, 0},
                            {'c', "c", "a100", NULL, 0, 1000, 0}),
                     LINES ({'c', "b", "h100", NULL, 1, 8000, 0}), NOTHING),
           "10 prepaid_balance site -100.00\n"
           "10 prepaid a 100.00\n"
           "10 prepaid_balance site a100 10.00\n"
           "10 prepaid b a100 -10.00\n"
           "10 prepaid_balance site h100 30.00\n"
           "10 prepaid a h100 -30.00\n"
           "10 = all added 100 used 40 closing 60\n"
           "11 prepaid_balance site -20.00\n"
           "11 prepaid a -20.00\n"
           "11 prepaid c 40.00\n"
           "11 prepaid_balance site h100 80.00\n"
           "11 prepaid b h100 -80.00\n"
           "11 = all opening 60 added 50 used 80 expired 30\n");
}

TEST_CASE (services__a_sponsor_pays_them__a_grant_does_not)
{
    check ("- {name: g, rule: grant, amount: 100, teams: [a]}\n"
           "- {name: s, rule: sponsor, payer: c, share: 50%, teams: [a]}\n",
           SEQUENCE (LINES ({'s', "a", NULL, NULL, 0, 2001, 0},
                            {'c', "a", "h100", NULL, 1, 300, 0})),
           "10 sponsor a>c -10.00\n"
           "10 sponsor c>a 10.00\n"
           "10 granted site h100 3.00\n"
           "10 grant a h100 -3.00\n"
           "10 = a added 100 used 3 expired 97\n");
}

TEST_CASE (sponsor__of_fees__pays_no_other_charge)
{
    /* 88 % of 743.07 is 653.9016. */
    check ("- {name: f, rule: fee, amount: 743.07, teams: [a, c]}\n"
           "- {name: s, rule: sponsor, payer: c, share: 88%, of: fees, teams: "
           "[a]}\n"
           "- {name: t, rule: split, teams: [c], of: [sponsored], split: {X: "
           "100%}}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 10, 1000, 0},
                            {'s', "a", NULL, NULL, 0, 2001, 0})),
           "10 fees site -1486.14\n"
           "10 fee a 743.07\n"
           "10 sponsor a>c -653.90\n"
           "10 fee c 743.07\n"
           "10 split c -653.90\n"
           "10 split c/X 653.90\n"
           "10 sponsor c>a 653.90\n"
           "10 = a added 743.07 used 743.07\n"
           "10 = c added 743.07 used 743.07\n");
}

TEST_CASE (grant__of_fees_and_services__but_no_time)
{
    check ("- {name: g, rule: grant, amount: 25, of: [services, fees], teams: "
           "[a]}\n"
           "- {name: f, rule: fee, amount: 12, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 10, 1000, 0},
                            {'s', "a", NULL, NULL, 0, 2001, 0},
                            {'p', "a", "h100", NULL, 0, 5000, 0})),
           "10 fees site -12.00\n"
           "10 granted site 25.00\n"
           "10 fee a 12.00\n"
           "10 grant a -4.99\n"
           "10 grant a -20.01\n"
           "10 = a added 12 used 12\n"
           "10 = a added 25 used 25\n");
}

TEST_CASE (fee__each_node__of_the_entitlements_of_its_first_day)
{
    /* b owns 2 1/2 nodes: 12 GPUs of h100 and 8 of a100; 2.5 x 743.07 is 1857.675,
     * and to the even cent 1857.68. What begins on 2 October counts in November.
     */
    check ("- {name: f, rule: fee, amount: 743.07, each: node, teams: [b]}\n"
           "- {name: g, rule: fee, amount: 10, each: node, pools: [a100]}\n",
           SEQUENCE (NOTHING, NOTHING, NOTHING),
           "10 fees site -1857.68\n"
           "10 fees site -10.00\n"
           "10 fee b 1857.68\n"
           "10 fee b 10.00\n"
           "10 = b added 1857.68 used 1857.68\n"
           "10 = a\n"
           "10 = b added 10 used 10\n"
           "10 = c\n"
           "11 fees site -1857.68\n"
           "11 fees site -30.00\n"
           "11 fee a 20.00\n"
           "11 fee b 1857.68\n"
           "11 fee b 10.00\n"
           "11 = b added 1857.68 used 1857.68\n"
           "11 = a added 20 used 20\n"
           "11 = b added 10 used 10\n"
           "11 = c\n"
           "12 fees site -1114.60\n"
           "12 fees site -20.00\n"
           "12 fee a 20.00\n"
           "12 fee b 1114.60\n"
           "12 = b added 1114.6 used 1114.6\n"
           "12 = a added 20 used 20\n"
           "12 = b\n"
           "12 = c\n");
}

TEST_CASE (grant__of_a_year__expires_evenly)
{
    /* The year began in July: after December at most half of 1000 is left, after
     * March 250. */
    check ("- {name: g, rule: grant, gpu_hours: 1000, per: year, unused: "
           "expire_evenly, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 200, 20000, 0}), NOTHING,
                     LINES ({'c', "a", "h100", NULL, 100, 10000, 0}),
                     LINES ({'c', "a", "h100", NULL, 400, 40000, 0})),
           "10 granted site h100 200.00\n"
           "10 grant a h100 -200.00\n"
           "10 = a added 1000 used 200 closing 800\n"
           "11 = a opening 800 closing 800\n"
           "12 granted site h100 100.00\n"
           "12 grant a h100 -100.00\n"
           "12 = a opening 800 used 100 expired 200 closing 500\n"
           "01 granted site h100 400.00\n"
           "01 grant a h100 -400.00\n"
           "01 = a opening 500 used 400 closing 100\n");
}

TEST_CASE (sponsor__once__an_amount_over_years)
{
    /* October to January: one amount, across the end of a quarter and a year. */
    check (
        "- {name: s, rule: sponsor, payer: c, amount: 100, per: once, teams: "
        "[a]}\n"
        "- {name: m, rule: cap, amount: 50, per: once, teams: [b]}\n",
        SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 6000, 0},
                         {'c', "b", "h100", NULL, 1, 3000, 0}),
                  NOTHING, NOTHING,
                  LINES ({'c', "a", "h100", NULL, 1, 6000, 0},
                         {'c', "b", "h100", NULL, 1, 3000, 0})),
        "10 sponsor a>c h100 -60.00\n"
        "10 sponsor c>a h100 60.00\n"
        "10 = b added 50 used 30 closing 20\n"
        "10 = a added 100 used 60 closing 40\n"
        "11 = b opening 20 closing 20\n"
        "11 = a opening 40 closing 40\n"
        "12 = b opening 20 closing 20\n"
        "12 = a opening 40 closing 40\n"
        "01 capped site h100 10.00\n"
        "01 sponsor a>c h100 -40.00\n"
        "01 cap b h100 -10.00\n"
        "01 sponsor c>a h100 40.00\n"
        "01 = b opening 20 used 20\n"
        "01 = a opening 40 used 40\n");
}

TEST_CASE (prepaid__teams_join_and_leave__the_balance_goes_on)
{
    check ("- {name: p, rule: prepaid, teams: [a], to: 2026-11-16, deposits: "
           "[{on: 2026-10-05, amount: 100, team: a}]}\n"
           "- {name: p, rule: prepaid, teams: [a, b], from: 2026-11-16, "
           "deposits: [{on: 2026-12-01, amount: 20, team: b}]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 0},
                            {'c', "b", "h100", NULL, 1, 3000, 0}),
                     LINES ({'c', "b", "h100", NULL, 1, 3000, 5},
                            {'c', "b", "h100", NULL, 1, 2000, 20}),
                     LINES ({'c', "b", "h100", NULL, 1, 9000, 0})),
           "10 prepaid_balance site -100.00\n"
           "10 prepaid a 100.00\n"
           "10 prepaid_balance site h100 30.00\n"
           "10 prepaid a h100 -30.00\n"
           "10 = all added 100 used 30 closing 70\n"
           "11 prepaid_balance site h100 20.00\n"
           "11 prepaid b h100 -20.00\n"
           "11 = all opening 70 used 20 closing 50\n"
           "12 prepaid_balance site -20.00\n"
           "12 prepaid b 20.00\n"
           "12 prepaid_balance site h100 70.00\n"
           "12 prepaid b h100 -70.00\n"
           "12 = all opening 50 added 20 used 70\n");
}

TEST_CASE (split__cost_objects__add_up_after_all_others)
{
    check ("- {name: s, rule: split, teams: [a], split: {X1: 50%, X2: 50%}}\n"
           "- {name: g, rule: grant, amount: 1, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 1001, 0})),
           "10 split a -9.01\n"
           "10 split a/X1 4.51\n"
           "10 split a/X2 4.50\n"
           "10 granted site h100 1.00\n"
           "10 grant a h100 -1.00\n"
           "10 = a added 1 used 1\n");
}

/* --- a rule in several entries -------------------------------------------- */

TEST_CASE (minimum__two_entries_in_a_month__is_of_the_charges_of_both)
{
    check ("- {name: m, rule: minimum, amount: 100, teams: [a], to: "
           "2026-10-11}\n"
           "- {name: m, rule: minimum, amount: 100, teams: [a], from: "
           "2026-10-11}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 3},
                            {'c', "a", "h100", NULL, 1, 5000, 20})),
           "10 fees site -20.00\n"
           "10 minimum a 20.00\n"
           "10 = a added 100 used 80 expired 20\n");
}

TEST_CASE (grant__two_entries_in_a_month__nothing_expires_between_them)
{
    check ("- {name: g, rule: grant, amount: 100, teams: [a], to: "
           "2026-10-11}\n"
           "- {name: g, rule: grant, amount: 100, teams: [a], from: "
           "2026-10-11}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 3},
                            {'c', "a", "h100", NULL, 1, 5000, 20})),
           "10 granted site h100 80.00\n"
           "10 grant a h100 -80.00\n"
           "10 = a added 100 used 80 expired 20\n");
}

TEST_CASE (grant__prorated_in_two_entries__has_the_days_of_both)
{
    check ("- {name: g, rule: grant, amount: 31, prorated: yes, teams: [a], "
           "from: 2026-10-06, to: 2026-10-11}\n"
           "- {name: g, rule: grant, amount: 31, prorated: yes, teams: [a], "
           "from: 2026-10-11}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 5000, 20})),
           "10 granted site h100 26.00\n"
           "10 grant a h100 -26.00\n"
           "10 = a added 26 used 26\n");
}

TEST_CASE (fee__prorated_in_two_entries__by_days_in_its_first_month_alone)
{
    check ("- {name: f, rule: fee, amount: 0.05, prorated: yes, teams: [a], "
           "to: 2026-10-16}\n"
           "- {name: f, rule: fee, amount: 0.05, prorated: yes, teams: [a], "
           "from: 2026-10-16, to: 2026-11-16}\n"
           "- {name: f, rule: fee, amount: 0.05, prorated: yes, teams: [a], "
           "from: 2026-11-16}\n",
           SEQUENCE (NOTHING, NOTHING),
           "10 fees site -0.05\n"
           "10 fee a 0.05\n"
           "10 = a added 0.05 used 0.05\n"
           "11 fees site -0.05\n"
           "11 fee a 0.05\n"
           "11 = a added 0.05 used 0.05\n");
}

TEST_CASE (sponsor__part_of_a_month__pays_fees_at_its_end)
{
    check ("- {name: f, rule: fee, amount: 10, teams: [a]}\n"
           "- {name: s, rule: sponsor, payer: b, teams: [a], to: 2026-10-11}\n"
           "- {name: t, rule: sponsor, payer: c, teams: [a], from: "
           "2026-10-11}\n",
           SEQUENCE (LINES ({'c', "a", "h100", NULL, 1, 3000, 3})),
           "10 fees site -10.00\n"
           "10 fee a 10.00\n"
           "10 sponsor a>c -10.00\n"
           "10 sponsor c>a 10.00\n"
           "10 sponsor a>b h100 -30.00\n"
           "10 sponsor b>a h100 30.00\n"
           "10 = a added 10 used 10\n");
}

/* --- users ----------------------------------------------------------------- */

TEST_CASE (grant__cpu_hours_of_each_user__the_team_pays_what_is_above)
{
    check ("- {name: g, rule: grant, cpu_hours: 100, each: user}\n",
           SEQUENCE (LINES ({'c', "a", "cpu", "@ann", 60, 600, 1},
                            {'c', "a", "cpu", "@ann", 80, 800, 9},
                            {'c', "a", "cpu", "@bob", 30, 300, 9},
                            {'c', "b", "cpu", "@ann", 10, 100, 9},
                            {'c', "a", "h100", "@ann", 10, 9000, 9}),
                     LINES ({'c', "a", "cpu", "@bob", 100, 1000, 1})),
           "10 granted site cpu 14.00\n"
           "10 grant a ann cpu -10.00\n"
           "10 grant a bob cpu -3.00\n"
           "10 grant b ann cpu -1.00\n"
           "10 = a ann added 100 used 100\n"
           "10 = a bob added 100 used 30 expired 70\n"
           "10 = b ann added 100 used 10 expired 90\n"
           "11 granted site cpu 10.00\n"
           "11 grant a bob cpu -10.00\n"
           "11 = a bob added 100 used 100\n");
}

/* What bob had of October is carried once; he uses nothing in the quarter behind. */
TEST_CASE (grant__each_user_and_quarter__rolls_over_once)
{
    check ("- {name: g, rule: grant, cpu_hours: 50, each: user, per: quarter, "
           "unused: carry_once, teams: [a]}\n",
           SEQUENCE (LINES ({'c', "a", "cpu", "@ann", 20, 200, 1},
                            {'c', "a", "cpu", "@bob", 5, 50, 1}),
                     NOTHING, NOTHING,
                     LINES ({'c', "a", "cpu", "@ann", 90, 900, 9})),
           "10 granted site cpu 2.50\n"
           "10 grant a ann cpu -2.00\n"
           "10 grant a bob cpu -0.50\n"
           "10 = a ann added 50 used 20 closing 30\n"
           "10 = a bob added 50 used 5 closing 45\n"
           "11 = a ann opening 30 closing 30\n"
           "11 = a bob opening 45 closing 45\n"
           "12 = a ann opening 30 closing 30\n"
           "12 = a bob opening 45 closing 45\n"
           "01 granted site cpu 8.00\n"
           "01 grant a ann cpu -8.00\n"
           "01 = a ann opening 30 added 50 used 80\n"
           "01 = a bob opening 45 added 50 closing 95\n");
}

TEST_CASE (grant__each_user_of_all_teams__one_amount)
{
    check ("- {name: g, rule: grant, gpu_hours: 10, each: user, "
           "together: yes}\n",
           SEQUENCE (LINES ({'c', "a", "h100", "@ann", 8, 1600, 1},
                            {'c', "b", "h100", "@ann", 8, 800, 1},
                            {'c', "b", "h100", "@bob", 4, 400, 1})),
           "10 granted site h100 22.00\n"
           "10 grant a ann h100 -16.00\n"
           "10 grant b ann h100 -2.00\n"
           "10 grant b bob h100 -4.00\n"
           "10 = all ann added 10 used 10\n"
           "10 = all bob added 10 used 4 expired 6\n");
}

TEST_CASE (grant__first_months_of_each_user__from_the_first_use_on)
{
    check ("- {name: g, rule: grant, gpu_hours: 10, each: user, "
           "first_months: 2}\n",
           SEQUENCE (LINES ({'c', "a", "h100", "@ann", 4, 400, 1}),
                     LINES ({'c', "a", "h100", "@bob", 12, 1200, 1}),
                     LINES ({'c', "a", "h100", "@ann", 4, 400, 1},
                            {'c', "a", "h100", "@bob", 4, 400, 1})),
           "10 granted site h100 4.00\n"
           "10 grant a ann h100 -4.00\n"
           "10 = a ann added 10 used 4 expired 6\n"
           "11 granted site h100 10.00\n"
           "11 grant a bob h100 -10.00\n"
           "11 = a ann added 10 expired 10\n"
           "11 = a bob added 10 used 10\n"
           "12 granted site h100 4.00\n"
           "12 grant a bob h100 -4.00\n"
           "12 = a ann\n"
           "12 = a bob added 10 used 4 expired 6\n");
}

TEST_CASE (cap__each_user__the_site_pays_what_is_above)
{
    check ("- {name: c, rule: cap, amount: 10, each: user}\n",
           SEQUENCE (LINES ({'c', "a", "h100", "@ann", 8, 1600, 1},
                            {'c', "a", "cpu", "@ann", 8, 300, 1},
                            {'c', "a", "h100", "@bob", 4, 400, 1})),
           "10 capped site h100 9.00\n"
           "10 cap a ann h100 -9.00\n"
           "10 = a ann added 10 used 10\n"
           "10 = a bob added 10 used 4 expired 6\n");
}

/* --- teams that were renamed ------------------------------------------------ */

static const char renamed[]
    = "teams: [{name: old, accounts: [x], to: 2026-11-11}, {name: new, "
      "aliases: [old], accounts: [x], from: 2026-11-11}, {name: p, "
      "accounts: [p], aliases: [payer]}]\n"
      "pools: [{name: h100, nodes: n1, gpu: H100-SXM5-80GB, "
      "gpus_per_node: 8}]\n"
      "settlement:\n";

static void check_renamed (const char *rule, const struct line *const *months,
                           const char *wanted)
{
    GL_AUTOFREE char *text = xasprintf ("%s%s", renamed, rule);

    check (text, months, wanted);
}

TEST_CASE (grant__renamed_team__its_balance_goes_on)
{
    static const char wanted[] = "10 granted site h100 30.00\n"
                                 "10 grant old h100 -30.00\n"
                                 "10 = old added 100 used 30 closing 70\n"
                                 "11 granted site h100 70.00\n"
                                 "11 grant new h100 -50.00\n"
                                 "11 grant old h100 -20.00\n"
                                 "11 = new opening 70 used 70\n"
                                 "12 = new\n";
    const struct line *const *months
        = SEQUENCE (LINES ({'c', "old", "h100", NULL, 3, 3000, 1}),
                    LINES ({'c', "old", "h100", NULL, 2, 2000, 1},
                           {'c', "new", "h100", NULL, 9, 9000, 20}),
                    LINES ({'c', "new", "h100", NULL, 1, 1000, 3}));

    check_renamed ("- {name: g, rule: grant, amount: 100, per: year, order: "
                   "cheapest, teams: [old]}\n",
                   months, wanted);
    check_renamed ("- {name: g, rule: grant, amount: 100, per: year, order: "
                   "cheapest, teams: [new]}\n",
                   months, wanted);
}

TEST_CASE (sponsor__alias_of_the_payer__the_team_pays)
{
    check_renamed ("- {name: s, rule: sponsor, payer: payer, amount: 5, "
                   "teams: [new, payer]}\n",
                   SEQUENCE (LINES ({'c', "old", "h100", NULL, 3, 3000, 1},
                                    {'c', "p", "h100", NULL, 3, 3000, 1})),
                   "10 sponsor old>p h100 -5.00\n"
                   "10 sponsor p>old h100 5.00\n"
                   "10 = old added 5 used 5\n");
}

TEST_CASE (prepaid__renamed_team__deposits_and_charges_go_on)
{
    check_renamed ("- {name: c, rule: prepaid, teams: [old], deposits: [{on: "
                   "2026-10-02, amount: 50, team: old}, {on: 2026-11-20, "
                   "amount: 10, team: old}]}\n",
                   SEQUENCE (LINES ({'c', "old", "h100", NULL, 3, 3000, 1}),
                             LINES ({'c', "new", "h100", NULL, 9, 9000, 20})),
                   "10 prepaid_balance site -50.00\n"
                   "10 prepaid old 50.00\n"
                   "10 prepaid_balance site h100 30.00\n"
                   "10 prepaid old h100 -30.00\n"
                   "10 = all added 50 used 30 closing 20\n"
                   "11 prepaid_balance site -10.00\n"
                   "11 prepaid new 10.00\n"
                   "11 prepaid_balance site h100 30.00\n"
                   "11 prepaid new h100 -30.00\n"
                   "11 = all opening 20 added 10 used 30\n");
}

/* --- any rules ------------------------------------------------------------ */

static uint64_t seed;

static unsigned pick (unsigned count)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % count;
}

static const char *one_of (const char *const *words, unsigned count)
{
    return words[pick (count)];
}
#define ONE_OF(...)                             \
    one_of ((const char *const[]){__VA_ARGS__}, \
            sizeof ((const char *const[]){__VA_ARGS__}) / sizeof (char *))

static char *random_rule (unsigned number)
{
    const char *who = ONE_OF (
        "", ", teams: [a]", ", teams: [a, b]", ", pools: [h100]",
        ", projects: [x]", ", from: 2026-10-11", ", to: 2026-11-17",
        ", from: 2026-10-05, to: 2026-12-09", ", of: [fees, sponsored]",
        ", of: [charges, services]", ", of: purchases, teams: [b]");
    const char *per = ONE_OF ("", ", per: month", ", per: quarter",
                              ", per: year, prorated: yes", ", per: once");
    const char *order
        = ONE_OF ("", ", order: cheapest", ", order: proportional");
    const char *more = ONE_OF (
        "", ", first_months: 2", ", unused: carry", ", unused: carry_once",
        ", together: yes", ", share: 33%", ", per: year, unused: expire_evenly",
        ", each: user", ", each: user, unused: carry",
        ", each: user, together: yes", ", each: user, first_months: 2");
    const char *unit = strstr (who, "pools:")
                           ? ONE_OF ("amount", "gpu_hours")
                           : ONE_OF ("amount", "gpu_hours", "cpu_hours");
    unsigned amount = 1 + pick (9000);

    if (strstr (more, "per:"))
        per = "";

    switch (pick (8)) {
    case 0:
        return xasprintf ("- {name: r%u, rule: waiver%s%s}\n", number, who,
                          ONE_OF ("", ", share: 17%", ", first_months: 1"));
    case 1:
        if (strstr (who, "of:"))
            who = "";
        return xasprintf ("- {name: r%u, rule: fee, amount: %u.%02u%s%s}\n",
                          number, amount / 100, amount % 100, who,
                          ONE_OF (", each: user", ", per: year", "",
                                  ", each: node, per: quarter"));
    case 2:
        return xasprintf ("- {name: r%u, rule: minimum, amount: %u%s%s}\n",
                          number, amount, who, per);
    case 3:
        return xasprintf ("- {name: r%u, rule: cap, amount: %u%s%s%s}\n",
                          number, amount, who, per,
                          ONE_OF ("", ", each: user"));
    case 4:
        return xasprintf ("- {name: r%u, rule: grant, %s: %u%s%s%s%s}\n",
                          number, unit, amount, who, per, order, more);
    case 5:
        return xasprintf (
            "- {name: r%u, rule: sponsor, payer: c, %s: %u%s%s%s%s}\n", number,
            unit, amount, who, per, order, more);
    case 6:
        if (strstr (who, "to: 2026-11")) /* before its last deposit */
            who = ", from: 2026-10-05, to: 2026-12-09";
        return xasprintf ("- {name: r%u, rule: prepaid%s%s, deposits: [{on: "
                          "2026-10-12, amount: %u, team: a}, {on: 2026-12-01, "
                          "amount: 7.77, team: b}]%s}\n",
                          number, who, order, amount,
                          ONE_OF ("", ", refund: yes"));
    default:
        return xasprintf ("- {name: r%u, rule: split%s, split: {X: 12.5%%, Y: "
                          "50%%, Z: 37.5%%}}\n",
                          number, who);
    }
}

#define LINES_MAX 12

static void random_lines (struct line *line)
{
    unsigned count = pick (LINES_MAX);

    memset (line, 0, (LINES_MAX + 1) * sizeof (*line));
    for (unsigned i = 0; i < count; i++)
        line[i] = (struct line){
            .kind = "cccccprs"[pick (8)],
            .team = ONE_OF ("a", "b", "c"),
            .pool = ONE_OF ("h100", "a100", "cpu"),
            .project = ONE_OF ("x", "y", NULL, "@ann"),
            .hours = (long)pick (500),
            .units = (long)pick (200000),
            .day = 1 + (int)pick (30),
        };
    for (unsigned i = 0; i < count; i++) {
        if (line[i].kind != 'c')
            line[i].hours = 0;
        if (line[i].kind == 'r')
            line[i].units = -line[i].units / 9;
    }
}

static void swap_lines (struct line *line)
{
    size_t count = 0;

    while (line[count].kind)
        count++;
    for (size_t i = 0; i < count / 2; i++) {
        struct line kept = line[i];
        line[i] = line[count - 1 - i];
        line[count - 1 - i] = kept;
    }
}

/* Nothing is paid twice: what is left of a team's charges in a pool is not below
 * what its credits make of it. */
static void check_teams (const bill_t *bill)
{
    static const char *const teams[] = {"a", "b", "c"};
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpz_t due, credits;

    mpz_inits (due, credits, NULL);
    for (size_t t = 0; t < 3; t++) {
        mpz_set_ui (due, 0);
        mpz_set_ui (credits, 0);
        for (size_t i = 0; i < count; i++) {
            if (!rows[i].team || strcmp (rows[i].team, teams[t]) != 0
                || (rows[i].what && !strcmp (rows[i].what, "prepaid")
                    && !rows[i].pool))
                continue;
            mpz_add (due, due, rows[i].charge_units);
            if (rows[i].kind == BILL_CREDIT)
                mpz_add (credits, credits, rows[i].charge_units);
        }
        assert_true (mpz_cmp (due, credits) >= 0);
    }
    mpz_clears (due, credits, NULL);
}

/* The months in a row, as text. */
static void run (const char *rules, struct line line[MONTHS][LINES_MAX + 1],
                 buffer_t *out)
{
    site_t *site = site_of (rules);
    bill_t *before = NULL;

    for (int i = 0; i < MONTHS; i++) {
        civil_t civil = civil_add_months (
            (civil_t){.year = 2026, .month = 10, .day = 1}, i);
        GL_AUTOFREE char *month
            = xasprintf ("%04d-%02d", civil.year, civil.month);
        struct world w = {.site = site, .line = line[i], .month = month};
        bill_t *bill;
        w.period = zone_unit (site->zone, CALENDAR_MONTH,
                              zone_instant (site->zone, &civil));
        bill = settle (&w, before, true);
        check_teams (bill);
        describe (bill, out);
        bill_free (before);
        before = bill;
    }
    bill_free (before);
    site_free (site);
}

TEST_CASE (settlement__any_rules__sums_stay_and_order_changes_nothing)
{
    const char *worlds = getenv ("GPULEDGER_WORLDS");
    unsigned long count = worlds ? strtoul (worlds, NULL, 10) : 400;

    for (unsigned long i = 0; i < count; i++) {
        struct line line[MONTHS][LINES_MAX + 1];
        BUFFER_AUTO rules = BUFFER_INIT;
        BUFFER_AUTO reversed = BUFFER_INIT;
        BUFFER_AUTO first = BUFFER_INIT;
        BUFFER_AUTO second = BUFFER_INIT;
        char *rule[6];
        unsigned n;
        seed = i + 1;
        n = 1 + pick (6);
        for (unsigned k = 0; k < n; k++)
            rule[k] = random_rule (k);
        for (unsigned k = 0; k < n; k++) {
            buffer_add_text (&rules, rule[k]);
            buffer_add_text (&reversed, rule[n - 1 - k]);
        }
        for (unsigned k = 0; k < n; k++)
            free (rule[k]);
        for (size_t m = 0; m < MONTHS; m++)
            random_lines (line[m]);
        run (buffer_text (&rules), line, &first);
        for (size_t m = 0; m < MONTHS; m++)
            swap_lines (line[m]);
        run (buffer_text (&reversed), line, &second);
        if (strcmp (buffer_text (&first), buffer_text (&second)) != 0)
            fail_msg ("world %lu:\n%s\n%s\n--\n%s", i + 1, buffer_text (&rules),
                      buffer_text (&first), buffer_text (&second));
    }
}

TEST_CASE (settlement__parts_of_a_month__add_up_to_it)
{
    for (unsigned i = 0; i < 200; i++) {
        struct line line[MONTHS][LINES_MAX + 1];
        BUFFER_AUTO whole = BUFFER_INIT;
        BUFFER_AUTO parts = BUFFER_INIT;
        GL_AUTOFREE char *two = NULL;
        unsigned day;
        seed = i + 1;
        day = 2 + pick (28);
        for (size_t m = 0; m < MONTHS; m++)
            random_lines (line[m]);
        for (size_t m = 0; m < MONTHS; m++)
            for (size_t k = 0; line[m][k].kind; k++)
                if (line[m][k].kind == 'r')
                    line[m][k].units = 0;
        two = xasprintf ("- {name: w, rule: waiver, to: 2026-11-%02u}\n"
                         "- {name: w, rule: waiver, from: 2026-11-%02u}\n",
                         day, day);
        run ("- {name: w, rule: waiver}\n", line, &whole);
        run (two, line, &parts);
        assert_string_equal (buffer_text (&whole), buffer_text (&parts));
    }
}

TEST_MAIN (NULL, NULL)
