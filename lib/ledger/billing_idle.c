#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/billing_idle.h"
#include "site/kind.h"

/* A part of a reservation that one account pays. */
struct kept {
    const char *pool; /* of the site */
    char *cluster;
    char *account;
    const char *team; /* of the site; NULL: none */
    int64_t instant;
    mpq_t gpu_seconds;
};

struct billing_idle {
    const report_query_t *query;
    struct kept *kept;
    size_t count;
    size_t size;
};

billing_idle_t *billing_idle_new (const report_query_t *query)
{
    billing_idle_t *idle = xcalloc (1, sizeof (*idle));

    idle->query = query;
    return idle;
}

void billing_idle_free (billing_idle_t *idle)
{
    if (!idle)
        return;
    for (size_t i = 0; i < idle->count; i++) {
        free (idle->kept[i].cluster);
        free (idle->kept[i].account);
        mpq_clear (idle->kept[i].gpu_seconds);
    }
    free (idle->kept);
    free (idle);
}

const char *billing_part (const report_query_t *query, int64_t instant)
{
    return instant < query->period.start ? "before"
           : instant < query->period.end ? "in"
                                         : "later";
}

/* --- reservations ------------------------------------------------------- */

static const char *pool_name (const site_t *site, const char *name)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name))
            return site->pools[i].name;
    return NULL;
}

static void keep (billing_idle_t *idle, const char *pool, const char *cluster,
                  int64_t instant, char *account, mpq_srcptr gpu_seconds)
{
    const site_t *site = idle->query->site;
    const site_team_t *team = team_of_account (
        site, idle->query->accounts, cluster, account, instant);
    struct kept *kept;

    if (idle->count == idle->size) {
        idle->size = idle->size * 2 + 16;
        idle->kept
            = xreallocarray (idle->kept, idle->size, sizeof (*idle->kept));
    }
    kept = &idle->kept[idle->count++];
    *kept = (struct kept){.pool = pool_name (site, pool),
                          .cluster = xstrdup (cluster),
                          .account = account,
                          .team = team ? team->name : NULL,
                          .instant = instant};
    mpq_init (kept->gpu_seconds);
    mpq_set (kept->gpu_seconds, gpu_seconds);
}

/* Accounts in a reservation's list; 0: none, or only who may not use it ("-a"). */
static size_t count_accounts (const char *accounts)
{
    size_t count = 1;

    if (!accounts || !accounts[0] || accounts[0] == '-')
        return 0;
    for (const char *p = accounts; *p; p++)
        count += *p == ',';
    return count;
}

void billing_idle_reserved (billing_idle_t *idle, const char *pool,
                            const char *cluster, int64_t instant,
                            const capacity_reserved_t *reserved, size_t count)
{
    mpq_t part;

    if (idle->query->site->policy.reserved == RESERVED_STATED)
        return;
    mpq_init (part);
    for (size_t i = 0; i < count; i++) {
        size_t holders = count_accounts (reserved[i].accounts);
        const char *at = reserved[i].accounts;
        for (size_t k = 0; k < holders; k++) {
            size_t length = strcspn (at, ",");
            mpq_set_ui (part, 1, holders);
            mpq_mul (part, part, reserved[i].gpu_seconds);
            keep (idle, pool, cluster, instant, xstrndup (at, length), part);
            at += length + 1;
        }
    }
    mpq_clear (part);
}

/* --- stretches ---------------------------------------------------------- */

/* Idle time is of the pool: nothing in a path but its time and its model. */
static const char *stretch_key (const report_query_t *q, const char *pool,
                                key_id_t key, int64_t start,
                                char buf[ZONE_STAMP_SIZE])
{
    const site_t *site = q->site;

    if (key == KEY_COUNT)
        return billing_part (q, start);
    if (key == KEY_DAY || key == KEY_HOUR)
        return zone_unit_name (site->zone,
                               key == KEY_DAY ? CALENDAR_DAY : CALENDAR_HOUR,
                               start, buf);
    for (size_t i = 0; key == KEY_GPU && i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, pool)
            && site->pools[i].valid.start <= start
            && start < site->pools[i].valid.end)
            return site->pools[i].gpu;
    return NULL;
}

static void give_stretch (const report_query_t *q, const char *pool,
                          billing_path_t path, period_t stretch,
                          charge_t *charge)
{
    char buf[2][ZONE_STAMP_SIZE]; /* a path has a day and an hour at most */
    const char *texts[KEYS_MAX + 1];
    size_t used = 0;

    for (size_t i = 0; i < path.length; i++) {
        bool timed = path.key[i] == KEY_DAY || path.key[i] == KEY_HOUR;
        texts[i] = stretch_key (q, pool, path.key[i], stretch.start, buf[used]);
        used += timed && used == 0;
    }
    charge_add_stretch (charge, texts, stretch.start,
                        (uint64_t)(stretch.end - stretch.start));
}

static bool has_key (billing_path_t path, key_id_t key)
{
    for (size_t i = 0; i < path.length; i++)
        if (path.key[i] == key)
            return true;
    return false;
}

/* The next end of a unit of time, of a cut, or of what the site says. */
static int64_t stretch_end (const report_query_t *q, billing_path_t path,
                            const int64_t *cuts, size_t cut_count, int64_t at,
                            int64_t end)
{
    if (has_key (path, KEY_HOUR) || has_key (path, KEY_DAY)) {
        period_t unit = zone_unit (
            q->site->zone,
            has_key (path, KEY_HOUR) ? CALENDAR_HOUR : CALENDAR_DAY, at);
        end = unit.end < end ? unit.end : end;
    }
    for (size_t i = 0; i < cut_count; i++)
        if (cuts[i] > at && cuts[i] < end)
            end = cuts[i];
    return end;
}

/* What is paid for an entitlement is of the time in which the entry holds. */
static bool entitlement_changes (const site_t *site, const char *pool,
                                 period_t month)
{
    for (size_t i = 0; i < site->entitlement_count; i++) {
        period_t valid = site->entitlements[i].valid;
        if (!strcmp (site->entitlements[i].pool, pool)
            && period_overlaps (valid, month)
            && (valid.start > month.start || valid.end < month.end))
            return true;
    }
    return false;
}

/* Nothing changes in the month but the day. */
static bool is_even (const report_query_t *q, const char *pool, period_t month,
                     const int64_t *cuts, size_t cut_count)
{
    size_t change_count;

    free (site_changes (q->site, month, &change_count));
    return change_count == 0 && !entitlement_changes (q->site, pool, month)
           && stretch_end (q, (billing_path_t){NULL, 0}, cuts, cut_count,
                           month.start, month.end)
                  == month.end;
}

static void give_stretches (const report_query_t *q, const char *pool,
                            period_t month, billing_path_t path,
                            const int64_t *cuts, size_t cut_count,
                            charge_t *charge)
{
    size_t change_count;
    int64_t *changes = site_changes (q->site, month, &change_count);
    int64_t end;

    for (int64_t at = month.start; at < month.end; at = end) {
        end = stretch_end (q, path, cuts, cut_count, at, month.end);
        end = stretch_end (q, (billing_path_t){NULL, 0}, changes, change_count,
                           at, end);
        give_stretch (q, pool, path, (period_t){at, end}, charge);
    }
    free (changes);
}

static bool makes_lines (idle_policy_t policy)
{
    return policy == IDLE_PROPORTIONAL || policy == IDLE_UNIFORM
           || policy == IDLE_ENTITLEMENT;
}

/* Some team pays for what it is entitled to, spread in the same way. */
static bool sells (const site_t *site, const char *pool, period_t month)
{
    for (size_t i = 0; i < site->entitlement_count; i++) {
        const site_entitlement_t *e = &site->entitlements[i];
        if ((mpq_sgn (e->per_gpu_hour) > 0 || mpq_sgn (e->per_month) > 0)
            && !strcmp (e->pool, pool) && e->valid.start < month.end
            && month.start < e->valid.end)
            return true;
    }
    return false;
}

void billing_idle_give (const billing_idle_t *idle, const char *pool,
                        period_t month, billing_path_t path, bool days_apart,
                        const int64_t *cuts, size_t cut_count, charge_t *charge)
{
    const report_query_t *q = idle->query;
    key_id_t without_days[KEYS_MAX + 1];
    bool any = makes_lines (site_idle_policy (q->site, pool, month))
               || sells (q->site, pool, month);

    for (size_t i = 0; i < idle->count; i++) {
        const struct kept *kept = &idle->kept[i];
        if (!kept->pool || strcmp (kept->pool, pool) != 0
            || kept->instant < month.start || kept->instant >= month.end)
            continue;
        charge_add_reserved (charge, kept->cluster, kept->account, kept->team,
                             kept->gpu_seconds);
        any = true;
    }
    if (any && days_apart && is_even (q, pool, month, cuts, cut_count)) {
        for (size_t i = 0; i < path.length; i++)
            without_days[i]
                = path.key[i] == KEY_DAY ? KEY_MONTH : path.key[i];
        path.key = without_days;
    }
    if (any)
        give_stretches (q, pool, month, path, cuts, cut_count, charge);
}
