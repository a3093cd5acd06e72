#include "support/test.h"

#include "base/memory.h"
#include "config/config.h"

#define POOL "pools: [{name: p, nodes: \"n[1-2]\", gpus_per_node: 4}]\n"

#define CPUS "pools: [{name: c, resource: cpu, nodes: n1, cpus_per_node: 8}]\n"

/* What is wrong, and what the message must hold. The second line of a text is
 * line 2 of the file. */
typedef struct {
    const char *text;
    const char *expected[3];
} mistake_t;

static void check (const mistake_t *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = mistakes[i].text;
        gl_error_t error = {""};
        site_t *site = (site_t *)&error;

        if (config_load_text ("t.yaml", text, strlen (text), &site, &error)
            != -1)
            fail_msg ("accepted: %s", text);
        assert_ptr_equal (site, &error);
        for (size_t k = 0; k < 3 && mistakes[i].expected[k]; k++) {
            if (!strstr (error.text, mistakes[i].expected[k]))
                fail_msg ("%s\n  gave: %s\n  without: %s", text, error.text,
                          mistakes[i].expected[k]);
        }
    }
}

static const mistake_t forms_mistakes[] = {
    /* keys */
    {"agent:\n  spool: var/spool", {"t.yaml:2: `spool`", "absolute path"}},
    {"agent: {metrics: x.prom}", {"t.yaml:1: `metrics`", "absolute path"}},
    {"agent: {replay: a.replay}", {"t.yaml:1: `replay`", "absolute path"}},
    {"agent: {node: a b}", {"t.yaml:1: `node`", "is not a name"}},
    {"agent: {cluster: a/b}", {"t.yaml:1: `cluster`", "is not a name"}},
    {"agent: {interval_seconds: 601}", {"t.yaml:1: ", "from 1 to 600"}},
    {"collector: {munge_socket: s}", {"t.yaml:1: ", "absolute path"}},
    {"collector:\n  hosts:\n    - a\n    - a:99999",
     {"t.yaml:4: `hosts`", "'a:99999' is not a host"}},
    {"collector: {hosts: [\"a:b:c\"]}", {"t.yaml:1: `hosts`", "not a host"}},
    {"collector: {hosts: [\":6828\"]}", {"t.yaml:1: `hosts`", "not a host"}},
    {"collector: {hosts: [\"[::1]:x\"]}", {"t.yaml:1: `hosts`", "not a host"}},
    {"collector: {listen: [a b]}", {"t.yaml:1: `listen`", "not a host"}},
    {"networks: [{nodes: \"g[1-\", network: 10.0.0.0/8}]",
     {"t.yaml:1: `nodes`", "g[1-"}},
    {"networks:\n  - nodes: g1\n    network: 10.0.0.1/8",
     {"t.yaml:3: `network`", "bits behind its prefix"}},
    {"networks: [{nodes: g1, network: \"fe80::/10\"}]",
     {"t.yaml:1: `network`", "not an IPv4 address"}},
    {POOL "rates:\n- {pool: p, per_gpu_hour: 2, to: 2026-09-30}\n"
          "- {pool: p, per_gpu_hour: 3, from: 2026-10-01}",
     {"t.yaml:4: 'p' in `rates` leaves out 2026-09-30", "(t.yaml:3)",
      "write 'to: 2026-10-01' there"}},
    {"ledger: {timezone: Europe/Oslo}\n" POOL
     "costs:\n- {name: c, pool: p, amount: 2, driver: month, to: 2026-10-25}\n"
     "- {name: c, pool: p, amount: 3, driver: month, from: 2026-10-26}",
     {"t.yaml:5: 'c, pool p' in `costs` leaves out 2026-10-25"}},
    {"teams:\n- {name: (none), accounts: [a]}",
     {"t.yaml:2: '(none)' in `teams`", "another name"}},
    {"pools:\n- {name: (none), nodes: n1, gpus_per_node: 4}",
     {"t.yaml:2: '(none)' in `pools`"}},
    {"institutions:\n- {name: (none), accounts: [a]}",
     {"t.yaml:2: '(none)' in `institutions`"}},
    {"teams:\n- {name: t, accounts: [a], aliases: [(none)]}",
     {"t.yaml:2: '(none)' in `teams`"}},
    {"pols: []", {"t.yaml:1", "unknown section 'pols'", "'pools'"}},
    {"zebra: []", {"t.yaml:1", "unknown section 'zebra'", "known are: ledger"}},
    {"\nledger: {currncy: USD}",
     {"t.yaml:2", "unknown key 'currncy'", "did you mean 'currency'"}},
    {"pools:\n- name: p\n  nodes: n1\n  gpus_per_nod: 4",
     {"t.yaml:4", "'gpus_per_nod' in `pools`", "'gpus_per_node'"}},
    {"pools: [{name: p, nodes: n1}]", {"t.yaml:1", "lacks `gpus_per_node`"}},
    {"pools: [{name: p, name: q}]", {"t.yaml:1", "'name' is given twice"}},
    {"pools: []\npools: []", {"t.yaml:2", "'pools' is given twice"}},
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
    /* YAML */
    {"pools: [", {"t.yaml:", "broken YAML"}},
    {"pools:\n\t- a", {"t.yaml:2", "broken YAML"}},
    {"a: b: c", {"t.yaml:1", "broken YAML"}},
    {"ledger: \"\xff\xfe\"", {"t.yaml:", "broken YAML"}},
    {"ledger: {}\n---\nledger: {}", {"t.yaml:2", "second YAML document"}},
    {"pools: &x []\nteams: *x", {"t.yaml:2", "alias (*x)"}},
    {"&x [*x]", {"t.yaml:1", "alias"}},
};

TEST_CASE (config_load_text__mistakes_of_forms__are_named)
{
    check (forms_mistakes, GL_ARRAY_SIZE (forms_mistakes));
}

static const mistake_t values_mistakes[] = {
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
    {CPUS "rates: [{pool: c, per_gpu_hour: 2}]",
     {"t.yaml:2: `per_gpu_hour`", "counts CPUs", "write `per_cpu_hour`"}},
    {POOL "rates: [{pool: p, per_gpu_hour: 2, after_end: not_billed}]",
     {"t.yaml:2", "`after_end` needs `to`"}},
    {POOL "rates: [{pool: p, cpu_hours: 2}]", {"t.yaml:2: unknown key"}},
    {CPUS "rates: [{pool: c}]", {"lacks `per_cpu_hour`"}},
    {CPUS "rates: [{pool: c, per_cpu_hour: 2, per_gb_hour: 1}]",
     {"t.yaml:2: `per_gb_hour` needs `bill: sum`", "pool 'c' (t.yaml:1)"}},
    {CPUS "rates: [{pool: c, per_cpu_hour: 2, cpu_steps: [{above: 4, "
          "per_cpu_hour: 3}]}]",
     {"t.yaml:2: `cpu_steps`: the pool counts CPUs", "`cpus: 48+`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: sum}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 1, gb_steps: [{above: 8, per_gb_hour: 1}, "
     "{above: 8, per_gb_hour: 2}]}\n",
     {"t.yaml:3: `above`", "write steps in rising order"}},
    {"pools: [{name: c, resource: cpu, nodes: n1}]", {"lacks `cpus_per_node`"}},
    {"pools: [{name: c, resource: cpu, nodes: n1, cpus_per_node: 8, "
     "gres: [h100]}]",
     {"t.yaml:1: `gres` does not apply to pool 'c'", "counts CPUs"}},
    {"pools: [{name: c, resource: cpu, nodes: n1, cpus_per_node: 8, "
     "bill: dominant}]",
     {"`bill` of pool 'c' needs `memory_per_cpu`"}},
    {"pools: [{name: p, cpu_jobs: all, nodes: n1, gpus_per_node: 8}]",
     {"`cpu_jobs` does not apply to pool 'p', which counts GPUs"}},
    {"pools:\n- {name: c, resource: cpu, nodes: n1, cpus_per_node: 8}\n"
     "- {name: d, resource: cpu, nodes: n1, cpus_per_node: 8}",
     {"t.yaml:3: pools 'd' and 'c'", "with its CPUs at the same time"}},
    {"pools:\n- {name: c, resource: cpu, nodes: n1, cpus_per_node: 8, "
     "to: 2026-10-01}\n- {name: c, nodes: n1, gpus_per_node: 8, "
     "from: 2026-10-01}",
     {"t.yaml:3: pool 'c' counts CPUs at one time", "two names"}},
    {"pools:\n- {name: c, resource: cpu, nodes: n1, cpus_per_node: 8}\n"
     "- {name: p, nodes: n1, gpus_per_node: 8}\n"
     "costs: [{name: s, pools: [c, p], share_by: capacity, amount: 1, "
     "driver: month}]",
     {"t.yaml:4: `share_by`: CPU-hours and GPU-hours are never added up"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: dominant}]",
     {"t.yaml:1", "'p'", "`cpus_per_gpu`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 1}\n"
     "- {pool: p, gpus: 2-1, per_gpu_hour: 1}\n",
     {"t.yaml:4", "`gpus`", "2-4"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, partition: a, per_gpu_hour: 1}\n"
     "- {pool: p, gpus: 2+, per_gpu_hour: 1}\n",
     {"t.yaml:4", "needs one of the pool without these"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 1}\n"
     "- {pool: p, qos: free, per_gpu_hour: 0}\n"
     "- {pool: p, reservation: r, per_gpu_hour: 2}\n",
     {"t.yaml:5", "t.yaml:4", "`subsidy: 100%`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 1}\n"
     "- {pool: p, gpus: 2, per_gpu_hour: 1}\n"
     "- {pool: p, gpus: 2+, per_gpu_hour: 2}\n",
     {"t.yaml:5", "t.yaml:4", "another number"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, partition: a, qos: b, per_gpu_hour: 1}\n"
     "- {pool: p, qos: b, partition: a, per_gpu_hour: 1}\n",
     {"t.yaml:4", "t.yaml:3", "'p, partition a, qos b'"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 1, per_cpu_hour: 1}\n",
     {"t.yaml:3", "t.yaml:1", "`bill: sum`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: sum}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 0, per_cpu_hour: 1}\n",
     {"t.yaml:3", "give GPUs a price"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}, {name: q, nodes: n2, "
     "gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 2, tiers_pools: [p, q],\n"
     "   tiers: [{above: 5, per_gpu_hour: 1}]}\n"
     "- {pool: q, per_gpu_hour: 4, tiers_pools: [p, q],\n"
     "   tiers: [{above: 5, per_gpu_hour: 1}]}\n",
     {"t.yaml:3", "t.yaml:5", "in proportion"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8}, {name: q, nodes: n2, "
     "gpus_per_node: 8}]\nrates:\n"
     "- {pool: p, per_gpu_hour: 2, tiers_pools: [p, q],\n"
     "   tiers: [{above: 5, per_gpu_hour: 1}]}\n"
     "- {pool: q, per_gpu_hour: 4}\n",
     {"t.yaml:3", "pool 'q' has no rate with tiers"}},
    {"teams: [{name: t, accounts: [t], surcharge: -20%}]\n",
     {"t.yaml:1", "`policy: {discounts: yes}`"}},
    {"teams: [{name: t, accounts: [t], surcharge: -120%}]\n",
     {"t.yaml:1", "below -100%"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, bill: max, "
     "cpus_per_gpu: 16}]",
     {"t.yaml:1", "'p'", "`cpu_weight`"}},
    {"pools: [{name: p, nodes: n1, gpus_per_node: 8, gpu_weight: 0}]",
     {"`gpu_weight`", "above 0"}},
    {"pools: [{name: p, nodes: \"n[1-\", gpus_per_node: 8}]",
     {"t.yaml:1", "`nodes`"}},
    {"pools: [{name: p, nodes: \"n[1-3],n2\", gpus_per_node: 8}]",
     {"t.yaml:1", "'n2' is listed twice"}},
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
};

TEST_CASE (config_load_text__mistakes_of_values__are_named)
{
    check (values_mistakes, GL_ARRAY_SIZE (values_mistakes));
}

static const mistake_t wholes_mistakes[] = {
    /* dates */
    {"tariffs: [{name: t, per_kwh: 1, from: 2026-02-01, to: 2026-02-01}]",
     {"t.yaml:1", "`to`", "not after `from`"}},
    {"tariffs:\n- {name: t, per_kwh: 1, to: 2026-03-01}\n- {name: t, per_kwh: "
     "2, from: 2026-02-01}",
     {"t.yaml:3", "'t' is defined twice in `tariffs`", "t.yaml:2"}},
    {"tariffs:\n- {name: t, per_kwh: 1}\n- {name: t, per_kwh: 2}",
     {"t.yaml:3", "is defined twice", "t.yaml:2"}},
    {POOL "assets:\n- {name: a, pool: p, price: 5, in_service: 2024-03-01}\n- "
          "{name: a, pool: p, price: 5, in_service: 2025-03-01}",
     {"t.yaml:4", "'a' is defined twice", "another name"}},
    {POOL "rates:\n- {pool: p, per_gpu_hour: 1, from: 2026-01-01}\n- {pool: p, "
          "per_gpu_hour: 2, from: 2026-06-01}",
     {"t.yaml:4", "'p' is defined twice in `rates`"}},
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
    {"teams:\n- {name: a, accounts: [x], aliases: [b]}\n- {name: b, accounts: "
     "[y]}",
     {"t.yaml:3: 'b' is a name of two teams", "'b' and 'a' (t.yaml:2)",
      "remove the alias"}},
    {"teams:\n- {name: a, accounts: [x], aliases: [o]}\n- {name: b, accounts: "
     "[y], aliases: [o]}",
     {"t.yaml:3: 'o' is a name of two teams"}},
    {"teams:\n- {name: a, accounts: [x], email: ada}",
     {"t.yaml:2: `email`", "'ada'", "ada@example.org"}},
    {"teams:\n- {name: a, accounts: [x], mail: [a@x.edu, \"-f b@x.edu\"]}",
     {"t.yaml:2: `mail` of team 'a'", "'-f b@x.edu'", "ada@example.org"}},
    {"mail: {from: \"Ada <ada>\"}",
     {"mail.from: 'Ada <ada>'", "is no e-mail address", "ada@example.org"}},
    {"mail: {monthly: [a@x.edu, b]}", {"mail.monthly: 'b'"}},
    {"mail: {sendmail: sendmail}",
     {"mail.sendmail begins with 'sendmail'", "full path"}},
    {"institutions:\n- {name: X, email_domains: [a@x.edu]}",
     {"t.yaml:2: 'a@x.edu' in `email_domains`", "as in x.edu"}},
    {"institutions: [{name: X, teams: [tt]}]\n"
     "teams: [{name: t, accounts: [a]}]",
     {"t.yaml:1", "'tt' is not in `teams`"}},
    {"institutions: [{name: X}]\n"
     "teams:\n- {name: t, accounts: [a], institution: Y}",
     {"t.yaml:3: there is no institution 'Y'", "team 't'"}},
    {"teams:\n- {name: t, accounts: [a], institution: Y}\n"
     "institutions: [{name: Y},\n {name: X, teams: t}]",
     {"t.yaml:4: `teams` of institution 'X'", "'Y' (t.yaml:2)"}},
    {"institutions: [{name: X, accounts: a},\n {name: Y, email_domains: "
     "y.edu}]\nteams: [{name: t, accounts: [a], email: b@cs.y.edu}]",
     {"t.yaml:3: team 't' belongs to two institutions",
      "'X' (t.yaml:1) and 'Y' (t.yaml:2)", "`institution` of the team"}},
    {POOL "tariffs: [{name: t, per_kwh: 1, from: 2026-01-01}]\npower: [{pool: "
          "p, watts_per_gpu: 500, pue: 1.2, tariff: t}]",
     {"t.yaml:3", "does not hold from the beginning"}},
    {POOL "tariffs:\n- {name: t, per_kwh: 1, to: 2026-01-01}\n- {name: t, "
          "per_kwh: 1, from: 2026-01-03}\npower: [{pool: p, watts_per_gpu: "
          "500, pue: 1.2, tariff: t}]",
     {"t.yaml:5", "from 2026-01-01T00:00:00Z on"}},
    /* projects */
    {"projects:\n  - {name: vision}\n  - {name: Umwelt & Klima}",
     {"t.yaml:3: 'Umwelt & Klima' in `projects` is not a project tag",
      "1-64 characters"}},
    {"projects: [{name: -x}]", {"t.yaml:1: '-x' in `projects`"}},
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
    /* entitlements */
    {POOL "teams: [{name: t, accounts: [a]}]\nentitlements:\n"
          "  - {team: t, pool: p, gpus: 1, per_gpu_hour: 1, per_month: 2}",
     {"t.yaml:4: the entitlement of team 't' has two prices",
      "`per_gpu_hour` and `per_month`"}},
    {"entitlements: [{team: t, pool: p, gpus: 1, per_month: 0}]",
     {"t.yaml:1: `per_month`"}},
    {"taxes: [{name: VAT, percent: 0.25, teams: [x]}]",
     {"'x' is not in `teams`"}},
};

TEST_CASE (config_load_text__mistakes_of_wholes__are_named)
{
    check (wholes_mistakes, GL_ARRAY_SIZE (wholes_mistakes));
}

#define ASSET \
    POOL "assets: [{name: a, pool: p, price: 500, in_service: 2024-03-01"

static const mistake_t book_mistakes[] = {
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
     "  funding: {y: 100%, x: 0%}}]",
     {"'y' is not in `funds`"}},
    {"funds: [{name: x, recoverable: no}, {name: y}]\n" ASSET
     ", recoverable: 50%, funding: {y: 60%, x: 40%}}]",
     {"t.yaml:3", "`recoverable` of 'a' is below 100%", "'x' (t.yaml:1)"}},
    {"funds: [{name: x, recoverable: maybe}]", {"t.yaml:1", "`recoverable`"}},
    {"funds: [{name: x, recoverable: 101%}]", {"more than 100%"}},
    {"funds: [{name: x}, {name: x}]", {"'x' is defined twice in `funds`"}},
    {"funds: [{name: x, recoverable: no}]\n" POOL
     "costs: [{name: c, pool: p, amount: 5, driver: month, funding: x, "
     "recoverable: 0%}]",
     {"t.yaml:3", "`recoverable` of 'c'", "its fund 'x'"}},
    {"funds: [{name: x}]\n" POOL "staff: [{name: s, fte: 1, loaded_salary: 1, "
                                 "pools: {p: 100%}, funding: y}]",
     {"t.yaml:3", "`funding`: 'y' is not in `funds`"}},
    {POOL "staff: [{name: s, fte: 1, loaded_salary: 1, pools: {p: 100%},\n"
          "  funding: {x: 90%}}]",
     {"t.yaml:2", "the shares of 's' must be 100% in all"}},
    {"funds: [{name: x, recoverable: no}]\n"
     "tariffs: [{name: t, per_kwh: 1, funding: x, recoverable: 0%}]",
     {"t.yaml:2", "`recoverable` of 't'", "its fund 'x'"}},
    {ASSET ", changes: {from: 2025-01-01}}]", {"`changes` must be a list"}},
    {ASSET ", changes: [2025-01-01]}]", {"`changes` must be a mapping"}},
    {ASSET ", changes: [{life: 6y}]}]", {"lacks `from`"}},
    {ASSET ", changes: [{from: 2025-01-01, lif: 6y}]}]",
     {"unknown key 'lif'", "did you mean 'life'"}},
    {ASSET ", changes: [{from: 2025-01-01}]}]", {"says nothing"}},
    {ASSET ", changes: [{from: 2024-03-01, life: 6y}]}]", {"not after"}},
    {ASSET ",\n changes: [{from: 2025-01-01, life: 6y},\n {from: 2024-06-01, "
           "life: 7y}]}]",
     {"t.yaml:4", "list the changes of asset"}},
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
};

TEST_CASE (config_load_text__mistakes_of_book__are_named)
{
    check (book_mistakes, GL_ARRAY_SIZE (book_mistakes));
}

#define TEAMS "teams: [{name: a, accounts: [a]}, {name: b, accounts: [b]}]\n"
#define RULE(text) TEAMS "settlement: [{name: r, " text "}]"

static const mistake_t settlement_mistakes[] = {
    {RULE ("rule: fees"), {"t.yaml:2: `rule`", "'fees' is not one of"}},
    {RULE ("rule: fee"), {"t.yaml:2: rule fee ('r') needs `amount`"}},
    {RULE ("rule: cap"), {"rule cap ('r') needs `amount`"}},
    {RULE ("rule: grant"),
     {"grant 'r' needs `amount`, `gpu_hours` or `cpu_hours`"}},
    {RULE ("rule: grant, cpu_hours: 5"),
     {"t.yaml:2: rule 'r' counts CPU-hours, but none of its pools counts "
      "CPUs; add a pool with `resource: cpu` or write `gpu_hours`"}},
    {RULE ("rule: grant, amount: 5, each: project"),
     {"t.yaml:2: rule 'r': `each` of a grant is team or user; "}},
    {RULE ("rule: minimum, amount: 5, each: user"),
     {"`each` has no meaning for rule minimum ('r')"}},
    {RULE ("rule: waiver, each: user"),
     {"waiver 'r': `each: user` has a meaning with `first_months` only"}},
    {RULE ("rule: sponsor, payer: b, each: user"),
     {"`each: user` has a meaning with an amount or `first_months` only"}},
    {RULE ("rule: sponsor"), {"rule sponsor ('r') needs `payer`"}},
    {RULE ("rule: sponsor, payer: c"), {"`payer`: 'c' is not in `teams`"}},
    {RULE ("rule: prepaid"), {"rule prepaid ('r') needs `deposits`"}},
    {RULE ("rule: split"), {"rule split ('r') needs `split`"}},
    {RULE ("rule: split, split: {X: 50%, Y: 40%}"),
     {"split 'r'", "do not add up to 100%"}},
    {RULE ("rule: waiver, amount: 5"),
     {"`amount` has no meaning for rule waiver ('r')"}},
    {RULE ("rule: grant, amount: 5, payer: b"),
     {"`payer` has no meaning for rule grant"}},
    {RULE ("rule: grant, amount: 5, low_balance: 5%"),
     {"`low_balance` has no meaning for rule grant"}},
    {"outages: [{name: o, from: 2026-10-05 14:00}]",
     {"t.yaml:1: outage 'o' needs `from` and `to`, or `source: slurmdbd`"}},
    {"outages: [{name: o, from: 2026-10-05 25:00, to: 2026-10-06}]",
     {"t.yaml:1: `from`", "'2026-10-05 25:00' is not a time that exists"}},
    {"outages: [{name: o, from: 2026-10-05 14:0, to: 2026-10-06}]",
     {"is not a time that exists; write e.g. 2026-03-10 14:00"}},
    {"outages: [{name: o, from: 2026-10-05 14:00, to: 2026-10-05 14:00}]",
     {"`to`", "is not after `from`; `to` is the first moment at which"}},
    {"outages: [{name: o, killed: [DONE]}]",
     {"`killed`", "'DONE' is not an end of a job"}},
    {RULE ("rule: sponsor, payer: b, of: [fee]"),
     {"`of`: 'fee' is not a kind of charges; known are: charges, "}},
    {RULE ("rule: grant, amount: 5, unused: expire_evenly"),
     {"`unused: expire_evenly` needs `per: year`"}},
    {RULE ("rule: grant, amount: 5, gpu_hours: 5"),
     {"rule 'r' has two amounts"}},
    {RULE ("rule: grant, cpu_hours: 5, gpu_hours: 5"),
     {"rule 'r' has two amounts"}},
    {RULE ("rule: sponsor, payer: b, unused: carry"),
     {"no amount that `unused` could roll over"}},
    {RULE ("rule: fee, amount: 5, each: user, per: year"),
     {"counted each month", "per: month"}},
    {RULE ("rule: grant, amount: 5, teams: [x]"), {"'x' is not in `teams`"}},
    {RULE ("rule: prepaid, to: 2026-12-01,\n"
           "  deposits: [{on: 2026-12-01, amount: 5, team: a}]"),
     {"t.yaml:3: `on`: the deposit of 2026-12-01 is outside"}},
    {TEAMS "settlement:\n- {name: r, rule: cap, amount: 5, to: 2026-01-01}\n"
           "- {name: r, rule: waiver, from: 2026-01-01}",
     {"t.yaml:4: 'r' is a waiver here and a cap at t.yaml:3"}},
};

TEST_CASE (config_load_text__mistakes_of_settlement__are_named)
{
    check (settlement_mistakes, GL_ARRAY_SIZE (settlement_mistakes));
}

TEST_MAIN (NULL, NULL)
