#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/memory.h"
#include "gres/mig.h"

#include "energy.h"
#include "track.h"

/* The maximum time between two samples, in halves of the sampling period. */
#define GAP_HALVES 5

static void done_track (track_t *track)
{
    free (track->hold);
    track->hold = NULL;
}

void tracks_done (tracks_t *tracks)
{
    GL_FREE_EACH (tracks->track, tracks->count, it, done_track (it));
    tracks->track = NULL;
    tracks->count = 0;
}

static track_t *gpu_of (tracks_t *tracks, const track_t *track)
{
    return &tracks->track[track->gpu];
}

/*
 * Stretches.
 */

/* The number of samples due in (begin, end], at the multiples of the period. */
static int64_t looks_due (int64_t begin, int64_t end, int64_t interval_ms)
{
    return end / interval_ms - begin / interval_ms;
}

static void begin_stretch (hold_t *hold, int64_t at_ms)
{
    aggregate_begin (&hold->sum, at_ms);
    if (getrandom (hold->key, sizeof (hold->key), 0)
        != (ssize_t)sizeof (hold->key))
        memset (hold->key, 0, sizeof (hold->key)); /* drawn at the end */
}

static int64_t energy_rule (const track_t *track)
{
    if (track->hold_count > 1)
        return RECORD_ENERGY_SHARED;
    return track->slice || track->cut_up ? RECORD_ENERGY_SLICES
                                         : RECORD_ENERGY_WHOLE;
}

static void set_known (record_t *record, record_field_t field, int64_t value)
{
    if (value != DEVICE_UNKNOWN)
        record_set_number (record, field, value);
}

static void fill_identity (record_t *record, const track_t *track,
                           const hold_t *hold)
{
    if (hold->job)
        record_set_number (record, RECORD_FIELD_job_id, hold->job);
    record_set_text (record, RECORD_FIELD_gpu, track->gpu_uuid);
    if (track->slice)
        record_set_text (record, RECORD_FIELD_slice, track->uuid);
    set_known (record, RECORD_FIELD_gres_index, track->gres_index);
    set_known (record, RECORD_FIELD_memory_total, track->memory_total);
}

/* A device without a known job may belong to a job with unnamed devices. */
static void fill_holders (record_t *record, const track_t *track,
                          const hold_t *hold)
{
    if (hold->job)
        record_set_number (record, RECORD_FIELD_holders,
                           (int64_t)track->hold_count);
    else if (!hold->sum.unnamed)
        record_set_number (record, RECORD_FIELD_holders, 0);
    if (hold->job && (hold->sum.utilization_ms || hold->sum.processes_ms))
        record_set_number (record, RECORD_FIELD_idle_rule, hold->sum.idle_rule);
}

static bool is_zero (const unsigned char *bytes, size_t size)
{
    while (size > 0 && bytes[size - 1] == 0)
        size--;
    return size == 0;
}

static void emit_stretch (const tracks_t *tracks, const track_t *track,
                          const hold_t *hold, int64_t end_ms)
{
    record_t record;

    if (end_ms <= hold->sum.begin_ms
        || (!hold->job && aggregate_empty (&hold->sum))
        || record_begin (&record, RECORD_JOB_USAGE, NULL) < 0)
        return;
    if (!is_zero (hold->key, sizeof (hold->key)))
        memcpy (record.key, hold->key, sizeof (hold->key));
    record.stamp = end_ms * 1000000;
    fill_identity (&record, track, hold);
    aggregate_fill (&hold->sum, &record);
    fill_holders (&record, track, hold);
    record_set_number (&record, RECORD_FIELD_end_ms, end_ms);
    record_set_number (&record, RECORD_FIELD_interval_ms, tracks->interval_ms);
    record_set_number (
        &record, RECORD_FIELD_samples_expected,
        looks_due (hold->sum.begin_ms, end_ms, tracks->interval_ms));
    if (hold->sum.energy_ms > 0)
        record_set_number (&record, RECORD_FIELD_energy_rule,
                           energy_rule (track));
    tracks->emit (tracks->arg, &record);
}

/*
 * Energy.
 */

/* Equal parts; the jobs are in order of their numbers. */
static void share_energy (track_t *track, int64_t energy_mj, int64_t ms)
{
    int64_t count = (int64_t)track->hold_count;

    for (int64_t i = 0; i < count; i++)
        aggregate_add_energy (&track->hold[i].sum,
                              energy_mj / count + (i < energy_mj % count), ms);
}

/* Slices first, in order of their UUIDs, then what they leave. */
static void divide_energy (tracks_t *tracks, track_t *gpu, int64_t energy_mj,
                           int64_t ms)
{
    int64_t weights[DEVICES_MAX + 1], parts[DEVICES_MAX + 1];
    size_t count = 0;
    track_t *slice = gpu + 1;
    const track_t *end = tracks->track + tracks->count;

    for (; slice < end && slice->slice && count < DEVICES_MAX; slice++)
        weights[count++] = slice->weight;
    weights[count] = gpu->weight;
    if (!gpu->weights_known
        || !energy_divide (energy_mj, weights, count + 1, parts)) {
        share_energy (gpu, energy_mj, ms);
        return;
    }
    for (size_t i = 0; i < count; i++)
        share_energy (gpu + 1 + i, parts[i], ms);
    share_energy (gpu, parts[count], ms);
}

/* The part of the counter's difference up to `to_ms` that is not yet divided.
 * The GPU's jobs have not changed in that time. */
static void spend_energy (tracks_t *tracks, track_t *gpu, int64_t to_ms)
{
    int64_t ms = to_ms - gpu->spent_ms, until;

    if (gpu->difference == DEVICE_UNKNOWN || ms <= 0)
        return;
    until
        = energy_until (gpu->difference, to_ms - gpu->counter_ms, gpu->span_ms);
    if (gpu->cut_up)
        divide_energy (tracks, gpu, until - gpu->given, ms);
    else
        share_energy (gpu, until - gpu->given, ms);
    gpu->given = until;
    gpu->spent_ms = to_ms;
}

/*
 * The ends of intervals.
 */

static void end_stretches (tracks_t *tracks, track_t *track, int64_t at_ms)
{
    spend_energy (tracks, gpu_of (tracks, track), at_ms);
    for (size_t i = 0; i < track->hold_count; i++)
        emit_stretch (tracks, track, &track->hold[i], at_ms);
    gpu_of (tracks, track)->closed_ms = at_ms;
}

void tracks_cut (tracks_t *tracks, int64_t at_ms)
{
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        end_stretches (tracks, track, at_ms);
        for (size_t j = 0; j < track->hold_count; j++)
            begin_stretch (&track->hold[j], at_ms);
    }
}

void tracks_restart (tracks_t *tracks, int64_t at_ms)
{
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        track->counter = DEVICE_UNKNOWN;
        track->closed_ms = at_ms;
        for (size_t j = 0; j < track->hold_count; j++) {
            track->hold[j].run = (idle_run_t){0};
            begin_stretch (&track->hold[j], at_ms);
        }
    }
}

/*
 * Jobs and their devices.
 */

/* Ids of the jobs on a device; one 0 when there is none. */
static size_t jobs_on (const holders_t *holders, const char *uuid, int64_t *ids)
{
    size_t count = holders_on (holders, uuid, ids, HOLDERS_SHARE_MAX);

    if (count > 0)
        return count;
    ids[0] = 0;
    return 1;
}

static bool same_holds (const track_t *track, const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count && count == track->hold_count; i++) {
        if (track->hold[i].job != ids[i])
            return false;
    }
    return count == track->hold_count;
}

static const hold_t *find_hold (const track_t *track, int64_t job)
{
    return GL_FIND (track->hold, track->hold_count, it, it->job == job);
}

/* A job that stays keeps its idle runs. */
static void set_holds (track_t *track, const int64_t *ids, size_t count,
                       int64_t at_ms)
{
    hold_t *holds = xcalloc (count, sizeof (*holds));

    for (size_t i = 0; i < count; i++) {
        const hold_t *before = find_hold (track, ids[i]);
        if (before && ids[i])
            holds[i] = *before;
        holds[i].job = ids[i];
        begin_stretch (&holds[i], at_ms);
    }
    free (track->hold);
    track->hold = holds;
    track->hold_count = count;
}

static void follow_holders (tracks_t *tracks, const holders_t *holders,
                            int64_t at_ms)
{
    int64_t ids[HOLDERS_SHARE_MAX];

    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        size_t count = jobs_on (holders, track->uuid, ids);
        if (same_holds (track, ids, count))
            continue;
        end_stretches (tracks, track, at_ms);
        set_holds (track, ids, count, at_ms);
    }
}

/*
 * The devices.
 */

static track_t *find_track (const tracks_t *tracks, const char *uuid)
{
    return GL_FIND (tracks->track, tracks->count, it,
                    strcmp (it->uuid, uuid) == 0);
}

static void describe_track (track_t *track, const inventory_t *inventory,
                            const device_t *device)
{
    const device_t *gpu
        = device->slice ? &inventory->device[device->gpu] : device;

    memcpy (track->uuid, device->uuid, sizeof (track->uuid));
    memcpy (track->gpu_uuid, gpu->uuid, sizeof (track->gpu_uuid));
    memcpy (track->model, gpu->model, sizeof (track->model));
    memcpy (track->profile, device->profile, sizeof (track->profile));
    track->slice = device->slice;
    track->gres_index = device->gres_index;
    track->memory_total = device->memory_total;
    track->power_limit = gpu->power_limit;
    track->weight = device->compute_slices;
}

/* Take the track of the same device over, if there was one. */
static track_t make_track (tracks_t *before, const inventory_t *inventory,
                           const device_t *device, holders_t *holders,
                           int64_t at_ms)
{
    track_t *old = find_track (before, device->uuid);
    int64_t ids[HOLDERS_SHARE_MAX];
    track_t track = {.counter = DEVICE_UNKNOWN,
                     .difference = DEVICE_UNKNOWN,
                     .closed_ms = at_ms,
                     .sample = sample_unknown (false)};

    if (old && old->hold) {
        track = *old;
        old->hold = NULL;
        old->hold_count = 0;
    }
    describe_track (&track, inventory, device);
    if (!track.hold) {
        size_t count = jobs_on (holders, track.uuid, ids);
        set_holds (&track, ids, count, at_ms);
    }
    return track;
}

/* Compute slices that a GPU of this model has, 0 if it is none of the table. */
static int64_t model_slices (const char *name)
{
    const char *model = mig_model (name);
    size_t count;
    const mig_profile_t *rows = mig_profiles (&count);

    for (size_t i = 0; model && i < count; i++) {
        if (rows[i].model && strcmp (rows[i].model, model) == 0)
            return rows[i].compute_total;
    }
    return 0;
}

/* The weights of a GPU's slices, and of the rest. */
void track_weigh (tracks_t *tracks, track_t *gpu)
{
    int64_t sum = 0, whole = model_slices (gpu->model);

    gpu->cut_up = false;
    gpu->weights_known = true;
    for (track_t *slice = gpu + 1;
         slice < tracks->track + tracks->count && slice->slice; slice++) {
        gpu->cut_up = true;
        if (slice->weight > 0 && slice->weight <= DEVICES_MAX)
            sum += slice->weight;
        else
            gpu->weights_known = false;
    }
    gpu->weight = whole > sum ? whole - sum : 0;
}

static const device_t *next_slice (const inventory_t *inventory, size_t gpu,
                                   const char *after)
{
    const device_t *next = NULL;

    for (size_t i = 0; i < inventory->count; i++) {
        const device_t *device = &inventory->device[i];
        if (device->slice && device->gpu == gpu
            && strcmp (device->uuid, after) > 0
            && (!next || strcmp (device->uuid, next->uuid) < 0))
            next = device;
    }
    return next;
}

static void add_gpu (tracks_t *tracks, tracks_t *before,
                     const inventory_t *inventory, size_t index,
                     holders_t *holders, int64_t at_ms)
{
    const device_t *device = &inventory->device[index];
    size_t gpu = tracks->count;
    const char *after = "";

    for (; device && tracks->count < inventory->count;
         device = next_slice (inventory, index, after)) {
        track_t *track = &tracks->track[tracks->count++];
        *track = make_track (before, inventory, device, holders, at_ms);
        track->gpu = gpu;
        if (track->slice)
            after = device->uuid;
        if (track->closed_ms == at_ms)
            tracks->track[gpu].closed_ms = at_ms;
    }
    track_weigh (tracks, &tracks->track[gpu]);
}

/* The remaining devices in `before` do not exist any more. */
static void end_vanished (tracks_t *tracks, tracks_t *before, int64_t at_ms)
{
    for (size_t i = 0; i < before->count; i++) {
        track_t *track = &before->track[i];
        track_t *gpu = find_track (tracks, track->gpu_uuid);
        if (gpu && track->hold_count)
            gpu->closed_ms = at_ms;
        for (size_t j = 0; j < track->hold_count; j++)
            emit_stretch (before, track, &track->hold[j], at_ms);
    }
    tracks_done (before);
}

void tracks_update (tracks_t *tracks, const inventory_t *inventory,
                    holders_t *holders, int64_t at_ms)
{
    tracks_t before = *tracks;

    tracks->count = 0;
    tracks->track = xcalloc (inventory->count + 1, sizeof (*tracks->track));
    for (size_t i = 0; i < inventory->count; i++) {
        if (!inventory->device[i].slice)
            add_gpu (tracks, &before, inventory, i, holders, at_ms);
    }
    end_vanished (tracks, &before, at_ms);
    follow_holders (tracks, holders, at_ms);
}

/*
 * Time passes.
 */

struct passage {
    tracks_t *tracks;
    holders_t *holders;
    int64_t from_ms, to_ms;
    bool speaks; /* the look at to_ms, for this time */
    bool gap;
    bool rebooted;
};

static void take_samples (tracks_t *tracks, const inventory_t *inventory,
                          const sample_t *samples)
{
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        track->sample = sample_unknown (false);
        for (size_t j = 0; j < inventory->count; j++) {
            if (strcmp (inventory->device[j].uuid, track->uuid) == 0
                && samples[j].present)
                track->sample = samples[j];
        }
        if (track->sample.energy > ENERGY_COUNTER_MAX)
            track->sample.energy = DEVICE_UNKNOWN;
        track->looked = track->sample.present;
    }
}

/* Somebody came or went, on the GPU or on one of its slices. */
static bool holders_changed (const struct passage *passage, const track_t *gpu)
{
    const tracks_t *tracks = passage->tracks;
    size_t index = (size_t)(gpu - tracks->track);

    for (size_t i = index; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        if (track->gpu == index
            && holders_will_change (passage->holders, track->uuid,
                                    passage->from_ms, passage->to_ms))
            return true;
    }
    return false;
}

/* The energy that the GPU has used since its counter was last known. */
static void read_meter (const struct passage *passage, track_t *gpu)
{
    int64_t now = gpu->sample.energy, difference;

    gpu->difference = DEVICE_UNKNOWN;
    gpu->given = 0;
    gpu->spent_ms = gpu->counter_ms;
    gpu->span_ms = passage->to_ms - gpu->counter_ms;
    gpu->reset = false;
    if (gpu->counter_ms < passage->from_ms && gpu->closed_ms > gpu->counter_ms)
        gpu->counter = DEVICE_UNKNOWN; /* of stretches that are over */
    if (gpu->counter == DEVICE_UNKNOWN || now == DEVICE_UNKNOWN)
        return;
    if (passage->rebooted
        || __builtin_sub_overflow (now, gpu->counter, &difference) || now < 0
        || !energy_plausible (difference, passage->to_ms - gpu->counter_ms,
                              gpu->power_limit))
        gpu->reset = true;
    else if (!passage->gap || !holders_changed (passage, gpu))
        gpu->difference = difference;
}

static void read_meters (const struct passage *passage)
{
    for (size_t i = 0; i < passage->tracks->count; i++) {
        track_t *track = &passage->tracks->track[i];
        if (!track->slice)
            read_meter (passage, track);
    }
}

static void spend_rest (tracks_t *tracks, int64_t to_ms)
{
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        if (!track->slice)
            spend_energy (tracks, track, to_ms);
        track->difference = DEVICE_UNKNOWN;
    }
}

static void forget_meters (tracks_t *tracks)
{
    for (size_t i = 0; i < tracks->count; i++)
        tracks->track[i].counter = DEVICE_UNKNOWN;
}

static void keep_meters (tracks_t *tracks, int64_t at_ms)
{
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *track = &tracks->track[i];
        if (track->slice || track->sample.energy < 0)
            continue;
        track->counter = track->sample.energy;
        track->counter_ms = at_ms;
    }
}

void tracks_look (tracks_t *tracks, const inventory_t *inventory,
                  const sample_t *samples, int64_t at_ms)
{
    take_samples (tracks, inventory, samples);
    keep_meters (tracks, at_ms);
}

static void observe_hold (const struct passage *passage, track_t *track,
                          hold_t *hold, int64_t ms)
{
    const idle_rule_t *rule = &passage->tracks->rule;
    bool speaks = passage->speaks && track->looked;

    if (speaks)
        aggregate_add (&hold->sum, rule, &track->sample, ms);
    hold->idle = idle_advance (&hold->run, rule, speaks ? &track->sample : NULL,
                               track->memory_total, ms);
    aggregate_add_idle (&hold->sum, &hold->run, hold->idle);
}

/* A sample is a moment late, but counts as the one that was due: at a cut it
 * belongs to the interval that the cut ends. */
static int64_t look_due (const struct passage *passage)
{
    int64_t due
        = passage->to_ms - passage->to_ms % passage->tracks->interval_ms;

    return due > passage->from_ms ? due : passage->to_ms;
}

/* [from, to) in which nobody comes or goes. */
static void observe (const struct passage *passage, int64_t from, int64_t to)
{
    bool unnamed = holders_unnamed (passage->holders) > 0;
    int64_t due = look_due (passage);
    bool looks = from < due && due <= to, ends = to == passage->to_ms;

    for (size_t i = 0; i < passage->tracks->count; i++) {
        track_t *track = &passage->tracks->track[i];
        for (size_t j = 0; j < track->hold_count; j++) {
            observe_hold (passage, track, &track->hold[j], to - from);
            track->hold[j].sum.unnamed |= unnamed;
            track->hold[j].sum.samples += looks && track->looked;
            track->hold[j].sum.counter_resets
                += ends && gpu_of (passage->tracks, track)->reset;
        }
    }
}

static int64_t earlier (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void tracks_advance (tracks_t *tracks, holders_t *holders, int64_t from_ms,
                     int64_t to_ms, const inventory_t *inventory,
                     const sample_t *samples, bool rebooted)
{
    bool gap = (to_ms - from_ms) * 2 > tracks->interval_ms * GAP_HALVES;
    struct passage passage = {.tracks = tracks,
                              .holders = holders,
                              .from_ms = from_ms,
                              .to_ms = to_ms,
                              .speaks = !gap && !rebooted,
                              .gap = gap,
                              .rebooted = rebooted};

    if (holders_apply (holders, from_ms))
        follow_holders (tracks, holders, from_ms);
    take_samples (tracks, inventory, samples);
    read_meters (&passage);
    for (int64_t at = from_ms, next; at < to_ms; at = next) {
        next = earlier (to_ms,
                        earlier ((at / tracks->cut_ms + 1) * tracks->cut_ms,
                                 holders_next (holders)));
        observe (&passage, at, next);
        if (holders_apply (holders, next))
            follow_holders (tracks, holders, next);
        if (next % tracks->cut_ms == 0)
            tracks_cut (tracks, next);
    }
    spend_rest (tracks, to_ms);
    if (rebooted)
        forget_meters (tracks);
    keep_meters (tracks, to_ms);
}
