#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/nearest.h"
#include "config/schema_kinds.h"
#include "site/site.h"

const schema_word_t schema_truth_words[]
    = {{"yes", 1}, {"true", 1}, {"no", 0}, {"false", 0}, {NULL, 0}};
const schema_word_t schema_price_words[] = {{"compute", MIG_COMPUTE},
                                            {"memory", MIG_MEMORY},
                                            {"max", MIG_MAX},
                                            {NULL, 0}};
/* Of a pool; the policy itself has no word for the first of the enumeration. */
const schema_word_t schema_idle_words[] = {
    {"explicit", IDLE_EXPLICIT},   {"in-rate", IDLE_IN_RATE},
    {"practical", IDLE_PRACTICAL}, {"proportional", IDLE_PROPORTIONAL},
    {"uniform", IDLE_UNIFORM},     {"entitlement", IDLE_ENTITLEMENT},
    {"none", IDLE_NONE},           {NULL, 0},
};

/* The order in which kinds are read: the ledger's zone before any date. */
static const schema_kind_t *const kinds[] = {
    &schema_ledger,     &schema_policy,       &schema_issuer,
    &schema_close,      &schema_publish,      &schema_exports,
    &schema_mail,       &schema_collector,    &schema_agent,
    &schema_networks,   &schema_clusters,     &schema_pools,
    &schema_teams,      &schema_institutions, &schema_projects,
    &schema_funds,      &schema_assets,       &schema_staff,
    &schema_power,      &schema_tariffs,      &schema_meters,
    &schema_costs,      &schema_grid,         &schema_embodied,
    &schema_rates,      &schema_qos,          &schema_entitlements,
    &schema_prices,     &schema_clouds,       &schema_analyses,
    &schema_settlement, &schema_outages,      &schema_taxes,
    &schema_budgets,    &schema_profiles,     &schema_idle_jobs,
    &schema_units,
};

const schema_kind_t *const *schema_kinds (size_t *ret_count)
{
    *ret_count = GL_ARRAY_SIZE (kinds);
    return kinds;
}

/* Lists within an entry of another kind. */
static const schema_kind_t *const nested[] = {
    &schema_tariff_times,   &schema_asset_changes, &schema_rate_tiers,
    &schema_rate_cpu_steps, &schema_rate_gb_steps, &schema_deposits,
    &schema_layout_only,    &schema_layout_first,  &schema_layout_columns,
    &schema_layout_trailer,
};

const schema_kind_t *schema_entries (const schema_key_t *key)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (nested); i++) {
        if (strcmp (nested[i]->name, key->refers) == 0)
            return nested[i];
    }
    return NULL;
}

const schema_kind_t *schema_layout_kind (void)
{
    return &schema_layout;
}

const schema_kind_t *schema_kind (const char *name)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (kinds); i++) {
        if (strcmp (kinds[i]->name, name) == 0)
            return kinds[i];
    }
    return NULL;
}

const schema_key_t *schema_key (const schema_kind_t *kind, const char *name)
{
    return GL_FIND (kind->keys, kind->key_count, it,
                    strcmp (it->name, name) == 0);
}

bool schema_is_figure (const schema_key_t *key)
{
    static const value_type_t types[]
        = {VALUE_DECIMAL, VALUE_RATIO, VALUE_SALVAGE, VALUE_DATE, VALUE_SPAN};

    if (!key->example || key->refers || (key->flags & SCHEMA_IDENTITY))
        return false;
    return GL_ANY (types, GL_ARRAY_SIZE (types), it, *it == key->type)
           || (key->type == VALUE_TEXT && !strchr ("\"[{", key->example[0]));
}

const char *schema_type_text (value_type_t type)
{
    static const char *const texts[] = {
        [VALUE_TEXT] = "a text",
        [VALUE_LIST] = "a list of texts",
        [VALUE_PATH] = "an absolute path",
        [VALUE_NAME] = "a name (g001)",
        [VALUE_NODES] = "nodes (g[001-008])",
        [VALUE_NETWORK] = "an address or network (10.1.0.0/16)",
        [VALUE_HOSTS] = "a list of HOST or HOST:PORT",
        [VALUE_DECIMAL] = "a number (1250.50)",
        [VALUE_RATIO] = "a share (10% or 0.1)",
        [VALUE_COUNT] = "a whole number from 1 on",
        [VALUE_MEGABYTES] = "a whole number of MB",
        [VALUE_SECONDS] = "a whole number from 1 to 600",
        [VALUE_DURATION] = "a duration (90s, 30m, 1h, 2d)",
        [VALUE_STATES] = "words of sacct's State, or off",
        [VALUE_DATE] = "a date (2026-03-10)",
        [VALUE_FROM] = "a date (2026-03-10)",
        [VALUE_TO] = "a date (2026-03-10)",
        [VALUE_START] = "a date and time (2026-03-10 14:00)",
        [VALUE_END] = "a date and time (2026-03-10 14:00)",
        [VALUE_SPAN] = "a span (5y or 18m)",
        [VALUE_MONTH] = "the first day of a month (07-01)",
        [VALUE_ZONE] = "a time zone (Europe/Oslo)",
        [VALUE_CURRENCY] = "a currency (EUR)",
        [VALUE_WORD] = "one of",
        [VALUE_SHARES] = "shares by pool ({h100: 60%, a100: 40%})",
        [VALUE_FUNDING]
        = "a fund, or shares by fund ({federal: 60%, institutional: 40%})",
        [VALUE_SALVAGE] = "an amount or a share of the price",
        [VALUE_SLICES] = "slices of all slices (1/7)",
        [VALUE_DAYS] = "days of the week (mon-fri)",
        [VALUE_NUMBERS]
        = "a number, or numbers from one to another (4, 2-4, 2+)",
        [VALUE_HOURS_OF_DAY] = "hours (07:00-22:00)",
        [VALUE_REVALUE] = "an amount or a share of the price",
        [VALUE_MAP] = "values and what is written instead ({h100: 7410})",
        [VALUE_ENTRIES] = "a list of entries ([{from: 2029-01-01, ...}, ...])",
    };

    return texts[type];
}

char *schema_cpu_word (const char *name)
{
    const char *gpu = strstr (name, "gpu");

    return gpu ? xasprintf ("%.*scpu%s", (int)(gpu - name), name, gpu + 3)
               : NULL;
}

char *schema_hint (const schema_kind_t *kind, const char *word)
{
    size_t count = kind ? kind->key_count : GL_ARRAY_SIZE (kinds);
    nearest_t nearest = {.word = word};
    buffer_t b = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        const char *name = kind ? kind->keys[i].name : kinds[i]->name;
        buffer_printf (&b, "%s%s", i ? ", " : "; known are: ", name);
        nearest_offer (&nearest, name);
    }
    if (nearest.name) {
        buffer_clear (&b);
        buffer_printf (&b, " (did you mean '%s'?)", nearest.name);
    }
    return buffer_take (&b);
}
