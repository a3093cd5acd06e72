/* The fields of exports, and their values in a row. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export_private.h"

#define P (1u << EXPORT_POSTINGS)
#define J (1u << EXPORT_JOBS)
#define L (1u << EXPORT_JOURNAL)
#define ALL (P | J | L)
#define POSTING(member) 1 + offsetof (posting_t, member)
#define ITEM(member) 1 + offsetof (line_item_t, member)
/* A text that postings and line items have under one name. */
#define BOTH(member) POSTING (member), ITEM (member)

#define ROW_OF(id, name, type, level, rows, ...) \
    [F_##id] = {name, EXPORT_##type, EXPORT_##level, rows, __VA_ARGS__}

const export_field_t export_field[F_COUNT] = {
    ROW_OF (MONTH, "month", DATE, OF_MONTH, ALL,
            "the month that is billed: 2026-10"),
    ROW_OF (MONTH_START, "month_start", DATE, OF_MONTH, ALL, "its first day"),
    ROW_OF (MONTH_END, "month_end", DATE, OF_MONTH, ALL, "its last day"),
    ROW_OF (FISCAL_YEAR, "fiscal_year", DIGITS, OF_MONTH, ALL,
            "fiscal year of the month, by `ledger.fiscal_year`; named after "
            "the year in which it ends"),
    ROW_OF (FISCAL_PERIOD, "fiscal_period", DIGITS, OF_MONTH, ALL,
            "number of the month in the fiscal year: 1 to 12"),
    ROW_OF (STATE, "state", TEXT, OF_MONTH, ALL, "open or closed"),
    ROW_OF (VERSION, "version", DIGITS, OF_MONTH, ALL,
            "number of the closing; none while the month is open"),
    ROW_OF (HASH, "hash", TEXT, OF_MONTH, ALL,
            "hash of the closing, 64 hexadecimal digits"),
    ROW_OF (CLOSED, "closed", DATE, OF_MONTH, ALL,
            "day on which the month was closed"),
    ROW_OF (CURRENCY, "currency", TEXT, OF_MONTH, ALL,
            "currency of all amounts: USD"),
    ROW_OF (ISSUER, "issuer", TEXT, OF_MONTH, ALL, "`issuer.name`"),
    ROW_OF (TEAM, "team", TEXT, OF_ROW, ALL, "the team that pays", BOTH (team)),
    ROW_OF (COST_CENTER, "cost_center", TEXT, OF_TEAM, ALL,
            "cost center of the team"),
    ROW_OF (INSTITUTION, "institution", TEXT, OF_TEAM, ALL,
            "institution of the team"),
    ROW_OF (PI, "pi", TEXT, OF_TEAM, ALL,
            "person who is responsible for the "
            "team"),
    ROW_OF (EMAIL, "email", TEXT, OF_TEAM, ALL, "e-mail address of the team"),
    ROW_OF (BILLING_ADDRESS, "billing_address", TEXT, OF_TEAM, ALL,
            "billing address of the team"),
    ROW_OF (CLASS, "class", TEXT, OF_TEAM, ALL,
            "class of customers that the team is in"),
    ROW_OF (PLAN, "plan", TEXT, OF_TEAM, ALL, "plan of the team"),
    ROW_OF (INVOICE, "invoice", TEXT, OF_TEAM, ALL,
            "InvoiceId of FOCUS: st-2026-10-vision"),
    ROW_OF (COST_OBJECT, "cost_object", TEXT, OF_ROW, P,
            "cost object that pays; the cost center if none is given"),
    ROW_OF (
        KIND, "kind", TEXT, OF_ROW, P | J,
        "kind of row: charge (in jobs: job), idle, credit, correction, tax, "
        "purchase (entitlement), settlement, service; in jobs also rounding"),
    ROW_OF (WHAT, "what", TEXT, OF_ROW, ALL,
            "kind of idle time, credit, tax or rule; name of the service",
            BOTH (what)),
    ROW_OF (SERVICE_MONTH, "service_month", DATE, OF_ROW, ALL,
            "month of the usage; of a correction, the corrected month",
            BOTH (month)),
    ROW_OF (POOL, "pool", TEXT, OF_ROW, ALL, "pool of GPUs or CPUs",
            BOTH (pool)),
    ROW_OF (GPU, "gpu", TEXT, OF_ROW, P | J, "model of the GPU", BOTH (gpu)),
    ROW_OF (PROFILE, "profile", TEXT, OF_ROW, P | J, "profile of the MIG slice",
            BOTH (profile)),
    ROW_OF (ACCOUNT, "account", TEXT, OF_ROW, P | J, "Slurm account",
            POSTING (key[0]), ITEM (account)),
    ROW_OF (CLUSTER, "cluster", TEXT, OF_ROW, P | J, "cluster",
            POSTING (key[1]), ITEM (cluster)),
    ROW_OF (USER, "user", TEXT, OF_ROW, P | J, "user", POSTING (key[2]),
            ITEM (user)),
    ROW_OF (PROJECT, "project", TEXT, OF_ROW, P | J, "project (tag)",
            POSTING (key[3]), ITEM (project)),
    ROW_OF (QOS, "qos", TEXT, OF_ROW, P | J, "QOS", POSTING (key[4]),
            ITEM (qos)),
    ROW_OF (PARTITION, "partition", TEXT, OF_ROW, P | J, "partition",
            POSTING (key[5]), ITEM (partition)),
    ROW_OF (GRES_TYPE, "gres_type", TEXT, OF_ROW, P | J,
            "Slurm's type of the GRES", POSTING (key[6]), ITEM (gres_type)),
    ROW_OF (REFERENCE, "reference", TEXT, OF_ROW, ALL,
            "job or row that it refers to: CLUSTER/JOBID/SUBMIT, the number "
            "of a row, SOURCE:REFERENCE of a service",
            BOTH (reference)),
    ROW_OF (REASON, "reason", TEXT, OF_ROW, ALL, "reason of a manual credit",
            BOTH (reason)),
    ROW_OF (DESCRIPTION, "description", TEXT, OF_ROW, P | L,
            "description of a service; in the journal, of the transaction",
            POSTING (description), 0),
    ROW_OF (UNIT, "unit", TEXT, OF_ROW, P | J,
            "unit of the quantity of a service", BOTH (unit)),
    ROW_OF (SERVICE_CATEGORY, "service_category", TEXT, OF_ROW, P | J,
            "ServiceCategory of a service", BOTH (service_category)),
    ROW_OF (COUNTERPARTY, "counterparty", TEXT, OF_ROW, P | L,
            "other team of a settlement", POSTING (counterparty), 0),
    ROW_OF (DISPUTED, "disputed", TEXT, OF_ROW, P,
            "yes, if the row is in "
            "dispute"),
    ROW_OF (NUMBER, "number", TEXT, OF_ROW, P,
            "number of the row on the bill: 2026-10/17"),
    ROW_OF (JOB, "job", DIGITS, OF_ROW, J, "JobID"),
    ROW_OF (JOB_NAME, "job_name", TEXT, OF_ROW, J, "name of the job", 0,
            ITEM (job_name)),
    ROW_OF (JOB_STATE, "job_state", TEXT, OF_ROW, J, "state of the job", 0,
            ITEM (state)),
    ROW_OF (LABELS, "labels", TEXT, OF_ROW, J, "labels, k=v,k=v", 0,
            ITEM (labels)),
    ROW_OF (RESERVATION, "reservation", TEXT, OF_ROW, J, "reservation", 0,
            ITEM (reservation)),
    ROW_OF (DAY, "day", DATE, OF_ROW, J,
            "local day; without a day, the first of the month"),
    ROW_OF (LEDGER_ACCOUNT, "ledger_account", TEXT, OF_ROW, L,
            "account of the journal: charges:vision:h100:charge"),
    ROW_OF (LEDGER_CLASS, "ledger_class", TEXT, OF_ROW, L,
            "its first part: charges, cost, accruals, unrecovered, ..."),
    ROW_OF (TRANSACTION, "transaction", DIGITS, OF_ROW, L,
            "number of the transaction, from 1 on"),
    ROW_OF (FUND, "fund", TEXT, OF_ROW, L, "fund that pays for a cost"),
    ROW_OF (SIDE, "side", TEXT, SUM, ALL,
            "debit, or credit if the amount is negative"),
    ROW_OF (AMOUNT, "amount", MONEY, SUM, ALL,
            "amount due; credits are negative. In the journal debits are "
            "positive, credits negative"),
    ROW_OF (LIST, "list", MONEY, SUM, P,
            "list price, before tiers, subsidies, entitlements and surcharges"),
    ROW_OF (COST, "cost", MONEY, SUM, P | J,
            "full cost of the time, at the owned rate"),
    ROW_OF (DEBIT, "debit", MONEY, SUM, ALL,
            "the amount if it is not negative; else absent"),
    ROW_OF (CREDIT, "credit", MONEY, SUM, ALL,
            "the amount without its sign if it is negative; else absent"),
    ROW_OF (GPU_HOURS, "gpu_hours", HOURS, SUM, ALL,
            "GPU hours; a MIG slice counts its fraction"),
    ROW_OF (CPU_HOURS, "cpu_hours", HOURS, SUM, ALL,
            "CPU hours in pools of CPUs"),
    ROW_OF (QUANTITY, "quantity", QUANTITY, SUM, P,
            "quantity of a service, in its unit"),
    ROW_OF (RATE, "rate", RATE, SUM, ALL,
            "amount per GPU-hour or CPU-hour; absent without hours, or both"),
    ROW_OF (LINES, "lines", COUNT, SUM, ALL, "number of source rows added up"),
    ROW_OF (ROW, "row", COUNT, SUM, ALL,
            "number of the row in the file, from 1; in the trailer, the "
            "number after the last"),
    ROW_OF (ROWS, "rows", COUNT, TOTAL, ALL,
            "in the trailer: number of rows written"),
};

const export_field_t *export_fields (size_t *ret_count)
{
    *ret_count = F_COUNT;
    return export_field;
}

const char *export_type_word (export_type_t type)
{
    static const char *const words[]
        = {[EXPORT_TEXT] = "text",     [EXPORT_DATE] = "date",
           [EXPORT_DIGITS] = "digits", [EXPORT_MONEY] = "amount",
           [EXPORT_HOURS] = "hours",   [EXPORT_QUANTITY] = "quantity",
           [EXPORT_RATE] = "rate",     [EXPORT_COUNT] = "count"};

    return words[type];
}

const char *export_rows_word (export_rows_t rows)
{
    static const char *const words[] = {[EXPORT_POSTINGS] = "postings",
                                        [EXPORT_JOBS] = "jobs",
                                        [EXPORT_JOURNAL] = "journal"};

    return words[rows];
}

size_t export_date_token (const char *text)
{
    static const char *const tokens[] = {"YYYY", "YY", "MON", "MM", "DD"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (tokens); i++)
        if (!strncmp (text, tokens[i], strlen (tokens[i])))
            return strlen (tokens[i]);
    return 0;
}

/* --- rows ---------------------------------------------------------------------- */

const char *export_text (const export_row_t *row, const export_field_t *field)
{
    return field == &export_field[F_SIDE]
               ? (mpz_sgn (row->money[MONEY_AMOUNT]) < 0 ? "credit" : "debit")
               : row->text[field - export_field];
}

void export_set_money (mpq_t value, mpz_srcptr units, int digits)
{
    mpq_set_z (value, units);
    mpz_ui_pow_ui (mpq_denref (value), 10, (unsigned)digits);
    mpq_canonicalize (value);
}

static bool put_money (mpq_t value, const export_row_t *row, mpz_srcptr units)
{
    export_set_money (value, units, row->digits);
    return true;
}

static bool put_hours (mpq_t value, mpq_srcptr hours)
{
    mpq_set (value, hours);
    return mpq_sgn (hours) != 0;
}

/* By one kind of hours. */
static bool put_rate (mpq_t value, const export_row_t *row)
{
    mpq_srcptr hours = mpq_sgn (row->hours[HOURS_GPU]) != 0
                           ? row->hours[HOURS_GPU]
                           : row->hours[HOURS_CPU];

    if (mpq_sgn (hours) == 0
        || (mpq_sgn (row->hours[HOURS_GPU]) != 0
            && mpq_sgn (row->hours[HOURS_CPU]) != 0))
        return false;
    export_set_money (value, row->money[MONEY_AMOUNT], row->digits);
    mpq_div (value, value, hours);
    return true;
}

bool export_number (const export_row_t *row, const export_field_t *field,
                    mpq_t ret_value)
{
    int sign = mpz_sgn (row->money[MONEY_AMOUNT]);

    switch (field - export_field) {
    case F_AMOUNT:
        return put_money (ret_value, row, row->money[MONEY_AMOUNT]);
    case F_LIST:
        return put_money (ret_value, row, row->money[MONEY_LIST]);
    case F_COST:
        return put_money (ret_value, row, row->money[MONEY_COST]);
    case F_DEBIT:
        return put_money (ret_value, row,
                          row->whole ? row->debit : row->money[MONEY_AMOUNT])
               && (row->whole || sign >= 0);
    case F_CREDIT:
        if (row->whole)
            return put_money (ret_value, row, row->credit);
        put_money (ret_value, row, row->money[MONEY_AMOUNT]);
        mpq_neg (ret_value, ret_value);
        return sign < 0;
    case F_GPU_HOURS:
        return put_hours (ret_value, row->hours[HOURS_GPU]);
    case F_CPU_HOURS:
        return put_hours (ret_value, row->hours[HOURS_CPU]);
    case F_QUANTITY:
        return put_hours (ret_value, row->hours[HOURS_QUANTITY]);
    case F_RATE:
        return put_rate (ret_value, row);
    case F_LINES:
        mpq_set_ui (ret_value, row->lines, 1);
        return true;
    case F_ROW:
        mpq_set_ui (ret_value, row->row, 1);
        return true;
    case F_ROWS:
        mpq_set_ui (ret_value, row->rows, 1);
        return true;
    default:
        return false;
    }
}

const struct export_sum export_sums[EXPORT_SUMS] = {
    {F_AMOUNT, offsetof (export_row_t, money[MONEY_AMOUNT]), FIELD_UNITS},
    {F_LIST, offsetof (export_row_t, money[MONEY_LIST]), FIELD_UNITS},
    {F_COST, offsetof (export_row_t, money[MONEY_COST]), FIELD_UNITS},
    {F_GPU_HOURS, offsetof (export_row_t, hours[HOURS_GPU]), FIELD_EXACT},
    {F_CPU_HOURS, offsetof (export_row_t, hours[HOURS_CPU]), FIELD_EXACT},
    {F_QUANTITY, offsetof (export_row_t, hours[HOURS_QUANTITY]), FIELD_EXACT},
    {F_LINES, offsetof (export_row_t, lines), FIELD_COUNT},
};

void export_describe_rows (export_t *e)
{
    size_t count = 0, at = offsetof (export_row_t, text);

    e->used[F_AMOUNT] = e->used[F_LINES] = true;
    if (e->used[F_RATE])
        e->used[F_GPU_HOURS] = e->used[F_CPU_HOURS] = true;
    e->field = xcalloc (F_COUNT + 1, sizeof (*e->field));
    for (size_t i = 0; i < F_COUNT; i++) {
        if (!e->used[i] || export_field[i].level > EXPORT_OF_ROW)
            continue;
        e->slot[e->slot_count++] = i;
        e->field[count++]
            = (field_t){export_field[i].name, FIELD_TEXT, at, NULL, NULL};
        at += sizeof (char *);
    }
    for (size_t i = 0; i < EXPORT_SUMS; i++)
        if (e->used[export_sums[i].field])
            e->field[count++]
                = (field_t){export_field[export_sums[i].field].name,
                            export_sums[i].type, export_sums[i].at, NULL, NULL};
    e->field[count++] = (field_t){EXPORT_ORDER, FIELD_COUNT,
                                  offsetof (export_row_t, order), NULL, NULL};
    e->cube_fields = (fields_t){"row of an export", at, e->field, count};
}
