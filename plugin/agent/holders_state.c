/* Holders as lines of the state file, and back. */
#include <config.h>

#include <stdlib.h>

#include "base/memory.h"

#include "holders_private.h"
#include "words.h"

static void print_job (const holders_job_t *job, buffer_t *out)
{
    buffer_add_text (out, "job");
    words_add_number (out, job->id);
    words_add_number (out, job->from_ms);
    words_add_number (out, job->start_time);
    words_add_number (out, job->end_time);
    words_add_number (out, job->restart_count);
    words_add_number (out, job->claimed);
    words_add_text (out, job->boot_id);
    words_add_text (out, job->sluid);
    words_add_text (out, job->user);
    words_add_text (out, job->account);
    words_add_text (out, job->project);
    words_add_number (out, (int64_t)job->device_count);
    for (size_t i = 0; i < job->device_count; i++) {
        words_add_text (out, job->device[i].token);
        words_add_text (out, job->device[i].uuid);
    }
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
    job->device = count ? xcalloc ((size_t)count, sizeof (*job->device)) : NULL;
    job->device_count = (size_t)count;
    for (size_t i = 0; i < job->device_count; i++) {
        if (!words_text (&line, job->device[i].token, HOLDERS_UUID_SIZE)
            || !words_text (&line, job->device[i].uuid, HOLDERS_UUID_SIZE))
            return false;
    }
    return words_end (line);
}

static int parse_job (holders_t *holders, const char *line)
{
    holders_job_t job = {.device = NULL};
    int64_t count;

    if (words_number (&line, &job.id) && words_number (&line, &job.from_ms)
        && words_number (&line, &job.start_time)
        && words_number (&line, &job.end_time)
        && words_number (&line, &job.restart_count)
        && words_number (&line, &job.claimed)
        && words_text (&line, job.boot_id, sizeof (job.boot_id))
        && words_text (&line, job.sluid, sizeof (job.sluid))
        && words_text (&line, job.user, sizeof (job.user))
        && words_text (&line, job.account, sizeof (job.account))
        && words_text (&line, job.project, sizeof (job.project))
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
