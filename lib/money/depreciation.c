#include <stdbool.h>
#include <string.h>

#include "base/calendar.h"
#include "base/exact.h"
#include "money/depreciation.h"

/*
 * The time between two changes of estimate, in which the asset is written off
 * by one rule: from `book` on day `first` down to `salvage` on day `end`.
 */
struct phase {
    const site_asset_t *asset;
    int64_t first; /* day numbers */
    int64_t end;   /* of the life, by the estimate of this phase */
    mpq_t book;    /* on the first day */
    mpq_t salvage;
    mpq_t expected; /* GPU-seconds in all, of units of use */
    bool by_month;  /* planning: time counts in months, not in days */
};

/* What has been allocated of the asset's pools, for units of use. */
struct meter {
    const zone_t *zone;
    const cost_inputs_t *inputs;
};

static int64_t day_of (const civil_t *date)
{
    return calendar_day_number (date->year, date->month, date->day);
}

static int64_t months_after (int64_t day, int months)
{
    civil_t date = civil_add_months (calendar_civil_of_day (day), months);

    return day_of (&date);
}

/* ---- where it stands ---- */

static bool is_retired (const site_asset_t *asset)
{
    return asset->retired.year != 0;
}

bool asset_stay (const site_asset_t *asset, size_t wanted,
                 asset_stay_t *ret_stay)
{
    asset_stay_t stay = {asset->pool, day_of (&asset->in_service), INT64_MAX};
    size_t at = 0;

    if (is_retired (asset))
        stay.end = day_of (&asset->retired);
    for (size_t i = 0; i < asset->change_count; i++) {
        const site_asset_change_t *change = &asset->changes[i];
        if (!change->pool)
            continue;
        if (at == wanted) {
            *ret_stay = stay;
            ret_stay->end = day_of (&change->from);
            return true;
        }
        stay.pool = change->pool;
        stay.first = day_of (&change->from);
        at++;
    }
    *ret_stay = stay;
    return at == wanted;
}

const char *asset_pool (const site_asset_t *asset, int64_t day_number)
{
    asset_stay_t stay = {.pool = asset->pool}, next;

    for (size_t i = 0; asset_stay (asset, i, &next); i++) {
        if (next.first > day_number)
            break;
        stay = next;
    }
    return stay.pool;
}

/* ---- one phase ---- */

/* Months from one day to another, the last one in part: by its days. */
static void months_between (int64_t first, int64_t end, mpq_t ret_months)
{
    civil_t a = calendar_civil_of_day (first), b = calendar_civil_of_day (end);
    int months = (b.year - a.year) * 12 + b.month - a.month;
    int64_t start, next;
    mpq_t part;

    if (end <= first) {
        mpq_set_ui (ret_months, 0, 1);
        return;
    }
    if (months_after (first, months) > end)
        months--;
    start = months_after (first, months);
    next = months_after (first, months + 1);
    mpq_init (part);
    exact_set_i64 (ret_months, months, 1);
    exact_set_i64 (part, end - start, next - start);
    mpq_add (ret_months, ret_months, part);
    mpq_clear (part);
}

/* amount x (position - first) / (end - first), at most the amount. */
static void by_day (const mpq_t amount, int64_t first, int64_t end,
                    const mpq_t position, mpq_t ret_part)
{
    mpq_t limit;

    mpq_init (limit);
    exact_set_i64 (limit, end, 1);
    if (mpq_cmp (position, limit) >= 0) {
        mpq_set (ret_part, amount);
    } else {
        exact_set_i64 (limit, first, 1);
        mpq_sub (ret_part, position, limit);
        if (mpq_sgn (ret_part) < 0)
            mpq_set_ui (ret_part, 0, 1);
        exact_set_i64 (limit, end - first, 1);
        mpq_div (ret_part, ret_part, limit);
        mpq_mul (ret_part, ret_part, amount);
    }
    mpq_clear (limit);
}

static void straight_line (const struct phase *phase, const mpq_t position,
                           mpq_t ret_lost)
{
    mpq_t whole, part, life;

    mpq_inits (whole, part, life, NULL);
    mpq_sub (whole, phase->book, phase->salvage);
    if (phase->by_month) {
        /* planning asks for whole days only */
        mpz_fdiv_q (mpq_numref (part), mpq_numref (position),
                    mpq_denref (position));
        months_between (phase->first, mpz_get_si (mpq_numref (part)), part);
        months_between (phase->first, phase->end, life);
        if (mpq_cmp (part, life) > 0)
            mpq_set (part, life);
        mpq_div (ret_lost, part, life);
        mpq_mul (ret_lost, ret_lost, whole);
    } else {
        by_day (whole, phase->first, phase->end, position, ret_lost);
    }
    mpq_clears (whole, part, life, NULL);
}

/* A life-year of a phase: its days, and how much of a year it has. */
struct life_year {
    int64_t first;
    int64_t end;
    mpq_t length; /* 1, but for the last */
    mpq_t left;   /* years of the life at its beginning */
};

/* The t-th, from 0; false after the life. */
static bool life_year (const struct phase *phase, int t, struct life_year *year)
{
    int64_t next = months_after (phase->first, 12 * (t + 1));
    mpq_t twelve;

    year->first = months_after (phase->first, 12 * t);
    if (year->first >= phase->end)
        return false;
    mpq_init (twelve);
    mpq_set_ui (twelve, 12, 1);
    months_between (phase->first, phase->end, year->left);
    mpq_div (year->left, year->left, twelve);
    mpq_set_ui (twelve, (unsigned)t, 1);
    mpq_sub (year->left, year->left, twelve);
    mpq_set_ui (year->length, 1, 1);
    if (next >= phase->end)
        mpq_set (year->length, year->left);
    year->end = next < phase->end ? next : phase->end;
    mpq_clear (twelve);
    return true;
}

/* 2 / L x book value, not below the salvage; in the last year all of it. */
static void declining_amount (const struct phase *phase,
                              const struct life_year *year, const mpq_t life,
                              const mpq_t lost, mpq_t ret_amount)
{
    mpq_t rest;

    mpq_init (rest);
    mpq_sub (ret_amount, phase->book, lost);
    mpq_sub (rest, ret_amount, phase->salvage);
    mpq_mul_2exp (ret_amount, ret_amount, 1);
    mpq_div (ret_amount, ret_amount, life);
    if (year->end == phase->end || mpq_cmp (ret_amount, rest) > 0)
        mpq_set (ret_amount, rest);
    mpq_clear (rest);
}

/* Years left x length of the year, over the sum of these: (L - t + 1) of
 * L (L + 1) / 2. */
static void digits_amount (const struct phase *phase,
                           const struct life_year *year, const mpq_t digits,
                           mpq_t ret_amount)
{
    mpq_t weight;

    mpq_init (weight);
    mpq_mul (weight, year->left, year->length);
    mpq_div (weight, weight, digits);
    mpq_sub (ret_amount, phase->book, phase->salvage);
    mpq_mul (ret_amount, ret_amount, weight);
    mpq_clear (weight);
}

/* Calls nothing back: walks the life-years up to `position`. `ret_yearly`, if
 * any: the amount of the life-year that holds it. */
static void life_years (const struct phase *phase, const mpq_t position,
                        mpq_t ret_lost, mpq_ptr ret_yearly)
{
    bool declining = phase->asset->method == DEPRECIATION_DECLINING;
    struct life_year year;
    mpq_t life, digits, amount, part, start;

    mpq_inits (life, digits, amount, part, start, year.length, year.left, NULL);
    mpq_set_ui (ret_lost, 0, 1);
    for (int t = 0; life_year (phase, t, &year); t++) {
        if (t == 0)
            mpq_set (life, year.left);
        mpq_mul (part, year.left, year.length);
        mpq_add (digits, digits, part);
    }
    for (int t = 0; life_year (phase, t, &year); t++) {
        exact_set_i64 (start, year.first, 1);
        if (mpq_cmp (position, start) < 0)
            break;
        if (declining)
            declining_amount (phase, &year, life, ret_lost, amount);
        else
            digits_amount (phase, &year, digits, amount);
        by_day (amount, year.first, year.end, position, part);
        mpq_add (ret_lost, ret_lost, part);
        exact_set_i64 (start, year.end, 1);
        if (ret_yearly && mpq_cmp (position, start) < 0)
            mpq_set (ret_yearly, amount);
    }
    mpq_clears (life, digits, amount, part, start, year.length, year.left, NULL);
}

/* Allocated GPU-seconds in the asset's pools, [first day, until). */
static void allocated_seconds (const site_asset_t *asset, const struct meter *meter,
                  int64_t first, int64_t until, mpq_t ret_seconds)
{
    civil_t date = calendar_civil_of_day (first);
    period_t asked = {zone_instant (meter->zone, &date), until};
    asset_stay_t stay;
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (ret_seconds, 0, 1);
    for (size_t i = 0; asset_stay (asset, i, &stay); i++) {
        period_t there = asked;
        date = calendar_civil_of_day (stay.first);
        there.start = zone_instant (meter->zone, &date);
        if (stay.end != INT64_MAX) {
            date = calendar_civil_of_day (stay.end);
            there.end = zone_instant (meter->zone, &date);
        }
        there = period_clip (asked, there);
        if (period_seconds (there) == 0)
            continue;
        cost_inputs_sum (meter->inputs, stay.pool, there, USE_ALLOCATED, one);
        mpq_add (ret_seconds, ret_seconds, one);
    }
    mpq_clear (one);
}

/* The loss of value in proportion to use: allocated hours over expected hours. */
static void units_of_use (const struct phase *phase, const struct meter *meter,
                          int64_t until, mpq_t ret_lost)
{
    int64_t service = day_of (&phase->asset->in_service);
    civil_t first = calendar_civil_of_day (phase->first);
    mpq_t whole, used, expected;

    mpq_inits (whole, used, expected, NULL);
    mpq_sub (whole, phase->book, phase->salvage);
    allocated_seconds (phase->asset, meter, service, zone_instant (meter->zone, &first),
          used);
    mpq_sub (expected, phase->expected, used);
    allocated_seconds (phase->asset, meter, phase->first, until, used);
    if (mpq_cmp (used, expected) >= 0) {
        mpq_set (ret_lost, whole);
    } else {
        mpq_div (ret_lost, used, expected);
        mpq_mul (ret_lost, ret_lost, whole);
    }
    mpq_clears (whole, used, expected, NULL);
}

static void phase_lost (const struct phase *phase, const struct meter *meter,
                        int64_t until, const mpq_t position, mpq_t ret_lost)
{
    switch (phase->asset->method) {
    case DEPRECIATION_STRAIGHT_LINE:
        straight_line (phase, position, ret_lost);
        break;
    case DEPRECIATION_DECLINING:
    case DEPRECIATION_SUM_OF_YEARS:
        life_years (phase, position, ret_lost, NULL);
        break;
    case DEPRECIATION_UNITS_OF_USE:
        if (phase->by_month)
            straight_line (phase, position, ret_lost);
        else
            units_of_use (phase, meter, until, ret_lost);
        break;
    }
}

/* ---- from phase to phase ---- */

static void phase_init (struct phase *phase, const site_asset_t *asset,
                        bool by_month)
{
    *phase = (struct phase){.asset = asset,
                            .first = day_of (&asset->in_service),
                            .by_month = by_month};
    phase->end = months_after (phase->first, asset->life_months);
    mpq_inits (phase->book, phase->salvage, phase->expected, NULL);
    mpq_set (phase->book, asset->price);
    mpq_set (phase->salvage, asset->salvage);
    exact_add_scaled (phase->expected, asset->expected_gpu_hours, 3600, 1);
}

static void phase_clear (struct phase *phase)
{
    mpq_clears (phase->book, phase->salvage, phase->expected, NULL);
}

static bool is_estimate (const site_asset_change_t *change)
{
    return change->life_months || change->salvage_is != SALVAGE_AS_BEFORE
           || mpq_sgn (change->expected_gpu_hours) > 0;
}

/* The phase that begins with the change; `lost` in the one before. */
static void next_phase (struct phase *phase, const site_asset_change_t *change,
                        const mpq_t lost)
{
    phase->first = day_of (&change->from);
    mpq_sub (phase->book, phase->book, lost);
    if (change->life_months)
        phase->end = months_after (day_of (&phase->asset->in_service),
                                   change->life_months);
    if (change->salvage_is == SALVAGE_AMOUNT)
        mpq_set (phase->salvage, change->salvage);
    if (change->salvage_is == SALVAGE_SHARE)
        mpq_mul (phase->salvage, change->salvage, phase->asset->price);
    if (mpq_sgn (change->expected_gpu_hours) > 0) {
        mpq_set_ui (phase->expected, 0, 1);
        exact_add_scaled (phase->expected, change->expected_gpu_hours, 3600, 1);
    }
}

/* Lost until the position, which is that of the instant `until`; leaves the
 * last phase in *phase. */
static void walk (struct phase *phase, const struct meter *meter, int64_t until,
                  const mpq_t position, mpq_t ret_lost)
{
    const site_asset_t *asset = phase->asset;
    mpq_t lost, day;

    mpq_inits (lost, day, NULL);
    mpq_set_ui (ret_lost, 0, 1);
    for (size_t i = 0; i < asset->change_count; i++) {
        const site_asset_change_t *change = &asset->changes[i];
        exact_set_i64 (day, day_of (&change->from), 1);
        if (!is_estimate (change))
            continue;
        if (mpq_cmp (day, position) > 0)
            break;
        phase_lost (phase, meter,
                    meter ? zone_instant (meter->zone, &change->from) : 0, day,
                    lost);
        mpq_add (ret_lost, ret_lost, lost);
        next_phase (phase, change, lost);
    }
    phase_lost (phase, meter, until, position, lost);
    mpq_add (ret_lost, ret_lost, lost);
    mpq_clears (lost, day, NULL);
}

/* The local day, with its part. */
static void day_position (const zone_t *zone, int64_t instant,
                          mpq_t ret_position)
{
    period_t day = zone_unit (zone, CALENDAR_DAY, instant);
    civil_t date = zone_civil (zone, day.start);

    exact_set_i64 (ret_position, instant - day.start, day.end - day.start);
    mpz_addmul_ui (mpq_numref (ret_position), mpq_denref (ret_position),
                   (unsigned long)day_of (&date));
}

void depreciation_until (const site_t *site, const site_asset_t *asset,
                         int64_t instant, const cost_inputs_t *inputs,
                         mpq_t ret_amount)
{
    struct meter meter = {site->zone, inputs};
    struct phase phase;
    mpq_t position;

    mpq_set_ui (ret_amount, 0, 1);
    if (is_retired (asset)
        && instant > zone_instant (site->zone, &asset->retired))
        instant = zone_instant (site->zone, &asset->retired);
    if (instant <= zone_instant (site->zone, &asset->in_service))
        return;
    mpq_init (position);
    day_position (site->zone, instant, position);
    phase_init (&phase, asset, false);
    walk (&phase, &meter, instant, position, ret_amount);
    phase_clear (&phase);
    mpq_clear (position);
}

void depreciation_book_value (const site_t *site, const site_asset_t *asset,
                              const civil_t *day, const cost_inputs_t *inputs,
                              mpq_t ret_value)
{
    depreciation_until (site, asset, zone_instant (site->zone, day), inputs,
                        ret_value);
    mpq_sub (ret_value, asset->price, ret_value);
}

static void plan_yearly (const struct phase *phase, const mpq_t position,
                         mpq_ptr ret_yearly)
{
    mpq_t lost;

    mpq_init (lost);
    if (phase->asset->method == DEPRECIATION_DECLINING
        || phase->asset->method == DEPRECIATION_SUM_OF_YEARS) {
        life_years (phase, position, lost, ret_yearly);
    } else {
        months_between (phase->first, phase->end, lost);
        mpq_sub (ret_yearly, phase->book, phase->salvage);
        mpq_div (ret_yearly, ret_yearly, lost);
        mpq_set_ui (lost, 12, 1);
        mpq_mul (ret_yearly, ret_yearly, lost);
    }
    mpq_clear (lost);
}

void depreciation_plan (const site_asset_t *asset, const civil_t *day,
                        mpq_ptr ret_yearly, mpq_ptr ret_value)
{
    int64_t at = day_of (day);
    bool after = is_retired (asset) && at >= day_of (&asset->retired);
    struct phase phase;
    mpq_t position, lost;

    if (after)
        at = day_of (&asset->retired);
    mpq_inits (position, lost, NULL);
    exact_set_i64 (position, at, 1);
    phase_init (&phase, asset, true);
    if (at >= phase.first)
        walk (&phase, NULL, 0, position, lost);
    if (ret_value)
        mpq_sub (ret_value, asset->price, lost);
    if (ret_yearly) {
        mpq_set_ui (ret_yearly, 0, 1);
        if (!after && at >= phase.first && at < phase.end)
            plan_yearly (&phase, position, ret_yearly);
    }
    phase_clear (&phase);
    mpq_clears (position, lost, NULL);
}
