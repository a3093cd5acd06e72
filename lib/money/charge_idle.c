/*
 * Who pays for time that was not allocated: reserved time its holders, the rest whom
 * the pool's policy names. Everything else stays a remainder.
 */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"

/* What policies share out. Unknown time is not among them: no money is made of
 * what is not known. */
static const remainder_id_t shared_classes[] = {
    REMAINDER_IDLE,         REMAINDER_STRANDED,     REMAINDER_CPU_STRANDED,
    REMAINDER_PLANNED_DOWN, REMAINDER_DOWN,         REMAINDER_RESERVED_UNUSED,
};

/* --- shares ------------------------------------------------------------- */

static int compare_share (const struct share *share, const char *account,
                          const char *cluster, const char *team)
{
    int order = charge_compare_texts (share->account, account);

    if (order == 0)
        order = charge_compare_texts (share->cluster, cluster);
    return order ? order : charge_compare_texts (share->team, team);
}

static size_t find_share (const struct share_list *shares, const char *account,
                          const char *cluster, const char *team)
{
    size_t low = 0, high = shares->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_share (&shares->share[middle], account, cluster, team) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void charge_share_add (struct share_list *shares, const char *account,
                       const char *cluster, const char *team, mpq_srcptr amount)
{
    size_t at = find_share (shares, account, cluster, team);
    struct share *share;

    if (at == shares->count
        || compare_share (&shares->share[at], account, cluster, team) != 0) {
        shares->share = xreallocarray (shares->share, shares->count + 1,
                                       sizeof (*shares->share));
        share = &shares->share[at];
        memmove (share + 1, share, (shares->count - at) * sizeof (*share));
        shares->count++;
        *share = (struct share){.account = xstrdup (account),
                                .cluster = xstrdup (cluster),
                                .team = xstrdup (team)};
        mpq_init (share->amount);
    }
    share = &shares->share[at];
    exact_add (share->amount, amount);
}

void charge_shares_free (struct share_list *shares)
{
    for (size_t i = 0; i < shares->count; i++) {
        free (shares->share[i].account);
        free (shares->share[i].cluster);
        free (shares->share[i].team);
        mpq_clear (shares->share[i].amount);
    }
    free (shares->share);
    *shares = (struct share_list){0};
}

static void sum_shares (const struct share_list *shares, mpq_t ret_sum)
{
    for (size_t i = 0; i < shares->count; i++)
        exact_add (ret_sum, shares->share[i].amount);
}

/* --- entries ------------------------------------------------------------ */

static void give_stretch (charge_t *charge, const struct share *share,
                          remainder_id_t class, mpq_srcptr gpu_seconds,
                          const struct stretch *stretch)
{
    const char **path = xcalloc (charge_path_length (charge), sizeof (*path));
    struct entry *entry;

    for (size_t i = 0; i < charge_path_length (charge); i++)
        path[i] = stretch->path[i];
    path[0] = share->account;
    if (charge_path_length (charge) >= CHARGE_PATH_COUNT)
        path[1] = share->cluster;
    if (charge_path_length (charge) > CHARGE_TEAM)
        path[CHARGE_TEAM] = share->team;
    entry = charge_new_entry (charge, CHARGE_IDLE, path,
                              remainder_info (class)->word);
    mpq_set (entry->line.gpu_seconds, gpu_seconds);
    mpq_set (entry->line.price_seconds, gpu_seconds);
    entry->price = rate_card_price (
        charge->site, (rate_subject_t){.pool = charge->pool,
                                       .team = share->team,
                                       .instant = stretch->start});
    free (path);
}

/* One stretch that is the month, for callers that gave none. */
static void make_stretch (charge_t *charge)
{
    const char **path = xcalloc (charge_path_length (charge), sizeof (*path));

    if (charge->stretch_count == 0)
        charge_add_stretch (charge, path, charge->month.start, 1);
    free (path);
}

/* `gpu_seconds` of the class become the share's, evenly over the month. */
static void give (charge_t *charge, const struct share *share,
                  remainder_id_t class, mpq_srcptr gpu_seconds, bool at_cost)
{
    mpq_ptr rest = charge->remainders[class].gpu_seconds;
    uint64_t whole = 0;
    mpq_t part;

    mpq_init (part);
    for (size_t i = 0; i < charge->stretch_count; i++)
        whole += charge->stretches[i].seconds;
    for (size_t i = 0; i < charge->stretch_count && whole > 0; i++) {
        const struct stretch *stretch = &charge->stretches[i];
        mpq_set_ui (part, 0, 1);
        exact_add_scaled (part, gpu_seconds, (int64_t)stretch->seconds,
                          (int64_t)whole);
        give_stretch (charge, share, class, part, stretch);
        if (at_cost) {
            struct entry *entry = &charge->entries[charge->count - 1];
            entry->at_cost = true;
            entry->price.rate = NULL;
        }
    }
    if (whole > 0)
        mpq_sub (rest, rest, gpu_seconds);
    mpq_clear (part);
}

/* --- policies ----------------------------------------------------------- */

/* By account: the GPU time allocated to it without a published rate. */
static void share_by_use (const charge_t *charge, struct share_list *shares)
{
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        const char *const *path = entry->line.path;
        bool has_cluster = charge_path_length (charge) >= CHARGE_PATH_COUNT;
        if (entry->line.kind == CHARGE_USED && !entry->price.rate)
            charge_share_add (shares, path[0], has_cluster ? path[1] : NULL,
                              charge_path_team (charge, path),
                              entry->line.gpu_seconds);
    }
}

/* Each team that there is at some time of the month, once. */
static void share_equally (const charge_t *charge, struct share_list *shares)
{
    const site_t *site = charge->site;
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        size_t at = find_share (shares, NULL, NULL, team->name);
        if (team->valid.start < charge->month.end
            && team->valid.end > charge->month.start
            && (at == shares->count
                || compare_share (&shares->share[at], NULL, NULL, team->name)))
            charge_share_add (shares, NULL, NULL, team->name, one);
    }
    mpq_clear (one);
}

static void share_by_entitlement (const charge_t *charge, struct share_list *shares)
{
    for (size_t i = 0; i < charge->payer_count; i++) {
        const charge_payer_t *payer = &charge->payers[i];
        if (payer->team && mpq_sgn (payer->entitled) > 0)
            charge_share_add (shares, NULL, NULL, payer->team,
                              payer->entitled);
    }
}

/* The part of idle time that falls to time under no published rate: of the time
 * that was used, or by what is published where none was. */
static void full_cost_part (const charge_t *charge, mpq_t ret_part)
{
    const site_t *site = charge->site;
    mpq_t whole;

    mpq_init (whole);
    mpq_set_ui (ret_part, 0, 1);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        if (entry->line.kind != CHARGE_USED)
            continue;
        exact_add (whole, entry->line.gpu_seconds);
        if (!entry->price.rate)
            exact_add (ret_part, entry->line.gpu_seconds);
    }
    if (mpq_sgn (whole) > 0)
        mpq_div (ret_part, ret_part, whole);
    else
        mpq_set_ui (ret_part,
                    !rate_card_price (
                         site, (rate_subject_t){.pool = charge->pool,
                                                .instant = charge->month.start})
                         .rate,
                    1);
    mpq_clear (whole);
}

static void share_classes (charge_t *charge, const struct share_list *shares)
{
    mpq_t whole, amount, part;

    mpq_inits (whole, amount, part, NULL);
    full_cost_part (charge, part);
    sum_shares (shares, whole);
    for (size_t k = 0; k < GL_ARRAY_SIZE (shared_classes); k++) {
        remainder_id_t class = shared_classes[k];
        mpq_t there;
        mpq_init (there);
        mpq_mul (there, charge->remainders[class].gpu_seconds, part);
        for (size_t i = 0; i < shares->count && mpq_sgn (there) > 0; i++) {
            if (mpq_sgn (shares->share[i].amount) <= 0)
                continue;
            mpq_div (amount, shares->share[i].amount, whole);
            mpq_mul (amount, amount, there);
            give (charge, &shares->share[i], class, amount, true);
        }
        mpq_clear (there);
    }
    mpq_clears (whole, amount, part, NULL);
}

void charge_give_idle (charge_t *charge)
{
    struct share_list shares = {0};

    if (charge->idle == IDLE_PROPORTIONAL)
        share_by_use (charge, &shares);
    else if (charge->idle == IDLE_UNIFORM)
        share_equally (charge, &shares);
    else if (charge->idle == IDLE_ENTITLEMENT)
        share_by_entitlement (charge, &shares);
    make_stretch (charge);
    for (size_t i = 0; i < charge->reserved.count; i++)
        give (charge, &charge->reserved.share[i], REMAINDER_RESERVED_UNUSED,
              charge->reserved.share[i].amount, false);
    share_classes (charge, &shares);
    charge_shares_free (&shares);
}
