/*
 * The same pool-month under another idle policy: of what was allocated to accounts and teams,
 * which is all that the policies look at.
 */
#include <string.h>

#include "base/memory.h"
#include "money/charge_private.h"

/* The text of an entry that its allocated time is distinguished by; NULL: none. */
static const char *entry_text (const charge_t *charge,
                              const struct entry *entry, size_t at)
{
    bool whose = at < 2 || at == CHARGE_TEAM; /* account, cluster, team */

    if (at >= charge_path_length (charge) || (!whose && !entry->price.rate))
        return NULL;
    return entry->path[at];
}

static bool goes_on (const charge_t *charge, const struct allocation *one,
                     const struct entry *entry)
{
    bool same = charge_same_price (&one->price, &entry->price);

    for (size_t i = 0; i <= CHARGE_TEAM && same; i++)
        same = charge_compare_texts (one->path[i],
                                     entry_text (charge, entry, i))
               == 0;
    return same;
}

void charge_keep_held (charge_t *charge)
{
    charge->allocated
        = xcalloc (charge->count + 1, sizeof (*charge->allocated));
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        struct allocation *one = charge->allocated + charge->allocated_count - 1;
        if (charge->allocated_count == 0 || !goes_on (charge, one, entry)) {
            one = &charge->allocated[charge->allocated_count++];
            for (size_t k = 0; k <= CHARGE_TEAM; k++)
                one->path[k] = entry_text (charge, entry, k);
            one->price = entry->price;
            mpq_inits (one->gpu_seconds, one->price_seconds, NULL);
        }
        exact_add (one->gpu_seconds, entry->line.gpu_seconds);
        exact_add (one->price_seconds, entry->line.price_seconds);
    }
}

void charge_free_held (charge_t *charge)
{
    for (size_t i = 0; i < charge->allocated_count; i++)
        mpq_clears (charge->allocated[i].gpu_seconds,
                    charge->allocated[i].price_seconds, NULL);
    free (GL_TAKE (charge->allocated));
    charge->allocated_count = 0;
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
    for (size_t i = 0; i < charge->allocated_count; i++)
        charge_add (other, charge->allocated[i].path,
                    charge->allocated[i].gpu_seconds,
                    charge->allocated[i].price_seconds,
                    &charge->allocated[i].price);
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
        mpq_set (to->others, from->others);
        mpq_set (to->others_before, from->others_before);
        mpq_set (to->rollover_in, from->rollover_in);
        mpq_set (to->value_in, from->value_in);
    }
    if (charge_compute (other, error) < 0) {
        charge_free (other);
        return NULL;
    }
    return other;
}

bool charge_is_published (const charge_t *charge)
{
    bool all = charge->count > 0;

    for (size_t i = 0; i < charge->count && all; i++)
        all = charge->entries[i].published && !charge->entries[i].bought;
    return all;
}
