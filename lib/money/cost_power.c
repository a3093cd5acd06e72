#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"
#include "money/tariff.h"

#define MJ_PER_KWH INT64_C (3600000000)

struct bill {
    const site_t *site;
    const site_tariff_t *payer; /* what those pay who pay for it, too */
    mpq_t amount;
    buffer_t *how;
};

/* The same funds in the same shares, for rates to recover the same of. */
static bool same_payer (const site_tariff_t *a, const site_tariff_t *b)
{
    const share_list_t *x = &a->funding, *y = &b->funding;
    bool same = x->count == y->count && mpq_equal (a->recoverable, b->recoverable);

    for (size_t i = 0; i < x->count && same; i++)
        same = !strcmp (x->item[i].name, y->item[i].name)
               && mpq_equal (x->item[i].share, y->item[i].share);
    return same;
}

/* ---- what is drawn evenly ---- */

/* "560 W x 8 GPUs", or with the nodes in addition. */
static char *load_text (const struct load *load)
{
    GL_AUTOFREE char *watts = exact_shortest (load->watts);
    GL_AUTOFREE char *node = exact_shortest (load->power->node_watts);

    if (mpq_sgn (load->power->node_watts) == 0)
        return xasprintf ("%s W x %llu GPUs", watts,
                          (unsigned long long)load->gpus);
    return xasprintf ("(%s W x %llu GPUs + %s W x %llu nodes)", watts,
                      (unsigned long long)load->gpus, node,
                      (unsigned long long)load->nodes);
}

static void add_price (struct bill *bill, const struct load *load,
                       mpq_srcptr price, int64_t seconds)
{
    GL_AUTOFREE char *drawn = load_text (load);
    GL_AUTOFREE char *pue = exact_shortest (load->power->pue);
    GL_AUTOFREE char *per_kwh = exact_shortest (price);
    mpq_t one;

    mpq_init (one);
    mpq_mul (one, load->all, load->power->pue);
    mpq_mul (one, one, price);
    exact_add_scaled (bill->amount, one, seconds, INT64_C (3600) * 1000);
    mpq_clear (one);
    buffer_printf (bill->how, "%s%s x %lld s x PUE %s x %s per kWh",
                   bill->how->length ? "; " : "", drawn, (long long)seconds,
                   pue, per_kwh);
}

static void add_tariff (struct bill *bill, const struct load *load,
                        const site_tariff_t *tariff, period_t part)
{
    int64_t *seconds = xcalloc (tariff->time_count + 1, sizeof (*seconds));

    tariff_seconds (bill->site, tariff, part, seconds);
    for (size_t i = 0; i <= tariff->time_count; i++)
        if (seconds[i] > 0)
            add_price (bill, load, tariff_price (tariff, i), seconds[i]);
    free (seconds);
}

static int price_load (const struct load *load, void *arg, gl_error_t *error)
{
    struct bill *bill = arg;
    char stamp[ZONE_STAMP_SIZE];
    int64_t covered = 0;

    for (size_t i = 0; i < bill->site->tariff_count; i++) {
        const site_tariff_t *tariff = &bill->site->tariffs[i];
        period_t part = period_clip (load->period, tariff->valid);
        if (period_seconds (part) == 0
            || strcmp (tariff->name, load->power->tariff) != 0)
            continue;
        if (same_payer (bill->payer, tariff))
            add_tariff (bill, load, tariff, part);
        covered += period_seconds (part);
    }
    if (covered != period_seconds (load->period))
        return gl_error (error,
                         "tariff '%s' does not hold in the whole period from "
                         "%s on, in which pool '%s' needs it; give its dates "
                         "without a gap",
                         load->power->tariff,
                         zone_stamp (bill->site->zone, load->period.start,
                                     stamp),
                         load->power->pool);
    return 0;
}

/* ---- what was measured when ---- */

/* The stretches of one price, and the energy of each price on its way. */
struct windows {
    struct window {
        period_t period;
        size_t price;
    } *window;
    size_t count;
    mpz_t *scaled; /* millijoules x LOAD_SECONDS */
    mpz_t one;
};

static void take_window (period_t period, size_t price, void *arg)
{
    struct windows *w = arg;

    w->window = xreallocarray (w->window, w->count + 1, sizeof (*w->window));
    w->window[w->count++] = (struct window){period, price};
}

/* The windows from the first quarter to the end of the last. */
static void windows_init (struct windows *w, const struct bill *bill,
                          const site_tariff_t *tariff, const pool_load_t *load,
                          size_t first, size_t end)
{
    period_t quarters = {load->start + (int64_t)first * LOAD_SECONDS,
                         load->start + (int64_t)end * LOAD_SECONDS};

    *w = (struct windows){.count = 0};
    mpz_init (w->one);
    w->scaled = xcalloc (tariff->time_count + 1, sizeof (*w->scaled));
    for (size_t i = 0; i <= tariff->time_count; i++)
        mpz_init (w->scaled[i]);
    tariff_each (bill->site, tariff, period_clip (quarters, tariff->valid),
                 take_window, w);
}

static void windows_clear (struct windows *w, const site_tariff_t *tariff)
{
    for (size_t i = 0; i <= tariff->time_count; i++)
        mpz_clear (w->scaled[i]);
    mpz_clear (w->one);
    free (w->scaled);
    free (w->window);
}

/* A quarter within which the price changes has it by time. *at: the window that
 * holds its beginning, or one before; what the last does not reach is its. */
static void place_quarter (struct windows *w, size_t *at, int64_t start,
                           uint64_t energy_mj)
{
    exact_set_u128 (w->one, energy_mj);
    for (int64_t from = start, to; from < start + LOAD_SECONDS; from = to) {
        mpz_t *sum;
        while (*at + 1 < w->count && w->window[*at].period.end <= from)
            ++*at;
        to = start + LOAD_SECONDS;
        if (*at + 1 < w->count && w->window[*at].period.end < to)
            to = w->window[*at].period.end;
        sum = &w->scaled[w->window[*at].price];
        mpz_addmul_ui (*sum, w->one, (unsigned long)(to - from));
    }
}

static void add_measured_price (struct bill *bill, const site_power_t *power,
                                const mpz_t scaled, mpq_srcptr price)
{
    mpq_t kwh;

    if (mpz_sgn (scaled) == 0)
        return;
    mpq_init (kwh);
    mpz_set (mpq_numref (kwh), scaled);
    mpz_set_ui (mpq_denref (kwh), LOAD_SECONDS * MJ_PER_KWH);
    mpq_canonicalize (kwh);
    GL_AUTOFREE char *energy = exact_shortest (kwh);
    GL_AUTOFREE char *pue = exact_shortest (power->pue);
    GL_AUTOFREE char *per_kwh = exact_shortest (price);
    mpq_mul (kwh, kwh, power->pue);
    mpq_mul (kwh, kwh, price);
    mpq_add (bill->amount, bill->amount, kwh);
    mpq_clear (kwh);
    buffer_printf (bill->how,
                   "%s%s kWh measured at this price x PUE %s x %s per kWh",
                   bill->how->length ? "; " : "", energy, pue, per_kwh);
}

/* The quarters that begin in the part, in which the tariff holds. */
static void price_quarters (struct bill *bill, const site_power_t *power,
                            const site_tariff_t *tariff, period_t part,
                            const pool_load_t *load)
{
    size_t first = pool_load_index (load, part.start), at = 0;
    size_t end = pool_load_index (load, part.end);
    struct windows w;

    if (first >= end)
        return;
    windows_init (&w, bill, tariff, load, first, end);
    for (size_t i = first; i < end; i++)
        if (load->energy_mj[i] > 0)
            place_quarter (&w, &at, load->start + (int64_t)i * LOAD_SECONDS,
                           load->energy_mj[i]);
    for (size_t i = 0; i <= tariff->time_count; i++)
        add_measured_price (bill, power, w.scaled[i], tariff_price (tariff, i));
    windows_clear (&w, tariff);
}

static void price_measured (struct bill *bill, const char *pool,
                            period_t period, const cost_inputs_t *inputs)
{
    for (size_t i = 0; i < bill->site->power_count; i++) {
        const site_power_t *power = &bill->site->power[i];
        const pool_load_t *load = cost_measured_load (power, inputs);
        if (!load || strcmp (power->pool, pool) != 0)
            continue;
        for (size_t k = 0; k < bill->site->tariff_count; k++) {
            const site_tariff_t *tariff = &bill->site->tariffs[k];
            period_t part = period_clip (period_clip (period, power->valid),
                                         tariff->valid);
            if (period_seconds (part) > 0
                && !strcmp (tariff->name, power->tariff)
                && same_payer (bill->payer, tariff))
                price_quarters (bill, power, tariff, part, load);
        }
    }
}

/* ---- the lines ---- */

static place_t first_place (const site_t *site, const char *pool)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (!strcmp (site->power[i].pool, pool))
            return site->power[i].place;
    return (place_t){NULL, 0};
}

/* What the pool draws and the payers of one tariff pay for. */
static int add_payer (const site_t *site, const char *pool, period_t period,
                      const cost_inputs_t *inputs, const site_tariff_t *payer,
                      cost_t *cost, gl_error_t *error)
{
    BUFFER_AUTO how = BUFFER_INIT;
    struct bill bill = {.site = site, .payer = payer, .how = &how};
    struct item item = {.kind = COST_POWER, .name = "power",
                        .amount = bill.amount,
                        .recoverable = payer->recoverable,
                        .funding = &payer->funding,
                        .place = first_place (site, pool)};
    int rc;

    mpq_init (bill.amount);
    rc = cost_each_load (site, pool, period, inputs, price_load, &bill, error);
    if (rc == 0)
        price_measured (&bill, pool, period, inputs);
    item.how = buffer_text (&how);
    if (rc == 0)
        cost_add_line (site, cost, &item);
    mpq_clear (bill.amount);
    return rc;
}

int cost_add_power (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error)
{
    struct bill unpaid = {.site = site};

    if (site->tariff_count == 0
        && cost_each_load (site, pool, period, inputs, price_load, &unpaid,
                           error)
               < 0)
        return -1;
    for (size_t i = 0; i < site->tariff_count; i++) {
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = same_payer (&site->tariffs[k], &site->tariffs[i]);
        if (!again
            && add_payer (site, pool, period, inputs, &site->tariffs[i], cost,
                          error)
                   < 0)
            return -1;
    }
    return cost_add_fees (site, pool, period, inputs, cost, error);
}
