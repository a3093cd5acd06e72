/* charges.c: any text as a file with charges of other services, CSV or FOCUS. What is
 * taken has all that a bill needs, once for each source and reference; each row that is
 * not says where it is. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "import/charges.h"

static char dir[] = "/tmp/gpuledger-fuzz.XXXXXX";

static void remove_store (void)
{
    static const char *const files[]
        = {"db",        "db-wal",        "db-shm",
           "db-ledger", "db-ledger-wal", "db-ledger-shm"};

    for (size_t i = 0; i < sizeof (files) / sizeof (*files); i++) {
        GL_AUTOFREE char *path = xasprintf ("%s/%s", dir, files[i]);
        unlink (path);
    }
    rmdir (dir);
}

/* A store that knows one account. */
static store_t *make_store (void)
{
    GL_AUTOFREE char *url = NULL;
    const store_account_t account = {.cluster = "lab", .name = "nlp"};
    store_t *store;

    REQUIRE (mkdtemp (dir));
    atexit (remove_store);
    url = xasprintf ("sqlite:%s/db", dir);
    REQUIRE (store_init (url, NULL, NULL) == 0);
    REQUIRE ((store = store_open (url, 0, NULL)));
    REQUIRE (store_begin (store, NULL) == 0);
    REQUIRE (store_put_account (store, &account, 1, NULL, NULL) == 0);
    REQUIRE (store_commit (store, NULL) == 0);
    return store;
}

static site_t *make_site (void)
{
    static const char text[]
        = "ledger: {timezone: Europe/Oslo, currency: EUR}\n"
          "teams: [{name: vision, accounts: [vision]},"
          " {name: language, accounts: [nlp], to: 2027-01-01}]\n";
    site_t *site;

    REQUIRE (config_load_text ("site", text, strlen (text), &site, NULL) == 0);
    return site;
}

static void count_problem (const char *text, void *arg)
{
    size_t *count = arg;

    REQUIRE (strncmp (text, "input:", 6) == 0);
    (*count)++;
}

/* quantity x price is the amount, but for what rounding may take. */
static void check_amount (const service_t *s)
{
    mpq_t quantity, price, amount, most;

    mpq_inits (quantity, price, amount, most, NULL);
    REQUIRE (exact_parse (s->quantity, quantity, NULL) == 0);
    REQUIRE (exact_parse (s->price, price, NULL) == 0);
    REQUIRE (exact_parse (s->amount, amount, NULL) == 0);
    REQUIRE (mpz_cmp_ui (mpq_denref (amount), 1) == 0);
    mpq_mul (quantity, quantity, price);
    mpq_set_ui (price, 100, 1);
    mpq_mul (quantity, quantity, price);
    mpq_sub (amount, amount, quantity);
    mpq_abs (amount, amount);
    mpq_set_ui (most, 1, 2);
    REQUIRE (mpq_cmp (amount, most) <= 0);
    mpq_clears (quantity, price, amount, most, NULL);
}

static void check_rows (const charges_t *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const service_t *s = &c->row[i];
        REQUIRE (s->source && s->reference && s->service && s->unit);
        REQUIRE (s->team || s->account);
        REQUIRE (s->day && strlen (s->day) == 10);
        REQUIRE (!s->charge || strcmp (s->charge, "credit") != 0
                 || s->amount[0] == '-' || !strcmp (s->amount, "0"));
        check_amount (s);
        for (size_t k = 0; k < i; k++)
            REQUIRE (strcmp (c->row[k].source, s->source) != 0
                     || strcmp (c->row[k].reference, s->reference) != 0);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static store_t *store;
    static site_t *site;
    size_t problems = 0;
    charges_t charges = {0};
    charges_options_t options
        = {.until = INT64_MAX, .ledger = INT64_MIN, .problem = count_problem};
    gl_error_t error = {0};
    FILE *stream;
    int rc;

    if (!store) {
        store = make_store ();
        site = make_site ();
    }
    if (size == 0)
        return 0; /* some fmemopen() refuse it */
    REQUIRE ((stream = fmemopen ((void *)data, size, "r")));
    options.site = site;
    options.store = store;
    options.arg = &problems;
    rc = charges_read (&charges, &options, stream, "input", &error);
    if (rc == 0)
        rc = charges_finish (&charges, &options, &error);
    REQUIRE (rc == 0 || error.text[0]);
    REQUIRE (problems == charges.problems);
    if (rc == 0)
        check_rows (&charges);
    charges_clear (&charges);
    fclose (stream);
    return 0;
}
