/* Tables of a statement: rows of the bill, added up by some of their keys. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "report/heading.h"
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
    statement_by_t counts;             /* of their jobs */
    bool by_amount;                    /* the largest first */
    bool with_price;                   /* rate and list price say something */
} table_t;

#define KINDS_DUE                                                          \
    (1U << BILL_CHARGE | 1U << BILL_IDLE | 1U << BILL_CREDIT               \
     | 1U << BILL_CORRECTION | 1U << BILL_PURCHASE | 1U << BILL_SETTLEMENT \
     | 1U << BILL_SERVICE)

static const char *bill_word (unsigned kind)
{
    return kind < BILL_KIND_COUNT ? bill_kind_word ((bill_kind_t)kind) : NULL;
}

static const table_t tables[TABLE_COUNT] = {
    {"charges",
     'C',
     "Charges",
     "GPU time allocated to your jobs, by pool, QOS and slice, which set the "
     "price.",
     1U << BILL_CHARGE,
     {KEY_POOL, KEY_QOS, KEY_PROFILE},
     3,
     {AT_POOL, AT_QOS, AT_PROFILE},
     STATEMENT_PRICED,
     false,
     true},
    {"projects",
     'P',
     "By project",
     "Amounts due before taxes, by project, largest first.",
     KINDS_DUE,
     {KEY_PROJECT},
     1,
     {AT_NAME},
     STATEMENT_PROJECTS,
     true,
     false},
    {"users",
     'U',
     "By user",
     "Amounts due before taxes, by user.",
     KINDS_DUE,
     {KEY_USER},
     1,
     {AT_NAME},
     STATEMENT_USERS,
     true,
     false},
    {"accounts",
     'A',
     "By account",
     "Amounts due before taxes, by Slurm account.",
     KINDS_DUE,
     {KEY_ACCOUNT},
     1,
     {AT_NAME},
     STATEMENT_ACCOUNTS,
     true,
     false},
};

static const field_t group_fields[] = {
    FIELD_WORDS ("kind", group_t, kind, bill_word),
    FIELD ("key0", NAME, group_t, key[0]),
    FIELD ("key1", NAME, group_t, key[1]),
    FIELD ("key2", NAME, group_t, key[2]),
    FIELD ("gpu_seconds", EXACT, group_t, gpu_seconds),
    FIELD ("cpu_seconds", EXACT, group_t, cpu_seconds),
    FIELD ("exact", EXACT, group_t, exact),
    FIELD ("margin", EXACT, group_t, margin),
    FIELD ("list", UNITS, group_t, list),
    FIELD ("charge", UNITS, group_t, charge),
    FIELD ("charged", UNITS, group_t, charged),
    FIELD ("last", UNITS, group_t, last),
    FIELD ("margin_unknown", COUNT, group_t, margin_unknown),
    FIELD ("unpriced", COUNT, group_t, unpriced),
    FIELD ("last_unpriced", COUNT, group_t, last_unpriced),
};
static const fields_t fields = FIELDS ("group", group_t, group_fields);

void statement_group_clear (group_t *group)
{
    fields_clear (&fields, group);
}

void statement_group_sum (cube_t *groups, group_t *ret_sum)
{
    fields_init (&fields, ret_sum);
    cube_sum (groups, 0, cube_count (groups), ret_sum);
}

/* The row as a group of its own. */
static void measure (const page_t *page, const posting_t *row, group_t *group)
{
    bool is_charge = row->kind == BILL_CHARGE;

    group->kind = row->kind;
    group->margin_unknown = !posting_margin (page->s->bill, row, group->margin);
    group->unpriced = !posting_priced (page->s->bill, row);
    mpz_set (group->charge, row->charge_units);
    mpz_set_ui (group->charged, 0);
    if (is_charge || row->kind == BILL_IDLE)
        mpz_set (group->charged, row->charge_units);
    mpq_set_ui (group->gpu_seconds, 0, 1);
    mpq_set_ui (group->cpu_seconds, 0, 1);
    mpq_set_ui (group->exact, 0, 1);
    mpz_set_ui (group->list, 0);
    if (is_charge) {
        mpq_set (group->gpu_seconds, row->gpu_seconds);
        mpq_set (group->cpu_seconds, row->cpu_seconds);
        mpq_set (group->exact, row->exact);
        mpz_set (group->list, row->list_units);
    }
}

/* False: the table does not count such rows. */
static bool put_group_keys (const table_t *table, const posting_t *row,
                            group_t *group)
{
    if (!(table->kinds & 1U << row->kind))
        return false;
    for (size_t k = 0; k < STATEMENT_KEYS; k++)
        group->key[k]
            = k < table->key_count ? posting_key (row, table->keys[k]) : NULL;
    return true;
}

static void add_this_month (page_t *page, group_t *group)
{
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);
    size_t count;

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &postings (page->s->bill, &count)[of.index[i]];
        measure (page, row, group);
        cube_add (page->kinds, group);
        for (size_t k = 0; k < TABLE_COUNT; k++)
            if (put_group_keys (&tables[k], row, group))
                cube_add_at (page->groups[k], group, of.index[i]);
    }
}

/* Who had an amount last month has a line, so that the lines add up to last month's amount. */
static void add_last_month (page_t *page, group_t *group)
{
    const bill_t *before = page->s->before;
    bill_rows_t of = bill_rows_of (before, page->s->team);
    size_t count;

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &postings (before, &count)[of.index[i]];
        mpz_set (group->last, row->charge_units);
        group->last_unpriced = !posting_priced (before, row);
        for (size_t k = 0; k < TABLE_COUNT; k++)
            if (tables[k].by_amount && put_group_keys (&tables[k], row, group))
                cube_add (page->groups[k], group);
    }
}

static cube_t *new_groups (const table_t *table)
{
    cube_t *groups = cube_new (&fields, "key0,key1,key2");

    if (!table->with_price)
        cube_measures (groups, "gpu_seconds,cpu_seconds,margin,charge,charged,"
                               "last,margin_unknown,unpriced,last_unpriced");
    if (table->by_amount)
        cube_sort (groups, "-charge,-last");
    return groups;
}

void statement_group_rows (page_t *page)
{
    group_t group;

    page->kinds = cube_new (&fields, "kind");
    for (size_t k = 0; k < TABLE_COUNT; k++)
        page->groups[k] = new_groups (&tables[k]);
    fields_init (&fields, &group);
    add_this_month (page, &group);
    fields_reset (&fields, &group);
    if (page->s->before)
        add_last_month (page, &group);
    fields_clear (&fields, &group);
}

void statement_groups_free (page_t *page)
{
    cube_free (page->kinds);
    for (size_t k = 0; k < TABLE_COUNT; k++)
        cube_free (page->groups[k]);
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
        const char *text
            = group->key[i] ? group->key[i] : key_info (table->keys[i])->absent;
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

static void put_list_price (page_t *page, const group_t *group)
{
    GL_AUTOFREE char *rate
        = report_rate_of (group->exact, group->gpu_seconds, group->cpu_seconds);
    mpz_t adjustment;

    mpz_init (adjustment);
    mpz_sub (adjustment, group->charge, group->list);
    statement_put_units (page, AT_LIST, group->list);
    statement_put_units (page, AT_ADJUSTMENT, adjustment);
    report_put_text (page->report, AT_RATE, rate);
    mpz_clear (adjustment);
}

static void put_margin (page_t *page, const group_t *group)
{
    GL_AUTOFREE char *percent = statement_margin_percent (group);
    mpz_t units;

    mpz_init (units);
    exact_round (units, group->margin, 0);
    statement_put_units (page, AT_MARGIN, units);
    report_put_text (page->report, AT_MARGIN_PCT, percent);
    mpz_clear (units);
}

static void put_last_month (page_t *page, const group_t *group)
{
    mpz_t change;

    if (group->last_unpriced)
        return;
    mpz_init (change);
    mpz_sub (change, group->charge, group->last);
    statement_put_units (page, AT_LAST, group->last);
    if (!group->unpriced)
        statement_put_units (page, AT_CHANGE, change);
    mpz_clear (change);
}

/* Hours and amounts of a line or a sum. */
static void put_amounts (page_t *page, const table_t *table,
                         const group_t *group)
{
    if (table->kinds & 1U << BILL_CHARGE)
        statement_put_hours (page, group->gpu_seconds, group->cpu_seconds);
    if (table->by_amount && page->s->before)
        put_last_month (page, group);
    if (group->unpriced)
        return;
    statement_put_units (page, AT_CHARGE, group->charge);
    if (table->with_price)
        put_list_price (page, group);
    if (!group->margin_unknown)
        put_margin (page, group);
}

static bool same_keys (const statement_count_t *count, const group_t *group)
{
    bool same = true;

    for (size_t i = 0; i < STATEMENT_KEYS; i++)
        same = same && text_same (count->key[i], group->key[i]);
    return same;
}

static void put_jobs (page_t *page, const table_t *table, const group_t *group)
{
    const statement_counts_t *counts = &page->s->counts[table->counts];

    for (size_t i = 0; i < counts->count; i++) {
        if (same_keys (&counts->item[i], group)) {
            report_put_count (page->report, AT_JOBS, counts->item[i].jobs);
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

static void put_group (page_t *page, const table_t *table, const cube_t *groups,
                       const group_t *group, size_t number)
{
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];
    size_t count;
    const size_t *rows = cube_members (groups, group, &count);

    statement_begin_line (page, table->word, table->letter, number, line);
    put_keys (page, table, group);
    put_jobs (page, table, group);
    put_amounts (page, table, group);
    statement_put_rows (page, rows, count);
    if (count > 0 && !page->s->linked
        && command_of_group (page, table, group, &command))
        statement_put_command (page, line, buffer_text (&command));
}

/* It has rows of this month, or an amount of last month. */
static bool has_amount (const cube_t *groups, const group_t *group)
{
    size_t count;

    cube_members (groups, group, &count);
    return count > 0 || mpz_sgn (group->last) != 0;
}

/* Some of it is for jobs without a project. */
static bool has_untagged (const table_t *table, cube_t *groups)
{
    for (size_t i = 0; i < cube_count (groups); i++) {
        const group_t *group = cube_row (groups, i);
        if (table->keys[0] == KEY_PROJECT && !group->key[0]
            && mpq_sgn (group->gpu_seconds) > 0)
            return true;
    }
    return false;
}

static void begin_table (const page_t *page, const table_t *table,
                         cube_t *groups)
{
    const report_query_t *query = page->s->query;
    GL_AUTOFREE char *how = report_how_to_tag (query->site, query->period);
    GL_AUTOFREE char *help = has_untagged (table, groups)
                                 ? xasprintf ("%s A job without a project may "
                                              "belong to another row, whose "
                                              "change it would be. %s",
                                              table->help, how)
                                 : xstrdup (table->help);

    report_section (page->report, table->title, help);
}

static void add_table (page_t *page, size_t index)
{
    const table_t *table = &tables[index];
    cube_t *groups = page->groups[index];
    size_t count = cube_count (groups), number = 0;
    group_t total;

    statement_group_sum (groups, &total);
    for (size_t i = 0; i < count; i++) {
        if (!has_amount (groups, cube_row (groups, i)))
            continue;
        if (number == 0)
            begin_table (page, table, groups);
        put_group (page, table, groups, cube_row (groups, i), ++number);
    }
    if (number > 0) {
        report_section_totals (page->report);
        put_amounts (page, table, &total);
        report_put_count (page->report, AT_JOBS, page->s->jobs);
    }
    statement_group_clear (&total);
}

void statement_charge_table (page_t *page)
{
    add_table (page, TABLE_CHARGES);
}

void statement_split_tables (page_t *page)
{
    for (size_t i = TABLE_CHARGES + 1; i < TABLE_COUNT; i++)
        add_table (page, i);
}
