#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "acct/breakeven.h"
#include "acct/cost.h"
#include "acct/segment.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/schema.h"

static site_t *load (const char *text)
{
    gl_error_t error = {""};
    site_t *site = NULL;

    if (config_load_text ("t.yaml", text, strlen (text), &site, &error) < 0)
        fail_msg ("%s", error.text);
    return site;
}

static void check_number (const mpq_t value, const char *expected)
{
    char *text = exact_shortest (value);

    assert_string_equal (text, expected);
    free (text);
}

/* The text that the product's design pins, as it stands there. */
static const char pinned[] =
    "ledger:   {timezone: America/New_York, currency: USD}\n"
    "clusters: [{name: lab, timezone: America/New_York, slurmdb: "
    "\"mysql://gpuledger@dbhost/slurm_acct_db?option-file=...\"}]\n"
    "pools:    [{name: h100, cluster: lab, nodes: \"g[001-008]\", gres: "
    "[h100], gpu: H100-SXM5-80GB, gpus_per_node: 8, mig_weight: compute}]   "
    "# compute|memory\n"
    "teams:    [{name: vision, accounts: [vision, \"subtree:cv\"], "
    "cost_center: CC-1}]\n"
    "assets:   [{name: dgx-2024, pool: h100, units: 8, price: 425000, "
    "in_service: 2024-03-01, life: 3y, salvage: 0, method: straight-line, "
    "funding: institutional}]\n"
    "staff:    [{name: ops, fte: 1.5, loaded_salary: 250000, pools: {h100: "
    "\"100%\"}}]\n"
    "power:    [{pool: h100, watts_per_gpu: 560, pue: 1.3, tariff: flat}]\n"
    "tariffs:  [{name: flat, per_kwh: 0.10}]\n"
    "costs:    [{name: fabric, pool: h100, amount: 0.10, driver: "
    "gpu_hours}]\n"
    "rates:    [{pool: h100, per_gpu_hour: 3.60, mig_price: max}]           "
    "# compute|memory|max\n"
    "clouds:   [{name: aws-p5-3yr, gpu: H100-SXM5-80GB, per_gpu_hour: 5.25, "
    "term: 3y, as_of: 2024-11-01, source: \"...\"}]\n";

static void config_load_text__hosts_of_all_forms__are_taken (void **state)
{
    site_t *site = load ("collector:\n"
                         "  hosts: [ledger1, ledger2.example.org:6828, "
                         "\"[fe80::1%eth0]:6828\", \"::1\", 10.0.0.5:1]\n"
                         "  listen: [\"*:6828\", \"[::]\"]\n");

    (void)state;
    assert_int_equal (site->collector.hosts.count, 5);
    assert_int_equal (site->collector.listen.count, 2);
    site_free (site);
}

/* Else a question would change what a closed month was priced by. */
static void config_load_text__what_prices_nothing__is_not_in_the_book (
    void **state)
{
    static const char rate[]
        = "pools: [{name: p, nodes: n1, gpus_per_node: 1}]\n"
          "rates: [{pool: p, per_gpu_hour: 2}]\n";
    GL_AUTOFREE char *more = xasprintf (
        "%sanalyses: [{name: a, kind: scaling, gpus: 8, speed: 6}]\n"
        "clouds: [{name: c, gpu: H100-SXM5-80GB, per_gpu_hour: 3, "
        "as_of: 2026, source: s}]\n",
        rate);
    site_t *plain = load (rate), *asked = load (more);

    (void)state;
    assert_int_equal (asked->analysis_count, 1);
    assert_string_equal (asked->book, plain->book);
    site_free (plain);
    site_free (asked);
}

static void config_load_text__who_approved_a_rate__is_kept (void **state)
{
    site_t *site = load (
        "ledger: {fiscal_year: 07-01}\n"
        "pools: [{name: p, nodes: n1, gpus_per_node: 1}]\n"
        "rates: [{pool: p, per_gpu_hour: 2, approved_by: \"board, 3 May\", "
        "note: \"first rate\"}]\n");
    site_t *plain = load ("{}");

    (void)state;
    assert_int_equal (site->fiscal_month, 7);
    assert_string_equal (site->rates[0].approved_by, "board, 3 May");
    assert_string_equal (site->rates[0].note, "first rate");
    assert_int_equal (plain->fiscal_month, 1);
    site_free (site);
    site_free (plain);
}

static void config_load_text__the_pinned_text__is_read_exactly (void **state)
{
    site_t *site = load (pinned);
    const site_asset_t *asset = &site->assets[0];

    (void)state;
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

static void config_load_text__what_is_billed__is_read (void **state)
{
    const uint32_t node_fail = segment_state_bit (SEGMENT_NODE_FAIL);
    const uint32_t boot_fail = segment_state_bit (SEGMENT_BOOT_FAIL);
    site_t *site = load ("policy: {minimum: 1m, increment: 60s, grace: 30s,\n"
                         "  credits: [NODE_FAIL, PREEMPTED], credit_cap: 4h}\n"
                         "pools: [{name: p, nodes: n1, gpus_per_node: 8,\n"
                         "  bill: weighted, gpu_weight: 35, cpu_weight: 1,\n"
                         "  memory_weight: 0.215}]\n");

    (void)state;
    assert_int_equal (site->policy.minimum, 60);
    assert_int_equal (site->policy.increment, 60);
    assert_int_equal (site->policy.grace, 30);
    assert_int_equal (site->policy.credit_cap, 4 * 3600);
    assert_int_equal (site->policy.credits,
                      node_fail | segment_state_bit (SEGMENT_PREEMPTED));
    assert_int_equal (site->pools[0].bill, BILL_WEIGHTED);
    check_number (site->pools[0].memory_weight, "0.215");
    site_free (site);
    site = load ("policy: {credits: off}\npools: [{name: p, nodes: n1, "
                 "gpus_per_node: 8}]\n");
    assert_int_equal (site->policy.credits, 0);
    assert_int_equal (site->policy.increment, 1);
    check_number (site->pools[0].gpu_weight, "1");
    site_free (site);
    site = load ("policy: {idle: explicit}\n");
    assert_int_equal (site->policy.credits, node_fail | boot_fail);
    site_free (site);
}

/* Changes, shares and times of use, as the manual writes them. */
static void config_load_text__the_cost_book__is_read_exactly (void **state)
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
    site_t *site = load (text);
    const site_asset_t *asset = &site->assets[0];
    const site_tariff_t *tariff = &site->tariffs[0];

    (void)state;
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

static void config_load_text__nothing__is_the_default_site (void **state)
{
    static const char *const texts[] = {"", "# only a comment\n", "---\n",
                                        "pools:\nledger:\n", "{}"};

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        site_t *site = load (texts[i]);
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

static void config_load_text__dates__are_days_of_the_ledgers_zone (void **state)
{
    /* the zone stands last, and is read first */
    site_t *site = load ("tariffs:\n"
                         "- {name: a, per_kwh: 1, to: 2026-03-10}\n"
                         "- {name: a, per_kwh: 2, from: 2026-03-10}\n"
                         "ledger: {timezone: America/New_York}\n");

    (void)state;
    /* 2026-03-10T00:00-04:00 = 04:00 UTC */
    assert_int_equal (site->tariffs[0].valid.end, 1773115200);
    assert_int_equal (site->tariffs[1].valid.start, 1773115200);
    assert_true (site->tariffs[0].valid.start == SITE_ALWAYS_START);
    site_free (site);
}

static void config_load_text__values__are_parsed_by_their_key (void **state)
{
    site_t *site = load (
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

    (void)state;
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

static void config_load_text__currencies__have_their_digits (void **state)
{
    static const struct {
        const char *text;
        int digits;
    } cases[] = {
        {"ledger: {currency: JPY}", 0}, {"ledger: {currency: EUR}", 2},
        {"ledger: {currency: BHD}", 3}, {"ledger: {currency: CLF}", 4},
        {"ledger: {currency: XOF}", 0}, {"ledger: {currency: NOK}", 2}};

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = load (cases[i].text);
        assert_int_equal (site->currency_digits, cases[i].digits);
        site_free (site);
    }
}

#define POOL "pools: [{name: p, nodes: \"n[1-2]\", gpus_per_node: 4}]\n"

/* What is wrong, and what the message must hold. The second line of a text is
 * line 2 of the file. */
static const struct {
    const char *text;
    const char *expected[3];
} mistakes[] = {
    /* keys */
    {"agent:\n  spool: var/spool", {"t.yaml:2: `spool`", "absolute path"}},
    {"agent: {metrics: x.prom}", {"t.yaml:1: `metrics`", "absolute path"}},
    {"agent: {replay: a.replay}", {"t.yaml:1: `replay`", "absolute path"}},
    {"agent: {node: a b}", {"t.yaml:1: `node`", "is not a name"}},
    {"agent: {cluster: a/b}", {"t.yaml:1: `cluster`", "is not a name"}},
    {"agent: {interval_seconds: 601}", {"t.yaml:1: ", "from 1 to 600"}},
    {"collector: {munge_socket: s}", {"t.yaml:1: ", "absolute path"}},
    {"collector:\n  hosts:\n    - a\n    - a:99999", {"t.yaml:4: `hosts`",
                                                     "'a:99999' is no host"}},
    {"collector: {hosts: [\"a:b:c\"]}", {"t.yaml:1: `hosts`", "no host"}},
    {"collector: {hosts: [\":6828\"]}", {"t.yaml:1: `hosts`", "no host"}},
    {"collector: {hosts: [\"[::1]:x\"]}", {"t.yaml:1: `hosts`", "no host"}},
    {"collector: {listen: [a b]}", {"t.yaml:1: `listen`", "no host"}},
    {"networks: [{nodes: \"g[1-\", network: 10.0.0.0/8}]",
     {"t.yaml:1: `nodes`", "g[1-"}},
    {"networks:\n  - nodes: g1\n    network: 10.0.0.1/8",
     {"t.yaml:3: `network`", "bits behind its prefix"}},
    {"networks: [{nodes: g1, network: \"fe80::/10\"}]",
     {"t.yaml:1: `network`", "no IPv4 address"}},
    {"pols: []", {"t.yaml:1", "unknown section 'pols'", "'pools'"}},
    {"zebra: []", {"t.yaml:1", "unknown section 'zebra'", "known are: ledger"}},
    {"\nledger: {currncy: USD}",
     {"t.yaml:2", "unknown key 'currncy'", "did you mean 'currency'"}},
    {"pools:\n- name: p\n  nodes: n1\n  gpus_per_nod: 4",
     {"t.yaml:4", "'gpus_per_nod' in `pools`", "'gpus_per_node'"}},
    {"pools: [{name: p, nodes: n1}]", {"t.yaml:1", "lacks `gpus_per_node`"}},
    {"pools: [{name: p, name: q}]", {"t.yaml:1", "'name' stands twice"}},
    {"pools: []\npools: []", {"t.yaml:2", "'pools' stands twice"}},
    {"pools: [{name: , nodes: n1, gpus_per_node: 1}]",
     {"t.yaml:1", "`name` has no value"}},
    /* shapes */
    {"pools: {name: p}", {"t.yaml:1", "`pools` must be a list"}},
    {"pools: [p]", {"t.yaml:1", "must be a mapping", "not a text"}},
    {"ledger: [a]", {"t.yaml:1", "`ledger` must be a mapping"}},
    {"- a", {"t.yaml:1", "a configuration is a mapping"}},
    {"hello", {"t.yaml:1", "a configuration is a mapping"}},
    {"ledger: {currency: [USD]}", {"t.yaml:1", "`currency` must be"}},
    {"{[a]: b}", {"t.yaml:1", "key must be a plain word"}},
    /* values */
    {"ledger: {currency: usd}", {"`currency`", "'usd'", "ISO 4217"}},
    {"ledger: {currency: EURO}", {"`currency`", "'EURO'"}},
    {"ledger: {fiscal_year: 07-02}", {"`fiscal_year`", "'07-02'", "07-01"}},
    {"ledger: {fiscal_year: 13-01}", {"`fiscal_year`", "'13-01'"}},
    {"ledger: {fiscal_year: 7-01}", {"`fiscal_year`", "'7-01'"}},
    {"ledger: {timezone: Mars/Base}", {"t.yaml:1", "'Mars/Base'"}},
    {"policy: {idle: maybe}", {"'maybe'", "explicit, in-rate"}},
    {"policy: {utilization: 120%}", {"'120%'", "more than 100%"}},
    {"policy: {utilization: 0}", {"`utilization`", "above 0"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 0}]",
     {"'0'", "whole number"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8.5}]", {"'8.5'"}},
    {"pools:\n- {name: p, nodes: n1, gpus_per_node: 8, memory_per_node: "
     "2199023255552}",
     {"t.yaml:2", "`memory_per_node`", "from 1 to 1073741824"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, shards_per_gpu: 0}]",
     {"'0'", "whole number"}},
    {"policy: {suspended: credited}", {"'credited'", "charged", "free"}},
    {"policy: {credits: [NODE_FAIL, CRASHED]}",
     {"`credits`", "'CRASHED'", "NODE_FAIL"}},
    {"policy: {credit_cap: 0h}", {"`credit_cap`", "above 0"}},
    {"policy: {increment: 0s}", {"`increment`", "above 0"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: dominant}]",
     {"t.yaml:1", "'p'", "`cpus_per_gpu`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: weighted, "
     "cpus_per_gpu: 16}]",
     {"t.yaml:1", "'p'", "`cpu_weight`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, gpu_weight: 0}]",
     {"`gpu_weight`", "above 0"}},
    {"pools: [{name: p, nodes: \"n[1-\", gpus_per_node: 8}]",
     {"t.yaml:1", "`nodes`"}},
    {"pools: [{name: p, nodes: \"n[1-3],n2\", gpus_per_node: 8}]",
     {"t.yaml:1", "'n2' stands twice"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 1, gpu: H100-80GB, layout: "
     "\"3g.40gb:3\"}]",
     {"t.yaml:1", "`layout`"}},
    {POOL "assets: [{name: a, pool: p, price: 1e6, in_service: 2024-03-01}]",
     {"t.yaml:2", "`price`", "'1e6'"}},
    {POOL "assets: [{name: a, pool: p, price: -5, in_service: 2024-03-01}]",
     {"t.yaml:2", "`price`", "below 0"}},
    {POOL "assets: [{name: a, pool: p, price: \"1,000\", in_service: "
          "2024-03-01}]",
     {"t.yaml:2", "'1,000'"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 2023-02-29}]",
     {"t.yaml:2", "`in_service`", "'2023-02-29'"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 03/01/2024}]",
     {"t.yaml:2", "`in_service`"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 0024-03-01}]",
     {"t.yaml:2", "1970"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 2024-03-01, life: "
          "3}]",
     {"t.yaml:2", "`life`", "5y or 18m"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 2024-03-01, life: "
          "0y}]",
     {"t.yaml:2", "`life`", "'0y'"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 2024-03-01, "
          "salvage: 6}]",
     {"t.yaml:2", "`salvage`", "more than the price"}},
    {POOL "assets: [{name: a, pool: p, price: 5, in_service: 2024-03-01, "
          "method: magic}]",
     {"t.yaml:2", "`method`", "straight-line"}},
    {POOL "power: [{pool: p, watts_per_gpu: 500, pue: 0.9, tariff: t}]",
     {"t.yaml:2", "`pue`", "below 1"}},
    {"tariffs: [{name: t, per_kwh: 0.10 USD}]", {"`per_kwh`", "'0.10 USD'"}},
    {"tariffs: [{name: \"a\\eb\", per_kwh: 1}]", {"control character"}},
    {"tariffs: [{name: \"a\\0b\", per_kwh: 1}]", {"NUL"}},
    {"profiles: [{profile: 1g, compute: 8/7, memory: 1/8}]", {"'8/7'"}},
    /* dates */
    {"tariffs: [{name: t, per_kwh: 1, from: 2026-02-01, to: 2026-02-01}]",
     {"t.yaml:1", "`to`", "not after `from`"}},
    {"tariffs:\n- {name: t, per_kwh: 1, to: 2026-03-01}\n- {name: t, per_kwh: "
     "2, from: 2026-02-01}",
     {"t.yaml:3", "'t' stands twice in `tariffs`", "t.yaml:2"}},
    {"tariffs:\n- {name: t, per_kwh: 1}\n- {name: t, per_kwh: 2}",
     {"t.yaml:3", "stands twice", "t.yaml:2"}},
    {POOL "assets:\n- {name: a, pool: p, price: 5, in_service: 2024-03-01}\n- "
          "{name: a, pool: p, price: 5, in_service: 2025-03-01}",
     {"t.yaml:4", "'a' stands twice", "another name"}},
    {POOL "rates:\n- {pool: p, per_gpu_hour: 1, from: 2026-01-01}\n- {pool: p, "
          "per_gpu_hour: 2, from: 2026-06-01}",
     {"t.yaml:4", "'p' stands twice in `rates`"}},
    /* references */
    {POOL "assets:\n- name: a\n  pool: q\n  price: 5\n  in_service: 2024-03-01",
     {"t.yaml:4", "'q' is not in `pools`", "known are: p"}},
    {POOL "power: [{pool: p, watts_per_gpu: 500, pue: 1.2, tariff: night}]",
     {"t.yaml:2", "'night' is not in `tariffs`"}},
    {POOL "staff: [{name: a, fte: 1, loaded_salary: 1, pools: {q: 50%}}]",
     {"t.yaml:2", "'q' is not in `pools`"}},
    {"clusters: [{name: a}]\npools: [{name: p, cluster: b, nodes: n1, "
     "gpus_per_node: 1}]",
     {"t.yaml:2", "'b' is not in `clusters`", "known are: a"}},
    /* wholes */
    {POOL "staff: [{name: a, fte: 1, loaded_salary: 1, pools: {p: 100.1%}}]",
     {"t.yaml:2", "more than 100%"}},
    {"pools:\n- {name: p, nodes: \"n[1-4]\", gpus_per_node: 4}\n- {name: q, "
     "nodes: n3, gres: [a100], gpus_per_node: 4}",
     {"t.yaml:3", "'q' and 'p'", "'n3'"}},
    {"teams:\n- {name: a, accounts: [x, y]}\n- {name: b, accounts: [y]}",
     {"t.yaml:3", "'y' belongs to two teams"}},
    {POOL "tariffs: [{name: t, per_kwh: 1, from: 2026-01-01}]\npower: [{pool: "
          "p, watts_per_gpu: 500, pue: 1.2, tariff: t}]",
     {"t.yaml:3", "does not hold from the beginning"}},
    {POOL "tariffs:\n- {name: t, per_kwh: 1, to: 2026-01-01}\n- {name: t, "
          "per_kwh: 1, from: 2026-01-02}\npower: [{pool: p, watts_per_gpu: "
          "500, pue: 1.2, tariff: t}]",
     {"t.yaml:5", "from 2026-01-01T00:00:00Z on"}},
    /* budgets */
    {"teams: [{name: t, accounts: [a]}]\nbudgets: [{name: b, team: t}]",
     {"t.yaml:2", "budget 'b' has no amount"}},
    {"budgets: [{name: b, amount: 1}]", {"t.yaml:1", "limits nothing"}},
    {"budgets: [{name: b, account: a, project: p, amount: 1}]",
     {"limits more than one thing"}},
    {"budgets: [{name: b, account: a, amount: 1, gpu_hours: 2}]",
     {"has two amounts"}},
    {"budgets: [{name: b, account: a, amount: 1, soft: 110%, hard: 100%}]",
     {"refuse jobs before it warns"}},
    {"budgets: [{name: b, team: x, amount: 1}]", {"'x' is not in `teams`"}},
    {"budgets: [{name: b, account: a, amount: 0}]", {"`amount`"}},
    {"taxes: [{name: VAT, percent: 0.25, teams: [x]}]",
     {"'x' is not in `teams`"}},
    /* the cost book */
#define ASSET POOL "assets: [{name: a, pool: p, price: 500, in_service: 2024-03-01"
    {ASSET ", retired: 2024-03-01}]", {"t.yaml:2", "`retired`", "not after"}},
    {ASSET ", proceeds: 5}]", {"t.yaml:2", "`proceeds`", "not `retired`"}},
    {ASSET ", method: units-of-use}]", {"t.yaml:2", "`expected_gpu_hours`"}},
    {ASSET ", expected_gpu_hours: 5}]", {"not written off by units-of-use"}},
    {ASSET ", recoverable: 101%}]", {"`recoverable`", "more than 100%"}},
    {ASSET ",\n  funding: {x: 60%, y: 30%}}]",
     {"t.yaml:2", "`funding`: the shares of 'a' must be 100% in all"}},
    {ASSET ", funding: {x: 60%, y: 50%}}]", {"more than 100%"}},
    {ASSET ", funding: [x]}]", {"`funding` must be a fund, or shares by fund"}},
    {ASSET ", funding: ''}]", {"`funding` has no value"}},
    {"funds: [{name: x}]\n" ASSET ",\n  funding: y}]",
     {"t.yaml:4", "`funding`: 'y' is not in `funds`; known are: x"}},
    {"funds: [{name: x}]\n" ASSET ",\n  funding: {x: 60%, y: 40%}}]",
     {"t.yaml:4", "'y' is not in `funds`"}},
    {"funds: [{name: x, recoverable: no}]\n" ASSET ", recoverable: 50%,\n"
     "  funding: {y: 100%, x: 0%}}]", {"'y' is not in `funds`"}},
    {"funds: [{name: x, recoverable: no}, {name: y}]\n" ASSET
     ", recoverable: 50%, funding: {y: 60%, x: 40%}}]",
     {"t.yaml:3", "`recoverable` of 'a' is below 100%", "'x' (t.yaml:1)"}},
    {"funds: [{name: x, recoverable: maybe}]", {"t.yaml:1", "`recoverable`"}},
    {"funds: [{name: x, recoverable: 101%}]", {"more than 100%"}},
    {"funds: [{name: x}, {name: x}]", {"'x' stands twice in `funds`"}},
    {"funds: [{name: x, recoverable: no}]\n" POOL
     "costs: [{name: c, pool: p, amount: 5, driver: month, funding: x, "
     "recoverable: 0%}]",
     {"t.yaml:3", "`recoverable` of 'c'", "its fund 'x'"}},
    {ASSET ", changes: {from: 2025-01-01}}]", {"`changes` must be a list"}},
    {ASSET ", changes: [2025-01-01]}]", {"`changes` must be a mapping"}},
    {ASSET ", changes: [{life: 6y}]}]", {"lacks `from`"}},
    {ASSET ", changes: [{from: 2025-01-01, lif: 6y}]}]",
     {"unknown key 'lif'", "did you mean 'life'"}},
    {ASSET ", changes: [{from: 2025-01-01}]}]", {"says nothing"}},
    {ASSET ", changes: [{from: 2024-03-01, life: 6y}]}]", {"not after"}},
    {ASSET ",\n changes: [{from: 2025-01-01, life: 6y},\n {from: 2024-06-01, "
           "life: 7y}]}]",
     {"t.yaml:4", "stand in their order"}},
    {ASSET ", changes: [{from: 2025-01-01, pool: q}]}]",
     {"'q' is not in `pools`"}},
    {ASSET ", changes: [{from: 2026-03-01, life: 2y}]}]",
     {"`life`", "ends on 2026-03-01"}},
    {ASSET ", life: 1y, changes: [{from: 2026-03-01, salvage: 0}]}]",
     {"`life`", "give a longer one"}},
    {ASSET ", changes: [{from: 2028-03-01, salvage: 50%}]}]",
     {"`salvage`: 250 is more than the book value", "99.95"}},
    {POOL "costs: [{name: c, amount: 5, driver: month}]",
     {"t.yaml:2", "either `pool` or `pools`"}},
    {POOL "costs: [{name: c, pools: {p: 90%}, amount: 5, driver: month}]",
     {"100% in all"}},
    {POOL "costs: [{name: c, pools: [p], amount: 5, driver: month}]",
     {"100% in all", "`share_by`"}},
    {POOL "costs: [{name: c, pools: {p: 100%}, share_by: jobs, amount: 5, "
          "driver: month}]",
     {"shares and `share_by`"}},
    {POOL "costs: [{name: c, pools: [p], share_by: jobs, amount: 5, driver: "
          "energy}]",
     {"only an amount a month or year is shared"}},
    {POOL "costs: [{name: c, pool: p, share_by: jobs, amount: 5, driver: "
          "month}]",
     {"one pool alone"}},
    {POOL "costs: [{name: c, pools: [q], share_by: jobs, amount: 5, driver: "
          "month}]",
     {"'q' is not in `pools`"}},
    {POOL "staff: [{name: s, fte: 1, loaded_salary: 1, pools: [p]}]",
     {"`pools` must be"}},
    {POOL "power: [{pool: p, watts_per_gpu: 5, pue: 1, tariff: t, energy: "
          "measured}]\ntariffs: [{name: t, per_kwh: 1}]",
     {"t.yaml:2", "give `idle_watts`"}},
    {"tariffs: [{name: t, per_kwh: 1, times: [{hours: \"7-22\", per_kwh: 1}]}]",
     {"`hours`", "07:00-22:00"}},
    {"tariffs: [{name: t, per_kwh: 1, times: [{hours: \"24:00-25:00\", "
     "per_kwh: 1}]}]",
     {"`hours`"}},
    {"tariffs: [{name: t, per_kwh: 1, times: [{days: mon-fry, hours: "
     "\"07:00-22:00\", per_kwh: 1}]}]",
     {"`days`", "mon-fri"}},
    /* YAML */
    {"pools: [", {"t.yaml:", "broken YAML"}},
    {"pools:\n\t- a", {"t.yaml:2", "broken YAML"}},
    {"a: b: c", {"t.yaml:1", "broken YAML"}},
    {"ledger: \"\xff\xfe\"", {"t.yaml:", "broken YAML"}},
    {"ledger: {}\n---\nledger: {}", {"t.yaml:2", "second YAML document"}},
    {"pools: &x []\nteams: *x", {"t.yaml:2", "alias (*x)"}},
    {"&x [*x]", {"t.yaml:1", "alias"}},
};

static void config_load_text__mistakes__are_named_with_file_and_line (void **s)
{
    (void)s;
    for (size_t i = 0; i < GL_ARRAY_SIZE (mistakes); i++) {
        const char *text = mistakes[i].text;
        gl_error_t error = {""};
        site_t *site = (site_t *)&error;

        if (config_load_text ("t.yaml", text, strlen (text), &site, &error) !=
            -1)
            fail_msg ("accepted: %s", text);
        assert_ptr_equal (site, &error);
        for (size_t k = 0; k < 3 && mistakes[i].expected[k]; k++) {
            if (!strstr (error.text, mistakes[i].expected[k]))
                fail_msg ("%s\n  gave: %s\n  without: %s", text, error.text,
                          mistakes[i].expected[k]);
        }
    }
}

/* Entries of one name with dates that meet, pools that share a node by type or
 * by date, a person's two periods: all allowed. */
static void config_load_text__disjoint_recurrence__is_accepted (void **state)
{
    (void)state;
    site_free (load (
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

static char *repeat (const char *text, size_t count)
{
    BUFFER_AUTO b = BUFFER_INIT;

    for (size_t i = 0; i < count; i++)
        buffer_add_text (&b, text);
    return buffer_take (&b);
}

/* Each would cost far more than its size if it were taken at its word. */
static void config_load_text__bombs__are_refused_quickly (void **state)
{
    static const struct {
        const char *piece;
        size_t count;
        const char *expected;
    } bombs[] = {
        {"[", 500000, "levels deep"},
        {"{a: ", 200000, "levels deep"},
        {"- ", 500000, "levels deep"},
        {"x", CONFIG_FILE_MAX + 1, "larger than"},
    };
    BUFFER_AUTO keys = BUFFER_INIT;
    gl_error_t error;
    site_t *site;

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (bombs); i++) {
        char *text = repeat (bombs[i].piece, bombs[i].count);
        assert_int_equal (
            config_load_text ("t.yaml", text, strlen (text), &site, &error),
            -1);
        if (!strstr (error.text, bombs[i].expected))
            fail_msg ("%s", error.text);
        free (text);
    }
    for (int i = 0; i < 100000; i++)
        buffer_printf (&keys, "k%d: 1\n", i);
    assert_int_equal (
        config_load_text ("t.yaml", keys.data, keys.length, &site, &error), -1);
    assert_non_null (strstr (error.text, "more than 4096 keys"));
}

/* Bytes replaced, removed and doubled: a site or a message, under sanitizers
 * without a leak. */
static void config_load_text__damaged_texts__end_in_a_message (void **state)
{
    static const char bytes[] = "\n \t-:,[]{}#&*!|>'\"%@`\\\xff\xc3\0a09";
    uint64_t seed = 1181783497276652981ull;
    char *text = xmalloc (2 * sizeof (pinned));
    size_t refused = 0;

    (void)state;
    for (int i = 0; i < 1500; i++) {
        size_t length = sizeof (pinned) - 1;
        gl_error_t error = {""};
        site_t *site;
        memcpy (text, pinned, sizeof (pinned));
        for (int k = 0; k < 1 + i % 4; k++) {
            uint64_t r = seed = seed * 6364136223846793005ull + 1442695041ull;
            size_t at = (r >> 33) % length;
            if (r >> 63)
                text[at] = bytes[(r >> 20) % (sizeof (bytes) - 1)];
            else
                memmove (text + at, text + at + 1, --length - at);
        }
        if (config_load_text ("t.yaml", text, length, &site, &error) == 0)
            site_free (site);
        else {
            assert_non_null (strstr (error.text, "t.yaml:"));
            refused++;
        }
    }
    assert_in_range (refused, 100, 1500);
    free (text);
}

static void config_load_text__many_pools__are_read (void **state)
{
    BUFFER_AUTO text = BUFFER_INIT;
    site_t *site;

    (void)state;
    buffer_add_text (&text, "pools:\n");
    for (int i = 0; i < 5000; i++)
        buffer_printf (&text,
                       "- {name: p%d, nodes: \"r%dn[1-9]\", gpus_per_node: "
                       "4}\n",
                       i, i);
    site = load (buffer_text (&text));
    assert_int_equal (site->pool_count, 5000);
    site_free (site);
}

/* ---- files ---- */

static int make_directory (void **state)
{
    char *dir = xstrdup ("/tmp/gpuledger-config.XXXXXX");

    *state = mkdtemp (dir);
    return *state ? 0 : -1;
}

static void remove_tree (const char *path)
{
    struct dirent *entry;
    DIR *dir = opendir (path);

    while (dir && (entry = readdir (dir))) {
        if (entry->d_name[0] != '.' || strlen (entry->d_name) > 2) {
            char *name = xasprintf ("%s/%s", path, entry->d_name);
            if (unlink (name) < 0)
                remove_tree (name);
            free (name);
        }
    }
    if (dir)
        closedir (dir);
    rmdir (path);
}

static int remove_directory (void **state)
{
    remove_tree (*state);
    free (*state);
    return 0;
}

static void write_file (const char *dir, const char *name, const char *text)
{
    char *path = xasprintf ("%s/%s", dir, name);
    FILE *fp = fopen (path, "w");

    assert_non_null (fp);
    fputs (text, fp);
    fclose (fp);
    free (path);
}

static int load_file (const char *dir, site_t **ret_site, gl_error_t *error)
{
    char *path = xasprintf ("%s/gpuledger.yaml", dir);
    int rc = config_load (path, ret_site, error);

    free (path);
    return rc;
}

static void make_conf_d (const char *dir)
{
    char *path = xasprintf ("%s/conf.d", dir);

    assert_int_equal (mkdir (path, 0700), 0);
    free (path);
}

static void config_load__conf_d__is_read_in_order (void **state)
{
    const char *dir = *state;
    gl_error_t error = {""};
    site_t *site;

    write_file (dir, "gpuledger.yaml", "tariffs: [{name: a, per_kwh: 1}]\n");
    make_conf_d (dir);
    write_file (dir, "conf.d/20-b.yaml", "tariffs: [{name: c, per_kwh: 3}]\n");
    write_file (dir, "conf.d/10-a.yaml",
                "tariffs: [{name: b, per_kwh: 2}]\nledger: {currency: EUR}\n");
    write_file (dir, "conf.d/.hidden.yaml", "nonsense");
    write_file (dir, "conf.d/notes.txt", "nonsense");
    if (load_file (dir, &site, &error) < 0)
        fail_msg ("%s", error.text);
    assert_string_equal (site->currency, "EUR");
    assert_int_equal (site->tariff_count, 3);
    assert_string_equal (site->tariffs[1].name, "b");
    assert_string_equal (site->tariffs[2].name, "c");
    assert_non_null (strstr (site->tariffs[2].place.file, "20-b.yaml"));
    site_free (site);
}

static void config_load__two_files_in_conflict__both_are_named (void **state)
{
    const char *dir = *state;
    gl_error_t error;
    site_t *site;

    write_file (dir, "gpuledger.yaml",
                "ledger: {currency: EUR}\ntariffs: [{name: a, per_kwh: 1}]\n");
    make_conf_d (dir);
    write_file (dir, "conf.d/x.yaml", "\nledger: {currency: EUR}\n");
    assert_int_equal (load_file (dir, &site, &error), -1);
    assert_non_null (strstr (error.text, "conf.d/x.yaml:2"));
    assert_non_null (strstr (error.text, "/gpuledger.yaml:1"));
    write_file (dir, "conf.d/x.yaml", "\n\ntariffs: [{name: a, per_kwh: 1}]\n");
    assert_int_equal (load_file (dir, &site, &error), -1);
    assert_non_null (strstr (error.text, "conf.d/x.yaml:3"));
    assert_non_null (strstr (error.text, "/gpuledger.yaml:2"));
}

static void config_load__unreadable__says_which_file (void **state)
{
    gl_error_t error;
    site_t *site;

    assert_int_equal (load_file (*state, &site, &error), -1);
    assert_non_null (strstr (error.text, "gpuledger.yaml: No such file"));
    assert_int_equal (config_load (*state, &site, &error), -1);
    assert_non_null (strstr (error.text, "Is a directory"));
}

static site_t *load_example (const char *name)
{
    const char *top = getenv ("abs_top_srcdir");
    char *path = xasprintf ("%s/contrib/examples/%s", top ? top : ".", name);
    gl_error_t error;
    site_t *site = NULL;

    if (config_load (path, &site, &error) < 0)
        fail_msg ("%s", error.text);
    free (path);
    return site;
}

static void check_rounded (const mpq_t value, int digits, const char *expected)
{
    char *text = exact_text (value, digits);

    assert_string_equal (text, expected);
    free (text);
}

/* Expected: docs/guides/decisions.md. */
static void examples__h100_64__gives_the_published_break_even (void **state)
{
    static const struct {
        const char *name;
        const char *per_hour;
    } parts[] = {{"hardware", "2.5269"},
                 {"staff", "0.8361"},
                 {"power", "0.0910"},
                 {"fabric", "0.1000"}};
    static const char *const clouds[] = {"0.231", "0.353", "0.542", "1.137", "1.142",
                                         "0.413", "0.713", "0.815", "0.964"};
    site_t *site = load_example ("h100-64.yaml");
    gl_error_t error;
    breakeven_t b;

    (void)state;
    if (breakeven_of_pool (site, "h100", BREAKEVEN_UNDATED, NULL, &b, &error) <
        0)
        fail_msg ("%s", error.text);
    check_rounded (b.per_hour, 4, "3.5540");
    check_rounded (b.per_gpu_year, 2, "24906.24");
    assert_int_equal (b.part_count, GL_ARRAY_SIZE (parts));
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        assert_string_equal (b.part[i].name, parts[i].name);
        check_rounded (b.part[i].per_hour, 4, parts[i].per_hour);
    }
    assert_int_equal (b.cloud_count, GL_ARRAY_SIZE (clouds));
    for (size_t i = 0; i < GL_ARRAY_SIZE (clouds); i++) {
        check_rounded (b.cloud[i].utilization, 3, clouds[i]);
        assert_int_equal (b.cloud[i].never, i == 3 || i == 4);
    }
    breakeven_clear (&b);
    site_free (site);
}

static void examples__the_others__are_valid (void **state)
{
    static const char *const names[] = {"small-lab.yaml"};

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
        site_free (load_example (names[i]));
}

static void check_month (const site_t *site, const char *pool, unsigned hours,
                         const char *expected)
{
    civil_t first = {2026, 10, 1, 0, 0, 0};
    period_t month = zone_unit (site->zone, CALENDAR_MONTH,
                                zone_instant (site->zone, &first) + 86400);
    cost_inputs_t inputs = {.count = 0};
    cost_use_t *use = cost_inputs_add (&inputs, pool, month);
    gl_error_t error;
    cost_t cost;

    mpq_set_ui (use->allocated, hours * 3600u, 1);
    cost_init (&cost);
    if (cost_of_pool (site, pool, month, &inputs, &cost, &error) < 0)
        fail_msg ("%s", error.text);
    check_rounded (cost.total, 2, expected);
    cost_clear (&cost);
    cost_inputs_clear (&inputs);
}

/* October 2026, by hand: 31 days of the lives, 744 hours in New York and 745 in
 * Oslo. 8 x 425000 / 1095 x 31 + 31250 + 0.56 x 64 x 744 x 1.3 x 0.10 +
 * 0.10 x 36000; 3 x 81000 / 1826 x 31 + 2500 + 4.2 x 745 x 1.4 x 0.21 + 450 +
 * 500; 81000 / 1826 x 31 + 833.33 + 1.4 x 745 x 1.4 x 0.21 + 150. */
static void examples__a_month__costs_what_the_book_says (void **state)
{
    site_t *site = load_example ("h100-64.yaml");

    (void)state;
    check_month (site, "h100", 36000, "134572.15");
    site_free (site);
    site = load_example ("small-lab.yaml");
    check_month (site, "a100", 5000, "8495.34");
    check_month (site, "slices", 1000, "2665.11");
    site_free (site);
}

/* ---- what is made from the table ---- */

static void config_print_default__live__is_a_valid_site (void **state)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t count;
    const schema_kind_t *kinds = schema_kinds (&count);
    site_t *site;

    (void)state;
    config_print_default (&text, true);
    site = load (buffer_text (&text));
    for (size_t i = 0; i < count; i++) {
        if (kinds[i].size)
            assert_int_equal (*(size_t *)((char *)site + kinds[i].counter), 1);
    }
    check_number (site->assets[0].salvage, "42500");
    site_free (site);
}

static void config_print_default__commented__changes_nothing (void **state)
{
    BUFFER_AUTO text = BUFFER_INIT;
    site_t *site;

    (void)state;
    config_print_default (&text, false);
    for (char *line = strtok (text.data, "\n"); line;
         line = strtok (NULL, "\n")) {
        assert_int_equal (line[strspn (line, " ")], '#');
        assert_in_range (strlen (line), 1, 110);
    }
    buffer_clear (&text);
    config_print_default (&text, false);
    site = load (buffer_text (&text));
    assert_int_equal (site->pool_count, 0);
    site_free (site);
}

static void config_print_man__names_every_key (void **state)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t count, items = 0;
    const schema_kind_t *kinds = schema_kinds (&count);

    (void)state;
    config_print_man (&text);
    for (size_t i = 0; i < count; i++) {
        char *head = xasprintf (".Ss %s\n", kinds[i].name);
        const char *at = strstr (buffer_text (&text), head);
        assert_non_null (at);
        for (size_t k = 0; k < kinds[i].key_count; k++) {
            char *item = xasprintf (".It Ic %s\n", kinds[i].keys[k].name);
            at = strstr (at, item);
            assert_non_null (at);
            free (item);
            items++;
        }
        free (head);
    }
    assert_in_range (items, 60, 1000);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (config_load_text__hosts_of_all_forms__are_taken),
        cmocka_unit_test (config_load_text__the_pinned_text__is_read_exactly),
        cmocka_unit_test (
            config_load_text__what_prices_nothing__is_not_in_the_book),
        cmocka_unit_test (config_load_text__who_approved_a_rate__is_kept),
        cmocka_unit_test (config_load_text__what_is_billed__is_read),
        cmocka_unit_test (config_load_text__the_cost_book__is_read_exactly),
        cmocka_unit_test (config_load_text__nothing__is_the_default_site),
        cmocka_unit_test (
            config_load_text__dates__are_days_of_the_ledgers_zone),
        cmocka_unit_test (config_load_text__values__are_parsed_by_their_key),
        cmocka_unit_test (config_load_text__currencies__have_their_digits),
        cmocka_unit_test (
            config_load_text__mistakes__are_named_with_file_and_line),
        cmocka_unit_test (config_load_text__disjoint_recurrence__is_accepted),
        cmocka_unit_test (config_load_text__bombs__are_refused_quickly),
        cmocka_unit_test (config_load_text__damaged_texts__end_in_a_message),
        cmocka_unit_test (config_load_text__many_pools__are_read),
        cmocka_unit_test_setup_teardown (config_load__conf_d__is_read_in_order,
                                         make_directory, remove_directory),
        cmocka_unit_test_setup_teardown (
            config_load__two_files_in_conflict__both_are_named, make_directory,
            remove_directory),
        cmocka_unit_test_setup_teardown (
            config_load__unreadable__says_which_file, make_directory,
            remove_directory),
        cmocka_unit_test (examples__h100_64__gives_the_published_break_even),
        cmocka_unit_test (examples__the_others__are_valid),
        cmocka_unit_test (examples__a_month__costs_what_the_book_says),
        cmocka_unit_test (config_print_default__live__is_a_valid_site),
        cmocka_unit_test (config_print_default__commented__changes_nothing),
        cmocka_unit_test (config_print_man__names_every_key),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
