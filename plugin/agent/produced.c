#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#include "produced.h"
#include "words.h"

/* A process whose start is read a second wrong was still started since. */
#define BIRTH_SLACK_MS 1000

void produced_done (produced_t *p)
{
    free (p->counter);
    free (p->sum);
    p->counter = NULL;
    p->sum = NULL;
    p->counter_count = p->sum_count = 0;
    p->since_ms = p->last_ms = 0;
}

/* --- sums ----------------------------------------------------------------------- */

static void emit (const produced_t *p, const produced_sum_t *sum,
                  int64_t end_ms)
{
    record_t record;

    if (end_ms <= sum->begin_ms || sum->quantity == 0
        || record_begin (&record, RECORD_JOB_UNITS, NULL) < 0)
        return;
    memcpy (record.key, sum->key, sizeof (record.key));
    record.stamp = end_ms * 1000000;
    record_set_number (&record, RECORD_FIELD_job_id, sum->job);
    record_set_number (&record, RECORD_FIELD_begin_ms, sum->begin_ms);
    record_set_number (&record, RECORD_FIELD_end_ms, end_ms);
    record_set_number (&record, RECORD_FIELD_counter_resets, sum->resets);
    record_set_text (&record, RECORD_FIELD_unit, sum->unit);
    record_set_number (&record, RECORD_FIELD_quantity, sum->quantity);
    p->emit (p->arg, &record);
}

/* NULL: there are too many, or no random key. */
static produced_sum_t *sum_of (produced_t *p, int64_t job, const char *unit,
                               int64_t begin_ms)
{
    produced_sum_t *sum = GL_FIND (p->sum, p->sum_count, it,
                                   it->job == job && !strcmp (it->unit, unit));
    record_t record;

    if (sum)
        return sum;
    if (p->sum_count == PRODUCED_MAX
        || record_begin (&record, RECORD_JOB_UNITS, NULL) < 0)
        return NULL;
    sum = GL_APPEND (p->sum, p->sum_count);
    *sum = (produced_sum_t){.job = job, .begin_ms = begin_ms};
    strncat (sum->unit, unit, sizeof (sum->unit) - 1);
    memcpy (sum->key, record.key, sizeof (sum->key));
    return sum;
}

static void drop_sum (produced_t *p, size_t index)
{
    p->sum[index] = p->sum[--p->sum_count];
}

void produced_stop (produced_t *p, int64_t now_ms)
{
    for (size_t i = 0; i < p->sum_count; i++)
        emit (p, &p->sum[i], now_ms);
    p->sum_count = 0;
}

/* --- counters --------------------------------------------------------------------- */

static produced_counter_t *counter_of (produced_t *p, const listener_t *l,
                                       const char *unit)
{
    return GL_FIND (p->counter, p->counter_count, it,
                    it->port == l->port && it->pid == l->pid
                        && it->birth == l->birth && !strcmp (it->unit, unit));
}

static produced_counter_t *add_counter (produced_t *p, const listener_t *l,
                                        const char *unit, int64_t value)
{
    produced_counter_t *counter;

    if (p->counter_count == PRODUCED_MAX)
        return NULL;
    counter = GL_APPEND (p->counter, p->counter_count);
    *counter = (produced_counter_t){
        .port = l->port, .pid = l->pid, .birth = l->birth, .value = value};
    strncat (counter->unit, unit, sizeof (counter->unit) - 1);
    return counter;
}

void produced_begin (produced_t *p, int64_t now_ms)
{
    if (p->since_ms == 0 || p->since_ms > now_ms)
        p->since_ms = now_ms;
    if (p->last_ms == 0 || p->last_ms > now_ms)
        p->last_ms = now_ms;
    for (size_t i = 0; i < p->counter_count; i++)
        p->counter[i].kept = false;
}

void produced_add (produced_t *p, const listener_t *listener, const char *unit,
                   int64_t value, int64_t born_ms, int64_t now_ms)
{
    bool fresh = born_ms + BIRTH_SLACK_MS >= p->since_ms;
    produced_counter_t *counter = counter_of (p, listener, unit);
    bool fell = counter && value < counter->value;
    int64_t increase;
    produced_sum_t *sum;

    if (!counter
        && !(counter = add_counter (p, listener, unit, fresh ? 0 : value)))
        return;
    increase = fell ? value : value - counter->value;
    if (increase == 0 && !fell) {
        counter->kept = true;
        return;
    }
    sum = sum_of (p, listener->job, unit,
                  p->last_ms < now_ms ? p->last_ms : now_ms);
    if (!sum)
        return; /* the counter stays as it was: the next look counts it */
    counter->kept = true;
    counter->value = value;
    if (__builtin_add_overflow (sum->quantity, increase, &sum->quantity))
        sum->quantity = INT64_MAX;
    sum->resets += fell;
}

/* --- the end of a look -------------------------------------------------------------- */

/* The process still listens, though it may not have answered. */
static bool listens (const produced_counter_t *counter,
                     const listeners_t *listeners)
{
    return GL_ANY (listeners->item, listeners->count, it,
                   it->port == counter->port && it->pid == counter->pid
                       && it->birth == counter->birth);
}

static void end_sums (produced_t *p, bool (*is_open) (void *arg, int64_t job),
                      void *arg, int64_t now_ms)
{
    int64_t cut_ms = now_ms / p->cut_ms * p->cut_ms;

    for (size_t i = p->sum_count; i-- > 0;) {
        const produced_sum_t *sum = &p->sum[i];
        bool over = !is_open (arg, sum->job);
        if (!over && sum->begin_ms >= cut_ms)
            continue;
        emit (p, sum, sum->begin_ms < cut_ms ? cut_ms : now_ms);
        drop_sum (p, i);
    }
}

void produced_end (produced_t *p, const listeners_t *listeners,
                   bool (*is_open) (void *arg, int64_t job), void *arg,
                   int64_t now_ms)
{
    for (size_t i = p->counter_count; i-- > 0;)
        if (!p->counter[i].kept && !listens (&p->counter[i], listeners))
            p->counter[i] = p->counter[--p->counter_count];
    end_sums (p, is_open, arg, now_ms);
    p->last_ms = now_ms;
}

/* --- the state file ------------------------------------------------------------------- */

static const words_field_t counter_words[] = {
    WORDS_NUMBER (produced_counter_t, port),
    WORDS_NUMBER (produced_counter_t, pid),
    WORDS_NUMBER (produced_counter_t, birth),
    WORDS_TEXT (produced_counter_t, unit),
    WORDS_NUMBER (produced_counter_t, value),
};
static const words_field_t sum_words[] = {
    WORDS_NUMBER (produced_sum_t, job),
    WORDS_TEXT (produced_sum_t, unit),
    WORDS_NUMBER (produced_sum_t, begin_ms),
    WORDS_NUMBER (produced_sum_t, quantity),
    WORDS_NUMBER (produced_sum_t, resets),
};

void produced_print (const produced_t *p, buffer_t *out)
{
    if (p->since_ms == 0)
        return;
    buffer_add_text (out, "counting");
    words_add_number (out, p->since_ms);
    words_add_number (out, p->last_ms);
    buffer_add_char (out, '\n');
    for (size_t i = 0; i < p->counter_count; i++) {
        buffer_add_text (out, "counter");
        words_add_fields (out, &p->counter[i], counter_words,
                          GL_ARRAY_SIZE (counter_words));
        buffer_add_char (out, '\n');
    }
    for (size_t i = 0; i < p->sum_count; i++) {
        buffer_add_text (out, "produced");
        words_add_bytes (out, p->sum[i].key, sizeof (p->sum[i].key));
        words_add_fields (out, &p->sum[i], sum_words,
                          GL_ARRAY_SIZE (sum_words));
        buffer_add_char (out, '\n');
    }
}

static int parse_counter (produced_t *p, const char *line)
{
    produced_counter_t counter = {.port = 0};

    if (p->counter_count == PRODUCED_MAX
        || !words_fields (&line, &counter, counter_words,
                          GL_ARRAY_SIZE (counter_words))
        || !words_end (line))
        return -1;
    *GL_APPEND (p->counter, p->counter_count) = counter;
    return 1;
}

static int parse_sum (produced_t *p, const char *line)
{
    produced_sum_t sum = {.job = 0};

    if (p->sum_count == PRODUCED_MAX
        || !words_bytes (&line, sum.key, sizeof (sum.key))
        || !words_fields (&line, &sum, sum_words, GL_ARRAY_SIZE (sum_words))
        || !words_end (line))
        return -1;
    *GL_APPEND (p->sum, p->sum_count) = sum;
    return 1;
}

int produced_parse (produced_t *p, const char *line)
{
    if (words_is (&line, "counting"))
        return words_number (&line, &p->since_ms)
                       && words_number (&line, &p->last_ms) && words_end (line)
                   ? 1
                   : -1;
    if (words_is (&line, "counter"))
        return parse_counter (p, line);
    if (words_is (&line, "produced"))
        return parse_sum (p, line);
    return 0;
}
