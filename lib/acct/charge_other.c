/*
 * The same pool-month under another idle policy: of what accounts and teams held,
 * which is all that the policies look at.
 */
#include <string.h>

#include "acct/charge_private.h"
#include "base/memory.h"

static bool same_price (const charge_price_t *a, const charge_price_t *b)
{
    return a->rate == b->rate && a->rule == b->rule && a->team == b->team;
}

static bool same_text (const char *a, const char *b)
{
    return charge_compare_texts (a, b) == 0;
}

static bool goes_on (const struct held *held, const struct entry *entry,
                     const char *cluster, const char *team)
{
    return same_text (held->who.account, entry->path[0])
           && same_text (held->who.cluster, cluster)
           && same_text (held->who.team, team)
           && same_price (&held->price, &entry->price);
}

void charge_keep_held (charge_t *charge)
{
    bool has_cluster = charge_path_length (charge) >= CHARGE_PATH_COUNT;

    charge->held = xcalloc (charge->count + 1, sizeof (*charge->held));
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        const char *cluster = has_cluster ? entry->path[1] : NULL;
        const char *team = charge_path_team (charge, entry->line.path);
        struct held *held = charge->held + charge->held_count - 1;
        if (charge->held_count == 0
            || !goes_on (held, entry, cluster, team)) {
            held = &charge->held[charge->held_count++];
            held->who = (struct share){.account = xstrdup (entry->path[0]),
                                       .cluster = xstrdup (cluster),
                                       .team = xstrdup (team)};
            held->price = entry->price;
            mpq_inits (held->who.amount, held->price_seconds, NULL);
        }
        mpq_add (held->who.amount, held->who.amount, entry->line.gpu_seconds);
        mpq_add (held->price_seconds, held->price_seconds,
                 entry->line.price_seconds);
    }
}

void charge_free_held (charge_t *charge)
{
    for (size_t i = 0; i < charge->held_count; i++) {
        struct held *held = &charge->held[i];
        free (held->who.account);
        free (held->who.cluster);
        free (held->who.team);
        mpq_clears (held->who.amount, held->price_seconds, NULL);
    }
    free (charge->held);
}

static void add_held (charge_t *other, const struct held *held)
{
    const char *path[CHARGE_TEAM + 1] = {held->who.account, held->who.cluster};

    path[CHARGE_TEAM] = held->who.team;
    charge_add (other, path, held->who.amount, held->price_seconds,
                &held->price);
}

charge_t *charge_under (const charge_t *charge, idle_policy_t policy,
                        gl_error_t *error)
{
    static const size_t levels[]
        = {1, CHARGE_PATH_COUNT, CHARGE_TEAM + 1};
    charge_t *other
        = charge_new_with (charge->site, charge->pool, charge->month,
                           &charge->capacity, levels, GL_ARRAY_SIZE (levels));

    other->idle = policy;
    mpq_set (other->cost.total, charge->cost.total);
    mpq_set (other->cost.by_use, charge->cost.by_use);
    mpq_set (other->suspended, charge->suspended);
    for (size_t i = 0; i < charge->held_count; i++)
        add_held (other, &charge->held[i]);
    for (size_t i = 0; i < charge->reserved.count; i++) {
        const struct share *share = &charge->reserved.share[i];
        charge_add_reserved (other, share->cluster, share->account,
                             share->team, share->amount);
    }
    for (size_t i = 0; i < charge->payer_count; i++) {
        const charge_payer_t *from = &charge->payers[i];
        charge_payer_t *to = charge_payer (other, from->team, from->account);
        mpq_set (to->before_billed, from->before_billed);
        mpq_set (to->before_spent, from->before_spent);
        mpq_set (to->carried_in, from->carried_in);
        mpq_set (to->value_in, from->value_in);
    }
    if (charge_compute (other, error) < 0) {
        charge_free (other);
        return NULL;
    }
    return other;
}
