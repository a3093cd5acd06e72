/* Writes holders as lines of the state file, and reads them. */
#include <config.h>

#include <stdlib.h>

#include "base/array.h"

#include "holders_private.h"
#include "words.h"

/* The words of a job's line, and then of each of its devices. */
static const words_field_t job_words[] = {
    WORDS_NUMBER (holders_job_t, id),
    WORDS_NUMBER (holders_job_t, from_ms),
    WORDS_NUMBER (holders_job_t, start_time),
    WORDS_NUMBER (holders_job_t, end_time),
    WORDS_NUMBER (holders_job_t, restart_count),
    WORDS_NUMBER (holders_job_t, claimed),
    WORDS_TEXT (holders_job_t, boot_id),
    WORDS_TEXT (holders_job_t, sluid),
    WORDS_TEXT (holders_job_t, user),
    WORDS_TEXT (holders_job_t, account),
    WORDS_TEXT (holders_job_t, project),
};
static const words_field_t device_words[] = {
    WORDS_TEXT (holders_device_t, token),
    WORDS_TEXT (holders_device_t, uuid),
};

static void print_job (const holders_job_t *job, buffer_t *out)
{
    buffer_add_text (out, "job");
    words_add_fields (out, job, job_words, GL_ARRAY_SIZE (job_words));
    words_add_number (out, (int64_t)job->device_count);
    for (size_t i = 0; i < job->device_count; i++)
        words_add_fields (out, &job->device[i], device_words,
                          GL_ARRAY_SIZE (device_words));
    buffer_add_char (out, '\n');
}

static void print_event (const event_t *event, buffer_t *out)
{
    if (event->reboot)
        return;
    buffer_add_text (out, "queued");
    words_add_number (out, event->at_ms);
    words_add_bytes (out, event->bytes, event->size);
    buffer_add_char (out, '\n');
}

void holders_print (const holders_t *holders, buffer_t *out)
{
    buffer_add_text (out, "holders");
    words_add_number (out, holders->now_ms);
    buffer_add_char (out, '\n');
    for (size_t i = 0; i < holders->job_count; i++)
        print_job (&holders->job[i], out);
    for (size_t i = 0; i < holders->event_count; i++)
        print_event (&holders->event[i], out);
}

static bool parse_devices (holders_job_t *job, int64_t count, const char *line)
{
    if (count < 0 || count > TOKENS_MAX)
        return false;
    while (count-- > 0)
        if (!words_fields (&line, GL_APPEND (job->device, job->device_count),
                           device_words, GL_ARRAY_SIZE (device_words)))
            return false;
    return words_end (line);
}

static int parse_job (holders_t *holders, const char *line)
{
    holders_job_t job = {.device = NULL};
    int64_t count;

    if (words_fields (&line, &job, job_words, GL_ARRAY_SIZE (job_words))
        && words_number (&line, &count) && parse_devices (&job, count, line)
        && job.claimed >= 0 && job.claimed <= TOKENS_MAX) {
        *holders_add_job (holders) = job;
        return 1;
    }
    free (job.device);
    return -1;
}

static int parse_event (holders_t *holders, const char *line)
{
    unsigned char bytes[RECORD_MAX];
    record_t record;
    size_t size;
    int64_t at_ms;

    if (!words_number (&line, &at_ms)
        || !(size = words_some_bytes (&line, bytes, sizeof (bytes)))
        || record_decode (bytes, size, &record, NULL) != 0)
        return -1;
    holders_queue (holders, &record, at_ms);
    return 1;
}

int holders_parse (holders_t *holders, const char *line)
{
    if (words_is (&line, "job"))
        return parse_job (holders, line);
    if (words_is (&line, "queued"))
        return parse_event (holders, line);
    if (words_is (&line, "holders"))
        return words_number (&line, &holders->now_ms) ? 1 : -1;
    return 0;
}
