/* Tables of a statement: rows of the bill, added up by some of their keys. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "report/shell.h"
#include "statement/statement_private.h"

/* What the rows of a table are. */
typedef struct {
    const char *word; /* of the section, for machines */
    char letter;      /* of its lines */
    const char *title;
    const char *help;
    unsigned kinds; /* rows that count: 1 << bill_kind_t */
    key_id_t keys[STATEMENT_KEYS];
    size_t key_count;
    statement_at_t at[STATEMENT_KEYS]; /* where they stand */
    statement_by_t counts;         /* of their jobs */
    bool by_amount;                /* the largest first */
    bool with_price;               /* rate and list price say something */
} table_t;

#define KINDS_DUE                                                          \
    (1U << BILL_CHARGE | 1U << BILL_IDLE | 1U << BILL_CREDIT               \
     | 1U << BILL_CORRECTION | 1U << BILL_PURCHASE)

static const table_t tables[] = {
    {"charges", 'C', "Charges",
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

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

static int compare_keys (const char *const *a, const char *const *b)
{
    int order = 0;

    for (size_t i = 0; i < STATEMENT_KEYS && order == 0; i++)
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
                          const posting_t *row)
{
    mpq_t idle;

    mpq_init (idle);
    group->idle_known = bill_idle (page->s->bill, row, page->digits, idle)
                        && group->idle_known;
    group->priced = posting_priced (page->s->bill, row) && group->priced;
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

static void keep_row (group_t *group, size_t index)
{
    if (group->row_count == group->row_size) {
        group->row_size = group->row_size * 2 + 4;
        group->row = xreallocarray (group->row, group->row_size,
                                    sizeof (*group->row));
    }
    group->row[group->row_count++] = index;
}

static groups_t group_rows (const page_t *page, const table_t *table)
{
    groups_t groups = {NULL, 0};
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const char *key[STATEMENT_KEYS] = {NULL};
        group_t *group;
        if (!posting_of (&rows[i], page->s->team)
            || !(table->kinds & 1U << rows[i].kind))
            continue;
        for (size_t k = 0; k < table->key_count; k++)
            key[k] = posting_key (&rows[i], table->keys[k]);
        group = find_group (&groups, key);
        add_to_group (page, group, &rows[i]);
        keep_row (group, i);
    }
    if (groups.count > 1)
        qsort (groups.group, groups.count, sizeof (*groups.group),
               table->by_amount ? by_amount : by_keys);
    return groups;
}

void statement_groups_done (groups_t *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        group_t *group = &groups->group[i];
        mpq_clears (group->gpu_seconds, group->exact, group->idle, NULL);
        mpz_clears (group->list, group->charge, group->charged, NULL);
        free (group->row);
    }
    free (groups->group);
}

/* --- commands ---------------------------------------------------------- */

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
    if (!statement_command (page, page->s->month, out))
        return false;
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

/* --- lines ------------------------------------------------------------- */

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
    statement_put_units (page, AT_CHARGE, group->charge);
    if (table->with_price) {
        statement_put_units (page, AT_LIST, group->list);
        mpz_sub (units, group->charge, group->list);
        statement_put_units (page, AT_ADJUSTMENT, units);
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
        statement_put_units (page, AT_IDLE, units);
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
    const statement_counts_t *counts = &page->s->counts[table->counts];

    for (size_t i = 0; i < counts->count; i++) {
        if (compare_keys (counts->item[i].key, group->key) == 0) {
            report_put_count (page->report, AT_JOBS, counts->item[i].jobs);
            return;
        }
    }
}

static void put_all_jobs (page_t *page)
{
    report_put_count (page->report, AT_JOBS, page->s->jobs);
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
    static const char *const none[STATEMENT_KEYS] = {NULL};
    group_t *total = find_group (&totals, none);

    if (groups.count > 0)
        report_section (page->report, table->title, table->help);
    for (size_t i = 0; i < groups.count; i++) {
        const group_t *group = &groups.group[i];
        BUFFER_AUTO command = BUFFER_INIT;
        char line[16];
        statement_begin_line (page, table->word, table->letter, i + 1, line);
        put_keys (page, table, group);
        put_jobs (page, table, group);
        put_amounts (page, table, group);
        statement_put_rows (page, group->row, group->row_count);
        if (command_of_group (page, table, group, &command))
            statement_put_command (page, line, buffer_text (&command));
        add_total (total, group);
    }
    if (groups.count > 0) {
        report_section_totals (page->report);
        put_amounts (page, table, total);
        put_all_jobs (page);
    }
    statement_groups_done (&groups);
    statement_groups_done (&totals);
}

void statement_charge_table (page_t *page)
{
    add_table (page, &tables[TABLE_CHARGES]);
}

void statement_split_tables (page_t *page)
{
    for (size_t i = TABLE_CHARGES + 1; i < GL_ARRAY_SIZE (tables); i++)
        add_table (page, &tables[i]);
}

groups_t statement_charge_groups (const page_t *page)
{
    return group_rows (page, &tables[TABLE_CHARGES]);
}
