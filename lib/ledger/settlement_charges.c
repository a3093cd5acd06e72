#include <string.h>

#include "base/memory.h"
#include "ledger/settlement_private.h"

/* --- the charges of the month --------------------------------------------- */

static const char cell_keys[] = "pool,team,account,cluster,user,project,qos,"
                                "partition_name";

/* SETTLE_OF_COUNT: it is not settled. */
static settle_of_t of_row (const posting_t *row)
{
    switch (row->kind) {
    case BILL_CHARGE:
    case BILL_IDLE:
    case BILL_CREDIT:
        return SETTLE_OF_CHARGES;
    case BILL_PURCHASE:
        return SETTLE_OF_PURCHASES;
    case BILL_SERVICE:
        return SETTLE_OF_SERVICES;
    default:
        return SETTLE_OF_COUNT;
    }
}

/* Prior-period adjustments, manual rows and what nobody is charged are not
 * settled. */
static bool is_settled (const posting_t *row, const char *month)
{
    return row->team && !strcmp (row->month, month) && !row->outside
           && !row->reason && of_row (row) != SETTLE_OF_COUNT;
}

/* Into groups; GPU-seconds of idle time are no job's. */
static void group (const bill_t *bill, const char *month, cube_t **cubes)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < SETTLE_OF_FEES; i++)
        cubes[i] = cube_new (&bill_fields[BILL_POSTINGS], cell_keys);
    for (size_t i = 0; i < count; i++) {
        posting_t *to;
        if (!is_settled (&rows[i], month))
            continue;
        to = cube_add (cubes[of_row (&rows[i])], &rows[i]);
        if (rows[i].kind != BILL_CHARGE)
            mpq_sub (to->gpu_seconds, to->gpu_seconds, rows[i].gpu_seconds);
    }
}

static struct cell *new_cell (struct settling *s)
{
    struct cell *c;

    if ((s->count & (s->count - 1)) == 0)
        s->cell = xreallocarray (s->cell, s->count ? s->count * 2 : 1,
                                 sizeof (*s->cell));
    c = &s->cell[s->count++];
    memset (c, 0, sizeof (*c));
    mpz_inits (c->left, c->due, c->paid, NULL);
    mpq_inits (c->seconds, c->price, c->due_seconds, NULL);
    return c;
}

/* What is below 0 (credits of another month's time) pays for nothing. */
static void add_cells (struct settling *s, settle_of_t of)
{
    cube_t *cube = s->cubes[of];

    for (size_t i = 0; i < cube_count (cube); i++) {
        const posting_t *row = cube_row (cube, i);
        struct cell *c;
        if (mpz_sgn (row->charge_units) <= 0 && mpq_sgn (row->gpu_seconds) <= 0)
            continue;
        c = new_cell (s);
        c->key = row;
        c->of = of;
        if (mpz_sgn (row->charge_units) > 0)
            mpz_set (c->left, row->charge_units);
        mpq_set (c->seconds, row->gpu_seconds);
        mpq_set_z (c->price, c->left);
        if (mpq_sgn (c->seconds) > 0)
            mpq_div (c->price, c->price, c->seconds);
    }
}

/* Without time a charge has no price of an hour, and comes last. */
static int dearest_first (const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    int order = (mpq_sgn (y->seconds) > 0) - (mpq_sgn (x->seconds) > 0);

    if (order == 0)
        order = mpq_cmp (y->price, x->price);
    if (order == 0)
        order = posting_compare (x->key, y->key);
    return order ? order : (int)x->of - (int)y->of;
}

static int by_text (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static size_t team_index (const struct settling *s, const char *name)
{
    char **found
        = bsearch (&name, s->team, s->team_count, sizeof (*s->team), by_text);

    return (size_t)(found - s->team);
}

/* Each once. The texts are of the cells and the site. */
static void list_teams (struct settling *s)
{
    const site_t *site = s->how->site;
    size_t count = 0;

    s->team = xcalloc (s->count + site->team_count + 1, sizeof (*s->team));
    for (size_t i = 0; i < s->count; i++)
        s->team[count++] = s->cell[i].key->team;
    for (size_t i = 0; i < site->team_count; i++)
        s->team[count++] = site->teams[i].name;
    if (count > 1)
        qsort (s->team, count, sizeof (*s->team), by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp (s->team[i], s->team[s->team_count - 1]) != 0)
            s->team[s->team_count++] = s->team[i];
    for (size_t i = 0; i < s->count; i++)
        s->cell[i].team = team_index (s, s->cell[i].key->team);
    s->first = xcalloc (s->team_count + 2, sizeof (*s->first));
}

/* A charge that a rule made: a fee, or what a sponsor pays. */
void settlement_add_charge (struct settling *s, settle_of_t of,
                            const char *team, const char *pool,
                            const mpz_t units)
{
    struct cell *c;
    posting_t *own;

    for (size_t i = s->count; i-- > 0 && s->cell[i].own;) {
        own = s->cell[i].own;
        if (s->cell[i].of == of && !strcmp (own->team, team)
            && !own->pool == !pool && (!pool || !strcmp (own->pool, pool))) {
            mpz_add (s->cell[i].left, s->cell[i].left, units);
            return;
        }
    }
    own = xcalloc (1, sizeof (*own));
    posting_init (own);
    own->team = xstrdup (team);
    own->pool = xstrdup (pool);
    c = new_cell (s);
    c->key = c->own = own;
    c->of = of;
    c->team = team_index (s, team);
    mpz_set (c->left, units);
}

void settlement_begin (struct settling *s)
{
    group (s->bill, s->how->month, s->cubes);
    for (settle_of_t of = 0; of < SETTLE_OF_FEES; of++)
        add_cells (s, of);
    if (s->count > 1)
        qsort (s->cell, s->count, sizeof (*s->cell), dearest_first);
    list_teams (s);
}

void settlement_clear (struct settling *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct cell *c = &s->cell[i];
        mpz_clears (c->left, c->due, c->paid, NULL);
        mpq_clears (c->seconds, c->price, c->due_seconds, NULL);
        if (c->own)
            posting_clear (c->own);
        free (c->own);
    }
    free (s->cell);
    free (s->team);
    free (s->member);
    free (s->first);
    for (size_t i = 0; i < SETTLE_OF_FEES; i++)
        cube_free (s->cubes[i]);
}

/* --- the charges that a rule is for --------------------------------------- */

bool settlement_is_team (const struct settling *s,
                         const site_settlement_t *rule, period_t part,
                         const char *name)
{
    const site_t *site = s->how->site;

    if (!settlement_has (&rule->teams, name)
        || (rule->payer && !strcmp (rule->payer, name)))
        return false;
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (!strcmp (team->name, name) && period_overlaps (team->valid, part)
            && settlement_has (&rule->classes, team->class))
            return true;
    }
    return false;
}

static bool is_for (const site_settlement_t *rule, const struct cell *c)
{
    const posting_t *key = c->key;
    bool of = rule->of.count > 0
                  ? texts_have (&rule->of, settle_of_words[c->of])
                  : c->of == SETTLE_OF_CHARGES || rule->rule != SETTLE_GRANT;

    return of && settlement_has (&rule->pools, key->pool)
           && settlement_has (&rule->accounts, posting_key (key, KEY_ACCOUNT))
           && settlement_has (&rule->projects, posting_key (key, KEY_PROJECT))
           && settlement_has (&rule->qos, posting_key (key, KEY_QOS))
           && settlement_has (&rule->partitions,
                              posting_key (key, KEY_PARTITION));
}

static bool is_whole (const struct settling *s)
{
    return s->part.start <= s->how->period.start
           && s->part.end >= s->how->period.end;
}

/* Of a cell what lies in the part of the month. A charge that a rule made has no
 * day: it is due at the end of the month. */
static void clip_cell (struct cell *c, cube_t *const *cubes, bool to_end)
{
    const posting_t *in = c->own ? NULL : cube_find (cubes[c->of], c->key);

    if (c->own && to_end)
        return;
    if (!in) {
        mpz_set_ui (c->due, 0);
        mpq_set_ui (c->due_seconds, 0, 1);
        return;
    }
    if (mpz_cmp (in->charge_units, c->due) < 0)
        mpz_set (c->due, in->charge_units);
    if (mpz_sgn (c->due) < 0)
        mpz_set_ui (c->due, 0);
    if (mpq_cmp (in->gpu_seconds, c->due_seconds) < 0)
        mpq_set (c->due_seconds, in->gpu_seconds);
}

static int clip_cells (struct settling *s, gl_error_t *error)
{
    bill_t *part;
    cube_t *cubes[SETTLE_OF_FEES];

    if (s->how->part (s->part, &part, s->how->arg, error) < 0)
        return -1;
    group (part, s->how->month, cubes);
    for (size_t i = 0; i < s->count; i++)
        clip_cell (&s->cell[i], cubes, s->part.end >= s->how->period.end);
    for (size_t i = 0; i < SETTLE_OF_FEES; i++)
        cube_free (cubes[i]);
    bill_free (part);
    return 0;
}

/* --- classes that change within the month ----------------------------------- */

/* What lies in the days on which the team of each cell has a class of the rule. */
struct clip {
    mpz_t *units;
    mpq_t *seconds;
    bool *at_end; /* so it is at the end of the month: charges without a day */
};

static bool is_for_on (const struct settling *s, const char *team, int64_t at)
{
    return settlement_is_team (s, s->rule, (period_t){at, at + 1}, team);
}

/* The first instant in the rest of the part at which the rule begins or ceases to be
 * for one of the teams; else the part's end. */
static int64_t next_change (const struct settling *s, const bool *chosen,
                            int64_t from)
{
    const site_t *site = s->how->site;
    int64_t next = s->part.end;

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        const int64_t ends[] = {team->valid.start, team->valid.end};
        for (size_t k = 0; k < GL_ARRAY_SIZE (ends); k++)
            if (ends[k] > from && ends[k] < next
                && chosen[team_index (s, team->name)]
                && is_for_on (s, team->name, ends[k])
                       != is_for_on (s, team->name, ends[k] - 1))
                next = ends[k];
    }
    return next;
}

static int take_part (struct settling *s, struct clip *clip, period_t period,
                      gl_error_t *error)
{
    bool to_end = period.end >= s->how->period.end;
    bill_t *part;
    cube_t *cubes[SETTLE_OF_FEES];

    if (s->how->part (period, &part, s->how->arg, error) < 0)
        return -1;
    group (part, s->how->month, cubes);
    for (size_t i = 0; i < s->count; i++) {
        const struct cell *c = &s->cell[i];
        const posting_t *in
            = c->own ? NULL : cube_find (cubes[c->of], c->key);
        if (!is_for_on (s, s->team[c->team], period.start))
            continue;
        clip->at_end[i] = to_end;
        if (in) {
            mpz_add (clip->units[i], clip->units[i], in->charge_units);
            mpq_add (clip->seconds[i], clip->seconds[i], in->gpu_seconds);
        }
    }
    for (size_t i = 0; i < SETTLE_OF_FEES; i++)
        cube_free (cubes[i]);
    bill_free (part);
    return 0;
}

static void clip_to (struct cell *c, const struct clip *clip, size_t i)
{
    if (c->own && clip->at_end[i])
        return;
    if (mpz_cmp (clip->units[i], c->due) < 0)
        mpz_set (c->due, clip->units[i]);
    if (mpz_sgn (c->due) < 0)
        mpz_set_ui (c->due, 0);
    if (mpq_cmp (clip->seconds[i], c->due_seconds) < 0)
        mpq_set (c->due_seconds, clip->seconds[i]);
}

static int clip_by_class (struct settling *s, const bool *chosen,
                          gl_error_t *error)
{
    struct clip clip
        = {.units = xcalloc (s->count + 1, sizeof (*clip.units)),
           .seconds = xcalloc (s->count + 1, sizeof (*clip.seconds)),
           .at_end = xcalloc (s->count + 1, sizeof (*clip.at_end))};
    int rc = 0;

    for (size_t i = 0; i < s->count; i++) {
        mpz_init (clip.units[i]);
        mpq_init (clip.seconds[i]);
    }
    for (int64_t at = s->part.start, end; at < s->part.end && rc == 0;
         at = end) {
        end = next_change (s, chosen, at);
        rc = take_part (s, &clip, (period_t){at, end}, error);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (rc == 0)
            clip_to (&s->cell[i], &clip, i);
        mpz_clear (clip.units[i]);
        mpq_clear (clip.seconds[i]);
    }
    free (clip.units);
    free (clip.seconds);
    free (clip.at_end);
    return rc;
}

/* The teams that it is for, by their index. */
bool *settlement_teams (const struct settling *s)
{
    bool *chosen = xcalloc (s->team_count + 1, sizeof (*chosen));

    for (size_t i = 0; i < s->team_count; i++)
        chosen[i] = settlement_is_team (s, s->rule, s->part, s->team[i]);
    return chosen;
}

/* `due` of each cell: what is unpaid, where the rule is for it. */
int settlement_select (struct settling *s, const bool *chosen,
                       gl_error_t *error)
{
    for (size_t i = 0; i < s->count; i++) {
        struct cell *c = &s->cell[i];
        mpz_set_ui (c->due, 0);
        mpq_set_ui (c->due_seconds, 0, 1);
        if (!chosen[c->team] || !is_for (s->rule, c))
            continue;
        mpz_set (c->due, c->left);
        mpq_set (c->due_seconds, c->seconds);
    }
    if (s->rule->classes.count > 0
        && next_change (s, chosen, s->part.start) < s->part.end)
        return clip_by_class (s, chosen, error);
    return is_whole (s) ? 0 : clip_cells (s, error);
}

static bool is_due (const struct cell *c)
{
    return mpz_sgn (c->due) > 0 || mpq_sgn (c->due_seconds) > 0;
}

/* Due cells, team by team; the teams' order within `first` is their own. */
void settlement_order (struct settling *s, bool together)
{
    bool reversed = s->rule->order == SETTLE_CHEAPEST;
    size_t *next = xcalloc (s->team_count + 2, sizeof (*next));

    memset (s->first, 0, (s->team_count + 2) * sizeof (*s->first));
    s->member = xreallocarray (s->member, s->count + 1, sizeof (*s->member));
    for (size_t i = 0; i < s->count; i++)
        if (is_due (&s->cell[i]))
            s->first[together ? 1 : s->cell[i].team + 1]++;
    for (size_t i = 0; i <= s->team_count; i++) {
        s->first[i + 1] += s->first[i];
        next[i] = s->first[i];
    }
    for (size_t i = 0; i < s->count; i++) {
        size_t at = reversed ? s->count - 1 - i : i;
        if (is_due (&s->cell[at]))
            s->member[next[together ? 0 : s->cell[at].team]++] = at;
    }
    free (next);
}

struct payer settlement_payer (const struct settling *s, size_t team,
                               bool together)
{
    return (struct payer){.team = together ? NULL : s->team[team],
                          .member = s->member + s->first[team],
                          .count = s->first[team + 1] - s->first[team]};
}

void settlement_due (const struct settling *s, const struct payer *p,
                     mpz_t ret_due, mpq_ptr ret_seconds)
{
    mpz_set_ui (ret_due, 0);
    if (ret_seconds)
        mpq_set_ui (ret_seconds, 0, 1);
    for (size_t i = 0; i < p->count; i++) {
        const struct cell *c = &s->cell[p->member[i]];
        mpz_add (ret_due, ret_due, c->due);
        if (ret_seconds)
            mpq_add (ret_seconds, ret_seconds, c->due_seconds);
    }
}
