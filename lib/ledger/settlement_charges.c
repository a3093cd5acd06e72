#include <string.h>

#include "base/array.h"
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

/* Into groups; the time of idle time is no job's. */
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
        if (rows[i].kind == BILL_CHARGE)
            continue;
        mpq_sub (to->gpu_seconds, to->gpu_seconds, rows[i].gpu_seconds);
        mpq_sub (to->cpu_seconds, to->cpu_seconds, rows[i].cpu_seconds);
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
        if (mpz_sgn (row->charge_units) <= 0
            && mpq_sgn (posting_seconds (row)) <= 0)
            continue;
        c = new_cell (s);
        c->key = row;
        c->of = of;
        c->of_cpus = mpq_sgn (row->cpu_seconds) > 0;
        if (mpz_sgn (row->charge_units) > 0)
            mpz_set (c->left, row->charge_units);
        mpq_set (c->seconds, posting_seconds (row));
        mpq_set_z (c->price, c->left);
        if (mpq_sgn (c->seconds) > 0)
            mpq_div (c->price, c->price, c->seconds);
    }
}

/* An hour of a CPU is another thing than one of a GPU: those come behind. Without
 * time a charge has no price of an hour, and comes last. */
static int rank (const struct cell *c)
{
    return mpq_sgn (c->seconds) <= 0 ? 2 : c->of_cpus ? 1 : 0;
}

static int dearest_first (const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    int order = rank (x) - rank (y);

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

static size_t name_index (const struct settling *s, const char *name)
{
    char **found
        = bsearch (&name, s->team, s->team_count, sizeof (*s->team), by_text);

    return found ? (size_t)(found - s->team) : s->team_count;
}

/* Names at the end of the month count: a balance goes on under the name that the team
 * has then. */
static const char *last_name (const struct settling *s, const char *name)
{
    period_t month = s->how->period;

    return team_last_name (s->how->site, name,
                           (period_t){month.start, month.end + 1});
}

size_t settlement_team (const struct settling *s, const char *name)
{
    size_t at = name_index (s, name);

    if (at == s->team_count)
        at = name_index (s, last_name (s, name));
    return at < s->team_count ? s->same[at] : at;
}

const char *settlement_team_name (const struct settling *s, const char *name)
{
    size_t at = settlement_team (s, name);

    return at < s->team_count ? s->named[at] : name;
}

/* Of a team that was renamed, all names are those of one payer. */
static void join_names (struct settling *s)
{
    const site_t *site = s->how->site;
    int64_t *start = xcalloc (s->team_count + 1, sizeof (*start));

    s->same = xcalloc (s->team_count + 1, sizeof (*s->same));
    s->named = xcalloc (s->team_count + 1, sizeof (*s->named));
    s->site_team = xcalloc (site->team_count + 1, sizeof (*s->site_team));
    for (size_t i = 0; i < s->team_count; i++) {
        s->same[i] = name_index (s, last_name (s, s->team[i]));
        s->named[i] = s->team[i];
        start[i] = INT64_MIN;
    }
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        size_t at = s->site_team[i] = s->same[name_index (s, team->name)];
        if (!period_overlaps (team->valid, s->how->period)
            || team->valid.start < start[at])
            continue;
        s->named[at] = team->name;
        start[at] = team->valid.start;
    }
    free (start);
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
    join_names (s);
    for (size_t i = 0; i < s->count; i++)
        s->cell[i].team = settlement_team (s, s->cell[i].key->team);
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
    c->team = settlement_team (s, team);
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

static void parts_clear (struct settling *s)
{
    for (size_t i = 0; i < s->part_count; i++)
        for (size_t k = 0; k < SETTLE_OF_FEES; k++)
            cube_free (s->parts[i].cubes[k]);
    free (s->parts);
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
    parts_clear (s);
    free (s->cell);
    free (s->team);
    free (s->same);
    free (s->named);
    free (s->site_team);
    free (s->member);
    free (s->first);
    free (s->payer);
    free (s->last);
    for (size_t i = 0; i < SETTLE_OF_FEES; i++)
        cube_free (s->cubes[i]);
}

/* --- the charges that a rule is for --------------------------------------- */

bool settlement_is_team (const struct settling *s,
                         const site_settlement_t *rule, period_t part,
                         const char *name)
{
    const site_t *site = s->how->site;

    size_t place = settlement_team (s, name);

    if (!settlement_has (&rule->teams, name)
        || (rule->payer && settlement_team (s, rule->payer) == place))
        return false;
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (s->site_team[i] == place && period_overlaps (team->valid, part)
            && settlement_has (&rule->classes, team->class))
            return true;
    }
    return false;
}

/* Hours are of GPUs or of CPUs, and an amount for each user is for charges that have
 * one. */
static bool counts (const site_settlement_t *rule, const struct cell *c)
{
    return (!settlement_counts_hours (rule)
            || c->of_cpus == (mpq_sgn (rule->cpu_hours) > 0))
           && (!settle_by_user (rule) || posting_key (c->key, KEY_USER));
}

static bool is_for (const site_settlement_t *rule, const struct cell *c)
{
    const posting_t *key = c->key;
    bool of = rule->of.count > 0
                  ? texts_have (&rule->of, settle_of_words[c->of])
                  : c->of == SETTLE_OF_CHARGES || rule->rule != SETTLE_GRANT;

    return of && counts (rule, c) && settlement_has (&rule->pools, key->pool)
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
    settlement_least (c->due_seconds, posting_seconds (in));
}

static bool is_part (const struct settlement_part *part, period_t period)
{
    return part->period.start == period.start && part->period.end == period.end;
}

/* The charges of a part of the month, computed once. NULL with an error. */
static cube_t *const *part_of (struct settling *s, period_t period,
                               gl_error_t *error)
{
    struct settlement_part *part
        = GL_FIND (s->parts, s->part_count, it, is_part (it, period));
    bill_t *bill;

    if (part)
        return part->cubes;
    if (s->how->part (period, &bill, s->how->arg, error) < 0)
        return NULL;
    part = GL_APPEND (s->parts, s->part_count);
    part->period = period;
    group (bill, s->how->month, part->cubes);
    bill_free (bill);
    return part->cubes;
}

static int clip_cells (struct settling *s, gl_error_t *error)
{
    cube_t *const *cubes = part_of (s, s->part, error);

    if (!cubes)
        return -1;
    for (size_t i = 0; i < s->count; i++)
        clip_cell (&s->cell[i], cubes, s->part.end >= s->how->period.end);
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
            if (ends[k] > from && ends[k] < next && chosen[s->site_team[i]]
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
    cube_t *const *cubes = part_of (s, period, error);

    if (!cubes)
        return -1;
    for (size_t i = 0; i < s->count; i++) {
        const struct cell *c = &s->cell[i];
        const posting_t *in
            = c->own ? NULL : cube_find (cubes[c->of], c->key);
        if (!is_for_on (s, s->team[c->team], period.start))
            continue;
        clip->at_end[i] = to_end;
        if (in) {
            mpz_add (clip->units[i], clip->units[i], in->charge_units);
            mpq_add (clip->seconds[i], clip->seconds[i], posting_seconds (in));
        }
    }
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
    settlement_least (c->due_seconds, clip->seconds[i]);
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
        chosen[i] = s->same[i] == i
                    && settlement_is_team (s, s->rule, s->part, s->team[i]);
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
static void order_members (struct settling *s, bool together)
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

static void add_payer (struct settling *s, struct payer p)
{
    if ((s->payer_count & (s->payer_count - 1)) == 0)
        s->payer = xreallocarray (
            s->payer, s->payer_count ? s->payer_count * 2 : 1, sizeof (p));
    s->payer[s->payer_count++] = p;
}

/* A due cell of a user, or last month's balance. */
struct of_user {
    const char *user;
    size_t at; /* in the order in which the rule pays */
    size_t cell;
};
#define NO_CHARGE SIZE_MAX

static int by_user (const void *a, const void *b)
{
    const struct of_user *x = a, *y = b;
    int order = strcmp (x->user, y->user);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* A payer for each user with due charges or a balance of last month, by name. */
static void add_users (struct settling *s, const struct payer *team)
{
    size_t last_count, at = (size_t)(team->member - s->member), count = 0;
    const struct last *last = balances_of_last (s, team->team, &last_count);
    struct of_user *list
        = xcalloc (team->count + last_count + 1, sizeof (*list));

    for (; count < team->count; count++)
        list[count] = (struct of_user){
            posting_key (s->cell[team->member[count]].key, KEY_USER), count,
            team->member[count]};
    for (size_t i = 0; i < last_count; i++)
        if (last[i].user)
            list[count++] = (struct of_user){last[i].user, NO_CHARGE, 0};
    if (count > 1)
        qsort (list, count, sizeof (*list), by_user);
    for (size_t i = 0, end; i < count; i = end) {
        struct payer p = {
            .team = team->team, .user = list[i].user, .member = s->member + at};
        for (end = i; end < count && !strcmp (list[end].user, p.user); end++)
            if (list[end].at != NO_CHARGE)
                s->member[at + p.count++] = list[end].cell;
        at += p.count;
        add_payer (s, p);
    }
    free (list);
}

void settlement_payers (struct settling *s, const bool *chosen)
{
    bool together = settlement_together (s->rule);

    order_members (s, together);
    s->payer_count = 0;
    for (size_t i = 0; i < s->team_count; i++) {
        const struct payer p = {.team = together ? NULL : s->named[i],
                                .member = s->member + s->first[i],
                                .count = s->first[i + 1] - s->first[i]};
        if (together ? i > 0 : !chosen[i])
            continue;
        if (settle_by_user (s->rule))
            add_users (s, &p);
        else
            add_payer (s, p);
    }
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
