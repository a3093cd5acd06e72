#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "month/budget_limits.h"
#include "site/project.h"
#include "statement/budget_report.h"

typedef enum { ACTION_NONE, ACTION_WARN, ACTION_REFUSE } action_t;

static const char *const action_words[]
    = {[ACTION_WARN] = "warn", [ACTION_REFUSE] = "refuse"};

struct writing {
    const site_t *site;
    int64_t as_of;
    buffer_t lines[ACTION_REFUSE + 1];
    size_t count;
    size_t skipped;
};

static bool reaches (const budget_t *b, mpq_srcptr share)
{
    bool reached;
    mpq_t limit;

    mpq_init (limit);
    mpq_mul (limit, share, b->amount);
    reached = mpq_sgn (share) > 0 && mpq_cmp (b->spent, limit) >= 0;
    mpq_clear (limit);
    return reached;
}

static action_t action_of (const budget_t *b)
{
    if (!b->known)
        return ACTION_NONE;
    return reaches (b, b->budget->hard)   ? ACTION_REFUSE
           : reaches (b, b->budget->soft) ? ACTION_WARN
                                          : ACTION_NONE;
}

/* One word: what a line can hold, and Slurm would have. */
static bool is_word (const char *name)
{
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    }
    return *name != '\0';
}

static void add_clean (buffer_t *out, const char *text)
{
    for (; *text; text++)
        buffer_add_char (out, (unsigned char)*text < ' ' || *text == 0x7f
                                  ? '?'
                                  : *text);
}

static void add_line (struct writing *w, const budget_t *b, const char *scope,
                      const char *name)
{
    action_t action = action_of (b);
    GL_AUTOFREE char *summary = budget_summary (b);
    buffer_t *out = &w->lines[action];

    if (!is_word (name)) {
        w->skipped++;
        return;
    }
    buffer_printf (out, "%s %s %s budget ", action_words[action], scope, name);
    add_clean (out, b->budget->name);
    buffer_printf (out, ", %s: %s\n", b->period_name, summary);
    w->count++;
}

/* --- accounts ----------------------------------------------------------- */

struct names {
    char **name;
    size_t count;
};

static void add_name (struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp (names->name[i], name) == 0)
            return;
    }
    names->name = xreallocarray (names->name, names->count + 1,
                                 sizeof (*names->name));
    names->name[names->count++] = xstrdup (name);
}

static int by_name (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

/* As the configuration lists them. */
static void add_listed (const struct writing *w, const text_list_t *team,
                        struct names *names)
{
    for (size_t i = 0; i < w->site->team_count; i++) {
        const site_team_t *t = &w->site->teams[i];
        if (!texts_have (team, t->name) || w->as_of < t->valid.start
            || w->as_of >= t->valid.end)
            continue;
        for (size_t k = 0; k < t->accounts.count; k++) {
            const char *item = t->accounts.item[k];
            add_name (names, strncmp (item, "subtree:", 8) ? item : item + 8);
        }
    }
}

/* What lies below them, as the last sync read the accounts. */
static int add_below (store_t *store, const struct writing *w,
                      const accounts_t *accounts, const text_list_t *team,
                      struct names *names, gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_ACCOUNTS, NULL, error);
    store_account_t account;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &account, error)) > 0) {
        const site_team_t *owner = team_of_account (
            w->site, accounts, account.cluster, account.name, w->as_of);
        if (owner && texts_have (team, owner->name))
            add_name (names, account.name);
    }
    store_iter_close (iter);
    return more;
}

/* A line for each, by name; frees them. */
static void add_names (struct writing *w, const budget_t *b, const char *scope,
                       struct names *names)
{
    if (names->count > 1)
        qsort (names->name, names->count, sizeof (*names->name), by_name);
    for (size_t i = 0; i < names->count; i++) {
        add_line (w, b, scope, names->name[i]);
        free (names->name[i]);
    }
    free (names->name);
}

static int add_team (store_t *store, struct writing *w,
                     const accounts_t *accounts, const budget_t *b,
                     gl_error_t *error)
{
    struct names names = {NULL, 0};
    int rc;

    add_listed (w, &b->budget->team_names, &names);
    rc = add_below (store, w, accounts, &b->budget->team_names, &names, error);
    add_names (w, b, "account", &names);
    return rc;
}

/* The accounts whose jobs without a tag are the project's. */
static void add_untagged (struct writing *w, const budget_t *b)
{
    struct names names = {NULL, 0};

    for (size_t i = 0; i < w->site->project_count; i++) {
        const text_list_t *accounts = &w->site->projects[i].default_for;
        for (size_t k = 0; k < accounts->count; k++) {
            const char *project = project_of_account (
                w->site, accounts->item[k], w->as_of);
            if (project && strcmp (project, b->budget->project) == 0)
                add_name (&names, accounts->item[k]);
        }
    }
    add_names (w, b, "untagged", &names);
}

/* --- the file ---------------------------------------------------------- */

static int add_budget (store_t *store, struct writing *w,
                       const accounts_t *accounts, const budget_t *b,
                       gl_error_t *error)
{
    const site_budget_t *entry = b->budget;

    if (action_of (b) == ACTION_NONE)
        return 0;
    if (entry->team)
        return add_team (store, w, accounts, b, error);
    if (entry->account)
        add_line (w, b, "account", entry->account);
    if (entry->project) {
        add_line (w, b, "project", entry->project);
        add_untagged (w, b);
    }
    return 0;
}

int limits_text (store_t *store, const site_t *site, int64_t as_of,
                 budget_t *const *budgets, size_t count, buffer_t *out,
                 size_t *ret_skipped, gl_error_t *error)
{
    struct writing w = {.site = site, .as_of = as_of};
    accounts_t *accounts = facts_accounts (store, error);
    int rc = accounts ? 0 : -1;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_budget (store, &w, accounts, budgets[i], error);
    buffer_printf (out, "gpuledger-limits 1\nas_of %lld\nuntil %lld\n",
                   (long long)as_of, (long long)as_of + LIMITS_LIFETIME);
    for (size_t i = ACTION_REFUSE; i > ACTION_NONE; i--) {
        buffer_add (out, buffer_text (&w.lines[i]), w.lines[i].length);
        buffer_done (&w.lines[i]);
    }
    buffer_printf (out, "end %zu\n", w.count);
    accounts_free (accounts);
    *ret_skipped = w.skipped;
    return rc;
}
