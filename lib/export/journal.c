#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/journal_private.h"

static const char *const tag_names[JOURNAL_TAG_COUNT] = {
    [JOURNAL_TAG_MONTH] = "month",
    [JOURNAL_TAG_POOL] = "pool",
    [JOURNAL_TAG_TEAM] = "team",
    [JOURNAL_TAG_COST_CENTER] = "cost_center",
    [JOURNAL_TAG_INSTITUTION] = "institution",
    [JOURNAL_TAG_CLASS] = "class",
    [JOURNAL_TAG_PERIOD] = "period",
    [JOURNAL_TAG_HASH] = "hash",
    [JOURNAL_TAG_GPU_HOURS] = "gpu_hours",
    [JOURNAL_TAG_RATE] = "rate",
    [JOURNAL_TAG_LIST] = "list",
    [JOURNAL_TAG_WHAT] = "what",
    [JOURNAL_TAG_REFERENCE] = "reference",
    [JOURNAL_TAG_REASON] = "reason",
    [JOURNAL_TAG_COUNTERPARTY] = "counterparty",
    [JOURNAL_TAG_ORIGIN] = "origin",
    [JOURNAL_TAG_FUND] = "fund",
    [JOURNAL_TAG_CPU_HOURS] = "cpu_hours",
};

const char *journal_tag_name (journal_tag_t tag)
{
    return tag_names[tag];
}

/* --- the object -------------------------------------------------------- */

journal_t *journal_new (const site_t *site)
{
    journal_t *journal = xcalloc (1, sizeof (*journal));

    journal->site = site;
    return journal;
}

static void free_tags (char *const *tags)
{
    for (size_t i = 0; i < JOURNAL_TAG_COUNT; i++)
        free (tags[i]);
}

static void free_transaction (journal_transaction_t *transaction)
{
    for (size_t i = 0; i < transaction->count; i++) {
        journal_posting_t *posting = &transaction->posting[i];
        for (size_t k = 0; k < posting->depth; k++)
            free (posting->account[k]);
        free_tags (posting->tag);
        mpz_clear (posting->units);
    }
    free (transaction->posting);
    free_tags (transaction->tag);
    free (transaction->date);
    free (transaction->description);
}

void journal_free (journal_t *journal)
{
    if (!journal)
        return;
    for (size_t i = 0; i < journal->remark_count; i++)
        free (journal->remark[i]);
    for (size_t i = 0; i < journal->count; i++)
        free_transaction (&journal->transaction[i]);
    free (journal->remark);
    free (journal->transaction);
    free (journal);
}

void journal_remark (journal_t *journal, const char *fmt, ...)
{
    va_list args;
    char *line;

    va_start (args, fmt);
    if (vasprintf (&line, fmt, args) < 0)
        abort ();
    va_end (args);
    *GL_APPEND (journal->remark, journal->remark_count) = line;
}

/* --- transactions and postings ----------------------------------------- */

/* The last day of the month. */
static char *date_of (const char *month)
{
    civil_t civil;

    if (calendar_parse_month (month, strlen (month), &civil) < 0)
        return xstrdup (month);
    return xasprintf ("%s-%02d", month,
                      calendar_days_in_month (civil.year, civil.month));
}

journal_transaction_t *journal_begin (const struct journal_month *m,
                                      char *description)
{
    journal_t *journal = m->journal;
    journal_transaction_t *transaction;

    transaction = GL_APPEND (journal->transaction, journal->count);
    *transaction = (journal_transaction_t){.date = date_of (m->month),
                                           .description = description};
    transaction->tag[JOURNAL_TAG_MONTH] = xstrdup (m->month);
    transaction->tag[JOURNAL_TAG_PERIOD]
        = xstrdup (m->hash ? "closed" : "open");
    transaction->tag[JOURNAL_TAG_HASH] = xstrdup (m->hash);
    return transaction;
}

void journal_end (journal_t *journal)
{
    journal_transaction_t *last = &journal->transaction[journal->count - 1];

    if (last->count > 0)
        return;
    free_transaction (last);
    journal->count--;
}

static bool is_of (const journal_posting_t *posting,
                   const struct journal_account *account)
{
    if (posting->depth != account->depth)
        return false;
    for (size_t i = 0; i < account->depth; i++)
        if (!text_same (posting->account[i], account->part[i]))
            return false;
    return true;
}

journal_posting_t *journal_post (journal_transaction_t *transaction,
                                 struct journal_account account)
{
    journal_posting_t *posting;

    posting = GL_APPEND (transaction->posting, transaction->count);
    memset (posting, 0, sizeof (*posting));
    mpz_init (posting->units);
    posting->depth = account.depth;
    for (size_t i = 0; i < account.depth; i++)
        posting->account[i] = xstrdup (account.part[i]);
    return posting;
}

void journal_take_off (journal_transaction_t *transaction, size_t first,
                       struct journal_account account, mpz_srcptr units)
{
    journal_posting_t *posting = NULL;

    for (size_t i = first; i < transaction->count && !posting; i++)
        if (is_of (&transaction->posting[i], &account))
            posting = &transaction->posting[i];
    if (!posting)
        posting = journal_post (transaction, account);
    mpz_sub (posting->units, posting->units, units);
}

static void put_number (char **tag, mpq_t value, int digits)
{
    if (mpq_sgn (value) != 0)
        *tag = exact_text (value, digits);
}

void journal_put_quantity (journal_posting_t *posting, journal_tag_t unit,
                           mpq_srcptr seconds, mpq_srcptr exact)
{
    mpq_t hours, rate;

    mpq_inits (hours, rate, NULL);
    mpq_set_ui (rate, 3600, 1);
    mpq_div (hours, seconds, rate);
    put_number (&posting->tag[unit], hours, 6);
    if (exact && mpq_sgn (hours) > 0) {
        mpq_div (rate, exact, hours);
        put_number (&posting->tag[JOURNAL_TAG_RATE], rate, 4);
    }
    mpq_clears (hours, rate, NULL);
}

