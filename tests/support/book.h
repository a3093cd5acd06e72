/* book.h: a site with a cost book, made in memory, for tests of the rooms from lib/site to lib/planning. */
#ifndef GL_TESTS_SUPPORT_BOOK_H
#define GL_TESTS_SUPPORT_BOOK_H

#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "site/site.h"

static const period_t book_always = {SITE_ALWAYS_START, SITE_ALWAYS_END};

/* A zeroed entry at the end of one of the site's arrays. */
#define BOOK_NEW(array, count)                                                 \
    ({                                                                         \
        (array) = xreallocarray ((array), (count) + 1, sizeof (*(array)));     \
        memset (&(array)[count], 0, sizeof (*(array)));                        \
        &(array)[(count)++];                                                   \
    })

static inline void book_number (mpq_t value, const char *text)
{
    gl_error_t error;

    mpq_init (value);
    if (exact_parse_ratio (text, value, &error) < 0)
        fail_msg ("%s", error.text);
}

/* As the cost book rounds what an entry costs in all. */
static inline void book_cents (mpq_t amount)
{
    mpz_t units;

    mpz_init (units);
    exact_round_half_up (units, amount, 2);
    mpz_set (mpq_numref (amount), units);
    mpz_set_ui (mpq_denref (amount), 100);
    mpq_canonicalize (amount);
    mpz_clear (units);
}

static inline site_t *book_new (const char *zone)
{
    site_t *site = site_default ();
    gl_error_t error;

    zone_close (site->zone);
    site->zone = zone_open (zone, &error);
    if (!site->zone)
        fail_msg ("%s", error.text);
    return site;
}

static inline site_pool_t *book_pool (site_t *site, const char *name,
                                      const char *nodes, int64_t gpus)
{
    site_pool_t *pool = BOOK_NEW (site->pools, site->pool_count);

    pool->name = xstrdup (name);
    pool->nodes = xstrdup (nodes);
    pool->gpu = xstrdup ("H100-SXM5-80GB");
    pool->gpus_per_node = gpus;
    book_number (pool->interruptible, "0");
    pool->valid = book_always;
    return pool;
}

static inline site_asset_t *book_asset (site_t *site, const char *pool,
                                        const char *units, const char *price,
                                        const char *salvage, civil_t first,
                                        int months)
{
    site_asset_t *asset = BOOK_NEW (site->assets, site->asset_count);

    asset->name = xstrdup ("asset");
    asset->pool = xstrdup (pool);
    book_number (asset->units, units);
    book_number (asset->price, price);
    book_number (asset->salvage, salvage);
    book_number (asset->recoverable, "1");
    mpq_inits (asset->proceeds, asset->expected_gpu_hours, NULL);
    asset->in_service = first;
    asset->life_months = months;
    return asset;
}

/* "60%" of what `funding` is of is paid by the fund. */
static inline void book_funding (share_list_t *funding, const char *fund,
                                 const char *share)
{
    site_share_t *part = BOOK_NEW (funding->item, funding->count);

    part->name = xstrdup (fund);
    mpq_init (part->share);
    assert_int_equal (exact_parse_ratio (share, part->share, NULL), 0);
}

static inline site_fund_t *book_fund (site_t *site, const char *name,
                                      const char *recoverable)
{
    site_fund_t *fund = BOOK_NEW (site->funds, site->fund_count);

    fund->name = xstrdup (name);
    book_number (fund->recoverable, recoverable);
    return fund;
}

static inline site_staff_t *book_staff (site_t *site, const char *pool,
                                        const char *fte, const char *salary,
                                        const char *share)
{
    site_staff_t *staff = BOOK_NEW (site->staff, site->staff_count);
    site_share_t *part = BOOK_NEW (staff->pools.item, staff->pools.count);

    staff->name = xstrdup ("Ada Lovelace");
    book_number (staff->fte, fte);
    book_number (staff->loaded_salary, salary);
    book_number (staff->recoverable, "1");
    part->name = xstrdup (pool);
    book_number (part->share, share);
    staff->valid = book_always;
    return staff;
}

static inline site_power_t *book_power (site_t *site, const char *pool,
                                        const char *watts, const char *pue,
                                        const char *tariff)
{
    site_power_t *power = BOOK_NEW (site->power, site->power_count);

    power->pool = xstrdup (pool);
    power->tariff = xstrdup (tariff);
    book_number (power->watts_per_gpu, watts);
    book_number (power->pue, pue);
    mpq_inits (power->idle_watts, power->node_watts, NULL);
    power->valid = book_always;
    return power;
}

static inline site_tariff_t *book_tariff (site_t *site, const char *name,
                                          const char *per_kwh)
{
    site_tariff_t *tariff = BOOK_NEW (site->tariffs, site->tariff_count);

    tariff->name = xstrdup (name);
    book_number (tariff->per_kwh, per_kwh);
    mpq_inits (tariff->demand_per_kw, tariff->fixed_per_month, NULL);
    book_number (tariff->recoverable, "1");
    tariff->valid = book_always;
    return tariff;
}

static inline site_cost_t *book_cost (site_t *site, const char *pool,
                                      const char *name, const char *amount,
                                      cost_driver_t driver)
{
    site_cost_t *cost = BOOK_NEW (site->costs, site->cost_count);

    cost->pool = xstrdup (pool);
    cost->name = xstrdup (name);
    book_number (cost->amount, amount);
    book_number (cost->recoverable, "1");
    cost->driver = driver;
    cost->valid = book_always;
    return cost;
}

static inline site_rate_t *book_rate (site_t *site, const char *pool,
                                      const char *qos, const char *price,
                                      mig_basis_t basis)
{
    site_rate_t *rate = BOOK_NEW (site->rates, site->rate_count);

    rate->pool = xstrdup (pool);
    rate->qos = xstrdup (qos);
    book_number (rate->per_gpu_hour, price);
    mpq_inits (rate->per_cpu_hour, rate->per_gb_hour, rate->included_cpus,
               rate->included_gb, rate->minimum, rate->minimum_gpu_hours, NULL);
    rate->mig_price = basis;
    rate->valid = book_always;
    return rate;
}

static inline site_cloud_t *book_cloud (site_t *site, const char *gpu,
                                        const char *price)
{
    site_cloud_t *cloud = BOOK_NEW (site->clouds, site->cloud_count);

    cloud->name = xstrdup (price);
    cloud->gpu = xstrdup (gpu);
    book_number (cloud->per_gpu_hour, price);
    book_number (cloud->waste, "0");
    return cloud;
}

static inline int64_t book_instant (const site_t *site, int year, int month,
                                    int day, int hour)
{
    civil_t civil = {year, month, day, hour, 0, 0};

    return zone_instant (site->zone, &civil);
}

/* [first of the month, first of the next) */
static inline period_t book_month (const site_t *site, int year, int month)
{
    return zone_unit (site->zone, CALENDAR_MONTH,
                      book_instant (site, year, month, 15, 0));
}

static inline void book_check (const mpq_t value, int digits,
                               const char *expected)
{
    char *text = exact_text (value, digits);

    assert_string_equal (text, expected);
    free (text);
}

/* A fixed sequence of numbers: the same tests on every machine. */
static inline uint64_t book_random (uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

#endif /* !GL_TESTS_SUPPORT_BOOK_H */
