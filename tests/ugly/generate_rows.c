#include <string.h>

#include "generate.h"

/* --- rows --------------------------------------------------------------- */

static uint64_t row_key (const month_t *m)
{
    return m->rows % 3 == 2 ? SLUID_FROM + m->rows : m->rows + 1;
}

void write_row (month_t *m, const job_t *job, const row_t *row)
{
    char account[32], nodes[40] = "None assigned";

    account_name (job->account, account);
    if (row->start && row->pending_tasks == 0)
        snprintf (nodes, sizeof (nodes), job->nodes > 1 ? "g[%u-%u]" : "g%u",
                  job->node, job->node + 1);
    fprintf (m->job_file,
             "%" PRIu64 "\t%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64
             "\t%u\t%u\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
             "\t%" PRId64 "\t%s\t%s\t%s\t%u\t%" PRIu64 "\t%" PRId64 "\n",
             row_key (m), account, association (job->user, job->account),
             job->id, job->array_job, job->array_task, job->het_job,
             job->het_offset, 1000 + job->user, nodes, (int)row->state,
             row->submit, row->eligible, row->start, row->end, row->suspended,
             job->submit_line, row->start ? job->alloc : "", job->request,
             row->pending_tasks, 20 + pick (m, 3),
             row->limit ? row->limit : (int64_t)INFINITE);
    m->rows++;
}

static void write_suspension (month_t *m, const job_t *job, int64_t from,
                              int64_t to)
{
    fprintf (m->suspension_file, "%" PRIu64 "\t%u\t%" PRId64 "\t%" PRId64 "\n",
             row_key (m), association (job->user, job->account), from, to);
    m->suspension_rows++;
}

/* Pauses of the stay, in order and apart from one another; writes them as
 * Slurm does: an interval may begin before the row or end after it. */
static size_t make_pauses (month_t *m, const job_t *job, const attempt_t *a,
                           span_t pause[PAUSES_MAX], bool *ret_open)
{
    int64_t at = a->allocated.from, whole = a->allocated.to - a->allocated.from;
    size_t count = 1 + pick (m, PAUSES_MAX);

    *ret_open = false;
    for (size_t i = 0; i < count; i++) {
        int64_t room = whole / (int64_t)count;
        int64_t begin = at + 1 + (int64_t)pick (m, (uint64_t)room / 2);
        int64_t end = begin + 1 + (int64_t)pick (m, (uint64_t)room / 2 - 1);
        int64_t written_begin, written_end;
        if (i == 0 && a->pause_goes_on)
            begin = a->allocated.from;
        if (i == count - 1 && (chance (m, 20) || a->state == RESIZING))
            end = a->allocated.to;
        written_begin = begin;
        written_end = end;
        if (begin == a->allocated.from && chance (m, 50))
            written_begin -= 100; /* from before the resize */
        if (end == a->allocated.to) {
            written_end = chance (m, 50) ? 0 : end + 500;
            if (a->allocated.to == AS_OF)
                written_end = 0;
            *ret_open = written_end == 0;
        }
        write_suspension (m, job, written_begin, written_end);
        pause[i] = (span_t){begin, end};
        at += room;
    }
    /* killed while suspended: the row ends where the pause begins */
    if (pause[count - 1].to < a->allocated.to && a->allocated.to < AS_OF
        && chance (m, 20))
        write_suspension (m, job, a->allocated.to, 0);
    return count;
}

/* The rows of what was suspended have been purged; the sum stays. */
static size_t make_purged_pause (month_t *m, const attempt_t *a,
                                 span_t pause[PAUSES_MAX])
{
    int64_t whole = a->allocated.to - a->allocated.from;

    m->totals_left--;
    pause[0] = (span_t){a->allocated.from + 1,
                        a->allocated.from + 2
                            + (int64_t)pick (m, (uint64_t)whole - 2)};
    return 1;
}

static int64_t pauses_sum (const span_t *pause, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += pause[i].to - pause[i].from;
    return sum;
}

static bool may_be_purged (const month_t *m, const attempt_t *a)
{
    return m->totals_left > 0 && a->allocated.to < BEGIN + 6 * DAY
           && a->allocated.to - a->allocated.from < DAY;
}

static const char *state_word (enum state state)
{
    static const struct {
        enum state state;
        const char *word;
    } words[] = {
        {RUNNING, "RUNNING"},     {SUSPENDED, "SUSPENDED"},
        {COMPLETED, "COMPLETED"}, {CANCELLED, "CANCELLED"},
        {FAILED, "FAILED"},       {TIMEOUT, "TIMEOUT"},
        {NODE_FAIL, "NODE_FAIL"}, {PREEMPTED, "PREEMPTED"},
        {REQUEUED, "REQUEUED"},   {OUT_OF_MEMORY, "OUT_OF_MEMORY"},
        {RESIZING, "RESIZING"},
    };
    size_t i = 0;

    while (words[i].state != state)
        i++;
    return words[i].word;
}

static void put_stay (month_t *m, const job_t *job, const attempt_t *a,
                      enum state state, const span_t *pause, size_t count,
                      bool only_total)
{
    stay_t stay = {.id = job->id,
                   .user = job->user,
                   .account = job->account,
                   .state = state_word (state),
                   .allocated = a->allocated,
                   .node = job->node,
                   .nodes = job->nodes,
                   .told = job->told,
                   .pauses = pause,
                   .pause_count = count,
                   .only_total = only_total};

    memcpy (stay.devices, job->devices, sizeof (stay.devices));
    truth_add (m->truth, &stay);
}

/* One that has ended may have been longer than its limit; one that goes on is
 * not. */
static int64_t some_limit (month_t *m, const row_t *row)
{
    int64_t at_least = row->end ? 1 : (AS_OF - row->start) / 60 + 1;

    return chance (m, 50) ? 0 : at_least + (int64_t)pick (m, 3000);
}

static int64_t some_eligible (month_t *m, int64_t submit)
{
    return chance (m, 3) ? 0 : submit;
}

/* An attempt that began before as-of. False: it goes on. */
bool put_attempt (month_t *m, job_t *job, attempt_t a)
{
    span_t pause[PAUSES_MAX];
    size_t count = 0;
    bool only_total = false, suspended_now = false;
    row_t row = {.submit = a.submit, .eligible = some_eligible (m, a.submit)};
    int64_t whole;

    if (a.allocated.to >= AS_OF) {
        a.allocated.to = AS_OF;
        a.state = RUNNING;
    }
    whole = a.allocated.to - a.allocated.from;
    if (whole > 100 && (a.pause_goes_on || chance (m, 12))) {
        only_total = !a.pause_goes_on && may_be_purged (m, &a);
        count = only_total ? make_purged_pause (m, &a, pause)
                           : make_pauses (m, job, &a, pause, &suspended_now);
    }
    row.start = a.written_start ? a.written_start : a.allocated.from;
    row.end = a.state == RUNNING ? 0 : a.allocated.to;
    row.suspended = pauses_sum (pause, count);
    row.state = a.state;
    if (a.state == RUNNING && suspended_now) {
        row.state = SUSPENDED;
        /* no duration then: the moment, less what had been before */
        row.suspended = pause[count - 1].from - pauses_sum (pause, count - 1);
    }
    row.limit = some_limit (m, &row);
    put_stay (m, job, &a, row.state, pause, count, only_total);
    write_row (m, job, &row);
    job->last_submit = a.submit;
    if (a.state == NODE_FAIL)
        put_outage (m, job->node, a.allocated.to);
    return a.state != RUNNING;
}

/* A row without an end, long past its limit: whoever was to tell its end has
 * been lost. It is believed to have ended with the grace that limits have. */
bool put_runaway (month_t *m, job_t *job, attempt_t a)
{
    row_t row = {.submit = a.submit,
                 .eligible = some_eligible (m, a.submit),
                 .start = a.allocated.from,
                 .state = RUNNING,
                 .limit = 5 + (int64_t)pick (m, 2000)};
    span_t pause = {a.allocated.from + 60,
                    a.allocated.from + 61 + (int64_t)pick (m, 200)};
    size_t count = chance (m, 30) ? 1 : 0;

    row.suspended = pauses_sum (&pause, count);
    a.allocated.to = a.allocated.from + row.limit * 60 + row.suspended + GRACE;
    if (a.allocated.to >= AS_OF)
        return false;
    if (!RUNAWAYS_ARE_SEEN)
        a.allocated.to = AS_OF;
    if (count)
        write_suspension (m, job, pause.from, pause.to);
    put_stay (m, job, &a, RUNNING, &pause, count, false);
    write_row (m, job, &row);
    job->last_submit = a.submit;
    return true;
}
