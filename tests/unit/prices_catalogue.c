/* The catalogue of cloud prices: what a row must have, which price holds on a day,
 * how old it is, and what is found wrong. */
#include "support/test.h"

#include <stdio.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "prices/catalogue.h"

#define HEAD CATALOGUE_HEADER "\n"

static int64_t day (const char *text)
{
    civil_t civil;

    assert_int_equal (calendar_parse_date (text, strlen (text), &civil), 0);
    return calendar_day_number (civil.year, civil.month, civil.day);
}

static int read_text (catalogue_t *catalogue, const char *text,
                      catalogue_findings_t *findings, gl_error_t *error)
{
    FILE *stream = fmemopen ((void *)text, strlen (text), "r");
    int rc = catalogue_read (catalogue, stream, "c.csv", findings, error);

    fclose (stream);
    catalogue_sort (catalogue);
    return rc;
}

static const char history[]
    = HEAD "a,x,r,H100-PCIe-80GB,2,on-demand,14,USD,2026-06-18,two,none\n"
           "a,x,r,H100-PCIe-80GB,2,on-demand,17.64,USD,2026-11-09,three,\n"
           "a,x,r,H100-PCIe-80GB,2,spot,3,USD,2026,one,\n"
           "a,x,r,H100-PCIe-80GB,2,on-demand,12,USD,2025-11,zero,\n";

TEST_CASE (newest__by_day__is_the_last_on_or_before_it)
{
    static const struct {
        const char *day, *source;
    } cases[] = {
        {"2025-10-31", NULL},    {"2025-11-01", "zero"},
        {"2026-06-17", "zero"},  {"2026-06-18", "two"},
        {"2026-11-08", "two"},   {"2026-11-09", "three"},
        {"2030-01-01", "three"},
    };
    catalogue_t c = {.count = 0};
    mpq_t half;

    assert_int_equal (read_text (&c, history, NULL, NULL), 0);
    assert_int_equal (c.count, 4);
    assert_int_equal (catalogue_offer_end (&c, 0), 3);
    assert_int_equal (catalogue_offer_end (&c, 3), 4);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        const catalogue_row_t *row
            = catalogue_newest (&c, 0, 3, day (cases[i].day));
        if (!cases[i].source)
            assert_null (row);
        else
            assert_string_equal (row->cell[CELL_SOURCE], cases[i].source);
    }
    mpq_init (half);
    mpq_set_si (half, 882, 100);
    mpq_canonicalize (half);
    assert_true (mpq_equal (c.row[2].per_gpu_hour, half));
    mpq_clear (half);
    catalogue_clear (&c);
}

TEST_CASE (age__at_its_limits__warns_then_refuses)
{
    static const struct {
        const char *day;
        int64_t days;
        catalogue_age_t age;
    } cases[] = {
        {"2026-06-01", 0, PRICE_CURRENT},    {"2026-06-18", 0, PRICE_CURRENT},
        {"2026-09-16", 90, PRICE_CURRENT},   {"2026-09-17", 91, PRICE_AGEING},
        {"2027-06-17", 364, PRICE_AGEING},   {"2027-06-18", 365, PRICE_EXPIRED},
        {"2036-06-18", 3653, PRICE_EXPIRED},
    };
    catalogue_t c = {.count = 0};

    assert_int_equal (read_text (&c, history, NULL, NULL), 0);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        assert_int_equal (catalogue_age_days (&c.row[1], day (cases[i].day)),
                          cases[i].days);
        assert_int_equal (catalogue_age (&c.row[1], day (cases[i].day)),
                          cases[i].age);
    }
    catalogue_clear (&c);
}

TEST_CASE (names__of_paths_models_and_plans__match_whole_parts)
{
    catalogue_t c = {.count = 0};
    const catalogue_row_t *row;

    assert_int_equal (read_text (&c, history, NULL, NULL), 0);
    row = &c.row[0];
    assert_true (catalogue_in_path (row, "a"));
    assert_true (catalogue_in_path (row, "a/x"));
    assert_true (catalogue_in_path (row, "a/x/r"));
    assert_true (catalogue_in_path (row, "a/x/r/"));
    assert_false (catalogue_in_path (row, "a/x/r2"));
    assert_false (catalogue_in_path (row, "aa"));
    assert_false (catalogue_in_path (row, "b/x"));
    assert_true (catalogue_is_gpu ("H100-PCIe-80GB", "h100"));
    assert_true (catalogue_is_gpu ("H100-PCIe-80GB", "H100-80GB"));
    assert_false (catalogue_is_gpu ("H100-PCIe-80GB", "H100-SXM5-80GB"));
    assert_false (catalogue_is_gpu ("H100-PCIe-80GB", "H10"));
    assert_false (catalogue_is_gpu ("L40S", "L4"));
    assert_true (catalogue_has_plan (row, "on-demand"));
    assert_false (catalogue_has_plan (row, "committed"));
    assert_int_equal (catalogue_check_plan ("committed-36m", NULL), 0);
    assert_int_equal (catalogue_check_plan ("committed-0y", NULL), -1);
    assert_int_equal (catalogue_check_plan ("committed-1yy", NULL), -1);
    assert_int_equal (catalogue_check_plan ("reserved", NULL), -1);
    catalogue_clear (&c);
}

/* Each row with one wrong cell; `word` is the finding. */
TEST_CASE (read__wrong_cells__are_errors_with_their_line)
{
    static const struct {
        const char *row, *word, *text;
    } cases[] = {
        {",x,r,T4,1,spot,1,USD,2026,s,", "malformed", "'provider' is empty"},
        {"a/b,x,r,T4,1,spot,1,USD,2026,s,", "malformed", "'/'"},
        {"a,x,r,T4,0,spot,1,USD,2026,s,", "malformed", "'gpus' is '0'"},
        {"a,x,r,T4,1.5,spot,1,USD,2026,s,", "malformed", "'gpus' is '1.5'"},
        {"a,x,r,T4,1,later,1,USD,2026,s,", "malformed", "'plan' is 'later'"},
        {"a,x,r,T4,1,spot,0,USD,2026,s,", "malformed", "above 0"},
        {"a,x,r,T4,1,spot,-1,USD,2026,s,", "malformed", "above 0"},
        {"a,x,r,T4,1,spot,1e3,USD,2026,s,", "malformed", "above 0"},
        {"a,x,r,T4,1,spot,nan,USD,2026,s,", "malformed", "above 0"},
        {"a,x,r,T4,1,spot,1,usd,2026,s,", "malformed", "currency code"},
        {"a,x,r,T4,1,spot,1,USD,,s,", "no-date", "'as_of' is empty"},
        {"a,x,r,T4,1,spot,1,USD,2026-02-30,s,", "malformed", "2026-02-30"},
        {"a,x,r,T4,1,spot,1,USD,2026,,", "no-source", "'source' is empty"},
        {"a,x,r,T4,1,spot,1,USD,2026,s", "malformed", "it has 10 cells"},
        {"a,x,r,T4,1,spot,1,USD,2026,s,,", "malformed", "it has 12 cells"},
        {"a,x,r,T4,1,spot,1,USD,2026,s\033[2J,", "malformed", "control"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = xasprintf (
            HEAD "a,x,r,T4,1,spot,1,USD,2026,s,\n%s\n", cases[i].row);
        catalogue_findings_t findings = {.count = 0};
        catalogue_t strict = {.count = 0}, lenient = {.count = 0};
        gl_error_t error;

        assert_int_equal (read_text (&strict, text, NULL, &error), -1);
        assert_non_null (strstr (error.text, "c.csv:3: "));
        assert_non_null (strstr (error.text, cases[i].text));
        assert_int_equal (read_text (&lenient, text, &findings, &error), 0);
        assert_int_equal (lenient.count, 1);
        assert_int_equal (findings.count, 1);
        assert_string_equal (findings.item[0].word, cases[i].word);
        assert_string_equal (findings.item[0].place, "c.csv:3");
        catalogue_findings_clear (&findings);
        catalogue_clear (&strict);
        catalogue_clear (&lenient);
    }
}

TEST_CASE (read__files_that_are_none__are_refused)
{
    static const char *const texts[]
        = {"\n", "provider,instance\n", HEAD "\"a,x\n",
           "instance,provider,region,gpu,gpus,plan,price_per_hour,currency,"
           "as_of,source,licence\n"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        catalogue_findings_t findings = {.count = 0};
        catalogue_t c = {.count = 0};
        gl_error_t error;
        assert_int_equal (read_text (&c, texts[i], &findings, &error), -1);
        assert_int_equal (strncmp (error.text, "c.csv:", 6), 0);
        catalogue_findings_clear (&findings);
        catalogue_clear (&c);
    }
}

TEST_CASE (check__one_mistake_each__finds_it)
{
    static const struct {
        const char *row, *words;
    } cases[] = {
        {"b,x,r,T4,1,spot,1,USD,2026-10-01,s,", ""},
        {"b,x,r,T4,1,spot,1,USD,2025-11-27,s,", ""},
        {"b,x,r,T4,1,spot,1,USD,2025-11-26,s,", "too-old "},
        {"a,x,r,T4,1,spot,2,USD,2024-01-01,s,", ""}, /* history */
        {"b,x,r,T4,1,spot,1,USD,2026-11-27,s,", "future "},
        {"a,x,r,T4,1,spot,2,USD,2026-10,s,", "duplicate "},
        {"b,x,r,H100,1,spot,1,USD,2026-10-01,s,", "unknown-gpu "},
        {"b,x,r,t4,1,spot,1,USD,2026-10-01,s,", "unknown-gpu "},
        {"b,x,r,T4,1,spot,1,EUR,2026-10-01,s,", "currencies "},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = xasprintf (
            HEAD "a,x,r,T4,1,spot,1,USD,2026-10-01,s,\n%s\n", cases[i].row);
        catalogue_findings_t findings = {.count = 0};
        catalogue_t c = {.count = 0};
        char words[200] = "";

        assert_int_equal (read_text (&c, text, NULL, NULL), 0);
        catalogue_check (&c, day ("2026-11-26"), &findings);
        for (size_t k = 0; k < findings.count; k++) {
            strcat (words, findings.item[k].word);
            strcat (words, " ");
            assert_string_equal (findings.item[k].place, "c.csv:3");
        }
        assert_string_equal (words, cases[i].words);
        catalogue_findings_clear (&findings);
        catalogue_clear (&c);
    }
}

/* --- clouds ----------------------------------------------------------------- */

static site_t *site_with (const char *offer, const char *gpu, const char *term,
                          const char *as_of)
{
    site_t *site = site_default ();

    site->clouds = xcalloc (1, sizeof (*site->clouds));
    site->cloud_count = 1;
    site->clouds[0] = (site_cloud_t){.name = xstrdup ("c"),
                                     .gpu = xstrdup (gpu),
                                     .catalogue = xstrdup (offer),
                                     .term = xstrdup (term),
                                     .as_of = xstrdup (as_of),
                                     .place = {"site.yaml", 7}};
    mpq_init (site->clouds[0].per_gpu_hour);
    return site;
}

TEST_CASE (fill__entries_of_clouds__get_the_price_of_their_plan_and_day)
{
    static const struct {
        const char *offer, *gpu, *term, *as_of, *day;
        const char *filled; /* as_of of the row; "!" and a part of the error */
    } cases[] = {
        {"a/x/r", "H100-PCIe-80GB", NULL, NULL, "2026-11-26", "2026-11-09"},
        {"a/x/r", "H100-PCIe-80GB", NULL, NULL, "2026-11-08", "2026-06-18"},
        {"a/x", "H100-PCIe-80GB", "on-demand", NULL, "2026-11-08",
         "2026-06-18"},
        {"a/x/r", "H100-PCIe-80GB", "spot", NULL, "2026-11-08", "2026"},
        {"a/x/r", "H100-PCIe-80GB", NULL, "2026-06", "2026-11-26",
         "2026-06-18"},
        {"a/x/r", "H100-PCIe-80GB", NULL, "2025", "2026-11-26", "2025-11"},
        {"a/x/r", "H100-PCIe-80GB", NULL, "2026-11-09", "2020-01-01",
         "2026-11-09"},
        {"a/x/r", "H100-PCIe-80GB", NULL, NULL, "2025-10-31",
         "!2025-11, which"},
        {"a/x/r", "H100-PCIe-80GB", "3y", NULL, "2026-11-26", "!committed-3y"},
        {"a/y/r", "H100-PCIe-80GB", NULL, NULL, "2026-11-26", "!no price of"},
        {"a/x/r", "H100-SXM5-80GB", NULL, NULL, "2026-11-26", "!another GPU"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = site_with (cases[i].offer, cases[i].gpu, cases[i].term,
                                  cases[i].as_of);
        const char *wanted = cases[i].filled;
        catalogue_t c = {.count = 0};
        gl_error_t error;
        int rc = read_text (&c, history, NULL, NULL);

        assert_int_equal (rc, 0);
        for (int again = 0; again < 2; again++) {
            rc = catalogue_fill_clouds (&c, site, day (cases[i].day), &error);
            assert_int_equal (rc, *wanted == '!' ? -1 : 0);
            if (rc == 0)
                assert_string_equal (site->clouds[0].as_of, wanted);
            else
                assert_non_null (strstr (error.text, wanted + 1));
            if (rc < 0)
                assert_non_null (strstr (error.text, "site.yaml:7"));
        }
        catalogue_clear (&c);
        site_free (site);
    }
}

/* --- traffic ------------------------------------------------------------------ */

#define EGRESS_HEAD CATALOGUE_EGRESS_HEADER "\n"

TEST_CASE (egress__tiers__are_of_one_day_and_in_order)
{
    static const char tiers[] = EGRESS_HEAD
        "a,r,10240,GB,0.08,USD,2026-06-01,new,\n"
        "a,r,0,GB,0.09,USD,2026-06-01,new,\n"
        "a,r,0,GB,0.10,USD,2025-06-01,old,\n"
        "a,r,5000,GB,0.07,USD,2025-06-01,old,\n"
        "a,r,153600,GB,0.05,USD,2026-06-01,new,\n"
        "a,q,0,GiB,0.11,USD,2026-06-01,other,\n"
        "a,e,0,GB,0.11,EUR,2026-06-01,euro,\n";
    static const struct {
        const char *offer, *day;
        const char *as_of; /* NULL: none */
        size_t tiers;
        const char *last; /* the highest tier */
        bool binary;
    } cases[] = {
        {"a/x/r", "2026-11-26", "2026-06-01", 3, "153600", false},
        {"a/x/r", "2026-05-31", "2025-06-01", 2, "5000", false},
        {"a/x/r", "2025-05-31", NULL, 0, NULL, false},
        {"a/x/q", "2026-11-26", "2026-06-01", 1, "0", true},
        {"a/x/e", "2026-11-26", NULL, 0, NULL, false}, /* another currency */
        {"a/x", "2026-11-26", NULL, 0, NULL, false},
        {"a/r", "2026-11-26", NULL, 0, NULL, false},
        {"b/x/r", "2026-11-26", NULL, 0, NULL, false},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = site_with (cases[i].offer, "T4", NULL, NULL);
        const site_egress_t *egress = &site->clouds[0].egress;
        catalogue_t c = {.kind = CATALOGUE_EGRESS};
        assert_int_equal (read_text (&c, tiers, NULL, NULL), 0);
        for (int again = 0; again < 2; again++)
            catalogue_fill_egress (&c, site, day (cases[i].day));
        assert_int_equal (egress->tiers.count, 2 * cases[i].tiers);
        assert_int_equal (egress->binary, cases[i].binary);
        if (cases[i].as_of) {
            assert_string_equal (egress->as_of, cases[i].as_of);
            assert_string_equal (egress->tiers.item[0], "0");
            assert_string_equal (
                egress->tiers.item[egress->tiers.count - 2], cases[i].last);
        } else
            assert_null (egress->as_of);
        catalogue_clear (&c);
        site_free (site);
    }
}

TEST_CASE (egress__wrong_cells__are_errors)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {HEAD, "must be " CATALOGUE_EGRESS_HEADER},
        {EGRESS_HEAD "a,,0,GB,1,USD,2026,s,\n", "'region' is empty"},
        {EGRESS_HEAD "a,r,-1,GB,1,USD,2026,s,\n", "'above' is '-1'"},
        {EGRESS_HEAD "a,r,0,TB,1,USD,2026,s,\n", "'unit' is 'TB'"},
        {EGRESS_HEAD "a,r,0,GB,0,USD,2026,s,\n", "a price above 0"},
        {EGRESS_HEAD "a,r,0,GB,1,USD,,s,\n", "'as_of' is empty"},
        {EGRESS_HEAD "a,r,0,GB,1,USD,2026,,\n", "'source' is empty"},
        {EGRESS_HEAD "a,r,0,GB,1,USD,2026,s\n", "it has 8 cells"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        catalogue_t c = {.kind = CATALOGUE_EGRESS};
        gl_error_t error;
        assert_int_equal (read_text (&c, cases[i].text, NULL, &error), -1);
        assert_non_null (strstr (error.text, cases[i].error));
        catalogue_clear (&c);
    }
}

TEST_MAIN (NULL, NULL)
