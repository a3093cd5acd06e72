#include <stdio.h>
#include <unistd.h>

#include "support/test.h"

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"

static char directory[] = "/tmp/gpuledger-overlay.XXXXXX";

static const char base[]
    = "ledger: {timezone: Europe/Oslo, currency: EUR}\n"
      "policy: {idle: explicit, utilization: 70%}\n"
      "pools:\n"
      "  - {name: h100, nodes: g1, gres: [h100], gpus_per_node: 8}\n"
      "  - {name: a100, nodes: a1, gres: [a100], gpus_per_node: 4}\n"
      "rates:\n"
      "  - {pool: h100, per_gpu_hour: 3, to: 2026-01-01}\n"
      "  - {pool: h100, per_gpu_hour: 4, from: 2026-01-01}\n"
      "  - {pool: h100, qos: high, per_gpu_hour: 6}\n"
      "  - {pool: a100, per_gpu_hour: 2}\n";

static char *put (const char *name, const char *text)
{
    char *path = xasprintf ("%s/%s", directory, name);
    FILE *fp = fopen (path, "w");

    assert_non_null (fp);
    fputs (text, fp);
    fclose (fp);
    return path;
}

static int load (const char *overlay, site_t **ret_site, gl_error_t *error)
{
    GL_AUTOFREE char *site = put ("site.yaml", base);
    GL_AUTOFREE char *change = put ("change.yaml", overlay);

    return config_load_overlay (site, change, ret_site, error);
}

static site_t *loaded (const char *overlay)
{
    gl_error_t error;
    site_t *site = NULL;

    if (load (overlay, &site, &error) < 0)
        fail_msg ("%s", error.text);
    return site;
}

/* "pool/qos=price" of all rates, in their order. */
static void assert_rates (const site_t *site, const char *expected)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        GL_AUTOFREE char *price = exact_shortest (rate->per_gpu_hour);
        buffer_printf (&out, "%s%s%s%s=%s", i ? " " : "", rate->pool,
                       rate->qos ? "/" : "", rate->qos ? rate->qos : "", price);
    }
    assert_string_equal (buffer_text (&out), expected);
}

TEST_CASE (overlay__nothing_or_the_same__the_same_site)
{
    static const char *const texts[] = {"", "# nothing\n", base};

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        site_t *site = loaded (texts[i]);
        assert_rates (site, "h100=3 h100=4 h100/high=6 a100=2");
        assert_int_equal (site->pool_count, 2);
        assert_int_equal (site->policy.idle, IDLE_EXPLICIT);
        site_free (site);
    }
}

TEST_CASE (overlay__entry_of_the_same_name__replaces_all_of_it)
{
    site_t *site = loaded ("rates: [{pool: h100, per_gpu_hour: 5}]\n");

    assert_rates (site, "h100/high=6 a100=2 h100=5");
    assert_string_equal (strrchr (site->rates[2].place.file, '/'),
                         "/change.yaml");
    site_free (site);
    site = loaded ("rates: [{pool: h100, qos: high, per_gpu_hour: 5}, "
                   "{pool: h100, qos: low, per_gpu_hour: 1}]\n");
    assert_rates (site, "h100=3 h100=4 a100=2 h100/high=5 h100/low=1");
    site_free (site);
}

TEST_CASE (overlay__key_of_a_mapping__replaces_it_alone)
{
    site_t *site = loaded ("policy: {idle: in-rate}\n");
    mpq_t seventy;

    assert_int_equal (site->policy.idle, IDLE_IN_RATE);
    mpq_init (seventy);
    mpq_set_ui (seventy, 7, 10);
    assert_true (mpq_equal (site->policy.utilization, seventy));
    mpq_clear (seventy);
    assert_string_equal (site->currency, "EUR");
    site_free (site);
}

/* Errors name the overlay's own lines, or what in the site no longer holds. */
TEST_CASE (overlay__what_is_wrong__file_and_line)
{
    static const struct {
        const char *overlay;
        const char *error;
    } cases[] = {
        {"policy: {idel: in-rate}\n", "/change.yaml:1: unknown key 'idel'"},
        {"\nrate: []\n", "/change.yaml:2: unknown section 'rate'"},
        {"rates: {pool: h100}\n", "/change.yaml:1: `rates` must be a list"},
        {"rates:\n  - {per_gpu_hour: 3}\n", "/change.yaml:2: an entry of `rates`"
                                           " lacks `pool`"},
        {"rates: [x]\n", "/change.yaml:1: an entry of `rates` must be"},
        {"rates: [{pool: b200, per_gpu_hour: 3}]\n", "/change.yaml:1: "},
        {"rates: [{pool: h100, per_gpu_hour: 3}, {pool: h100, per_gpu_hour: "
         "4}]\n", "/change.yaml:1: "},
        {"policy: {idle: [a]}\n", "/change.yaml:1: `idle` must be"},
        {"- a\n", "/change.yaml:1: a configuration is a mapping"},
        {"a: *b\n", "/change.yaml:1: "},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        gl_error_t error = {{0}};
        site_t *site = NULL;
        if (load (cases[i].overlay, &site, &error) == 0)
            fail_msg ("taken: %s", cases[i].overlay);
        if (!strstr (error.text, cases[i].error))
            fail_msg ("%s: %s", cases[i].overlay, error.text);
    }
}

static int begin (void **state)
{
    (void)state;
    return mkdtemp (directory) ? 0 : -1;
}

static int end (void **state)
{
    GL_AUTOFREE char *command = xasprintf ("rm -r %s", directory);

    (void)state;
    return system (command);
}

TEST_MAIN (begin, end)
