#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "month/budget_cache.h"

struct spent {
    char *scope;
    budget_month_t *month;
};

struct cached_month {
    char hash[MONTH_HASH_SIZE]; /* of its closing */
    period_t period;
    int64_t first;
    struct spent *spent;
    size_t count;
};

struct budget_cache {
    struct cached_month *month;
    size_t count;
};

budget_cache_t *budget_cache_new (void)
{
    return xcalloc (1, sizeof (budget_cache_t));
}

static void free_spent (struct spent *spent)
{
    free (spent->scope);
    budget_month_free (spent->month);
}

static void clear_month (struct cached_month *m)
{
    GL_FREE_EACH (m->spent, m->count, it, free_spent (it));
}

void budget_cache_free (budget_cache_t *cache)
{
    if (!cache)
        return;
    GL_FREE_EACH (cache->month, cache->count, it, clear_month (it));
    free (cache);
}

static void add_name (buffer_t *out, const char *name)
{
    buffer_add_char (out, '\n');
    if (name)
        buffer_add_escaped (out, name, strlen (name));
    else
        buffer_add_char (out, '\t');
}

/* Budgets with the same text have the same sums of a month. Yours to free. */
static char *scope_of (const site_t *site, const budget_t *b)
{
    const site_budget_t *entry = b->budget;
    buffer_t out = BUFFER_INIT;

    buffer_printf (&out, "%d%d%d", b->of_money, b->of_cpus,
                   entry->team != NULL);
    add_name (&out, zone_name (site->zone));
    add_name (&out, entry->project);
    add_name (&out, entry->account);
    add_name (&out, entry->pool);
    for (size_t i = 0; entry->team && i < entry->team_names.count; i++)
        add_name (&out, entry->team_names.item[i]);
    return buffer_take (&out);
}

static const budget_month_t *find_spent (const struct cached_month *m,
                                         const char *scope)
{
    const struct spent *spent
        = GL_FIND (m->spent, m->count, it, !strcmp (it->scope, scope));

    return spent ? spent->month : NULL;
}

/* A month of another zone is another one. */
static struct cached_month *find_month (const budget_cache_t *cache,
                                        const char *hash, period_t period)
{
    return GL_FIND (cache->month, cache->count, it,
                    !strcmp (it->hash, hash) && it->period.start == period.start
                        && it->period.end == period.end);
}

bool budget_cache_get (const budget_cache_t *cache, const site_t *site,
                       const periods_t *periods, const char *month,
                       budget_t *const *budgets, size_t count,
                       int64_t *ret_first)
{
    const closing_t *closing = periods_closing (periods, month);
    const struct cached_month *m = NULL;
    const budget_month_t **spent;
    gl_error_t ignored;
    period_t period;
    bool has;

    if (cache && closing && periods_month (site, month, &period, &ignored) == 0)
        m = find_month (cache, closing->hash, period);
    if (!m)
        return false;
    spent = xcalloc (count + 1, sizeof (*spent));
    has = true;
    for (size_t i = 0; i < count && has; i++) {
        GL_AUTOFREE char *scope = scope_of (site, budgets[i]);
        spent[i] = find_spent (m, scope);
        has = spent[i] != NULL;
    }
    for (size_t i = 0; i < count && has; i++)
        budget_take_month (budgets[i], spent[i]);
    free (spent);
    *ret_first = m->first;
    return has;
}

static struct cached_month *cached (budget_cache_t *cache, const month_t *month)
{
    struct cached_month *m = find_month (cache, month->hash, month->period);

    if (m)
        return m;
    m = GL_APPEND (cache->month, cache->count);
    *m = (struct cached_month){.period = month->period, .first = month->first};
    memcpy (m->hash, month->hash, sizeof (m->hash));
    return m;
}

static void cache_spent (struct cached_month *m, char *scope,
                         budget_month_t *spent)
{
    if (find_spent (m, scope)) {
        free (scope);
        budget_month_free (spent);
    } else
        *GL_APPEND (m->spent, m->count) = (struct spent){scope, spent};
}

void budget_cache_add (budget_cache_t *cache, const site_t *site,
                       const month_t *month, period_t period,
                       budget_t *const *budgets, size_t count)
{
    struct cached_month *m = cache && month->version > 0 && *month->hash
                                 ? cached (cache, month)
                                 : NULL;

    for (size_t i = 0; i < count; i++) {
        budget_month_t *spent
            = budget_month_new (budgets[i], period, month->bill);
        budget_take_month (budgets[i], spent);
        if (m && budgets[i]->as_of >= period.end)
            cache_spent (m, scope_of (site, budgets[i]), spent);
        else
            budget_month_free (spent);
    }
}

void budget_cache_forget (budget_cache_t *cache, int64_t before)
{
    size_t left = 0;

    for (size_t i = 0; cache && i < cache->count; i++) {
        if (cache->month[i].period.end > before)
            cache->month[left++] = cache->month[i];
        else
            clear_month (&cache->month[i]);
    }
    if (cache)
        cache->count = left;
}
