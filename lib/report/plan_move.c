/* Which pools have room for the work of a pool that is little used, and what is said of all
 * pools then. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "gres/gpu_memory.h"
#include "gres/mig.h"
#include "planning/move.h"
#include "report/plan_private.h"

typedef struct {
    const plan_view_t *v;
    plan_pool_t *pools;
    size_t count;
    move_pool_t *at;  /* of each pool, with the work that it takes */
    bool *open;       /* of each: whether it moves is to be looked at */
    move_pool_t **to; /* those that work may move to, */
    size_t *which;    /* each of these pools, */
    size_t to_count;  /* and how many there are */
} moves_t;

/* ---- GPUs of each hour ---- */

uint64_t plan_whole_gpus (mpq_srcptr gpus)
{
    uint64_t count;
    mpz_t q;

    mpz_init (q);
    mpz_cdiv_q (q, mpq_numref (gpus), mpq_denref (gpus));
    count = mpz_get_ui (q);
    mpz_clear (q);
    return count;
}

uint64_t plan_busiest (const plan_pool_t *pool)
{
    uint64_t most = 0;

    for (size_t i = 0; i < pool->hours; i++) {
        uint64_t gpus = plan_whole_gpus (pool->demand[i]);
        most = gpus > most ? gpus : most;
    }
    return most;
}

static void moves_init (moves_t *m, const plan_view_t *v, plan_pool_t *pools,
                        size_t count)
{
    *m = (moves_t){.v = v, .pools = pools, .count = count};
    m->at = xcalloc (count + 1, sizeof (*m->at));
    m->open = xcalloc (count + 1, sizeof (*m->open));
    m->to = xcalloc (count + 1, sizeof (*m->to));
    m->which = xcalloc (count + 1, sizeof (*m->which));
    for (size_t i = 0; i < count; i++) {
        plan_pool_t *pool = &pools[i];
        m->open[i] = pool->verdict.moves;
        m->at[i].gpus = pool->verdict.kept;
        m->at[i].used = xcalloc (pool->hours + 1, sizeof (uint64_t));
        for (size_t k = 0; k < pool->hours; k++)
            m->at[i].used[k] = plan_whole_gpus (pool->demand[k]);
    }
}

static void moves_clear (moves_t *m)
{
    for (size_t i = 0; i < m->count; i++)
        free (m->at[i].used);
    free (m->at);
    free (m->open);
    free (m->to);
    free (m->which);
}

/* ---- where work may move to ---- */

static bool same_model (const char *a, const char *b)
{
    const char *as = mig_model (a), *bs = mig_model (b);

    return strcasecmp (a, b) == 0 || (as && bs && strcmp (as, bs) == 0);
}

/* Slices are those of the same model; work of whole GPUs finds none in a pool of slices. */
static bool may_take (const plan_pool_t *to, const plan_pool_t *from)
{
    const char *a = to->cost.gpu, *b = from->cost.gpu;

    if (to == from || !to->complete || !to->weights_known || !a || !b
        || (to->slices && !from->slices))
        return false;
    if (same_model (a, b))
        return true;
    return !from->slices && gpu_memory_gb (b) > 0
           && gpu_memory_gb (a) >= gpu_memory_gb (b);
}

/* Pools that may move themselves come into question only where no others have room. */
static void take_targets (moves_t *m, size_t from, bool open_ones)
{
    m->to_count = 0;
    for (size_t i = 0; i < m->count; i++)
        if (may_take (&m->pools[i], &m->pools[from]) && m->at[i].gpus > 0
            && (open_ones || !m->open[i])) {
            m->which[m->to_count] = i;
            m->to[m->to_count++] = &m->at[i];
        }
}

/* ---- words ---- */

static const char *name_of (const plan_pool_t *pool)
{
    return pool->pool->name;
}

/* Of other clusters the query has no work. */
static const char *whose (const moves_t *m)
{
    return GL_ANY (m->pools, m->count, it, !it->complete)
               ? "No other pool of these clusters"
               : "No other pool of the site";
}

/* Why no pool comes into question. */
static char *no_target (const moves_t *m, const plan_pool_t *from)
{
    const char *gpu = from->cost.gpu;
    int memory = gpu ? gpu_memory_gb (gpu) : 0;

    if (m->count == 1)
        return xstrdup ("The site has no other pool of GPUs.");
    if (!gpu) {
        if (from->asked)
            report_note_pool (
                m->v->report, NOTE_COMMAND, name_of (from),
                "enter `gpu`, the model, under 'pools': then its work "
                "is compared with the unused GPUs of other pools.");
        return xstrdup (
            "Whether another pool has room for this work is unknown, "
            "because the model of the GPUs is not entered.");
    }
    if (from->slices || memory == 0)
        return xasprintf ("%s that stays has GPUs for this work: %s.",
                          whose (m), gpu);
    return xasprintf ("%s that stays has GPUs for this work: of %d GB or more.",
                      whose (m), memory);
}

static char *no_room (const moves_t *m, size_t from)
{
    const plan_pool_t *pool = &m->pools[from];
    const uint64_t *work = m->at[from].used;
    bool busiest;
    size_t hour, missing = move_short_hours (work, pool->hours, m->to,
                                             m->to_count, &busiest);
    unsigned long long gpus = move_busiest (work, pool->hours, &hour);

    return busiest
               ? xasprintf ("%s has room for %llu GPU%s at its busiest hour.",
                            whose (m), gpus, gpus == 1 ? "" : "s")
               : xasprintf ("%s has room for this work in every hour: it fits "
                            "at its busiest, which needs %llu GPU%s, and in "
                            "%zu of %zu hours too few are unused.",
                            whose (m), gpus, gpus == 1 ? "" : "s", missing,
                            pool->hours);
}

static char *takers (const moves_t *m)
{
    const char **names = xcalloc (m->to_count + 1, sizeof (*names));
    BUFFER_AUTO out = BUFFER_INIT;
    size_t count = 0;

    for (size_t i = 0; i < m->to_count; i++)
        if (m->to[i]->takes)
            names[count++] = name_of (&m->pools[m->which[i]]);
    plan_listed (&out, names, count);
    free (names);
    return buffer_take (&out);
}

/* How full the pool then is; NULL: several take the work. */
static char *full_words (const plan_pool_t *pool, const plan_pool_t *to,
                         const char *names, uint64_t left)
{
    unsigned long long gpus = to ? to->verdict.kept : 0,
                       planned = to ? plan_planned (to, pool) : 0,
                       own = to ? plan_planned (to, NULL) : 0;

    if (!to)
        return xasprintf ("A job that needs more GPUs than any one of %s has "
                          "unused cannot be divided.",
                          names);
    /* the work has room in each hour, so that none of it is in an hour that is full without it */
    GL_AUTOFREE char *alone
        = plan_busiest (to) >= gpus
              ? xasprintf (", as it is already, by its own jobs: no job had a "
                           "GPU of %s in that hour",
                           name_of (pool))
              : xstrdup ("");
    GL_AUTOFREE char *unused
        = left > 0 ? xasprintf ("at least %llu GPU%s of %s stay%s unused",
                                (unsigned long long)left, left == 1 ? "" : "s",
                                name_of (to), left == 1 ? "s" : "")
                   : xasprintf ("%s is full in its busiest hour%s",
                                name_of (to), alone);
    return planned > gpus ? xasprintf (
               "Then %s, and the reserve is smaller than planned: "
               "%llu GPUs would be planned for the work of both%s, and "
               "%s then has %llu.",
               unused, planned,
               planned == own ? ", as many as for its own alone" : "",
               name_of (to), gpus)
                          : xasprintf ("Then %s.", unused);
}

/* The saving has all power of the pool, also what jobs draw wherever they are: a sentence that
 * follows another one; "": the cost has no power. */
static char *moved_power (const plan_pool_t *pool, const char *names)
{
    return GL_ANY (pool->cost.part, pool->cost.part_count, it,
                   it->kind == COST_POWER && mpq_sgn (it->per_gpu_year) > 0)
               ? xasprintf (" The saving in power is smaller, as the moved "
                            "jobs draw power in %s instead.",
                            names)
               : xstrdup ("");
}

/* `to` NULL: several take the work. */
static char *room_words (const moves_t *m, size_t from, const char *names,
                         const plan_pool_t *to)
{
    const plan_pool_t *pool = &m->pools[from];
    size_t hour;
    unsigned long long gpus
        = move_busiest (m->at[from].used, pool->hours, &hour);
    GL_AUTOFREE char *together = xasprintf ("%s together", names);

    return xasprintf (
        "In every hour in which jobs used %s, %s had enough GPUs without jobs "
        "for them: they used at most %llu GPU%s at a time.",
        name_of (pool), to ? names : together, gpus, gpus == 1 ? "" : "s");
}

/* What has to be so before the work moves, and what follows: sentences, or "". */
static char *move_needs (const plan_pool_t *pool, const plan_pool_t *to,
                         const char *names)
{
    BUFFER_AUTO out = BUFFER_INIT;

    if (pool->slices)
        buffer_printf (&out, "GPUs of %s must be cut into the same slices.",
                       names);
    if (to && plan_planned (to, pool) > to->verdict.kept)
        buffer_printf (&out, "%sThe reserve in %s is smaller than planned.",
                       out.length ? " " : "", names);
    return xstrdup (buffer_text (&out));
}

/* ---- verdicts ---- */

/* Takes the texts. */
static void say (plan_verdict_t *verdict, char *action, char *why, char *reason)
{
    free (verdict->action);
    free (verdict->why);
    free (verdict->reason);
    verdict->action = action;
    verdict->why = why;
    verdict->reason = reason;
}

/* False: they have no room. */
static bool move_to (moves_t *m, size_t from)
{
    plan_pool_t *pool = &m->pools[from];
    const uint64_t *work = m->at[from].used;
    uint64_t left = 0;
    bool busiest;
    size_t one = move_to_one (work, pool->hours, m->to, m->to_count, &left);

    if (one == m->to_count
        && move_short_hours (work, pool->hours, m->to, m->to_count, &busiest)
               > 0)
        return false;
    for (size_t i = 0; i < m->count; i++)
        m->at[i].takes = false;
    if (one < m->to_count)
        move_put (work, pool->hours, &m->to[one], 1);
    else
        move_put (work, pool->hours, m->to, m->to_count);
    const plan_pool_t *to = one < m->to_count ? &m->pools[m->which[one]] : NULL;
    GL_AUTOFREE char *names = takers (m);
    GL_AUTOFREE char *full = full_words (pool, to, names, left);
    GL_AUTOFREE char *room = room_words (m, from, names, to);
    GL_AUTOFREE char *power = moved_power (pool, names);
    GL_AUTOFREE char *others = plan_paid_by_others (m->v);
    GL_AUTOFREE char *needs = move_needs (pool, to, names);
    plan_verdict_needs (&pool->verdict, others, needs);
    say (&pool->verdict,
         xasprintf ("Move the work to %s and give the pool up.", names),
         xasprintf ("%s%s%s %s%s %s Jobs used %s.", pool->verdict.saving, power,
                    pool->slices ? " The jobs need GPUs that are cut into the "
                                   "same slices."
                                 : "",
                    room, others, full, pool->verdict.load),
         NULL);
    pool->verdict.kept = m->at[from].gpus = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->at[i].takes && m->open[i]) { /* it stays */
            m->open[i] = false;
            GL_AUTOFREE char *takes
                = xasprintf ("It would take the work of %s.", name_of (pool));
            say (
                &m->pools[i].verdict, xstrdup ("Keep the pool."),
                xasprintf ("Jobs used %s. %s", m->pools[i].verdict.load, takes),
                xstrdup (takes));
        }
    if (pool->asked)
        report_note_pool (
            m->v->report, NOTE_INFORMATION, name_of (pool),
            "the room in %s is that of GPUs no job had. Not considered: "
            "nodes that were down, and how jobs fit onto nodes.",
            names);
    return true;
}

static void stay (moves_t *m, size_t from)
{
    plan_pool_t *pool = &m->pools[from];
    GL_AUTOFREE char *why
        = !pool->weights_known ? xstrdup (
              "Whether another pool has room for this work is unknown, "
              "because the weight of some of its devices is.")
          : m->to_count == 0 ? no_target (m, pool)
                             : no_room (m, from);

    plan_verdict_needs (&pool->verdict, "", why);
    say (&pool->verdict, xstrdup (pool->verdict.action),
         xasprintf (
             "Jobs used %s. %s With room elsewhere, giving it up would save "
             "up to %s a year.",
             pool->verdict.load, why, pool->verdict.saved),
         xstrdup (why));
}

static void look (moves_t *m, size_t from)
{
    m->open[from] = false;
    m->to_count = 0;
    for (int open_ones = 0; open_ones <= 1 && m->pools[from].weights_known;
         open_ones++) {
        take_targets (m, from, open_ones);
        if (m->to_count > 0 && move_to (m, from))
            return;
    }
    stay (m, from);
}

/* The one that saves most is looked at first: what others have room for is then less. */
static void look_at_all (moves_t *m)
{
    mpq_t most, year;
    size_t next;

    mpq_inits (most, year, NULL);
    do {
        next = m->count;
        for (size_t i = 0; i < m->count; i++) {
            if (!m->open[i])
                continue;
            plan_year (&m->pools[i].cost, m->pools[i].cost.gpus, true, year);
            if (next < m->count && mpq_cmp (year, most) <= 0)
                continue;
            mpq_set (most, year);
            next = i;
        }
        if (next < m->count) {
            plan_view_t view = *m->v; /* of that pool, for its months */
            const plan_view_t *v = m->v;
            view.pool = &m->pools[next];
            m->v = &view;
            look (m, next);
            m->v = v;
        }
    } while (next < m->count);
    mpq_clears (most, year, NULL);
}

void plan_say_verdicts (const plan_view_t *v, plan_pool_t *pools, size_t count)
{
    moves_t m;

    if (GL_ANY (pools, count, it, it->verdict.moves)) {
        moves_init (&m, v, pools, count);
        look_at_all (&m);
        moves_clear (&m);
    }
    for (size_t i = 0; i < count; i++) {
        const plan_verdict_t *verdict = &pools[i].verdict;
        if (pools[i].asked && verdict->action)
            plan_verdict_figure (v, &pools[i]);
    }
    plan_off_figure (v, pools, count);
    plan_rests_on (v, pools, count);
}
