#include "base/exact.h"
#include "base/memory.h"
#include "report/energy_balance.h"

#define KWH_DIGITS 3

struct block {
    report_t *report;
    report_proof_t *proof;
};

static void put_text (struct block *b, const char *name, const char *title,
                      column_type_t type, const char *text)
{
    report_proof_line (b->proof, title, text);
    if (name)
        report_named_total (b->report, name, title, type, text);
}

static void put_kwh (struct block *b, const char *name, const char *title,
                     mpq_srcptr kwh)
{
    GL_AUTOFREE char *text = exact_text (kwh, KWH_DIGITS);

    put_text (b, name, title, COLUMN_ENERGY, text);
}

/* "residual (2.0 %)", of what the machines' meters counted. */
static void put_residual (struct block *b, const meter_balance_t *m)
{
    GL_AUTOFREE char *share = report_percent_text (m->residual, m->machines.kwh);
    GL_AUTOFREE char *title = xasprintf (
        "residual%s%s%s%s", m->rest_known ? "" : ", with the rest of the nodes",
        share ? ", " : "", share ? share : "", share ? " %" : "");

    put_kwh (b, "residual_kwh", title, m->residual);
}

static void put_machines (struct block *b, const meter_balance_t *m)
{
    if (m->devices_known) {
        put_kwh (b, NULL, "GPUs allocated to jobs", m->allocated);
        put_kwh (b, NULL, "idle GPUs", m->idle);
        if (mpq_sgn (m->unmatched))
            put_kwh (b, NULL, "GPUs of jobs that accounting does not have",
                     m->unmatched);
    }
    if (m->rest_known)
        put_kwh (b, "rest_of_nodes_kwh",
                 m->rest_metered ? "rest of the nodes, metered"
                                 : "rest of the nodes, by node_watts",
                 m->rest);
    put_residual (b, m);
    put_kwh (b, "machines_kwh", "the machines' meters", m->machines.kwh);
}

/* What falls on each price, where there are several. */
static void put_prices (struct block *b, const meter_prices_t *prices)
{
    for (size_t i = 0; i < prices->count && prices->count > 1; i++) {
        GL_AUTOFREE char *price = exact_shortest (prices->price[i].per_kwh);
        GL_AUTOFREE char *title = xasprintf ("of it at %s a kWh", price);
        put_kwh (b, NULL, title, prices->price[i].kwh);
    }
}

static void put_bill (struct block *b, const meter_balance_t *m,
                      const meter_prices_t *prices, const site_t *site)
{
    GL_AUTOFREE char *title
        = xasprintf ("at the tariff, %s", site->currency);
    GL_AUTOFREE char *bill = exact_text (m->bill, site->currency_digits);

    put_kwh (b, "with_pue_kwh", "x PUE", m->with_pue);
    put_prices (b, prices);
    put_text (b, "energy_bill", title, COLUMN_MONEY, bill);
}

static void note_covered (report_t *report, const char *what,
                          const meter_sum_t *sum)
{
    mpq_t percent;

    mpq_init (percent);
    exact_add_scaled (percent, sum->covered, 100, 1);
    GL_AUTOFREE char *share = exact_text (percent, 1);
    bool whole = mpq_cmp_ui (percent, 100, 1) == 0;
    mpq_clear (percent);
    if (!sum->known || whole)
        return;
    report_note (report, NOTE_WARNING,
                 "The meters of %s were read for %s %% of the period: what is "
                 "compared with them is of all of it.",
                 what, share);
}

static bool is_whole (const meter_sum_t *sum)
{
    return sum->known && mpq_cmp_ui (sum->covered, 1, 1) == 0;
}

/* Facility / machines: what the PUE in the cost book is to be compared with; of
 * all of the period, or not at all. */
static void put_facility (struct block *b, const meter_balance_t *m)
{
    mpq_t pue;

    put_kwh (b, "facility_kwh", "the facility's meters", m->facility.kwh);
    if (!is_whole (&m->machines) || !is_whole (&m->facility)
        || mpq_sgn (m->machines.kwh) == 0)
        return;
    mpq_init (pue);
    mpq_div (pue, m->facility.kwh, m->machines.kwh);
    GL_AUTOFREE char *text = exact_text (pue, 4);
    put_text (b, NULL, "PUE, measured: facility / machines", COLUMN_TEXT, text);
    mpq_clear (pue);
}

void energy_balance_put (report_t *report, const report_query_t *query,
                         const meter_balance_t *m,
                         const meter_prices_t *prices)
{
    struct block b = {.report = report};

    if (!m->machines.known && !m->facility.known)
        return;
    b.proof = report_proof (report, "Against the meters, kWh");
    b.proof->holds = true;
    if (m->machines.known)
        put_machines (&b, m);
    if (m->priced)
        put_bill (&b, m, prices, query->site);
    if (m->facility.known)
        put_facility (&b, m);
    if (m->machines.known && !m->priced)
        report_note (report, NOTE_INFORMATION,
                     "No bill is made of the meters: not every reading has one "
                     "PUE and one tariff for all pools.");
    note_covered (report, "the machines", &m->machines);
    note_covered (report, "the nodes", &m->nodes);
    note_covered (report, "the facility", &m->facility);
}
