/* What could be done with a pool that has no price to compare with: each option with what a year
 * then costs, what that saves, and what it depends on. */
#include "base/exact.h"
#include "base/memory.h"
#include "report/plan_private.h"

/* What a year of the pool's GPUs costs, less the saving, which may be below 0. */
static void add_option (const plan_view_t *v, const char *item, uint64_t gpus,
                        mpq_srcptr saving, const char *depends)
{
    const breakeven_t *cost = &v->pool->cost;
    mpq_t year;

    mpq_init (year);
    plan_row (v, item);
    report_put_count (v->report, PLAN_GPUS, gpus);
    plan_year (cost, cost->gpus, false, year);
    if (saving)
        mpq_sub (year, year, saving);
    plan_put (v, PLAN_OWN, year);
    plan_put (v, PLAN_SAVING, saving);
    report_put_text (v->report, PLAN_DEPENDS, depends);
    mpq_clear (year);
}

static void add_keep (const plan_view_t *v)
{
    uint64_t gpus = v->pool->cost.gpus;
    GL_AUTOFREE char *used = xasprintf (
        "The busiest hour took %llu of the %llu GPUs.",
        (unsigned long long)plan_busiest (v->pool), (unsigned long long)gpus);

    add_option (v, "keep all GPUs", gpus, NULL, used);
}

/* Of the cost of so many GPUs the part that changes only with what people are paid, a sentence
 * that follows another one. */
static char *staff_words (const plan_view_t *v, uint64_t gpus, const char *of)
{
    char *text = NULL;
    mpq_t staff;

    mpq_init (staff);
    plan_staff (&v->pool->cost, gpus, staff);
    if (mpq_sgn (staff) > 0) {
        GL_AUTOFREE char *amount = exact_text (staff, v->site->currency_digits);
        text = xasprintf (" %s of the %s is staff, as far as that changes.",
                          amount, of);
    }
    mpq_clear (staff);
    return text ? text : xstrdup ("");
}

static void add_node (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    uint64_t step = (uint64_t)cost->gpus_per_node;
    GL_AUTOFREE char *staff = staff_words (v, step, "cost of the node");
    GL_AUTOFREE char *depends = xasprintf (
        "Whether jobs waited, which the report Demand shows.%s", staff);
    mpq_t year;

    mpq_init (year);
    plan_year (cost, step, false, year);
    mpq_neg (year, year);
    add_option (v, "buy another node", cost->gpus + step, year, depends);
    mpq_clear (year);
}

static void add_give_up (const plan_view_t *v, const char *item, uint64_t gpus,
                         const char *room)
{
    GL_AUTOFREE char *staff = staff_words (v, gpus, "saving");
    GL_AUTOFREE char *depends = xasprintf ("%s%s", room, staff);
    mpq_t year;

    mpq_init (year);
    plan_year (&v->pool->cost, gpus, true, year);
    add_option (v, item, v->pool->cost.gpus - gpus, year, depends);
    mpq_clear (year);
}

static void add_fewer (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    uint64_t step = (uint64_t)cost->gpus_per_node;

    if (cost->gpus > step)
        add_give_up (
            v, "give one node up", step,
            plan_busiest (v->pool) <= cost->gpus - step
                ? "The other nodes had room for the busiest hour."
                : "Not advised: the busiest hour needed more GPUs than "
                  "the other nodes have, so jobs would wait.");
    add_give_up (
        v, "give the pool up", cost->gpus,
        plan_busiest (v->pool) == 0 ? "No job used its GPUs."
        : v->pool->verdict.moves && v->pool->verdict.kept == 0
            ? "Other pools had room for its work."
            : "Not advised: its work would have to be done elsewhere.");
}

static void add_switched_off (const plan_view_t *v)
{
    if (mpq_sgn (v->pool->off) > 0)
        add_option (v, "switch GPUs off while no job has them",
                    v->pool->cost.gpus, v->pool->off,
                    "All hours without jobs count, also those in which the "
                    "GPUs may have been down.");
}

static void add_rent (const plan_view_t *v)
{
    plan_row (v, "rent GPUs instead");
    report_put_text (v->report, PLAN_DEPENDS,
                     v->pool->cost.cloud_count > 0
                         ? "Unknown: every price to rent such a GPU is too old."
                         : "Unknown: no price to rent such a GPU is entered.");
}

void plan_options (plan_view_t *v)
{
    const plan_pool_t *pool = v->pool;

    if (!pool->has_cost || !pool->verdict.action
        || (v->measured && !pool->verdict.alone))
        return;
    add_keep (v);
    add_node (v);
    add_fewer (v);
    add_switched_off (v);
    if (pool->verdict.alone)
        add_rent (v);
}
