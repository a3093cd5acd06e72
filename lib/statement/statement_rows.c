/* Which rows of the closed bill a line of a statement is made of. */
#include <string.h>

#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/statement_private.h"

/* More stretches than this say how many rows follow. */
#define STRETCHES_SHOWN 4

/* The last of the rows that follow one another from the first on. */
static size_t end_of (const size_t *row, size_t count, size_t first)
{
    size_t last = first;

    while (last + 1 < count && row[last + 1] == row[last] + 1)
        last++;
    return last;
}

void statement_put_rows (page_t *page, const size_t *row, size_t count)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t at = 0;

    if (page->s->provisional || count == 0)
        return;
    buffer_printf (&text, "%s/", page->s->month);
    for (size_t shown = 0; at < count && shown < STRETCHES_SHOWN; shown++) {
        size_t last = end_of (row, count, at);
        buffer_printf (&text, "%s%zu", shown ? "," : "", row[at] + 1);
        if (last > at)
            buffer_printf (&text, "-%zu", row[last] + 1);
        at = last + 1;
    }
    if (at < count)
        buffer_printf (&text, " and %zu more", count - at);
    report_put_text (page->report, AT_ROW, buffer_text (&text));
}

/* --- of a job ----------------------------------------------------------- */

static const struct {
    statement_job_text_t text;
    key_id_t key;
} parts[] = {
    {JOB_ACCOUNT, KEY_ACCOUNT},
    {JOB_PROJECT, KEY_PROJECT},
    {JOB_USER, KEY_USER},
};

static int compare_texts (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int by_job (const void *a, const void *b)
{
    const statement_row_t *x = a, *y = b;
    int order = compare_texts (posting_key (x->row, KEY_CLUSTER),
                               posting_key (y->row, KEY_CLUSTER));

    for (size_t i = 0; i < GL_ARRAY_SIZE (parts) && order == 0; i++)
        order = compare_texts (posting_key (x->row, parts[i].key),
                               posting_key (y->row, parts[i].key));
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_job (const statement_job_t *job, const posting_t *row)
{
    int order = compare_texts (job->cluster, posting_key (row, KEY_CLUSTER));

    for (size_t i = 0; i < GL_ARRAY_SIZE (parts) && order == 0; i++)
        order = compare_texts (job->text[parts[i].text],
                               posting_key (row, parts[i].key));
    return order;
}

statement_row_t *statement_rows_by_job (const page_t *page,
                                        const group_t *group)
{
    statement_row_t *list = xcalloc (group->row_count + 1, sizeof (*list));
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);

    for (size_t i = 0; i < group->row_count; i++)
        list[i] = (statement_row_t){&rows[group->row[i]], group->row[i]};
    if (group->row_count > 1)
        qsort (list, group->row_count, sizeof (*list), by_job);
    return list;
}

void statement_put_job_rows (page_t *page, const statement_row_t *list,
                             size_t count, const statement_job_t *job)
{
    size_t *row = xcalloc (count + 1, sizeof (*row));
    size_t first = 0, end = count, found = 0;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (compare_job (job, list[middle].row) > 0)
            first = middle + 1;
        else
            end = middle;
    }
    while (first < count && compare_job (job, list[first].row) == 0)
        row[found++] = list[first++].index;
    statement_put_rows (page, row, found);
    free (row);
}
