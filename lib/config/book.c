#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/book.h"
#include "config/schema.h"
#include "money/cost.h"
#include "site/site.h"

/* --- staff without people ----------------------------------------------- */

/*
 * The staff of a site as a stranger may read it.
 *
 * Books of closed months are kept in the store. They have to give the same costs
 * again, and who reads the store is not to learn what somebody is paid. Costs of
 * staff are linear in people, shares and pay, so entries that sum them up by pool
 * price every period as the originals do (docs/guides/cost-book.md):
 *
 *   {name: POOL, fte: 1, loaded_salary: sum of fte x loaded_salary x share, ...}
 *
 * one for each stretch of time between two dates, and one more for what rates do
 * not recover.
 */

/* Of what a salary, a number of people and a share have together. */
#define DECIMALS_MAX 24

/* --- one stretch of time ------------------------------------------------- */

struct stretch {
    const site_t *site;
    const char *pool;
    period_t period;  /* in which nothing begins or ends */
    const char *fund; /* that pays; NULL: none is named */
};

static void add_value (buffer_t *out, const mpq_t value)
{
    GL_AUTOFREE char *text = NULL;
    mpq_t shifted;
    int digits = 0;

    mpq_init (shifted);
    mpq_set (shifted, value);
    while (mpz_cmp_ui (mpq_denref (shifted), 1) != 0 && digits < DECIMALS_MAX) {
        mpz_mul_ui (mpq_numref (shifted), mpq_numref (shifted), 10);
        mpq_canonicalize (shifted);
        digits++;
    }
    mpq_clear (shifted);
    text = exact_text (value, digits);
    buffer_add_text (out, text);
}

static void add_day (buffer_t *out, const site_t *site, const char *key,
                     int64_t instant)
{
    char day[ZONE_STAMP_SIZE];

    if (instant == SITE_ALWAYS_START || instant == SITE_ALWAYS_END)
        return;
    buffer_printf (out, ", %s: \"%s\"", key,
                   zone_unit_name (site->zone, CALENDAR_DAY, instant, day));
}

static void add_entry (const struct stretch *s, const mpq_t yearly,
                       bool recoverable, buffer_t *out)
{
    GL_AUTOFREE char *name = NULL;

    if (mpq_sgn (yearly) == 0)
        return;
    buffer_add_text (out, "\n  - {name: ");
    name = xasprintf ("%s%s%s%s", s->pool, s->fund ? ", " : "",
                      s->fund ? s->fund : "",
                      recoverable ? "" : ", not recoverable");
    book_add_text (out, name);
    buffer_add_text (out, ", fte: \"1\", loaded_salary: \"");
    add_value (out, yearly);
    buffer_add_text (out, recoverable ? "\", pools: {"
                                      : "\", recoverable: \"0%\", pools: {");
    book_add_text (out, s->pool);
    buffer_add_text (out, ": \"100%\"}");
    if (s->fund) {
        buffer_add_text (out, ", funding: ");
        book_add_text (out, s->fund);
    }
    add_day (out, s->site, "from", s->period.start);
    add_day (out, s->site, "to", s->period.end);
    buffer_add_char (out, '}');
}

/* What the fund pays for them in a year, and how much of it rates recover. */
static void sum_staff (const struct stretch *s, mpq_t yearly, mpq_t recovered)
{
    mpq_t one, paid;

    mpq_inits (one, paid, NULL);
    for (size_t i = 0; i < s->site->staff_count; i++) {
        const site_staff_t *staff = &s->site->staff[i];
        if (staff->valid.start > s->period.start
            || staff->valid.end < s->period.end)
            continue;
        cost_staff_share (staff, s->fund, paid);
        for (size_t k = 0; k < staff->pools.count; k++) {
            if (strcmp (staff->pools.item[k].name, s->pool) != 0)
                continue;
            mpq_mul (one, staff->fte, staff->pools.item[k].share);
            mpq_mul (one, one, staff->loaded_salary);
            mpq_mul (one, one, paid);
            mpq_add (yearly, yearly, one);
            mpq_mul (one, one, staff->recoverable);
            mpq_add (recovered, recovered, one);
        }
    }
    mpq_clears (one, paid, NULL);
}

static void add_stretch (const struct stretch *s, buffer_t *out)
{
    mpq_t yearly, recovered;

    mpq_inits (yearly, recovered, NULL);
    sum_staff (s, yearly, recovered);
    mpq_sub (yearly, yearly, recovered);
    add_entry (s, recovered, true, out);
    add_entry (s, yearly, false, out);
    mpq_clears (yearly, recovered, NULL);
}

/* --- a pool -------------------------------------------------------------- */

static bool has_pool (const site_staff_t *staff, const char *pool)
{
    for (size_t k = 0; k < staff->pools.count; k++)
        if (!strcmp (staff->pools.item[k].name, pool))
            return true;
    return false;
}

static void add_pool (const site_t *site, const char *pool, buffer_t *out)
{
    int64_t *at = xreallocarray (NULL, 2 * site->staff_count, sizeof (*at));
    size_t count = 0;

    for (size_t i = 0; i < site->staff_count; i++) {
        if (!has_pool (&site->staff[i], pool))
            continue;
        at[count++] = site->staff[i].valid.start;
        at[count++] = site->staff[i].valid.end;
    }
    count = instants_sort (at, count);
    for (size_t i = 0; i + 1 < count; i++) {
        struct stretch s = {site, pool, {at[i], at[i + 1]}, NULL};
        do
            add_stretch (&s, out);
        while (cost_next_staff_fund (site, &s.fund));
    }
    free (at);
}

/* The entries of the section, each after a line end. */
static void book_staff (const site_t *site, buffer_t *out)
{
    for (size_t i = 0; i < site->staff_count; i++) {
        const share_list_t *pools = &site->staff[i].pools;
        for (size_t k = 0; k < pools->count; k++) {
            size_t before = 0;
            while (before < i
                   && !has_pool (&site->staff[before], pools->item[k].name))
                before++;
            if (before == i)
                add_pool (site, pools->item[k].name, out);
        }
    }
}

/* --- the description ---------------------------------------------------- */

/* What no page of a month is made of: the kind, or one key of it. */
static const struct {
    const char *kind;
    const char *key; /* NULL: all of it */
} left_out[] = {
    {"collector", NULL},  {"agent", NULL},      {"networks", NULL},
    {"clouds", NULL},     {"prices", NULL},     {"clusters", "slurmdb"},
    {"close", NULL},      {"ledger", "store"},  {"analyses", NULL},
    {"issuer", NULL},     {"exports", NULL},    {"publish", NULL},
    {"mail", NULL},       {"teams", "readers"}, {"teams", "mail"},
    {"budgets", "owner"}, {"idle_jobs", NULL},  {"units", NULL},
};

static bool is_left_out (const char *kind, const char *key)
{
    return GL_ANY (left_out, GL_ARRAY_SIZE (left_out), it,
                   !strcmp (it->kind, kind)
                       && (!it->key || (key && !strcmp (it->key, key))));
}

/* In double quotes every text is itself. */
void book_add_text (buffer_t *out, const char *text)
{
    buffer_add_char (out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buffer_printf (out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buffer_printf (out, "\\x%02x", c);
        else
            buffer_add_char (out, (char)c);
    }
    buffer_add_char (out, '"');
}

static void add_tree (buffer_t *out, const tree_t *tree)
{
    if (tree->type == TREE_TEXT) {
        book_add_text (out, tree->text);
        return;
    }
    buffer_add_char (out, tree->type == TREE_LIST ? '[' : '{');
    for (size_t i = 0; i < tree->count; i++) {
        if (i > 0)
            buffer_add_text (out,
                             tree->type == TREE_MAPPING && i % 2 ? ": " : ", ");
        add_tree (out, tree->item[i]);
    }
    buffer_add_char (out, tree->type == TREE_LIST ? ']' : '}');
}

/* NULL: it is not there, or is written as a key of its own. */
static const tree_t *cpu_value (const schema_kind_t *kind,
                                const tree_t *mapping, const char *word)
{
    return word && !schema_key (kind, word) ? tree_get (mapping, word, NULL)
                                            : NULL;
}

/* The keys of one mapping, in the order of the table. */
static void add_mapping (buffer_t *out, const schema_kind_t *kind,
                         const tree_t *mapping, const char *before,
                         const char *between)
{
    for (size_t i = 0; i < kind->key_count; i++) {
        const char *name = kind->keys[i].name;
        const tree_t *value = tree_get (mapping, name, NULL);
        GL_AUTOFREE char *word = value ? NULL : schema_cpu_word (name);
        if (word && (value = cpu_value (kind, mapping, word)))
            name = word;
        if (!value || is_left_out (kind->name, name))
            continue;
        buffer_printf (out, "%s%s: ", before, name);
        add_tree (out, value);
        before = between;
    }
}

static void add_section (buffer_t *out, const schema_kind_t *kind,
                         const tree_t *section)
{
    if (section->type == TREE_MAPPING)
        add_mapping (out, kind, section, "\n  ", "\n  ");
    for (size_t i = 0; section->type == TREE_LIST && i < section->count; i++) {
        buffer_add_text (out, "\n  - {");
        add_mapping (out, kind, section->item[i], "", ", ");
        buffer_add_char (out, '}');
    }
}

/* One section as all documents have it. */
static void add_sections (buffer_t *out, const schema_kind_t *kind,
                          const tree_t *const *trees, size_t count)
{
    for (size_t d = 0; d < count; d++) {
        const tree_t *value
            = trees[d] ? tree_get (trees[d], kind->name, NULL) : NULL;
        if (value)
            add_section (out, kind, value);
    }
}

void book_text (const site_t *site, const tree_t *const *trees, size_t count,
                buffer_t *out)
{
    size_t kind_count;
    const schema_kind_t *const *kinds = schema_kinds (&kind_count);

    for (size_t i = 0; i < kind_count; i++) {
        BUFFER_AUTO section = BUFFER_INIT;
        if (is_left_out (kinds[i]->name, NULL))
            continue;
        if (!strcmp (kinds[i]->name, "staff"))
            book_staff (site, &section);
        else
            add_sections (&section, kinds[i], trees, count);
        if (section.length)
            buffer_printf (out, "%s:%s\n", kinds[i]->name,
                           buffer_text (&section));
    }
}
