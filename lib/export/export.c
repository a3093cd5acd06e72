#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "site/project.h"
#include "export/export_private.h"
#include "statement/recharge.h"

/* --- the object ------------------------------------------------------------------ */

static void init_numbers (export_row_t *row)
{
    for (size_t i = 0; i < MONEY_COUNT; i++)
        mpz_init (row->money[i]);
    for (size_t i = 0; i < HOURS_COUNT; i++)
        mpq_init (row->hours[i]);
    mpz_inits (row->debit, row->credit, NULL);
}

static void clear_numbers (export_row_t *row)
{
    for (size_t i = 0; i < MONEY_COUNT; i++)
        mpz_clear (row->money[i]);
    for (size_t i = 0; i < HOURS_COUNT; i++)
        mpq_clear (row->hours[i]);
    mpz_clears (row->debit, row->credit, NULL);
}

static void fill_month (export_t *e)
{
    const export_month_t *m = e->month;
    char **text = e->out.text;
    civil_t civil = {0};
    int year = recharge_year_of (m->site, m->period.start);

    calendar_parse_month (m->month, strlen (m->month), &civil);
    snprintf (e->start, sizeof (e->start), "%.7s-01", m->month);
    snprintf (e->end, sizeof (e->end), "%.7s-%02u", m->month,
              (unsigned)calendar_days_in_month (civil.year, civil.month) % 100);
    snprintf (e->year, sizeof (e->year), "%d", year);
    snprintf (e->period, sizeof (e->period), "%d",
              (civil.month - m->site->fiscal_month + 12) % 12 + 1);
    text[F_MONTH] = (char *)m->month;
    text[F_MONTH_START] = e->start;
    text[F_MONTH_END] = e->end;
    text[F_FISCAL_YEAR] = e->year;
    text[F_FISCAL_PERIOD] = e->period;
    text[F_STATE] = (char *)m->state;
    text[F_VERSION] = (char *)m->version;
    text[F_HASH] = (char *)m->hash;
    text[F_CLOSED] = (char *)m->closed_on;
    text[F_CURRENCY] = (char *)m->paper->currency;
    text[F_ISSUER] = m->paper->issuer.name;
}

export_t *export_new (const export_layout_t *layout,
                      const export_month_t *month, export_row_f row, void *arg,
                      gl_error_t *error)
{
    export_t *e = xcalloc (1, sizeof (*e));

    e->layout = layout;
    e->month = month;
    e->write = row;
    e->arg = arg;
    e->source_digits = layout->rows == EXPORT_JOBS
                           ? LINE_ITEM_DIGITS
                           : month->paper->currency_digits;
    init_numbers (&e->in);
    init_numbers (&e->out);
    init_numbers (&e->total);
    for (size_t i = 0; i < MONEY_COUNT; i++)
        mpz_inits (e->source[i], e->written[i], NULL);
    fill_month (e);
    if (export_read_layout (e, error) == 0) {
        memcpy (e->in.text, e->out.text, sizeof (e->in.text));
        memcpy (e->total.text, e->out.text, sizeof (e->total.text));
        e->total.digits = e->out.digits;
        e->total.whole = true;
        return e;
    }
    export_free (e);
    return NULL;
}

static void free_record (export_record_t *record)
{
    for (size_t i = 0; i < record->count; i++)
        GL_FREE_EACH (record->cells[i].part, record->cells[i].count, it,
                      free (it->text));
    free (record->cells);
}

void export_free (export_t *e)
{
    if (!e)
        return;
    cube_free (e->cube);
    free_record (&e->first);
    free_record (&e->columns);
    free_record (&e->trailer);
    clear_numbers (&e->in);
    clear_numbers (&e->out);
    clear_numbers (&e->total);
    for (size_t i = 0; i < MONEY_COUNT; i++)
        mpz_clears (e->source[i], e->written[i], NULL);
    free (e->invoice);
    free (e->number);
    free (e->field);
    free (e);
}

const export_record_t *export_columns (const export_t *e)
{
    return &e->columns;
}

const export_record_t *export_first (const export_t *e)
{
    return &e->first;
}

const export_record_t *export_trailer (const export_t *e)
{
    return &e->trailer;
}

const export_layout_t *export_layout (const export_t *e)
{
    return e->layout;
}

int export_digits (const export_t *e)
{
    return e->out.digits;
}

/* --- writing ---------------------------------------------------------------------- */

/* The rounded running total less what was written: all rows add up to the sum. */
static void round_money (export_t *e, size_t i, mpz_srcptr units)
{
    mpq_t total;

    mpz_add (e->source[i], e->source[i], units);
    mpq_init (total);
    export_set_money (total, e->source[i], e->source_digits);
    exact_round_half_up (e->out.money[i], total, e->out.digits);
    mpq_clear (total);
    mpz_sub (e->out.money[i], e->out.money[i], e->written[i]);
    mpz_add (e->written[i], e->written[i], e->out.money[i]);
}

static void add_total (export_t *e)
{
    bool credit = mpz_sgn (e->out.money[MONEY_AMOUNT]) < 0;

    for (size_t i = 0; i < MONEY_COUNT; i++)
        mpz_set (e->total.money[i], e->written[i]);
    for (size_t i = 0; i < HOURS_COUNT; i++)
        mpq_add (e->total.hours[i], e->total.hours[i], e->out.hours[i]);
    if (credit)
        mpz_sub (e->total.credit, e->total.credit, e->out.money[MONEY_AMOUNT]);
    else
        mpz_add (e->total.debit, e->total.debit, e->out.money[MONEY_AMOUNT]);
    e->total.lines += e->out.lines;
}

/* The row in hand, packed: valid until the next. */
static const export_row_t *pack (export_t *e)
{
    memcpy (&e->packed, &e->in, offsetof (export_row_t, text));
    for (size_t i = 0; i < e->slot_count; i++)
        e->packed.text[i] = e->in.text[e->slot[i]];
    return &e->packed;
}

static void unpack (export_t *e, const export_row_t *row)
{
    for (size_t i = 0; i < e->slot_count; i++)
        if (export_is_of_rows (&export_field[e->slot[i]]))
            e->out.text[e->slot[i]] = row->text[i];
    for (size_t i = 0; i < MONEY_COUNT; i++)
        if (e->used[F_AMOUNT + i])
            round_money (e, i, row->money[i]);
    for (size_t i = 0; i < HOURS_COUNT; i++)
        if (e->used[F_GPU_HOURS + i])
            mpq_set (e->out.hours[i], row->hours[i]);
    e->out.lines = row->lines;
}

static int write_row (export_t *e, const export_row_t *row, gl_error_t *error)
{
    unpack (e, row);
    add_total (e);
    if (!e->layout->zeros && mpz_sgn (e->out.money[MONEY_AMOUNT]) == 0)
        return 0;
    e->out.row++;
    e->total.rows = e->out.row;
    return e->write (&e->out, e->arg, error);
}

static bool passes (const export_t *e, const export_filter_t *filter)
{
    const export_field_t *field = GL_FIND (export_field, F_COUNT, it,
                                           !strcmp (it->name, filter->field));
    const char *text = e->in.text[field - export_field];

    text = text ? text : "(none)";
    return (filter->is.count == 0 || texts_have (&filter->is, text))
           && !texts_have (&filter->not, text);
}

/* What the team says, once more where it is another one than of the last row. */
static void fill_team (export_t *e)
{
    const char *team = e->in.text[F_TEAM];
    char **text = e->in.text;

    if (!e->invoice || !team || !e->team || strcmp (team, e->team->name) != 0) {
        e->team = team_within (e->month->site, team, e->month->period);
        free (e->invoice);
        BUFFER_AUTO invoice = BUFFER_INIT;
        site_add_invoice (e->month->paper, e->month->month, team,
                          e->month->version == 0, &invoice);
        e->invoice = xstrdup (buffer_text (&invoice));
    }
    text[F_COST_CENTER] = e->team ? e->team->cost_center : NULL;
    text[F_INSTITUTION] = e->team ? e->team->institution : NULL;
    text[F_PI] = e->team ? e->team->pi : NULL;
    text[F_EMAIL] = e->team ? e->team->email : NULL;
    text[F_BILLING_ADDRESS] = e->team ? e->team->billing_address : NULL;
    text[F_CLASS] = e->team ? e->team->class : NULL;
    text[F_PLAN] = e->team ? e->team->plan : NULL;
    text[F_INVOICE] = e->invoice;
}

/* The row in hand. */
static int add_row (export_t *e, gl_error_t *error)
{
    if (e->month->team_given && !text_same (e->month->team, e->in.text[F_TEAM]))
        return 0;
    for (size_t i = 0; i < e->layout->filter_count; i++)
        if (!passes (e, &e->layout->filters[i]))
            return 0;
    e->in.lines = 1;
    e->in.order++;
    if (!e->cube)
        return write_row (e, pack (e), error);
    cube_add (e->cube, pack (e));
    return 0;
}

int export_finish (export_t *e, gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; e->cube && i < cube_count (e->cube) && rc == 0; i++)
        rc = write_row (e, cube_row (e->cube, i), error);
    return rc;
}

const export_row_t *export_whole (export_t *e)
{
    e->total.row = e->out.row + 1;
    return &e->total;
}

/* --- postings ----------------------------------------------------------------------- */

static char *text_at (const void *row, size_t at)
{
    return at ? *(char **)((char *)row + at - 1) : NULL;
}

static void set_hours (mpq_t ret, mpq_srcptr seconds)
{
    mpq_set_ui (ret, 3600, 1);
    mpq_div (ret, seconds, ret);
}

static int add_posting (export_t *e, const posting_t *row, size_t index,
                        gl_error_t *error)
{
    char **text = e->in.text;

    for (size_t i = 0; i < F_COUNT; i++)
        if (export_field[i].posting)
            text[i] = text_at (row, export_field[i].posting);
    fill_team (e);
    text[F_KIND] = (char *)bill_kind_word (row->kind);
    text[F_COST_OBJECT]
        = row->cost_object ? row->cost_object : text[F_COST_CENTER];
    text[F_DISPUTED] = e->month->disputed && e->month->disputed[index]
                           ? (char *)"yes"
                           : NULL;
    if (e->used[F_NUMBER]) {
        free (e->number);
        text[F_NUMBER] = e->number
            = xasprintf ("%s/%zu", e->month->month, index + 1);
    }
    mpz_set (e->in.money[MONEY_AMOUNT], row->charge_units);
    mpz_set (e->in.money[MONEY_LIST], row->list_units);
    mpz_set (e->in.money[MONEY_COST], row->cost_units);
    set_hours (e->in.hours[HOURS_GPU], row->gpu_seconds);
    set_hours (e->in.hours[HOURS_CPU], row->cpu_seconds);
    mpq_set (e->in.hours[HOURS_QUANTITY], posting_extra (row)->quantity);
    return add_row (e, error);
}

int export_add_bill (export_t *e, const bill_t *bill, gl_error_t *error)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        if (posting_is_due (&rows[i]))
            rc = add_posting (e, &rows[i], i, error);
    return rc;
}

/* --- line items ---------------------------------------------------------------------- */

int export_add_item (export_t *e, const line_item_t *item, gl_error_t *error)
{
    char **text = e->in.text;
    bool cpus = item->pool && site_pool_of_cpus (e->month->site, item->pool);

    if (mpz_sgn (item->billed) == 0
        && (item->kind == LINE_ITEM_CAPACITY || item->kind == LINE_ITEM_UNUSED))
        return 0;
    for (size_t i = 0; i < F_COUNT; i++)
        if (export_field[i].item)
            text[i] = text_at (item, export_field[i].item);
    fill_team (e);
    text[F_KIND] = (char *)line_item_kind_word (item->kind);
    text[F_JOB] = NULL;
    if (item->id_job) {
        snprintf (e->job, sizeof (e->job), "%llu",
                  (unsigned long long)item->id_job);
        text[F_JOB] = e->job;
    }
    if (e->used[F_DAY])
        text[F_DAY] = (char *)zone_unit_name (
            e->month->site->zone, CALENDAR_DAY, item->start, e->day);
    mpz_set (e->in.money[MONEY_AMOUNT], item->billed);
    mpz_set (e->in.money[MONEY_COST], item->full_cost);
    mpq_set_ui (e->in.hours[!cpus ? HOURS_CPU : HOURS_GPU], 0, 1);
    set_hours (e->in.hours[cpus ? HOURS_CPU : HOURS_GPU], item->gpu_seconds);
    return add_row (e, error);
}

/* --- the journal ----------------------------------------------------------------------- */

static void take_tags (export_t *e, char *const *tag)
{
    static const struct {
        size_t field;
        journal_tag_t tag;
    } tags[] = {{F_POOL, JOURNAL_TAG_POOL},
                {F_TEAM, JOURNAL_TAG_TEAM},
                {F_WHAT, JOURNAL_TAG_WHAT},
                {F_REFERENCE, JOURNAL_TAG_REFERENCE},
                {F_REASON, JOURNAL_TAG_REASON},
                {F_COUNTERPARTY, JOURNAL_TAG_COUNTERPARTY},
                {F_SERVICE_MONTH, JOURNAL_TAG_ORIGIN},
                {F_FUND, JOURNAL_TAG_FUND}};
    static const struct {
        size_t hours;
        journal_tag_t tag;
    } hours[] = {{HOURS_GPU, JOURNAL_TAG_GPU_HOURS},
                 {HOURS_CPU, JOURNAL_TAG_CPU_HOURS}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (tags); i++)
        if (tag[tags[i].tag])
            e->in.text[tags[i].field] = tag[tags[i].tag];
    for (size_t i = 0; i < GL_ARRAY_SIZE (hours); i++)
        if (tag[hours[i].tag])
            exact_parse (tag[hours[i].tag], e->in.hours[hours[i].hours], NULL);
}

static void name_account (const journal_posting_t *posting, buffer_t *out)
{
    for (size_t i = 0; i < posting->depth; i++)
        buffer_printf (out, "%s%s", i ? ":" : "",
                       posting->account[i] ? posting->account[i] : "(none)");
}

static int add_journal_posting (export_t *e, const journal_transaction_t *t,
                                const journal_posting_t *posting, size_t number,
                                gl_error_t *error)
{
    BUFFER_AUTO account = BUFFER_INIT;
    char **text = e->in.text;

    for (size_t i = F_TEAM; i < F_SIDE; i++)
        text[i] = NULL;
    for (size_t i = 0; i < HOURS_COUNT; i++)
        mpq_set_ui (e->in.hours[i], 0, 1);
    text[F_SERVICE_MONTH] = t->tag[JOURNAL_TAG_MONTH];
    take_tags (e, t->tag);
    take_tags (e, posting->tag);
    fill_team (e);
    name_account (posting, &account);
    snprintf (e->job, sizeof (e->job), "%zu", number);
    text[F_TRANSACTION] = e->job;
    text[F_DESCRIPTION] = t->description;
    text[F_LEDGER_ACCOUNT] = (char *)buffer_text (&account);
    text[F_LEDGER_CLASS] = posting->account[0];
    mpz_set (e->in.money[MONEY_AMOUNT], posting->units);
    return add_row (e, error);
}

int export_add_journal (export_t *e, const journal_t *journal,
                        gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; i < journal->count; i++)
        for (size_t k = 0; k < journal->transaction[i].count && rc == 0; k++)
            rc = add_journal_posting (e, &journal->transaction[i],
                                      &journal->transaction[i].posting[k],
                                      i + 1, error);
    return rc;
}
