#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/bill_idle.h"
#include "report/correction.h"
#include "report/shell.h"
#include "report/statement_private.h"

/* --- columns ----------------------------------------------------------- */

static const struct {
    const char *name;
    const char *title;
    column_type_t type;
    bool is_key;
    bool detail;
    const char *help;
} columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true, ""},
    [AT_LINE] = {"line", "Line", COLUMN_TEXT, true, false,
                 "Its name on this statement. What it is made of: below."},
    [AT_NAME] = {"name", "What", COLUMN_TEXT, true, false, ""},
    [AT_POOL] = {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    [AT_QOS] = {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    [AT_PROFILE] = {"profile", "Slice", COLUMN_TEXT, true, false,
                    "The MIG profile; none: whole GPUs."},
    [AT_MONTH] = {"month", "Month", COLUMN_TEXT, true, false,
                  "The month of the usage, where it is an earlier one."},
    [AT_JOBS] = {"jobs", "Jobs", COLUMN_COUNT, false, false,
                 "Distinct JobIds with time in the line."},
    [AT_GPU_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                      "Hours of physical GPUs held by jobs, busy or not; a MIG "
                      "slice counts its fraction of one."},
    [AT_RATE] = {"rate", "Rate", COLUMN_RATE, false, false,
                 "What is due per GPU hour, on average over the line, before "
                 "rounding."},
    [AT_LIST] = {"list", "List price", COLUMN_MONEY, false, false,
                 "Before subsidies, tiers, entitlements and surcharges."},
    [AT_ADJUSTMENT] = {"adjustment", "Adjustment", COLUMN_MONEY, false, false,
                       "Due less list price: negative where the time is "
                       "subsidised or prepaid, positive where a surcharge is "
                       "added."},
    [AT_BEFORE] = {"before", "Was", COLUMN_MONEY, false, false,
                   "What was due of the corrected line."},
    [AT_AFTER] = {"after", "Is", COLUMN_MONEY, false, false,
                  "What is due of it by what is known now."},
    [AT_CHARGE] = {"charge", "Due", COLUMN_MONEY, false, false,
                   "What is to be paid."},
    [AT_IDLE] = {"idle", "For idle time", COLUMN_MONEY, false, true,
                 "The part of it that pays for time that nobody held."},
    [AT_IDLE_PCT] = {"idle_pct", "Idle %", COLUMN_PERCENT, false, false,
                     "How much of what is due pays for time that nobody held: "
                     "the price beyond what an owned hour cost, at a published "
                     "rate with its margin; whatever the policy."},
    [AT_BUDGET] = {"budget", "Budget", COLUMN_MONEY, false, false,
                   "Of the period, with what was carried over; money, or GPU "
                   "hours."},
    [AT_SPENT] = {"spent", "Spent", COLUMN_MONEY, false, false,
                  "In the period so far, in the same unit."},
    [AT_SPENT_PCT] = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false,
                      "Of the budget."},
    [AT_FORECAST] = {"forecast", "Forecast", COLUMN_MONEY, false, false,
                     "At the period's end, at the daily rate of the last 28 "
                     "days (run rate)."},
    [AT_FORECAST_PCT] = {"forecast_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "Of the budget."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "Of budget, spent and forecast."},
    [AT_REASON] = {"reason", "Reason", COLUMN_TEXT, false, false, ""},
    [AT_REFERENCE] = {"reference", "Refers to", COLUMN_TEXT, false, false,
                      "The job (cluster/JobId/submit time), or the row of an "
                      "earlier bill."},
    [AT_ROW] = {"row", "Row", COLUMN_TEXT, false, true,
                "Its number on the closed bill."},
    [AT_DISPUTED] = {"disputed", "Disputed", COLUMN_TEXT, false, false,
                     "Not to be paid before that is decided."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_SHOW] = {"show", "Command", COLUMN_TEXT, false, true, ""},
};

void statement_columns (page_t *page)
{
    for (size_t i = 0; i < AT_COUNT; i++) {
        report_column (page->report, columns[i].name, columns[i].title,
                       columns[i].type, columns[i].is_key);
        report_column_help (page->report, i, columns[i].help);
        page->report->column[i].detail = columns[i].detail;
    }
}

/* --- rows of the bill, added up by some of their keys ------------------ */

#define GROUP_KEYS 3
typedef struct {
    const char *key[GROUP_KEYS];
    mpq_t gpu_seconds;
    mpq_t exact;
    mpq_t idle;
    mpz_t list;
    mpz_t charge;
    mpz_t charged; /* of it: charges and idle rows */
    bool idle_known;
    bool priced;
} group_t;

typedef struct {
    group_t *group;
    size_t count;
} groups_t;

/* What the rows of a table are. */
typedef struct {
    const char *word; /* of the section, for machines */
    char letter;      /* of its lines */
    const char *title;
    const char *help;
    unsigned kinds; /* rows that count: 1 << bill_kind_t */
    key_id_t keys[GROUP_KEYS];
    size_t key_count;
    statement_at_t at[GROUP_KEYS]; /* where they stand */
    int cells;                     /* with jobs: statement_by_t; -1: none */
    bool by_amount;                /* the largest first */
    bool with_price;               /* rate and list price say something */
} table_t;

#define KINDS_DUE                                                          \
    (1U << BILL_CHARGE | 1U << BILL_IDLE | 1U << BILL_CREDIT               \
     | 1U << BILL_CORRECTION)

static const table_t tables[] = {
    {"charges", 'C', "What you pay for",
     "GPU time that your jobs held, by what sets its price.",
     1U << BILL_CHARGE, {KEY_POOL, KEY_QOS, KEY_PROFILE}, 3,
     {AT_POOL, AT_QOS, AT_PROFILE}, STATEMENT_PRICED, false, true},
    {"projects", 'P', "By project",
     "What is due before taxes, by the tag of the jobs, the largest first.",
     KINDS_DUE, {KEY_PROJECT}, 1, {AT_NAME}, STATEMENT_PROJECTS, true, false},
    {"users", 'U', "By user", "The same by who ran the jobs.", KINDS_DUE,
     {KEY_USER}, 1, {AT_NAME}, STATEMENT_USERS, true, false},
    {"accounts", 'A', "By account", "The same by Slurm account.", KINDS_DUE,
     {KEY_ACCOUNT}, 1, {AT_NAME}, STATEMENT_ACCOUNTS, true, false},
};
#define TABLE_CHARGES 0

/* The --by of the cells of each. */
static const char *const cell_keys[STATEMENT_CELLS] = {
    [STATEMENT_PRICED] = "pool,qos,profile",
    [STATEMENT_ACCOUNTS] = "account",
    [STATEMENT_PROJECTS] = "project",
    [STATEMENT_USERS] = "user",
};

const char *statement_keys (statement_by_t by)
{
    return cell_keys[by];
}

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

static int compare_keys (const char *const *a, const char *const *b)
{
    int order = 0;

    for (size_t i = 0; i < GROUP_KEYS && order == 0; i++)
        order = compare_texts (a[i], b[i]);
    return order;
}

static group_t *find_group (groups_t *groups, const char *const *key)
{
    group_t *group;

    for (size_t i = 0; i < groups->count; i++) {
        if (compare_keys (groups->group[i].key, key) == 0)
            return &groups->group[i];
    }
    groups->group = xreallocarray (groups->group, groups->count + 1,
                                   sizeof (*groups->group));
    group = &groups->group[groups->count++];
    *group = (group_t){.idle_known = true, .priced = true};
    memcpy (group->key, key, sizeof (group->key));
    mpq_inits (group->gpu_seconds, group->exact, group->idle, NULL);
    mpz_inits (group->list, group->charge, group->charged, NULL);
    return group;
}

static void add_to_group (const page_t *page, group_t *group,
                          const bill_row_t *row)
{
    mpq_t idle;

    mpq_init (idle);
    group->idle_known = bill_idle (page->s->bill, row, page->digits, idle)
                        && group->idle_known;
    group->priced
        = bill_row_priced (page->s->bill, row) && group->priced;
    mpq_add (group->idle, group->idle, idle);
    mpz_add (group->charge, group->charge, row->charge_units);
    if (row->kind == BILL_CHARGE || row->kind == BILL_IDLE)
        mpz_add (group->charged, group->charged, row->charge_units);
    if (row->kind == BILL_CHARGE) {
        mpq_add (group->gpu_seconds, group->gpu_seconds, row->gpu_seconds);
        mpq_add (group->exact, group->exact, row->exact);
        mpz_add (group->list, group->list, row->list_units);
    }
    mpq_clear (idle);
}

static int by_amount (const void *a, const void *b)
{
    const group_t *x = a, *y = b;
    int order = mpz_cmp (y->charge, x->charge);

    return order ? order : compare_keys (x->key, y->key);
}

static int by_keys (const void *a, const void *b)
{
    const group_t *x = a, *y = b;

    return compare_keys (x->key, y->key);
}

static groups_t group_rows (const page_t *page, const table_t *table)
{
    groups_t groups = {NULL, 0};
    size_t count;
    const bill_row_t *rows = bill_rows (page->s->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const char *key[GROUP_KEYS] = {NULL};
        if (!bill_row_of (&rows[i], page->s->team)
            || !(table->kinds & 1U << rows[i].kind))
            continue;
        for (size_t k = 0; k < table->key_count; k++)
            key[k] = bill_row_key (&rows[i], table->keys[k]);
        add_to_group (page, find_group (&groups, key), &rows[i]);
    }
    if (groups.count > 1)
        qsort (groups.group, groups.count, sizeof (*groups.group),
               table->by_amount ? by_amount : by_keys);
    return groups;
}

static void groups_done (groups_t *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        group_t *group = &groups->group[i];
        mpq_clears (group->gpu_seconds, group->exact, group->idle, NULL);
        mpz_clears (group->list, group->charge, group->charged, NULL);
    }
    free (groups->group);
}

/* --- commands ---------------------------------------------------------- */

static void begin_command (const page_t *page, const char *month,
                           buffer_t *out)
{
    buffer_printf (out, "gpuledger report chargeback --month %s --team", month);
    shell_word (out, page->s->team ? page->s->team
                                   : key_info (KEY_TEAM)->absent);
}

static const char *option_of (key_id_t key)
{
    return key == KEY_POOL      ? "--pool"
           : key == KEY_PROJECT ? "--project"
           : key == KEY_USER    ? "-u"
           : key == KEY_ACCOUNT ? "-A"
                                : NULL;
}

/* What the line is made of; false where a name cannot be asked for, because a
 * comma separates names. */
static bool command_of_group (const page_t *page, const table_t *table,
                              const group_t *group, buffer_t *out)
{
    begin_command (page, page->s->month, out);
    for (size_t i = 0; i < table->key_count; i++) {
        const char *text = group->key[i] ? group->key[i]
                                         : key_info (table->keys[i])->absent;
        if (!option_of (table->keys[i]))
            continue;
        if (strchr (text, ','))
            return false;
        buffer_printf (out, " %s", option_of (table->keys[i]));
        shell_word (out, text);
    }
    buffer_add_text (out, table->key_count > 1 ? " --by qos,profile,user,day"
                                               : " --by pool,user,day");
    return true;
}

/* CLUSTER/JOBID/SUBMIT. */
static bool command_of_job (const char *reference, buffer_t *out)
{
    const char *end = reference ? strrchr (reference, '/') : NULL;
    const char *job = end ? memrchr (reference, '/', end - reference) : NULL;

    if (!job || job + 1 == end)
        return false;
    GL_AUTOFREE char *cluster = xstrndup (reference, job - reference);
    buffer_printf (out, "gpuledger explain %.*s -M", (int)(end - job - 1),
                   job + 1);
    shell_word (out, cluster);
    return true;
}

static void put_command (page_t *page, const char *line, const char *command)
{
    report_put_text (page->report, AT_SHOW, command);
    if (!page->commands)
        page->commands
            = report_list (page->report, "What a line is made of");
    report_list_item (page->commands, line, command);
}

/* --- lines ------------------------------------------------------------- */

static void begin_line (page_t *page, const char *section, char letter,
                        size_t number, char line[16])
{
    report_row (page->report);
    snprintf (line, 16, "%c%zu", letter, number);
    report_put_text (page->report, AT_SECTION, section);
    report_put_text (page->report, AT_LINE, line);
    report_put_text (page->report, AT_CURRENCY,
                     page->s->query->site->currency);
}

static void put_units (page_t *page, statement_at_t at, const mpz_t units)
{
    report_put_money (page->report, at, units, page->digits);
}

/* Hours and amounts of a line or a sum. */
static void put_amounts (page_t *page, const table_t *table,
                         const group_t *group)
{
    mpq_t value, whole;
    mpz_t units;

    if (table->kinds & 1U << BILL_CHARGE)
        report_put_hours (page->report, AT_GPU_HOURS, group->gpu_seconds);
    if (!group->priced)
        return;
    mpq_inits (value, whole, NULL);
    mpz_init (units);
    put_units (page, AT_CHARGE, group->charge);
    if (table->with_price) {
        put_units (page, AT_LIST, group->list);
        mpz_sub (units, group->charge, group->list);
        put_units (page, AT_ADJUSTMENT, units);
    }
    if (table->with_price && mpq_sgn (group->gpu_seconds) > 0) {
        mpq_set_ui (value, 3600, 1);
        mpq_mul (value, value, group->exact);
        mpq_div (value, value, group->gpu_seconds);
        report_put_exact (page->report, AT_RATE, value, 4);
    }
    if (group->idle_known) {
        GL_AUTOFREE char *percent = NULL;
        exact_round (units, group->idle, 0);
        put_units (page, AT_IDLE, units);
        mpq_set_z (whole, group->charged);
        percent = mpz_sgn (group->charged) > 0
                      ? report_percent_text (group->idle, whole)
                      : NULL;
        report_put_text (page->report, AT_IDLE_PCT, percent);
    }
    mpq_clears (value, whole, NULL);
    mpz_clear (units);
}

static void put_jobs (page_t *page, const table_t *table,
                      const group_t *group)
{
    const statement_cells_t *cells = &page->s->cells[table->cells];

    for (size_t i = 0; i < cells->count; i++) {
        bool same = true;
        for (size_t k = 0; k < table->key_count; k++)
            same = same
                   && compare_texts (cells->cell[i].key[k], group->key[k]) == 0;
        if (same) {
            report_put_count (page->report, AT_JOBS, cells->cell[i].jobs);
            return;
        }
    }
}

static void put_keys (page_t *page, const table_t *table, const group_t *group)
{
    for (size_t i = 0; i < table->key_count; i++) {
        bool whole = table->keys[i] == KEY_PROFILE && !group->key[i];
        if (!whole)
            report_put_text (page->report, table->at[i],
                             group->key[i] ? group->key[i]
                                           : key_info (table->keys[i])->absent);
    }
}

static void add_total (group_t *to, const group_t *from)
{
    mpq_add (to->gpu_seconds, to->gpu_seconds, from->gpu_seconds);
    mpq_add (to->exact, to->exact, from->exact);
    mpq_add (to->idle, to->idle, from->idle);
    mpz_add (to->list, to->list, from->list);
    mpz_add (to->charge, to->charge, from->charge);
    mpz_add (to->charged, to->charged, from->charged);
    to->idle_known = to->idle_known && from->idle_known;
    to->priced = to->priced && from->priced;
}

static void add_table (page_t *page, const table_t *table)
{
    groups_t groups = group_rows (page, table), totals = {NULL, 0};
    static const char *const none[GROUP_KEYS] = {NULL};
    group_t *total = find_group (&totals, none);

    if (groups.count > 0)
        report_section (page->report, table->title, table->help);
    for (size_t i = 0; i < groups.count; i++) {
        const group_t *group = &groups.group[i];
        BUFFER_AUTO command = BUFFER_INIT;
        char line[16];
        begin_line (page, table->word, table->letter, i + 1, line);
        put_keys (page, table, group);
        put_jobs (page, table, group);
        put_amounts (page, table, group);
        if (command_of_group (page, table, group, &command))
            put_command (page, line, buffer_text (&command));
        add_total (total, group);
    }
    if (groups.count > 0) {
        report_section_totals (page->report);
        put_amounts (page, table, total);
        report_put_count (page->report, AT_JOBS, page->s->jobs);
    }
    groups_done (&groups);
    groups_done (&totals);
}

/* --- rows of the bill, one line each ----------------------------------- */

static const struct single {
    bill_kind_t kind;
    const char *word;
    char letter;
    const char *title;
    const char *help;
} singles[] = {
    {BILL_IDLE, "idle", 'I', "Idle time shared out",
     "Time of the pools that nobody held, as the site's policy shares it."},
    {BILL_CREDIT, "credits", 'K', "Credits",
     "Given back; the charge that it goes back to stays where it is."},
    {BILL_CORRECTION, "corrections", 'R', "Corrections of earlier months",
     "Months that are closed never change: what was found out later stands "
     "here, with its cause."},
    {BILL_TAX, "taxes", 'T', "Taxes",
     "On the sum of everything above, rounded once."},
};

static void put_row_number (page_t *page, size_t index)
{
    GL_AUTOFREE char *text
        = xasprintf ("%s/%zu", page->s->month, index + 1);

    if (page->s->closed)
        report_put_text (page->report, AT_ROW, text);
}

static void add_single (page_t *page, const struct single *kind,
                        const bill_row_t *row, size_t index, size_t number)
{
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];

    begin_line (page, kind->word, kind->letter, number, line);
    report_put_text (page->report, AT_NAME, row->what);
    report_put_text (page->report, AT_POOL, row->pool);
    if (row->month && strcmp (row->month, page->s->month) != 0)
        report_put_text (page->report, AT_MONTH, row->month);
    if (mpq_sgn (row->gpu_seconds) != 0)
        report_put_hours (page->report, AT_GPU_HOURS, row->gpu_seconds);
    put_units (page, AT_CHARGE, row->charge_units);
    report_put_text (page->report, AT_REASON,
                     row->reason ? row->reason : correction_cause_text (row->what));
    if (row->origin) {
        put_units (page, AT_BEFORE, row->before_units);
        put_units (page, AT_AFTER, row->after_units);
    }
    if (page->s->disputed && page->s->disputed[index])
        report_put_text (page->report, AT_DISPUTED, "yes");
    report_put_text (page->report, AT_REFERENCE, row->reference);
    put_row_number (page, index);
    if (command_of_job (row->reference, &command))
        put_command (page, line, buffer_text (&command));
    else if (kind->kind == BILL_CORRECTION && row->month) {
        begin_command (page, row->month, &command);
        put_command (page, line, buffer_text (&command));
    }
}

static void add_singles (page_t *page, const struct single *kind)
{
    size_t count, number = 0;
    const bill_row_t *rows = bill_rows (page->s->bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != kind->kind
            || !bill_row_of (&rows[i], page->s->team))
            continue;
        if (number == 0)
            report_section (page->report, kind->title, kind->help);
        add_single (page, kind, &rows[i], i, ++number);
    }
    if (number > 0) {
        report_section_totals (page->report);
        put_units (page, AT_CHARGE, page->sum.kind[kind->kind]);
    }
}

/* --- what changed ------------------------------------------------------ */

static void add_changes (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("What changed since %s", page->s->before_month);
    mpz_t difference;

    if (!page->s->before || !page->sum.priced)
        return;
    report_section (page->report, title,
                    "The difference to what was due the month before, in parts "
                    "that add up to it.");
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        char line[16];
        begin_line (page, "changes", 'D', i + 1, line);
        report_put_text (page->report, AT_NAME, info->word);
        put_units (page, AT_CHARGE, page->change.part[i]);
    }
    mpz_init (difference);
    mpz_sub (difference, page->change.after, page->change.before);
    report_section_totals (page->report);
    put_units (page, AT_CHARGE, difference);
    mpz_clear (difference);
}

void statement_lines (page_t *page)
{
    add_table (page, &tables[TABLE_CHARGES]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (singles); i++)
        add_singles (page, &singles[i]);
    add_changes (page);
    for (size_t i = TABLE_CHARGES + 1; i < GL_ARRAY_SIZE (tables); i++)
        add_table (page, &tables[i]);
}

/* --- budgets ----------------------------------------------------------- */

static void put_budget_percent (page_t *page, const budget_t *b,
                                statement_at_t at, mpq_srcptr value)
{
    GL_AUTOFREE char *percent = report_percent_text (value, b->amount);

    report_put_text (page->report, at, percent);
}

static void put_budget (page_t *page, const budget_t *b, size_t number)
{
    GL_AUTOFREE char *amount = budget_text (b, b->amount);
    GL_AUTOFREE char *spent = b->known ? budget_text (b, b->spent) : NULL;
    GL_AUTOFREE char *forecast
        = b->run_rate.known ? budget_text (b, b->run_rate.value) : NULL;
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];

    begin_line (page, "budgets", 'B', number, line);
    report_put_text (page->report, AT_NAME, b->budget->name);
    report_put_text (page->report, AT_MONTH, b->period_name);
    report_put_text (page->report, AT_BUDGET, amount);
    report_put_text (page->report, AT_SPENT, spent);
    if (b->known)
        put_budget_percent (page, b, AT_SPENT_PCT, b->spent);
    report_put_text (page->report, AT_FORECAST, forecast);
    report_put_text (page->report, AT_UNIT,
                     b->of_money ? page->s->query->site->currency
                                 : "GPU hours");
    if (b->run_rate.known)
        put_budget_percent (page, b, AT_FORECAST_PCT, b->run_rate.value);
    buffer_add_text (&command, "gpuledger budget");
    shell_word (&command, b->budget->name);
    put_command (page, line, buffer_text (&command));
}

void statement_budget_lines (page_t *page)
{
    if (page->s->budget_count > 0)
        report_section (page->report, "Budgets",
                        "As of the end of the month, or of what is known.");
    for (size_t i = 0; i < page->s->budget_count; i++)
        put_budget (page, page->s->budgets[i], i + 1);
}
