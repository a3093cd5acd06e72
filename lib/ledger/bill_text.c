/* The fields of the rows of a bill's lists. */
#include <string.h>

#include "base/memory.h"
#include "ledger/bill.h"
#include "site/project.h"

static const char *row_word (unsigned value)
{
    return value < BILL_KIND_COUNT ? bill_kind_word ((bill_kind_t)value) : NULL;
}

static const char *cost_word (unsigned value)
{
    return value < COST_KIND_COUNT ? cost_kind_name ((cost_kind_t)value) : NULL;
}

#define EXTRA(name, kind, member) FIELD (name, kind, posting_extra_t, member)
#define ADJUSTMENT(id) EXTRA (NULL, UNITS, adjustment_units[ADJUSTMENT_##id])
static const field_t extra_fields[] = {
    EXTRA (NULL, UNITS, before_units),
    EXTRA (NULL, UNITS, after_units),
    ADJUSTMENT (QOS),
    ADJUSTMENT (SUBSIDY),
    ADJUSTMENT (ENTITLEMENT),
    ADJUSTMENT (TIER),
    ADJUSTMENT (SURCHARGE),
    EXTRA (NULL, EXACT, consumed_seconds),
    EXTRA (NULL, TEXT, day),
    EXTRA (NULL, TEXT, hour),
    EXTRA (NULL, TEXT, node),
    EXTRA (NULL, TEXT, state),
    EXTRA (NULL, TEXT, label),
    EXTRA (NULL, EXACT, quantity),
};
#undef EXTRA
#undef ADJUSTMENT

/* Constants of GMP, which own no memory. */
static const mp_limb_t one[] = {1};
#define ZERO                           \
    {                                  \
        {                              \
            {0, 0, NULL},              \
            {                          \
                0, 1, (mp_limb_t *)one \
            }                          \
        }                              \
    }
static const posting_extra_t no_extra
    = {.consumed_seconds = ZERO, .quantity = ZERO};

const fields_apart_t posting_apart
    = {offsetof (posting_t, extra),
       FIELDS ("row", posting_extra_t, extra_fields), &no_extra};

#define ROW(name, kind, member) FIELD (name, kind, posting_t, member)
#define KEY(name, index) ROW (name, TEXT, key[index])
#define EXTRA(name, kind, member) \
    FIELD_APART (name, kind, posting_extra_t, member, &posting_apart)
#define ADJUSTMENT(name, id) \
    EXTRA (name, UNITS, adjustment_units[ADJUSTMENT_##id])
static const field_t row_fields[] = {
    FIELD_WORDS ("kind", posting_t, kind, row_word),
    ROW ("month", TEXT, month),
    ROW ("pool", TEXT, pool),
    ROW ("team", TEXT, team),
    ROW ("gpu", TEXT, gpu),
    ROW ("profile", TEXT, profile),
    KEY ("account", 0),
    KEY ("cluster", 1),
    KEY ("user", 2),
    KEY ("project", 3),
    KEY ("qos", 4),
    KEY ("partition_name", 5),
    KEY ("gres_type", 6),
    ROW ("what", TEXT, what),
    ROW ("reference", TEXT, reference),
    ROW ("gpu_seconds", EXACT, gpu_seconds),
    ROW ("price_seconds", EXACT, price_seconds),
    ROW ("exact", EXACT, exact),
    ROW ("list", UNITS, list_units),
    ROW ("cost", UNITS, cost_units),
    ROW ("charge", UNITS, charge_units),
    ROW ("origin", TEXT, origin),
    ROW ("reason", TEXT, reason),
    EXTRA ("before_units", UNITS, before_units),
    EXTRA ("after_units", UNITS, after_units),
    ADJUSTMENT ("adjustment_qos", QOS),
    ADJUSTMENT ("adjustment_subsidy", SUBSIDY),
    ADJUSTMENT ("adjustment_entitlement", ENTITLEMENT),
    ADJUSTMENT ("adjustment_tier", TIER),
    ADJUSTMENT ("adjustment_surcharge", SURCHARGE),
    EXTRA ("consumed_seconds", EXACT, consumed_seconds),
    ROW ("cpu_seconds", EXACT, cpu_seconds),
    ROW ("counterparty", TEXT, counterparty),
    ROW ("cost_object", TEXT, cost_object),
    EXTRA ("quantity", EXACT, quantity),
    ROW ("unit", TEXT, unit),
    ROW ("description", TEXT, description),
    ROW ("service_category", TEXT, service_category),
    ROW ("service_charge", TEXT, service_charge),
    EXTRA ("day", TEXT, day),
    EXTRA ("hour", TEXT, hour),
    EXTRA ("node", TEXT, node),
    EXTRA ("state", TEXT, state),
    EXTRA ("label", TEXT, label),
    ROW ("outside", FLAG, outside),
};
/* Rows are ordered by kind behind month and pool. */
#define KIND_AFTER 2

#define COST(name, kind, member) FIELD (name, kind, bill_cost_t, member)
static const field_t cost_fields[] = {
    FIELD_WORDS ("kind", bill_cost_t, kind, cost_word),
    COST ("month", TEXT, month),
    COST ("pool", TEXT, pool),
    COST ("name", TEXT, name),
    COST ("how", TEXT, how),
    COST ("amount", EXACT, amount),
    COST ("units", UNITS, units),
    COST ("fund", TEXT, fund),
};

#define POOL(name, kind, member) FIELD (name, kind, bill_pool_t, member)
static const field_t pool_fields[] = {
    POOL ("month", TEXT, month),
    POOL ("pool", TEXT, pool),
    POOL ("has_cost", FLAG, has_cost),
    POOL ("has_rate", FLAG, has_rate),
    POOL ("capacity", EXACT, capacity),
    POOL ("owned_rate", EXACT, owned_rate),
    POOL ("full_rate", EXACT, full_rate),
    POOL ("cost", UNITS, cost_units),
    POOL ("idle", TEXT, idle),
    POOL ("full_cost", EXACT, full_cost),
    POOL ("recoverable_cost", EXACT, recoverable_cost),
    POOL ("use_rate", EXACT, use_rate),
    POOL ("allocated", EXACT, allocated),
    POOL ("full_units", UNITS, full_units),
    POOL ("recoverable_units", UNITS, recoverable_units),
};

#define ENTITLEMENT(kind, member) \
    FIELD (#member, kind, bill_entitlement_t, member)
static const field_t entitlement_fields[] = {
    ENTITLEMENT (TEXT, month),
    ENTITLEMENT (TEXT, pool),
    ENTITLEMENT (TEXT, team),
    ENTITLEMENT (EXACT, bought),
    ENTITLEMENT (EXACT, rollover_in),
    ENTITLEMENT (EXACT, used),
    ENTITLEMENT (EXACT, used_reserved),
    ENTITLEMENT (EXACT, unused),
    ENTITLEMENT (EXACT, rollover_out),
    ENTITLEMENT (EXACT, expired),
    ENTITLEMENT (EXACT, price),
    FIELD ("amount", UNITS, bill_entitlement_t, amount_units),
    ENTITLEMENT (EXACT, fee),
    FIELD ("fee_due", UNITS, bill_entitlement_t, fee_units),
    ENTITLEMENT (EXACT, value_in),
    ENTITLEMENT (EXACT, value_used),
    ENTITLEMENT (EXACT, value_reserved),
    ENTITLEMENT (EXACT, value_out),
    ENTITLEMENT (EXACT, value_expired),
};

#define COMPARISON(kind, member) \
    FIELD (#member, kind, bill_comparison_t, member)
static const field_t comparison_fields[] = {
    COMPARISON (TEXT, month),  COMPARISON (TEXT, idle),
    COMPARISON (TEXT, team),   COMPARISON (FLAG, unallocated),
    COMPARISON (UNITS, units),
};

#define DAY(kind, member) FIELD (#member, kind, bill_day_t, member)
static const field_t day_fields[] = {
    DAY (TEXT, day),          DAY (TEXT, team),
    DAY (TEXT, account),      DAY (TEXT, project),
    DAY (TEXT, pool),         DAY (UNITS, units),
    DAY (UNITS, other_units), DAY (EXACT, gpu_seconds),
    DAY (EXACT, cpu_seconds),
};

#define BALANCE(kind, member) FIELD (#member, kind, bill_balance_t, member)
static const field_t balance_fields[] = {
    BALANCE (TEXT, month),    BALANCE (TEXT, rule),
    BALANCE (TEXT, team),     BALANCE (TEXT, unit),
    BALANCE (TEXT, period),   BALANCE (TEXT, since),
    BALANCE (EXACT, opening), BALANCE (EXACT, added),
    BALANCE (EXACT, used),    BALANCE (EXACT, expired),
    BALANCE (EXACT, closing), BALANCE (EXACT, rolled_over),
    BALANCE (TEXT, user),
};

static const field_t team_day_fields[] = {
    DAY (TEXT, day),          DAY (TEXT, team),
    DAY (UNITS, units),       DAY (UNITS, other_units),
    DAY (EXACT, gpu_seconds), DAY (EXACT, cpu_seconds),
};

#define CARBON(kind, member) FIELD (#member, kind, bill_carbon_t, member)
static const field_t carbon_fields[] = {
    CARBON (TEXT, month),
    CARBON (TEXT, cluster),
    CARBON (TEXT, team),
    CARBON (TEXT, account),
    CARBON (TEXT, user),
    CARBON (TEXT, project),
    CARBON (TEXT, qos),
    FIELD ("partition_name", TEXT, bill_carbon_t, partition),
    CARBON (TEXT, pool),
    CARBON (TEXT, grid),
    CARBON (TEXT, factor),
    CARBON (TEXT, source),
    CARBON (TEXT, series),
    CARBON (TEXT, series_hours),
    CARBON (TEXT, gap_hours),
    CARBON (TEXT, embodied),
    CARBON (TEXT, embodied_source),
    CARBON (EXACT, gpu_seconds),
    CARBON (EXACT, known_seconds),
    CARBON (EXACT, unknown_seconds),
    CARBON (EXACT, measured_kwh),
    CARBON (EXACT, modelled_kwh),
    CARBON (EXACT, facility_kwh),
    CARBON (EXACT, series_kwh),
    CARBON (EXACT, unknown_kwh),
    CARBON (EXACT, grams),
    CARBON (EXACT, least_grams),
    CARBON (EXACT, embodied_seconds),
    CARBON (EXACT, embodied_grams),
};

#define WASTE(kind, member) FIELD (#member, kind, bill_waste_t, member)
static const field_t waste_fields[] = {
    WASTE (TEXT, month),   WASTE (TEXT, cause),    WASTE (TEXT, pool),
    WASTE (TEXT, team),    WASTE (EXACT, seconds), WASTE (EXACT, known),
    WASTE (EXACT, priced), WASTE (UNITS, units),
};

#define JOB(kind, member) FIELD (#member, kind, bill_wasteful_job_t, member)
static const field_t wasteful_job_fields[] = {
    JOB (TEXT, month),  FIELD ("list_of", TEXT, bill_wasteful_job_t, list),
    JOB (TEXT, cause),  JOB (TEXT, cluster),
    JOB (TEXT, job),    JOB (TEXT, team),
    JOB (TEXT, user),   JOB (TEXT, others),
    JOB (COUNT, gpus),  JOB (EXACT, seconds),
    JOB (UNITS, units),
};

#define DEMAND(kind, member) FIELD (#member, kind, bill_demand_t, member)
static const field_t demand_fields[] = {
    DEMAND (TEXT, month),
    DEMAND (TEXT, pool),
    DEMAND (FLAG, slices),
    DEMAND (FLAG, weight_unknown),
    DEMAND (EXACT, allocated),
    DEMAND (EXACT, active),
    DEMAND (EXACT, known),
    FIELD ("capacity", EXACT, bill_demand_t, of.capacity),
    FIELD ("capacity_allocated", EXACT, bill_demand_t, of.allocated),
    FIELD ("reserved_unused", EXACT, bill_demand_t, of.reserved_unused),
    FIELD ("idle", EXACT, bill_demand_t, of.idle),
    FIELD ("planned_down", EXACT, bill_demand_t, of.planned_down),
    FIELD ("down", EXACT, bill_demand_t, of.down),
    FIELD ("unknown", EXACT, bill_demand_t, of.unknown),
    FIELD ("stranded", EXACT, bill_demand_t, of.stranded),
    FIELD ("cpu_stranded", EXACT, bill_demand_t, of.cpu_stranded),
    FIELD ("drained", EXACT, bill_demand_t, of.drained),
    FIELD ("missing", EXACT, bill_demand_t, of.missing),
    FIELD ("surplus", EXACT, bill_demand_t, of.surplus),
    FIELD ("listed", EXACT, bill_demand_t, of.listed),
    FIELD ("difference", EXACT, bill_demand_t, of.difference),
    DEMAND (TEXT, gpus),
};

const fields_t bill_fields[BILL_LIST_COUNT] = {
    [BILL_POSTINGS] = FIELDS ("row", posting_t, row_fields),
    [BILL_COSTS] = FIELDS ("cost", bill_cost_t, cost_fields),
    [BILL_POOLS] = FIELDS ("pool", bill_pool_t, pool_fields),
    [BILL_ENTITLEMENTS]
    = FIELDS ("entitlement", bill_entitlement_t, entitlement_fields),
    [BILL_COMPARISONS]
    = FIELDS ("comparison", bill_comparison_t, comparison_fields),
    [BILL_DAYS] = FIELDS ("day", bill_day_t, day_fields),
    [BILL_BALANCES] = FIELDS ("balance", bill_balance_t, balance_fields),
    [BILL_TEAM_DAYS] = FIELDS ("day of a team", bill_day_t, team_day_fields),
    [BILL_CARBON] = FIELDS ("energy of jobs", bill_carbon_t, carbon_fields),
    [BILL_WASTE] = FIELDS ("waste", bill_waste_t, waste_fields),
    [BILL_WASTEFUL_JOBS]
    = FIELDS ("wasteful job", bill_wasteful_job_t, wasteful_job_fields),
    [BILL_DEMAND] = FIELDS ("demand", bill_demand_t, demand_fields),
};

/* --- rows -------------------------------------------------------------- */

/* Where each key stands: those of CHARGE_PATH in its order. */
#define AT(member) offsetof (posting_t, member)
static const size_t key_offsets[KEY_COUNT] = {
    [KEY_ACCOUNT] = AT (key[0]),   [KEY_CLUSTER] = AT (key[1]),
    [KEY_USER] = AT (key[2]),      [KEY_PROJECT] = AT (key[3]),
    [KEY_QOS] = AT (key[4]),       [KEY_PARTITION] = AT (key[5]),
    [KEY_GRES_TYPE] = AT (key[6]), [KEY_TEAM] = AT (team),
    [KEY_POOL] = AT (pool),        [KEY_GPU] = AT (gpu),
    [KEY_PROFILE] = AT (profile),  [KEY_MONTH] = AT (month),
};
#define APART(member) offsetof (posting_extra_t, member)
static const size_t extra_key_offsets[KEY_COUNT] = {
    [KEY_DAY] = APART (day),     [KEY_HOUR] = APART (hour),
    [KEY_NODE] = APART (node),   [KEY_STATE] = APART (state),
    [KEY_LABEL] = APART (label),
};

bool bill_has_key (key_id_t key)
{
    return key != KEY_DAY && key != KEY_HOUR && key != KEY_NODE
           && key != KEY_STATE && key != KEY_LABEL;
}

char **posting_key_at (posting_t *row, key_id_t key)
{
    return bill_has_key (key) ? (char **)((char *)row + key_offsets[key])
                              : (char **)((char *)posting_own_extra (row)
                                          + extra_key_offsets[key]);
}

const char *posting_key (const posting_t *row, key_id_t key)
{
    return bill_has_key (key)
               ? *(char *const *)((const char *)row + key_offsets[key])
               : *(char *const *)((const char *)posting_extra (row)
                                  + extra_key_offsets[key]);
}

const char *posting_key_billed (const posting_t *row, const site_t *site,
                                const char *month, key_id_t key)
{
    if (key == KEY_MONTH && month)
        return month;
    if (key == KEY_COST_CENTER && row->cost_object)
        return row->cost_object;
    if (!key_is_of_team (key))
        return posting_key (row, key);
    return key_of_team (
        key, team_in_month (site, row->team, month ? month : row->month));
}

bool posting_is_due (const posting_t *row)
{
    const char *word = bill_kind_word (BILL_REMAINDER);

    return row->kind != BILL_REMAINDER
           && (row->kind != BILL_CORRECTION || !row->origin
               || strncmp (row->origin, word, strlen (word)) != 0);
}

bool posting_is_adjustment (const posting_t *row)
{
    return posting_is_due (row) && row->kind != BILL_TAX
           && (row->kind == BILL_CORRECTION || row->reason);
}

int posting_compare (const posting_t *a, const posting_t *b)
{
    int order = 0;

    for (size_t i = 1; i < GL_ARRAY_SIZE (row_fields) && order == 0; i++) {
        if (i == KIND_AFTER + 1 && a->kind != b->kind)
            return a->kind < b->kind ? -1 : 1;
        if (row_fields[i].type == FIELD_TEXT)
            order = field_compare (&row_fields[i], a, b);
    }
    return order;
}

/* --- entitlements -------------------------------------------------------- */

bool bill_entitlement_is_paid (const bill_entitlement_t *entitlement)
{
    return mpq_sgn (entitlement->fee) > 0
           || mpq_sgn (entitlement->value_in) > 0;
}

void bill_entitlement_value_unused (const bill_entitlement_t *entitlement,
                                    mpq_t ret_value)
{
    mpq_add (ret_value, entitlement->fee, entitlement->value_in);
    mpq_sub (ret_value, ret_value, entitlement->value_used);
    mpq_sub (ret_value, ret_value, entitlement->value_reserved);
}
