#include "support/test.h"

#include "support/config_site.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "money/cost.h"
#include "site/project.h"
#include "site/segment.h"

TEST_CASE (config_load_text__hosts_of_all_forms__are_taken)
{
    site_t *site = load_site ("collector:\n"
                              "  hosts: [ledger1, ledger2.example.org:6828, "
                              "\"[fe80::1%eth0]:6828\", \"::1\", 10.0.0.5:1]\n"
                              "  listen: [\"*:6828\", \"[::]\"]\n");

    assert_int_equal (site->collector.hosts.count, 5);
    assert_int_equal (site->collector.listen.count, 2);
    site_free (site);
}

TEST_CASE (config_load_text__the_pinned_text__is_read_exactly)
{
    site_t *site = load_site (pinned_site);
    const site_asset_t *asset = &site->assets[0];

    assert_string_equal (zone_name (site->zone), "America/New_York");
    assert_string_equal (site->currency, "USD");
    assert_int_equal (site->cluster_count, 1);
    assert_string_equal (site->clusters[0].slurmdb,
                         "mysql://gpuledger@dbhost/slurm_acct_db?option-file="
                         "...");
    assert_int_equal (site->pool_count, 1);
    assert_string_equal (site->pools[0].nodes, "g[001-008]");
    assert_int_equal (site->pools[0].gpus_per_node, 8);
    assert_int_equal (site->pools[0].gres.count, 1);
    assert_string_equal (site->pools[0].gres.item[0], "h100");
    assert_true (site->pools[0].valid.start == SITE_ALWAYS_START);
    assert_true (site->pools[0].valid.end == SITE_ALWAYS_END);
    assert_string_equal (site->pools[0].place.file, "t.yaml");
    assert_int_equal (site->pools[0].place.line, 3);
    assert_string_equal (site->teams[0].accounts.item[1], "subtree:cv");
    check_number (asset->units, "8");
    check_number (asset->price, "425000");
    check_number (asset->salvage, "0");
    assert_int_equal (asset->in_service.month, 3);
    assert_int_equal (asset->life_months, 36);
    check_number (site->staff[0].fte, "1.5");
    check_number (site->staff[0].pools.item[0].share, "1");
    check_number (site->power[0].pue, "1.3");
    check_number (site->tariffs[0].per_kwh, "0.1");
    assert_int_equal (site->costs[0].driver, COST_PER_GPU_HOUR);
    check_number (site->rates[0].per_gpu_hour, "3.6");
    assert_int_equal (site->rates[0].mig_price, MIG_MAX);
    assert_string_equal (site->clouds[0].as_of, "2024-11-01");
    site_free (site);
}

TEST_CASE (config_load_text__figures_to_fill_in__are_listed_with_their_place)
{
    site_t *site = load_site ("pools:\n"
                              "  - name: h100\n"
                              "    nodes: g1\n"
                              "    gpus_per_node: 8\n"
                              "    gpu: TODO\n"
                              "assets:\n"
                              "  - name: TODO\n"
                              "    pool: h100\n"
                              "    price: TODO\n"
                              "    in_service: TODO\n");
    gl_error_t error;

    assert_int_equal (site->figure_count, 3);
    assert_string_equal (site->figures[0].key, "gpu");
    assert_int_equal (site->figures[1].place.line, 9);
    assert_string_equal (site->figures[1].kind, "assets");
    assert_string_equal (site->assets[0].name, "TODO"); /* a name is none */
    assert_int_equal (site_check_figures (site, &error), -1);
    assert_non_null (
        strstr (error.text, "t.yaml:5: `gpu` of `pools` is still"));
    assert_non_null (strstr (error.text, "2 more"));
    site_free (site);
}

TEST_CASE (site_check_figures__a_book_with_all_figures__is_complete)
{
    site_t *site = load_site (pinned_site);

    assert_int_equal (site_check_figures (site, NULL), 0);
    site_free (site);
}

/* The team's entry in a month of 2026. */
static const site_team_t *entry_in (const site_t *site, const char *team,
                                    int month)
{
    int64_t start = zone_instant (
        site->zone, &(civil_t){.year = 2026, .month = month, .day = 1});

    return team_within (site, team,
                        zone_unit (site->zone, CALENDAR_MONTH, start));
}

TEST_CASE (config_load_text__rules_of_institutions__fill_their_teams)
{
    site_t *site = load_site (
        "teams:\n"
        "- {name: listed, accounts: [a]}\n"
        "- {name: patterned, accounts: [\"subtree:x-bio\"], class: own}\n"
        "- {name: mailed, accounts: [c], email: Ada@CS.x.EDU}\n"
        "- {name: near, accounts: [d], email: ada@notx.edu}\n"
        "- {name: itself, accounts: [x-own], institution: Y}\n"
        "- {name: none, accounts: [e]}\n"
        "institutions:\n"
        "- {name: X, teams: listed, accounts: \"x-*\", email_domains: x.edu, "
        "class: academic, billing_address: Main St}\n"
        "- {name: Y, billing_address: Side St}\n");
    static const struct {
        const char *team, *institution, *class, *address;
    } expected[] = {{"listed", "X", "academic", "Main St"},
                    {"patterned", "X", "own", "Main St"},
                    {"mailed", "X", "academic", "Main St"},
                    {"near", NULL, NULL, NULL},
                    {"itself", "Y", NULL, "Side St"},
                    {"none", NULL, NULL, NULL}};

    assert_int_equal (site->team_count, GL_ARRAY_SIZE (expected));
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = entry_in (site, expected[i].team, 10);
        assert_true (text_same (team->institution, expected[i].institution));
        assert_true (text_same (team->class, expected[i].class));
        assert_true (text_same (team->billing_address, expected[i].address));
    }
    site_free (site);
}

TEST_CASE (config_load_text__a_dated_rule__is_in_force_in_its_time)
{
    site_t *site
        = load_site ("teams: [{name: t, accounts: [a], mail: [a@x.edu], "
                     "readers: g, from: 2026-02-01}]\n"
                     "institutions:\n"
                     "- {name: X, teams: t, to: 2026-07-15}\n"
                     "- {name: Y, teams: t, from: 2026-08-01}\n");

    assert_int_equal (site->team_count, 3);
    assert_null (entry_in (site, "t", 1));
    assert_string_equal (entry_in (site, "t", 2)->institution, "X");
    /* a bill goes where the team is at its end */
    assert_null (entry_in (site, "t", 7)->institution);
    assert_string_equal (entry_in (site, "t", 8)->institution, "Y");
    for (size_t i = 0; i < site->team_count; i++) {
        assert_string_equal (site->teams[i].mail.item[0], "a@x.edu");
        assert_string_equal (site->teams[i].readers.item[0], "g");
    }
    site_free (site);
}

TEST_CASE (team_within__an_alias__finds_the_team_of_the_time)
{
    site_t *site = load_site (
        "teams:\n"
        "- {name: vision, accounts: [a], to: 2026-08-01}\n"
        "- {name: sight, accounts: [a], from: 2026-08-01, aliases: vision}\n"
        "institutions: [{name: X, teams: vision}]\n");

    assert_string_equal (entry_in (site, "vision", 7)->name, "vision");
    assert_string_equal (entry_in (site, "vision", 8)->name, "sight");
    assert_string_equal (entry_in (site, "vision", 8)->institution, "X");
    assert_string_equal (entry_in (site, "sight", 7)->name, "vision");
    assert_null (entry_in (site, "hearing", 7));
    site_free (site);
}

/* Before they do, what names one of them is not for the other. */
TEST_CASE (team_names_apply__teams_that_become_one__go_on_under_its_name)
{
    site_t *site = load_site (
        "pools: [{name: p, nodes: n1, gpus_per_node: 1}]\n"
        "teams:\n"
        "- {name: vision, accounts: [a], to: 2026-08-01}\n"
        "- {name: hearing, accounts: [b], to: 2026-08-01}\n"
        "- {name: senses, accounts: [a, b], from: 2026-08-01, aliases: "
        "[vision, hearing]}\n"
        "taxes: [{name: VAT, percent: 20%, teams: [vision]}]\n"
        "entitlements: [{team: hearing, pool: p, gpus: 1, from: "
        "2026-07-01}]\n");
    const text_list_t *names = &site->taxes[0].teams;

    assert_true (texts_have (names, "vision"));
    assert_true (texts_have (names, "senses"));
    assert_false (texts_have (names, "hearing"));
    assert_int_equal (site->entitlement_count, 2);
    assert_string_equal (site->entitlements[0].team, "hearing");
    assert_string_equal (site->entitlements[1].team, "senses");
    assert_int_equal (site->entitlements[0].valid.end,
                      site->entitlements[1].valid.start);
    assert_int_equal (site->entitlements[1].valid.start,
                      site->teams[2].valid.start);
    site_free (site);
}

/* Else a question would change what a closed month was priced by. */
TEST_CASE (config_load_text__what_prices_nothing__is_not_in_the_book)
{
    static const char rate[]
        = "pools: [{name: p, nodes: n1, gpus_per_node: 1}]\n"
          "rates: [{pool: p, per_gpu_hour: 2}]\n";
    GL_AUTOFREE char *more = xasprintf (
        "%sanalyses: [{name: a, kind: scaling, gpus: 8, speed: 6}]\n"
        "clouds: [{name: c, gpu: H100-SXM5-80GB, per_gpu_hour: 3, "
        "as_of: 2026, source: s}]\n",
        rate);
    site_t *plain = load_site (rate), *asked = load_site (more);

    assert_int_equal (asked->analysis_count, 1);
    assert_string_equal (asked->book, plain->book);
    site_free (plain);
    site_free (asked);
}

TEST_CASE (config_load_text__who_approved_a_rate__is_kept)
{
    site_t *site = load_site (
        "ledger: {fiscal_year: 07-01}\n"
        "pools: [{name: p, nodes: n1, gpus_per_node: 1}]\n"
        "rates: [{pool: p, per_gpu_hour: 2, approved_by: \"board, 3 May\", "
        "note: \"first rate\"}]\n");
    site_t *plain = load_site ("{}");

    assert_int_equal (site->fiscal_month, 7);
    assert_string_equal (site->rates[0].approved_by, "board, 3 May");
    assert_string_equal (site->rates[0].note, "first rate");
    assert_int_equal (plain->fiscal_month, 1);
    site_free (site);
    site_free (plain);
}

TEST_CASE (config_load_text__what_is_billed__is_read)
{
    const uint32_t node_fail = segment_state_bit (SEGMENT_NODE_FAIL);
    const uint32_t boot_fail = segment_state_bit (SEGMENT_BOOT_FAIL);
    site_t *site
        = load_site ("policy: {minimum: 1m, increment: 60s, grace: 30s,\n"
                     "  credits: [NODE_FAIL, PREEMPTED], credit_cap: 4h}\n"
                     "pools: [{name: p, nodes: n1, gpus_per_node: 8,\n"
                     "  bill: max, gpu_weight: 35, cpu_weight: 1,\n"
                     "  memory_weight: 0.215}]\n");

    assert_int_equal (site->policy.minimum, 60);
    assert_int_equal (site->policy.increment, 60);
    assert_int_equal (site->policy.grace, 30);
    assert_int_equal (site->policy.credit_cap, 4 * 3600);
    assert_int_equal (site->policy.credits,
                      node_fail | segment_state_bit (SEGMENT_PREEMPTED));
    assert_int_equal (site->pools[0].bill, BILL_MAX);
    check_number (site->pools[0].memory_weight, "0.215");
    site_free (site);
    site = load_site ("policy: {credits: off}\npools: [{name: p, nodes: n1, "
                      "gpus_per_node: 8}]\n");
    assert_int_equal (site->policy.credits, 0);
    assert_int_equal (site->policy.increment, 1);
    check_number (site->pools[0].gpu_weight, "1");
    site_free (site);
    site = load_site ("policy: {idle: explicit}\n");
    assert_int_equal (site->policy.credits, node_fail | boot_fail);
    site_free (site);
}

/* Changes, shares and times of use, as the manual writes them. */
TEST_CASE (config_load_text__the_cost_book__is_read_exactly)
{
    static const char text[]
        = "pools:\n"
          "- {name: p, nodes: n1, gpus_per_node: 4}\n"
          "- {name: q, nodes: n2, gpus_per_node: 4}\n"
          "assets:\n"
          "- name: a\n"
          "  pool: p\n"
          "  price: 53125\n"
          "  in_service: 2026-03-10\n"
          "  method: declining-balance\n"
          "  recoverable: 60%\n"
          "  retired: 2030-03-10\n"
          "  proceeds: 6000\n"
          "  changes:\n"
          "  - {from: 2027-01-01, pool: q}\n"
          "  - {from: 2028-01-01, life: 6y, salvage: 5%}\n"
          "  funding: {x: 25%, y: 75%}\n"
          "costs:\n"
          "- {name: room, pools: {p: 60%, q: 40%}, amount: 5, driver: year}\n"
          "- {name: net, pools: [p, q], share_by: energy, amount: 5,\n"
          "   driver: month, kind: network, evidence: invoice 7,\n"
          "   status: planned, funding: x}\n"
          "tariffs:\n"
          "- name: grid\n"
          "  per_kwh: 0.08\n"
          "  timezone: Europe/Oslo\n"
          "  demand_per_kw: 4\n"
          "  times:\n"
          "  - {days: \"mon-wed,sun\", hours: \"22:00-06:30\", per_kwh: 0.18}\n"
          "policy: {book: recoverable, disposal: in-rate}\n";
    site_t *site = load_site (text);
    const site_asset_t *asset = &site->assets[0];
    const site_tariff_t *tariff = &site->tariffs[0];

    assert_int_equal (asset->method, DEPRECIATION_DECLINING);
    check_number (asset->recoverable, "0.6");
    assert_int_equal (asset->retired.year, 2030);
    check_number (asset->proceeds, "6000");
    assert_int_equal (asset->change_count, 2);
    assert_string_equal (asset->changes[0].pool, "q");
    assert_int_equal (asset->changes[1].life_months, 72);
    assert_int_equal (asset->changes[1].salvage_is, SALVAGE_SHARE);
    check_number (asset->changes[1].salvage, "0.05");
    assert_int_equal (asset->changes[1].place.line, 15);
    assert_int_equal (asset->funding.count, 2);
    assert_string_equal (asset->funding.item[1].name, "y");
    check_number (asset->funding.item[1].share, "0.75");
    check_number (site->costs[1].funding.item[0].share, "1");
    assert_int_equal (site->costs[0].pools.count, 2);
    check_number (site->costs[0].pools.item[1].share, "0.4");
    assert_int_equal (site->costs[1].share_by, SHARE_BY_ENERGY);
    assert_int_equal (site->costs[1].category, COST_OF_NETWORK);
    assert_int_equal (site->costs[1].status, COST_PLANNED);
    assert_string_equal (site->costs[1].evidence, "invoice 7");
    assert_int_equal (tariff->time_count, 1);
    assert_int_equal (tariff->times[0].days, 0x47);
    assert_int_equal (tariff->times[0].hours[0], 22 * 60);
    assert_int_equal (tariff->times[0].hours[1], 6 * 60 + 30);
    check_number (tariff->demand_per_kw, "4");
    assert_string_equal (zone_name (tariff->zone), "Europe/Oslo");
    assert_int_equal (site->policy.book, BOOK_RECOVERABLE);
    assert_int_equal (site->policy.disposal, DISPOSAL_IN_RATE);
    site_free (site);
}

TEST_CASE (config_load_text__nothing__is_the_default_site)
{
    static const char *const texts[]
        = {"", "# only a comment\n", "---\n", "pools:\nledger:\n", "{}"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        site_t *site = load_site (texts[i]);
        assert_string_equal (zone_name (site->zone), "UTC");
        assert_string_equal (site->currency, "USD");
        assert_int_equal (site->currency_digits, 2);
        assert_int_equal (site->pool_count, 0);
        assert_int_equal (site->policy.idle, IDLE_EXPLICIT);
        assert_int_equal (site->policy.mig_price, MIG_MAX);
        check_number (site->policy.utilization, "0.8");
        site_free (site);
    }
}

TEST_CASE (config_load_text__dates__are_days_of_the_ledgers_zone)
{
    /* the zone stands last, and is read first */
    site_t *site = load_site ("tariffs:\n"
                              "- {name: a, per_kwh: 1, to: 2026-03-10}\n"
                              "- {name: a, per_kwh: 2, from: 2026-03-10}\n"
                              "ledger: {timezone: America/New_York}\n");

    /* 2026-03-10T00:00-04:00 = 04:00 UTC */
    assert_int_equal (site->tariffs[0].valid.end, 1773115200);
    assert_int_equal (site->tariffs[1].valid.start, 1773115200);
    assert_true (site->tariffs[0].valid.start == SITE_ALWAYS_START);
    site_free (site);
}

TEST_CASE (config_load_text__values__are_parsed_by_their_key)
{
    site_t *site = load_site (
        "ledger: {currency: KWD}\n"
        "policy: {idle: in-rate, utilization: 0.65, wckey_is_project: yes,\n"
        "  runaway_grace: 90m}\n"
        "pools: [{name: p, nodes: n1, gpus_per_node: 2}]\n"
        "assets:\n"
        "- {name: a, pool: p, price: 53125, salvage: 10%, life: 18m, "
        "in_service: 2024-02-29}\n"
        "- {name: b, pool: p, price: 100.50, salvage: 100.50, in_service: "
        "2024-03-01}\n"
        "costs: [{name: no, pool: p, amount: 7, driver: year}]\n"
        "teams: [{name: t, accounts: solo}]\n"
        "profiles: [{profile: 1g.9gb, compute: 1/7, memory: 2/8}]\n");

    assert_string_equal (site->currency, "KWD");
    assert_int_equal (site->currency_digits, 3);
    assert_int_equal (site->policy.idle, IDLE_IN_RATE);
    assert_int_equal (site->policy.wckey_is_project, 1);
    assert_int_equal (site->policy.runaway_grace, 5400);
    check_number (site->policy.utilization, "0.65");
    check_number (site->assets[0].salvage, "5312.5");
    assert_int_equal (site->assets[0].life_months, 18);
    check_number (site->assets[0].units, "1");
    assert_int_equal (site->assets[1].life_months, 60);
    check_number (site->assets[1].salvage, "100.5");
    assert_string_equal (site->costs[0].name, "no");
    assert_int_equal (site->costs[0].driver, COST_PER_YEAR);
    assert_string_equal (site->teams[0].accounts.item[0], "solo");
    assert_null (site->profiles[0].model);
    assert_int_equal (site->profiles[0].compute_total, 7);
    assert_int_equal (site->profiles[0].memory, 2);
    site_free (site);
}

TEST_CASE (config_load_text__currencies__have_their_digits)
{
    static const struct {
        const char *text;
        int digits;
    } cases[]
        = {{"ledger: {currency: JPY}", 0}, {"ledger: {currency: EUR}", 2},
           {"ledger: {currency: BHD}", 3}, {"ledger: {currency: CLF}", 4},
           {"ledger: {currency: XOF}", 0}, {"ledger: {currency: NOK}", 2}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = load_site (cases[i].text);
        assert_int_equal (site->currency_digits, cases[i].digits);
        site_free (site);
    }
}

/* Entries of one name with dates that meet, pools that share a node by type or
 * by date, a person's two periods: all allowed. */
TEST_CASE (config_load_text__disjoint_recurrence__is_accepted)
{
    site_free (load_site (
        "pools:\n"
        "- {name: p, nodes: \"n[1-4]\", gres: [a100], gpus_per_node: 2, to: "
        "2026-01-01}\n"
        "- {name: p, nodes: \"n[1-8]\", gres: [a100], gpus_per_node: 2, from: "
        "2026-01-01}\n"
        "- {name: q, nodes: n3, gres: [h100], gpus_per_node: 2}\n"
        "staff:\n"
        "- {name: a, fte: 1, loaded_salary: 5, pools: {p: 60%, q: 40%}, to: "
        "2026-01-01}\n"
        "- {name: a, fte: 1, loaded_salary: 5, pools: {p: 1}, from: "
        "2026-01-01}\n"
        "rates:\n"
        "- {pool: p, per_gpu_hour: 2}\n"
        "- {pool: p, qos: low, per_gpu_hour: 1}\n"
        "clouds:\n"
        "- {name: c, gpu: x, per_gpu_hour: 1, as_of: 2025, source: s}\n"
        "- {name: c, gpu: x, per_gpu_hour: 2, as_of: 2026, source: s}\n"));
}

TEST_CASE (config_load_text__many_pools__are_read)
{
    BUFFER_AUTO text = BUFFER_INIT;
    site_t *site;

    buffer_add_text (&text, "pools:\n");
    for (int i = 0; i < 5000; i++)
        buffer_printf (&text,
                       "- {name: p%d, nodes: \"r%dn[1-9]\", gpus_per_node: "
                       "4}\n",
                       i, i);
    site = load_site (buffer_text (&text));
    assert_int_equal (site->pool_count, 5000);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
