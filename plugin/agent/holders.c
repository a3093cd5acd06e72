#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#include "holders_private.h"

holders_t *holders_new (const char *node, holders_find_f find, void *arg)
{
    holders_t *holders = xcalloc (1, sizeof (*holders));

    strncpy (holders->node, node ? node : "", sizeof (holders->node) - 1);
    holders->find = find;
    holders->arg = arg;
    return holders;
}

void holders_free (holders_t *holders)
{
    if (!holders)
        return;
    for (size_t i = 0; i < holders->job_count; i++)
        free (holders->job[i].device);
    for (size_t i = 0; i < holders->event_count; i++)
        free (holders->event[i].bytes);
    free (holders->job);
    free (holders->event);
    free (holders);
}

void holders_set_exclusive (holders_t *holders, bool exclusive)
{
    holders->exclusive = exclusive;
}

/*
 * The queue.
 */

static bool comes_before (const event_t *a, const event_t *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void queue_event (holders_t *holders, event_t event)
{
    size_t at = holders->event_count;

    (void)GL_APPEND (holders->event, holders->event_count);
    event.order = holders->order++;
    for (; at > 0 && comes_before (&event, &holders->event[at - 1]); at--)
        holders->event[at] = holders->event[at - 1];
    holders->event[at] = event;
}

static bool concerns_holders (const record_t *record)
{
    return (record->kind == RECORD_JOB_START || record->kind == RECORD_JOB_END
            || record->kind == RECORD_STEP_DEVICES)
           && record_has (record, job_id) && record->job_id > 0;
}

static int64_t stamp_ms (const record_t *record)
{
    return record->stamp / 1000000;
}

void holders_queue (holders_t *holders, const record_t *record,
                    int64_t latest_ms)
{
    unsigned char bytes[RECORD_MAX];
    event_t event = {.at_ms = stamp_ms (record)};

    if (!concerns_holders (record))
        return;
    if (record_has (record, node)
        && strcmp (record->node, holders->node) != 0) {
        holders->counts.other_node++;
        return;
    }
    if (event.at_ms > latest_ms)
        event.at_ms = latest_ms;
    memcpy (event.boot_id, record->boot_id, sizeof (event.boot_id));
    event.size = record_encode (record, bytes);
    event.bytes = xmalloc (event.size);
    memcpy (event.bytes, bytes, event.size);
    queue_event (holders, event);
}

int64_t holders_next (const holders_t *holders)
{
    return holders->event_count ? holders->event[0].at_ms : HOLDERS_FOREVER;
}

/*
 * Jobs.
 */

static holders_job_t *find_job (const holders_t *holders, int64_t id)
{
    return GL_FIND (holders->job, holders->job_count, it, it->id == id);
}

static void remember_end (holders_t *holders, int64_t id, int64_t at_ms)
{
    holders->ended[holders->ended_next] = (ended_t){id, at_ms};
    holders->ended_next = (holders->ended_next + 1) % ENDED_MAX;
}

static bool has_ended_since (const holders_t *holders, int64_t id,
                             int64_t stamp)
{
    return GL_ANY (holders->ended, ENDED_MAX, it,
                   it->id == id && it->end_ms >= stamp);
}

static void close_job (holders_t *holders, holders_job_t *job, int64_t at_ms)
{
    remember_end (holders, job->id, at_ms);
    free (job->device);
    *job = holders->job[--holders->job_count];
}

static void close_unknown (holders_t *holders, holders_job_t *job,
                           int64_t at_ms)
{
    holders->counts.end_unknown++;
    close_job (holders, job, at_ms);
}

static holders_job_t *oldest_job (holders_t *holders)
{
    holders_job_t *oldest = holders->job;

    for (size_t i = 1; i < holders->job_count; i++) {
        if (holders->job[i].from_ms < oldest->from_ms)
            oldest = &holders->job[i];
    }
    return oldest;
}

holders_job_t *holders_add_job (holders_t *holders)
{
    if (holders->job_count == HOLDERS_JOBS_MAX)
        close_unknown (holders, oldest_job (holders), holders->now_ms);
    return GL_APPEND (holders->job, holders->job_count);
}

static bool job_holds (const holders_job_t *job, const char *uuid)
{
    return GL_ANY (job->device, job->device_count, it,
                   strcmp (it->uuid, uuid) == 0);
}

static bool knows_token (const holders_job_t *job, const char *token)
{
    return GL_ANY (job->device, job->device_count, it,
                   strcmp (it->token, token) == 0);
}

/*
 * Lists of devices.
 */

/* The next element of "0,1,GPU-..."; 0: no more. */
static size_t next_token (const char **list, const char **ret_token)
{
    size_t length;

    *list += strspn (*list, ",");
    *ret_token = *list;
    length = strcspn (*list, ",");
    *list += length;
    return length;
}

/* Every one is a UUID: better than Slurm's indices. */
static bool all_named (const char *list)
{
    bool named = *list != '\0';
    const char *token;

    for (size_t length; named && (length = next_token (&list, &token));)
        named = length >= 4
                && (!strncmp (token, "GPU-", 4) || !strncmp (token, "MIG-", 4));
    return named;
}

/* The list of a record that says the most about its devices. */
static const char *best_list (const record_t *record)
{
    return all_named (record->visible_devices) ? record->visible_devices
                                               : record->gpus;
}

static void add_token (holders_t *holders, holders_job_t *job,
                       const char *token, size_t length)
{
    holders_device_t device = {.uuid = ""};

    if (length >= sizeof (device.token) || job->device_count >= TOKENS_MAX)
        return;
    memcpy (device.token, token, length);
    if (knows_token (job, device.token))
        return;
    if (holders->find (holders->arg, device.token, device.uuid) < 0)
        device.uuid[0] = '\0';
    *GL_APPEND (job->device, job->device_count) = device;
}

static void add_devices (holders_t *holders, holders_job_t *job,
                         const record_t *record)
{
    const char *list = best_list (record), *token;
    int64_t count = 0;

    /* too long ones count as well */
    for (size_t length;
         count < TOKENS_MAX && (length = next_token (&list, &token)); count++)
        add_token (holders, job, token, length);
    if (count < record->gpus_on_node && record->gpus_on_node <= TOKENS_MAX)
        count = record->gpus_on_node;
    if (count > job->claimed)
        job->claimed = count;
}

void holders_resolve (holders_t *holders)
{
    for (size_t i = 0; i < holders->job_count; i++) {
        holders_job_t *job = &holders->job[i];
        for (size_t j = 0; j < job->device_count; j++) {
            holders_device_t *device = &job->device[j];
            if (!device->uuid[0]
                && holders->find (holders->arg, device->token, device->uuid)
                       < 0)
                device->uuid[0] = '\0';
        }
    }
}

/*
 * What happens.
 */

/* Both say something and it is not the same. */
static bool numbers_differ (int64_t a, int64_t b, int64_t unsaid)
{
    return a != unsaid && b != unsaid && a != b;
}

static bool texts_differ (const char *a, const char *b)
{
    return *a && *b && strcmp (a, b) != 0;
}

static int64_t restart_of (const record_t *record)
{
    return record_has (record, restart_count) ? record->restart_count : -1;
}

/* Slurm's restart count tells attempts apart between two starts only: a
 * requeue raises it before the epilog. */
static bool other_attempt (const holders_job_t *job, const record_t *record)
{
    return numbers_differ (job->start_time, record->start_time, 0)
           || texts_differ (job->sluid, record->sluid)
           || (record->kind == RECORD_JOB_START
               && numbers_differ (job->restart_count, restart_of (record), -1));
}

/* The job on a device that a later one has come to is over: always where
 * devices cannot be shared, else when it should have ended. */
static bool is_superseded (const holders_t *holders, const holders_job_t *job,
                           int64_t at_ms)
{
    return holders->exclusive
           || (job->end_time > 0
               && job->end_time <= (INT64_MAX - HOLDERS_GRACE_MS) / 1000
               && job->end_time * 1000 + HOLDERS_GRACE_MS < at_ms);
}

static bool shares_device (const holders_job_t *a, const holders_job_t *b)
{
    return GL_ANY (a->device, a->device_count, it,
                   it->uuid[0] && job_holds (b, it->uuid));
}

static void close_superseded (holders_t *holders, int64_t id, int64_t at_ms)
{
    for (size_t i = 0; i < holders->job_count;) {
        holders_job_t *job = &holders->job[i];
        if (job->id != id && is_superseded (holders, job, at_ms)
            && shares_device (find_job (holders, id), job))
            close_unknown (holders, job, at_ms);
        else
            i++;
    }
}

static void open_job (holders_t *holders, const record_t *record,
                      const char *boot_id, int64_t at_ms)
{
    holders_job_t *job = holders_add_job (holders);

    *job = (holders_job_t){.id = record->job_id,
                           .from_ms = at_ms,
                           .start_time = record->start_time,
                           .end_time = record->end_time,
                           .restart_count = restart_of (record)};
    memcpy (job->boot_id, boot_id, sizeof (job->boot_id));
    memcpy (job->sluid, record->sluid, sizeof (job->sluid));
    memcpy (job->user, record->user, sizeof (job->user));
    memcpy (job->account, record->account, sizeof (job->account));
    memcpy (job->project, record->project, sizeof (job->project));
    add_devices (holders, job, record);
    close_superseded (holders, record->job_id, at_ms);
}

static void begin_job (holders_t *holders, const record_t *record,
                       const event_t *event)
{
    holders_job_t *open = find_job (holders, record->job_id);

    if (has_ended_since (holders, record->job_id, event->at_ms)
        || (open && !other_attempt (open, record))) {
        holders->counts.repeated++;
        return;
    }
    if (open)
        close_unknown (holders, open, holders->now_ms);
    open_job (holders, record, event->boot_id, holders->now_ms);
}

static void end_job (holders_t *holders, const record_t *record)
{
    holders_job_t *job = find_job (holders, record->job_id);

    if (!job || other_attempt (job, record)) {
        holders->counts.unpaired++;
        return;
    }
    close_job (holders, job, holders->now_ms);
}

/* Slurm sets the list of a step only for a job that has devices; otherwise the
 * user may have. */
static void complete_job (holders_t *holders, const record_t *record)
{
    holders_job_t *job = find_job (holders, record->job_id);

    if (!job || job->claimed == 0) {
        holders->counts.unbelieved++;
        return;
    }
    add_devices (holders, job, record);
}

/* The jobs of other boots than these two are over; `nameless`: those of an
 * unknown one, too. */
static void close_boots (holders_t *holders, const char *boot_id,
                         const char *other, bool nameless)
{
    for (size_t i = 0; i < holders->job_count;) {
        const char *boot = holders->job[i].boot_id;
        if ((boot[0] || nameless) && strcmp (boot, boot_id) != 0
            && strcmp (boot, other) != 0)
            close_unknown (holders, &holders->job[i], holders->now_ms);
        else
            i++;
    }
}

static void happen (holders_t *holders, const event_t *event)
{
    record_t record;

    if (event->reboot) {
        close_boots (holders, event->boot_id, event->boot_id, true);
        return;
    }
    if (record_decode (event->bytes, event->size, &record, NULL) != 0)
        return;
    if (record.kind == RECORD_JOB_START)
        begin_job (holders, &record, event);
    else if (record.kind == RECORD_JOB_END)
        end_job (holders, &record);
    else
        complete_job (holders, &record);
}

bool holders_apply (holders_t *holders, int64_t at_ms)
{
    size_t due = 0;

    while (due < holders->event_count && holders->event[due].at_ms <= at_ms)
        due++;
    for (size_t i = 0; i < due; i++) {
        if (holders->event[i].at_ms > holders->now_ms)
            holders->now_ms = holders->event[i].at_ms;
        happen (holders, &holders->event[i]);
        free (holders->event[i].bytes);
    }
    if (due > 0)
        memmove (holders->event, holders->event + due,
                 (holders->event_count - due) * sizeof (*holders->event));
    holders->event_count -= due;
    if (at_ms > holders->now_ms)
        holders->now_ms = at_ms;
    return due > 0;
}

void holders_reboot (holders_t *holders, const char *before,
                     const char *boot_id, int64_t from_ms, int64_t to_ms)
{
    event_t reboot = {.at_ms = from_ms, .reboot = true};

    for (size_t i = 0; i < holders->event_count; i++) {
        const event_t *event = &holders->event[i];
        if (event->at_ms <= to_ms && event->at_ms > reboot.at_ms
            && strcmp (event->boot_id, before) == 0)
            reboot.at_ms = event->at_ms;
    }
    strncpy (reboot.boot_id, boot_id, sizeof (reboot.boot_id) - 1);
    queue_event (holders, reboot);
}

void holders_set_back (holders_t *holders, int64_t now_ms)
{
    for (size_t i = 0; i < holders->event_count; i++) {
        if (holders->event[i].at_ms > now_ms)
            holders->event[i].at_ms = now_ms;
    }
    for (size_t i = 0; i < ENDED_MAX; i++) {
        if (holders->ended[i].end_ms > now_ms)
            holders->ended[i] = (ended_t){0};
    }
    if (holders->now_ms > now_ms)
        holders->now_ms = now_ms;
}

void holders_forget_boots (holders_t *holders, const char *boot_id,
                           const char *other)
{
    close_boots (holders, boot_id, other, false);
}

/*
 * Questions.
 */

static bool lists_device (const holders_t *holders, const record_t *record,
                          const char *uuid)
{
    const char *list = best_list (record), *token;
    size_t count = 0;

    for (size_t length;
         count++ < TOKENS_MAX && (length = next_token (&list, &token));) {
        char text[HOLDERS_UUID_SIZE] = "", found[HOLDERS_UUID_SIZE];

        if (length >= sizeof (text))
            continue;
        memcpy (text, token, length);
        if (holders->find (holders->arg, text, found) == 0
            && strcmp (found, uuid) == 0)
            return true;
    }
    return false;
}

static bool event_concerns (const holders_t *holders, const event_t *event,
                            const char *uuid)
{
    const holders_job_t *job;
    record_t record;

    if (event->reboot)
        return true;
    if (record_decode (event->bytes, event->size, &record, NULL) != 0)
        return false;
    job = find_job (holders, record.job_id);
    if (job && job_holds (job, uuid))
        return record.kind != RECORD_STEP_DEVICES;
    return record.kind != RECORD_JOB_END
           && lists_device (holders, &record, uuid);
}

bool holders_will_change (const holders_t *holders, const char *uuid,
                          int64_t from_ms, int64_t to_ms)
{
    for (size_t i = 0; i < holders->event_count; i++) {
        const event_t *event = &holders->event[i];
        if (event->at_ms > from_ms && event->at_ms < to_ms
            && event_concerns (holders, event, uuid))
            return true;
    }
    return false;
}

static int by_id (const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

size_t holders_on (const holders_t *holders, const char *uuid, int64_t *ret_ids,
                   size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < holders->job_count && count < max; i++) {
        if (job_holds (&holders->job[i], uuid))
            ret_ids[count++] = holders->job[i].id;
    }
    if (count > 1)
        qsort (ret_ids, count, sizeof (*ret_ids), by_id);
    return count;
}

const holders_job_t *holders_job (const holders_t *holders, int64_t id)
{
    return find_job (holders, id);
}

size_t holders_open (const holders_t *holders)
{
    return holders->job_count;
}

const holders_job_t *holders_at (const holders_t *holders, size_t index)
{
    return &holders->job[index];
}

static size_t named_devices (const holders_job_t *job)
{
    size_t named = 0;

    for (size_t i = 0; i < job->device_count; i++) {
        size_t j = 0;
        while (strcmp (job->device[j].uuid, job->device[i].uuid) != 0)
            j++;
        named += job->device[i].uuid[0] && j == i;
    }
    return named;
}

size_t holders_unnamed (const holders_t *holders)
{
    size_t unnamed = 0;

    for (size_t i = 0; i < holders->job_count; i++) {
        size_t named = named_devices (&holders->job[i]);
        if ((size_t)holders->job[i].claimed > named)
            unnamed += (size_t)holders->job[i].claimed - named;
    }
    return unnamed;
}

const holders_counts_t *holders_counts (const holders_t *holders)
{
    return &holders->counts;
}
