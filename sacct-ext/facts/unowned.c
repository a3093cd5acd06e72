#include "facts/unowned.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/nearest.h"

struct account {
    char *name; /* NULL: jobs without an account */
    mpq_t seconds;
    mpz_t units;
    bool priced;
};

struct unowned {
    const site_t *site;
    struct account *item;
    size_t count;
};

unowned_t *unowned_new (const site_t *site)
{
    unowned_t *u = xcalloc (1, sizeof (*u));

    u->site = site;
    return u;
}

void unowned_free (unowned_t *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->count; i++) {
        free (u->item[i].name);
        mpq_clear (u->item[i].seconds);
        mpz_clear (u->item[i].units);
    }
    free (u->item);
    free (u);
}

static int compare_names (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static struct account *account_of (unowned_t *u, const char *name)
{
    struct account *a;

    for (size_t i = u->count; i-- > 0;)
        if (compare_names (u->item[i].name, name) == 0)
            return &u->item[i];
    a = GL_APPEND (u->item, u->count);
    *a = (struct account){.name = xstrdup (name)};
    mpq_init (a->seconds);
    mpz_init (a->units);
    return a;
}

void unowned_add (unowned_t *u, const char *name, mpq_srcptr seconds,
                  mpz_srcptr units)
{
    struct account *a = account_of (u, name);

    mpq_add (a->seconds, a->seconds, seconds);
    if (units) {
        mpz_add (a->units, a->units, units);
        a->priced = true;
    }
}

/* --- accounts without a team ------------------------------------------- */

static const char *account_in (const char *item)
{
    return strncmp (item, "subtree:", 8) ? item : item + 8;
}

static bool is_listed (const site_team_t *team, const char *name)
{
    return GL_ANY (team->accounts.item, team->accounts.count, it,
                   !strcmp (account_in (*it), name));
}

/* The account of a team that was meant, whether or not the team is in force. */
static void put_hint (const site_t *site, const char *name, buffer_t *out)
{
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (is_listed (team, name)) {
            buffer_printf (out,
                           " (team '%s' lists it at other times: see its from "
                           "and to)",
                           team->name);
            return;
        }
        for (size_t k = 0; k < team->accounts.count; k++)
            nearest_offer (&nearest, account_in (team->accounts.item[k]));
    }
    for (size_t i = 0; nearest.name && i < site->team_count; i++)
        if (is_listed (&site->teams[i], nearest.name)) {
            buffer_printf (out, " (did you mean '%s' of team '%s'?)",
                           nearest.name, site->teams[i].name);
            return;
        }
    buffer_add_text (out, " (list it in `accounts` of a team)");
}

static void put_amount (const unowned_t *u, const struct account *a,
                        buffer_t *out)
{
    GL_AUTOFREE char *hours = NULL, *units = NULL;
    mpq_t value;

    mpq_init (value);
    mpq_set_ui (value, 3600, 1);
    mpq_div (value, a->seconds, value);
    hours = exact_text (value, 2);
    mpq_clear (value);
    buffer_printf (out, "%s %s", hours, a->priced ? "GPU-hours" : "GRES-hours");
    if (!a->priced)
        return;
    units = exact_units_text (a->units, u->site->currency_digits);
    buffer_printf (out, ", %s %s", units, u->site->currency);
}

static int by_name (const void *a, const void *b)
{
    return compare_names (((const struct account *)a)->name,
                          ((const struct account *)b)->name);
}

void unowned_each (unowned_t *u, unowned_f callback, void *arg)
{
    if (u->count > 1)
        qsort (u->item, u->count, sizeof (*u->item), by_name);
    for (size_t i = 0; i < u->count; i++) {
        const struct account *a = &u->item[i];
        BUFFER_AUTO text = BUFFER_INIT;
        if (a->name)
            buffer_printf (&text, "account '%s' belongs to no team: ", a->name);
        else
            buffer_add_text (&text, "jobs without an account belong to no team: ");
        put_amount (u, a, &text);
        if (a->name)
            put_hint (u->site, a->name, &text);
        callback (buffer_text (&text), arg);
    }
}

/* --- accounts of teams that nobody knows -------------------------------- */

static void add_known (const char *name, void *arg)
{
    texts_add (arg, name);
}

static void judge_listed (const site_team_t *team, const char *name,
                          const text_list_t *known, unowned_f callback,
                          void *arg)
{
    nearest_t nearest = {.word = name};
    BUFFER_AUTO text = BUFFER_INIT;

    if (texts_have (known, name))
        return;
    for (size_t i = 0; i < known->count; i++)
        nearest_offer (&nearest, known->item[i]);
    buffer_printf (&text, "'%s' of team '%s'", name, team->name);
    if (nearest.name)
        buffer_printf (&text, " (did you mean '%s'?)", nearest.name);
    callback (buffer_text (&text), arg);
}

int unowned_each_unseen (store_t *store, const site_t *site, int64_t instant,
                         unowned_f callback, void *arg, size_t *ret_known,
                         gl_error_t *error)
{
    text_list_t known = {NULL, 0};
    int rc
        = store_each_name (store, STORE_NAME_ACCOUNT, add_known, &known, error);

    for (size_t i = 0; rc == 0 && known.count && i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (!period_has (team->valid, instant))
            continue;
        for (size_t k = 0; k < team->accounts.count; k++)
            judge_listed (team, account_in (team->accounts.item[k]), &known,
                          callback, arg);
    }
    *ret_known = known.count;
    texts_clear (&known);
    return rc;
}
