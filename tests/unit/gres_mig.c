#include "support/test.h"

#include <stdio.h>

#include <jansson.h>

#include "gres/mig.h"
#include "support/data.h"

static void assert_fraction (fraction_t f, int num, int den)
{
    assert_true (f.num == num && f.den == den);
}

/* The table of the code against the table of facts it was made from. */
TEST_CASE (mig_profiles__every_row__as_in_the_collected_facts)
{
    GL_AUTOFREE char *path = test_data ("mig/mig_profiles.json");
    json_t *root = json_load_file (path, 0, NULL);
    const char *key;
    json_t *gpu;
    size_t rows = 0, count;

    assert_non_null (root);
    json_object_foreach (json_object_get (root, "gpus"), key, gpu)
    {
        json_t *slices = json_object_get (gpu, "gpu_slices"), *p;
        int G = json_integer_value (json_object_get (slices, "compute"));
        int M = json_integer_value (json_object_get (slices, "memory"));
        GL_AUTOFREE char *model = xstrndup (key, strcspn (key, " "));
        size_t i;

        json_array_foreach (json_object_get (gpu, "profiles"), i, p)
        {
            const char *name
                = json_string_value (json_object_get (p, "profile"));
            int g = json_integer_value (json_object_get (p, "compute_slices"));
            int m = json_integer_value (json_object_get (p, "memory_slices"));
            fraction_t w;

            assert_int_equal (mig_weight (NULL, model, name, strlen (name),
                                          MIG_COMPUTE, &w, NULL),
                              0);
            assert_int_equal (fraction_compare (w, fraction (g, G)), 0);
            assert_int_equal (mig_weight (NULL, model, name, strlen (name),
                                          MIG_MEMORY, &w, NULL),
                              0);
            assert_int_equal (fraction_compare (w, fraction (m, M)), 0);
            rows++;
        }
    }
    mig_profiles (&count);
    assert_int_equal (rows, count);
    json_decref (root);
}

/* docs/formats/reports.md: sums and remainders of layouts of an H100 80GB */
TEST_CASE (mig_layout__layouts_of_an_h100__sum_and_remainder)
{
    static const struct {
        const char *layout;
        int compute[2], memory[2], max[2]; /* the remainder */
    } cases[] = {
        {"1g.10gb:7", {0, 1}, {1, 8}, {0, 1}},
        {"1g.20gb:4", {3, 7}, {0, 1}, {0, 1}},
        {"2g.20gb:3", {1, 7}, {1, 4}, {1, 7}},
        {"2g.20gb:3,1g.10gb", {0, 1}, {1, 8}, {0, 1}},
        {"3g.40gb:2", {1, 7}, {0, 1}, {0, 1}},
        {"4g.40gb,3g.40gb", {0, 1}, {0, 1}, {-1, 14}},
        {"3g.40gb:1,2g.20gb:2", {0, 1}, {0, 1}, {-1, 14}},
        {"3g.40gb,1g.20gb:2", {2, 7}, {0, 1}, {0, 1}},
        {"7g.80gb", {0, 1}, {0, 1}, {0, 1}},
    };
    fraction_t sum, rest;
    int64_t cards;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        const int *expected[]
            = {cases[i].compute, cases[i].memory, cases[i].max};
        for (int basis = MIG_COMPUTE; basis <= MIG_MAX; basis++) {
            assert_int_equal (mig_layout (NULL, "H100-SXM5-80GB",
                                          cases[i].layout, 1, basis, &sum,
                                          &rest, &cards, NULL),
                              0);
            assert_int_equal (cards, 1);
            assert_fraction (rest, expected[basis][0], expected[basis][1]);
            assert_int_equal (
                fraction_compare (sum,
                                  fraction (rest.den - rest.num, rest.den)),
                0);
        }
    }
}

TEST_CASE (mig_layout__several_cards_or_no_room__counted_or_refused)
{
    static const char *const refused[] = {
        "1g.10gb:8",
        "3g.40gb:2,1g.10gb:1",
        "7g.80gb:2",
        "1g.10gb:x",
        "1g.10gb:-1",
        "1g.99gb:1",
        "1g.10gb:999999999999999999",
    };
    fraction_t sum, rest;
    int64_t cards;
    gl_error_t error;

    /* 16 x 1g + 6 x 2g on four H100: all 28 compute slices */
    assert_int_equal (mig_layout (NULL, "H100-PCIe-80GB",
                                  "1g.10gb:16,2g.20gb:6", 4, MIG_COMPUTE, &sum,
                                  &rest, &cards, NULL),
                      0);
    assert_int_equal (cards, 4);
    assert_fraction (sum, 4, 1);
    assert_fraction (rest, 0, 1);
    for (size_t i = 0; i < sizeof (refused) / sizeof (refused[0]); i++) {
        assert_int_equal (mig_layout (NULL, "H100-80GB", refused[i], 1, MIG_MAX,
                                      NULL, NULL, NULL, &error),
                          -1);
        assert_non_null (strstr (error.text, refused[i]));
    }
}

/* Two MI300X in CPX mode, an MI300A with one partition less. */
TEST_CASE (mig_layout__partitions_of_amd__sum_and_remainder)
{
    fraction_t sum, rest;
    int64_t cards;
    gl_error_t error;

    assert_int_equal (mig_layout (NULL, "MI300X", "cpx:16", 2, MIG_MAX, &sum,
                                  &rest, &cards, NULL),
                      0);
    assert_fraction (sum, 2, 1);
    assert_fraction (rest, 0, 1);
    assert_int_equal (cards, 2);
    assert_int_equal (mig_layout (NULL, "MI300A", "cpx:5", 1, MIG_COMPUTE, &sum,
                                  &rest, &cards, NULL),
                      0);
    assert_fraction (rest, 1, 6);
    assert_int_equal (mig_layout (NULL, "MI300X", "cpx:9", 1, MIG_COMPUTE, NULL,
                                  NULL, NULL, &error),
                      -1);
    assert_non_null (strstr (error.text, "one GPU has at most 8"));
}

TEST_CASE (mig_profile_in_type__names_from_the_field__found)
{
    static const struct {
        const char *type;
        const char *profile; /* NULL: a whole GPU */
    } cases[] = {
        {"1g.10gb", "1g.10gb"},
        {"a100_3g.20gb", "3g.20gb"},
        {"a100_1g.5gb", "1g.5gb"},
        {"nvidia_h200_nvl_4g.71gb", "4g.71gb"},
        {"nvidia_h100_80gb_hbm3_3g.40gb", "3g.40gb"},
        {"h100_pcie_1g.10gb", "1g.10gb"},
        {"1g.10gb+me", "1g.10gb+me"},
        {"a30_2g.12gb+me", "2g.12gb+me"},
        {"1g.10gb+me.all", "1g.10gb+me.all"},
        {"1c.3g.20gb", "1c.3g.20gb"},
        {"1g.10gb_shared", "1g.10gb"},
        {"1g.10gb-me", "1g.10gb-me"},
        {"1G.10GB", "1G.10GB"},
        {"cpx", "cpx"},
        {"mi300x_cpx", "cpx"},
        {"amd_instinct_mi300x_oam-CPX-nps4", "CPX"},
        {"mi300a-tpx", "tpx"},
        {"mi300x_spx", NULL}, /* whole */
        {"mi300x", NULL},
        {"mi250x", NULL},
        {"max_1550", NULL},
        {"pvc", NULL},
        {"xcpx", NULL},
        {"cpx8", NULL},
        {"cp", NULL},
        {"a100", NULL},
        {"a100_80", NULL},
        {"nvidia_a100-sxm4-80gb", NULL},
        {"nvidia_h100_80gb_hbm3", NULL},
        {"rtx30", NULL},
        {"11g.gb", NULL},
        {"g.10gb", NULL},
        {"1g.10gbx", NULL},
        {"x1g.10gb", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        const char *p = NULL;
        size_t n = 0;
        bool found = mig_profile_in_type (cases[i].type, strlen (cases[i].type),
                                          &p, &n);
        assert_int_equal (found, cases[i].profile != NULL);
        if (found) {
            assert_int_equal (n, strlen (cases[i].profile));
            assert_memory_equal (p, cases[i].profile, n);
        }
    }
}

TEST_CASE (mig_type_weight__types_and_models__exact_or_refused)
{
    static const struct {
        const char *model, *type;
        mig_basis_t basis;
        int num, den; /* den 0: refused */
        const char *word;
    } cases[] = {
        {"A100-SXM4-40GB", "1g.10gb", MIG_MEMORY, 1, 4, NULL},
        {"A100-SXM4-80GB", "1g.10gb", MIG_MEMORY, 1, 8, NULL},
        {"A100-SXM4-40GB", "1g.10gb", MIG_MAX, 1, 4, NULL},
        {NULL, "1g.10gb", MIG_COMPUTE, 1, 7, NULL}, /* all agree */
        {NULL, "1g.10gb", MIG_MEMORY, 0, 0, "ambiguous"},
        {NULL, "1g.10gb", MIG_MAX, 0, 0, "name the GPU in the pool"},
        {NULL, "h100_1g.10gb", MIG_MEMORY, 1, 8, NULL},
        {NULL, "a100_1g.10gb", MIG_MEMORY, 0, 0, "ambiguous"},
        {NULL, "nvidia_h100_80gb_hbm3_3g.40gb", MIG_COMPUTE, 3, 7, NULL},
        {NULL, "nvidia_h100_80gb_hbm3_3g.40gb", MIG_MEMORY, 1, 2, NULL},
        {NULL, "a100_1g.5gb", MIG_COMPUTE, 1, 7, NULL},
        {"H200-SXM-141GB", "nvidia_h200_nvl_4g.71gb", MIG_MAX, 4, 7, NULL},
        {"A30", "2g.12gb", MIG_COMPUTE, 1, 2, NULL},
        {"H100-80GB", "1g.10gb+gfx", MIG_COMPUTE, 1, 7, NULL},
        {"H100-80GB", "1g.10gb-me", MIG_COMPUTE, 1, 7, NULL},
        {"H100-80GB", "h100", MIG_MAX, 1, 1, NULL},
        {NULL, NULL, MIG_MEMORY, 1, 1, NULL},
        {"H100-80GB", "1g.5gb", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        {"L40S", "1g.10gb", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        {"A100-40GB", "1c.3g.20gb", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        {NULL, "9g.999gb", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        /* partitions of AMD: whole GPUs are of whatever model */
        {"MI300X", "mi300x_cpx", MIG_COMPUTE, 1, 8, NULL},
        {"MI300X-192GB", "cpx", MIG_MEMORY, 1, 8, NULL},
        {"AMD Instinct MI355X", "dpx", MIG_MAX, 1, 2, NULL},
        {NULL, "mi300a_cpx", MIG_MAX, 1, 6, NULL},
        {NULL, "mi300a_tpx", MIG_COMPUTE, 1, 3, NULL},
        {NULL, "mi325x_qpx", MIG_COMPUTE, 1, 4, NULL},
        {NULL, "cpx", MIG_COMPUTE, 0, 0, "ambiguous"},
        {NULL, "qpx", MIG_COMPUTE, 1, 4, NULL}, /* all agree */
        {"MI300A", "qpx", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        {"MI250X", "cpx", MIG_COMPUTE, 0, 0, "unknown slice profile"},
        {"MI300X", "mi300x", MIG_MAX, 1, 1, NULL},
        {"MI300X", "mi300x_spx", MIG_MAX, 1, 1, NULL},
        {"MI250X", "mi250x", MIG_COMPUTE, 1, 1, NULL},
        {"MI210", "mi210", MIG_COMPUTE, 1, 1, NULL},
        {"Max-1550", "max_1550", MIG_COMPUTE, 1, 1, NULL},
        {NULL, "pvc", MIG_MEMORY, 1, 1, NULL},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        fraction_t w;
        gl_error_t error = {""};
        const char *type = cases[i].type;
        int rc = mig_type_weight (NULL, cases[i].model, type,
                                  type ? strlen (type) : 0, cases[i].basis, &w,
                                  &error);
        assert_int_equal (rc, cases[i].den ? 0 : -1);
        if (rc == 0)
            assert_fraction (w, cases[i].num, cases[i].den);
        else
            assert_non_null (strstr (error.text, cases[i].word));
    }
}

TEST_CASE (mig_weight__a_profile_of_the_site__comes_first)
{
    static const mig_profile_t rows[] = {
        {"L40S", "1g.12gb", 1, 4, 1, 4, 4},
        {NULL, "1c.3g.20gb", 1, 7, 4, 24, 0},
        {"H100-SXM5-80GB", "1g.10gb", 1, 7, 1, 7, 7},
    };
    const mig_table_t site = {rows, 3};
    fraction_t w;

    assert_int_equal (
        mig_weight (&site, "l40s", "1g.12gb", 7, MIG_COMPUTE, &w, NULL), 0);
    assert_fraction (w, 1, 4);
    assert_int_equal (
        mig_weight (&site, "A100-40GB", "1c.3g.20gb", 10, MIG_MEMORY, &w, NULL),
        0);
    assert_fraction (w, 1, 6);
    assert_int_equal (mig_weight (&site, "H100-SXM5-80GB", "1g.10gb", 7,
                                  MIG_MEMORY, &w, NULL),
                      0);
    assert_fraction (w, 1, 7);
    /* the site's row speaks of the model under any of its names */
    assert_int_equal (
        mig_weight (&site, "H100-80GB", "1g.10gb", 7, MIG_MEMORY, &w, NULL), 0);
    assert_fraction (w, 1, 7);
}

TEST_CASE (mig_model__names_of_vendors__one_model)
{
    static const struct {
        const char *name, *model;
    } cases[] = {
        {"H100-SXM5-80GB", "H100-80GB"},
        {"H100-PCIe-80GB", "H100-80GB"},
        {"NVIDIA H100 80GB HBM3", "H100-80GB"},
        {"nvidia_a100-sxm4-80gb", "A100-80GB"},
        {"A100-SXM4-40GB", "A100-40GB"},
        {"H200-SXM-141GB", "H200-141GB"},
        {"NVIDIA GH200 480GB", "H100-96GB"},
        {"AMD Instinct MI300X", "MI300X-192GB"},
        {"AMD Instinct MI300X OAM", "MI300X-192GB"},
        {"mi300x", "MI300X-192GB"},
        {"instinct_mi300a", "MI300A-128GB"},
        {"MI355X-288GB", "MI355X-288GB"},
        {"AMD Instinct MI250X", NULL}, /* never cut */
        {"AMD", NULL},
        {"Intel(R) Data Center GPU Max 1550", NULL},
        {"H100", NULL}, /* 80, 94 or 96 GB */
        {"L40S", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        const char *model = mig_model (cases[i].name);
        if (cases[i].model)
            assert_string_equal (model, cases[i].model);
        else
            assert_null (model);
    }
}

TEST_MAIN (NULL, NULL)
