/* config_site.h: a site from a text, and its numbers. All fail the test where they do
 * not succeed; the site is freed by who loaded it (site_free). */
#ifndef GL_TESTS_SUPPORT_CONFIG_SITE_H
#define GL_TESTS_SUPPORT_CONFIG_SITE_H

#include "base/exact.h"
#include "config/config.h"
#include "site/site.h"

static inline site_t *load_site (const char *text)
{
    gl_error_t error = {""};
    site_t *site = NULL;

    if (config_load_text ("t.yaml", text, strlen (text), &site, &error) < 0)
        fail_msg ("%s", error.text);
    return site;
}

static inline void check_number (const mpq_t value, const char *expected)
{
    char *text = exact_shortest (value);

    assert_string_equal (text, expected);
    free (text);
}

static inline void check_rounded (const mpq_t value, int digits,
                                  const char *expected)
{
    char *text = exact_text (value, digits);

    assert_string_equal (text, expected);
    free (text);
}

/* The text that the product's design pins, as it stands there. */
__attribute__ ((unused)) static const char pinned_site[] =
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

#endif /* !GL_TESTS_SUPPORT_CONFIG_SITE_H */
