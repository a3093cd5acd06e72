/*
 * How time that was not allocated is shared out, row by row of the idle lines: by
 * which rule, what the rule counts, and which part of the pool's time of that
 * class came of it. The rules: docs/guides/rates.md, charge_idle.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/line_items_private.h"

/* --- what is shared out --------------------------------------------------- */

static struct line_items_origin *origin_of (line_items_t *d,
                                            const posting_t *row)
{
    const char *cluster = posting_key (row, KEY_CLUSTER);
    struct line_items_origin *o;

    for (size_t i = 0; i < d->origin_count; i++) {
        o = &d->origins[i];
        if (text_same (o->pool, row->pool) && text_same (o->cluster, cluster)
            && text_same (o->what, row->what))
            return o;
    }
    d->origins
        = xreallocarray (d->origins, d->origin_count + 1, sizeof (*d->origins));
    o = &d->origins[d->origin_count++];
    o->pool = row->pool;
    o->cluster = cluster;
    o->what = row->what;
    mpq_inits (o->whole, o->seen, NULL);
    mpz_init (o->given);
    return o;
}

void line_items_split_begin (line_items_t *d, const posting_t *rows,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct line_items_origin *o;
        if (rows[i].kind != BILL_IDLE)
            continue;
        o = origin_of (d, &rows[i]);
        mpq_add (o->whole, o->whole, rows[i].gpu_seconds);
    }
}

/* --- what the rules count ------------------------------------------------- */

void line_items_split_held (line_items_t *d, size_t pool, const char *account,
                            const char *cluster, const charge_part_t *part)
{
    const pool_month_t *pm = &d->pool_months[pool];
    posting_t row = {.pool = (char *)pm->pool}; /* all of it is borrowed */

    if (pm->idle != IDLE_PROPORTIONAL || part->price.rate)
        return;
    *posting_key_at (&row, KEY_ACCOUNT) = (char *)account;
    *posting_key_at (&row, KEY_CLUSTER) = (char *)cluster;
    *row.gpu_seconds = *part->gpu_seconds;
    if (!d->allocated)
        d->allocated
            = cube_new (&bill_fields[BILL_POSTINGS], "pool,account,cluster");
    cube_add (d->allocated, &row);
}

static void count_held (line_items_t *d, const posting_t *from,
                        mpq_t ret_seconds)
{
    const posting_t *allocated
        = d->allocated ? cube_find (d->allocated, from) : NULL;

    if (allocated)
        mpq_set (ret_seconds, allocated->gpu_seconds);
}

static void count_entitled (const pool_month_t *pm, const posting_t *from,
                            mpq_t ret_seconds)
{
    const charge_payer_t *payer = charge_payer_of (pm->charge, from->team);

    if (payer)
        mpq_set (ret_seconds, payer->entitled);
}

/* --- a row ---------------------------------------------------------------- */

static const pool_month_t *pool_month_of (const line_items_t *d,
                                          const char *pool)
{
    for (size_t i = 0; i < d->pool_count; i++)
        if (text_same (d->pool_months[i].pool, pool))
            return &d->pool_months[i];
    return NULL;
}

static void put_hours (line_item_t *row, mpq_srcptr seconds)
{
    mpz_t none;

    mpz_init (none);
    row->unit = "GPU-Hours";
    line_items_hours (row->counted, seconds, none);
    mpz_clear (none);
}

static void put_method (line_items_t *d, const pool_month_t *pm,
                        const posting_t *from)
{
    const char *reserved = remainder_info (REMAINDER_RESERVED_UNUSED)->word;
    line_item_t *row = &d->row;
    mpq_t seconds;

    mpq_init (seconds);
    if (d->query->site->policy.reserved != RESERVED_STATED
        && text_same (from->what, reserved)) {
        row->method = "idle-holder-v1";
        put_hours (row, from->gpu_seconds);
    } else if (pm->idle == IDLE_PROPORTIONAL) {
        row->method = "idle-proportional-v1";
        count_held (d, from, seconds);
        put_hours (row, seconds);
    } else if (pm->idle == IDLE_ENTITLEMENT) {
        row->method = "idle-entitlement-v1";
        count_entitled (pm, from, seconds);
        put_hours (row, seconds);
    } else if (pm->idle == IDLE_UNIFORM) {
        row->method = "idle-uniform-v1";
        row->unit = "Teams";
        mpz_ui_pow_ui (row->counted, 10, LINE_ITEM_DIGITS);
    }
    mpq_clear (seconds);
}

/* floor (S(i)) - floor (S(i-1)) of 10^10 parts. */
static void put_ratio (line_item_t *row, struct line_items_origin *o)
{
    mpq_t part;

    mpq_init (part);
    mpq_div (part, o->seen, o->whole);
    mpz_ui_pow_ui (row->ratio, 10, LINE_ITEM_DIGITS);
    mpz_mul (row->ratio, row->ratio, mpq_numref (part));
    mpz_fdiv_q (row->ratio, row->ratio, mpq_denref (part));
    mpz_sub (row->ratio, row->ratio, o->given);
    mpz_add (o->given, o->given, row->ratio);
    mpq_clear (part);
}

void line_items_split_put (line_items_t *d, const posting_t *from)
{
    const pool_month_t *pm = pool_month_of (d, from->pool);
    struct line_items_origin *o;

    if (from->kind != BILL_IDLE || !pm)
        return;
    o = origin_of (d, from);
    mpq_add (o->seen, o->seen, from->gpu_seconds);
    put_method (d, pm, from);
    if (d->row.method && mpq_sgn (o->whole) != 0)
        put_ratio (&d->row, o);
}

/* --- life ----------------------------------------------------------------- */

void line_items_split_free (line_items_t *d)
{
    for (size_t i = 0; i < d->origin_count; i++) {
        mpq_clears (d->origins[i].whole, d->origins[i].seen, NULL);
        mpz_clear (d->origins[i].given);
    }
    free (d->origins);
    cube_free (d->allocated);
}
