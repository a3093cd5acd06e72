#include "support/acct_site.h"

#include "evidence/energy_bound.h"

TEST_CASE (energy_model__names_of_makers_and_sites__have_a_limit)
{
    static const struct {
        const char *model;
        unsigned watts;
    } cases[] = {
        {"H100-SXM5-80GB", 700},
        {"NVIDIA H100 80GB HBM3", 700},
        {"nvidia_a100-sxm4-40gb", 500},
        {"h100", 700},
        {"NVIDIA GH200 480GB", 1000},
        {"L4", 72},
        {"NVIDIA L40S", 350},
        {"Tesla T4", 70},
        {"AMD Instinct MI300X", 750},
        {"mi300x_cpx", 750},
        {"AMD Instinct MI250X", 560},
        {"mi355x", 1400},
        {"Intel(R) Data Center GPU Max 1550", 600},
        {"max_1100", 300},
        {"pvc", 600},
        {"gpu", 2000},
        {"A1000", 2000}, /* no A100 */
        {"RTX 9999", 2000},
        {NULL, 2000},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++)
        if (energy_model_watts (cases[i].model) != cases[i].watts)
            fail_msg ("%s: %u W", cases[i].model,
                      energy_model_watts (cases[i].model));
}

/* 700 W for an hour and ten seconds, and a tenth: 3,610,000 ms x 770 W are
 * 2,779,700,000 mJ. */
TEST_CASE (energy__more_than_the_limit__is_unknown)
{
    static const struct {
        const char *cluster, *node;
        int64_t energy_mj;
        bool refused;
    } cases[] = {
        {"lab", "g1", 2779700000, false},
        {"lab", "g1", 2779700001, true},
        {"lab", "g1", MEASURE_UNKNOWN, false},
        {"lab", "g1", 0, false},
        /* a node of no pool: 2000 W are 7,942,000,000 mJ */
        {"lab", "x1", 7942000000, false},
        {"lab", "x1", 7942000001, true},
        {"lab", "x1", INT64_MAX, true},
    };
    site_t site;
    energy_bound_t *bound;

    test_site (&site, "UTC");
    bound = energy_bound_new (&site);
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        device_usage_t u = {.cluster = cases[i].cluster,
                            .node = cases[i].node,
                            .begin_ms = 1000,
                            .end_ms = 3601000,
                            .energy_mj = cases[i].energy_mj,
                            .energy_ms = 3600000,
                            .utilization_sum = 7};
        if (energy_bound_apply (bound, &u) != cases[i].refused)
            fail_msg ("case %zu", i);
        assert_int_equal (u.energy_mj, cases[i].refused ? MEASURE_UNKNOWN
                                                        : cases[i].energy_mj);
        assert_int_equal (u.energy_refused_mj,
                          cases[i].refused ? cases[i].energy_mj : 0);
        assert_int_equal (u.energy_ms,
                          cases[i].refused ? MEASURE_UNKNOWN : 3600000);
        assert_int_equal (u.utilization_sum, 7);
    }
    energy_bound_free (bound);
    zone_close (site.zone);
}

TEST_MAIN (NULL, NULL)
