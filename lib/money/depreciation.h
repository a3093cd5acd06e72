/*
 * depreciation.h: what a purchase has lost of its price by a day.
 *
 * Everything here is of one unit, exact, and a running sum: what a period bears
 * is the difference of two sums, so that adjacent periods add up and what is
 * past never moves. With price K, salvage V and life L
 * (docs/guides/cost-book.md has the formulas and worked figures):
 *
 *   straight line   (K - V) / days of the life, for each day of it
 *   declining       in each life-year 2 / L x book value, never below V; in the
 *                   last one down to V
 *   sum of years    in life-year t (K - V) (L - t + 1) / (L (L + 1) / 2)
 *   units of use    (K - V) / expected GPU-hours, for each GPU-hour that jobs
 *                   allocated in the asset's pool, down to V; no life ends it
 *
 * A life-year runs from the day in service to its anniversary; within one, each
 * day bears the same. A life of L years and a part has a last life-year that is
 * so much shorter: its 2 / L and its digits count with that part.
 *
 * A change of life, salvage or expected hours is prospective: from its day on
 * the asset is written off as one bought on that day for its book value, over
 * what then remains of its life (or hours). From the day `retired` on nothing
 * is written off. So over any life, with any number of changes, the sum is
 * K - V; or K - book value where it was retired before.
 */
#ifndef GL_MONEY_DEPRECIATION_H
#define GL_MONEY_DEPRECIATION_H

#include <gmp.h>
#include <stdint.h>

#include "money/cost_inputs.h"
#include "site/site.h"

/* What one unit has lost until `instant`. `inputs`: for units of use, from the
 * day in service on; may be NULL (nobody used anything). */
void depreciation_until (const site_t *site, const site_asset_t *asset,
                         int64_t instant, const cost_inputs_t *inputs,
                         mpq_t ret_amount);

/* The book value of one unit at the beginning of a day. */
void depreciation_book_value (const site_t *site, const site_asset_t *asset,
                              const civil_t *day, const cost_inputs_t *inputs,
                              mpq_t ret_value);

/*
 * For planning, where a life counts in years and months and not in days: the
 * yearly amount of one unit as it stands on `day` (of declining balance and sum
 * of years: that of the life-year), and the book value at that day. Straight
 * line is taken for units of use, whose hours are not known in advance. Either
 * result may be NULL. An amount of 0: not in service, written off, or retired.
 */
void depreciation_plan (const site_asset_t *asset, const civil_t *day,
                        mpq_ptr ret_yearly, mpq_ptr ret_value);

/* The pool that the asset stands in on a day. Borrowed. */
const char *asset_pool (const site_asset_t *asset, int64_t day_number);

/* The days on which a pool has it: stays follow one another from the day in
 * service on; the last ends where it is retired, else never. */
typedef struct {
    const char *pool;
    int64_t first; /* day numbers, [first, end) */
    int64_t end;
} asset_stay_t;

/* The i-th; false beyond the last. */
bool asset_stay (const site_asset_t *asset, size_t i, asset_stay_t *ret_stay);

#endif /* !GL_MONEY_DEPRECIATION_H */
