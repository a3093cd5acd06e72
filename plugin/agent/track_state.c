/* Tracks as lines of the state file, and back. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#include "track.h"
#include "words.h"

#define NUMBERS(type) (sizeof (type) / sizeof (int64_t))

static void print_hold (const hold_t *hold, buffer_t *out)
{
    buffer_add_text (out, "hold");
    words_add_number (out, hold->job);
    words_add_bytes (out, hold->key, sizeof (hold->key));
    words_add_numbers (out, (const int64_t *)&hold->run, NUMBERS (hold->run));
    words_add_numbers (out, (const int64_t *)&hold->sum, NUMBERS (hold->sum));
    buffer_add_char (out, '\n');
}

/* The words of a track, in the order of the file. */
static const words_field_t track_words[] = {
    WORDS_TEXT (track_t, uuid),          WORDS_TEXT (track_t, model),
    WORDS_TEXT (track_t, profile),       WORDS_NUMBER (track_t, weight),
    WORDS_NUMBER (track_t, gres_index),  WORDS_NUMBER (track_t, memory_total),
    WORDS_NUMBER (track_t, power_limit), WORDS_NUMBER (track_t, counter),
    WORDS_NUMBER (track_t, counter_ms),  WORDS_NUMBER (track_t, closed_ms),
};

static void print_track (const track_t *track, buffer_t *out)
{
    buffer_add_text (out, track->slice ? "slice" : "gpu");
    words_add_fields (out, track, track_words, GL_ARRAY_SIZE (track_words));
    buffer_add_char (out, '\n');
    for (size_t i = 0; i < track->hold_count; i++)
        print_hold (&track->hold[i], out);
}

void tracks_print (const tracks_t *tracks, buffer_t *out)
{
    for (size_t i = 0; i < tracks->count; i++)
        print_track (&tracks->track[i], out);
}

static int parse_track (tracks_t *tracks, const char *line, bool slice)
{
    track_t track = {.slice = slice,
                     .difference = DEVICE_UNKNOWN,
                     .sample = sample_unknown (false)};

    if (tracks->count >= DEVICES_MAX || (slice && tracks->count == 0)
        || !words_fields (&line, &track, track_words,
                          GL_ARRAY_SIZE (track_words)))
        return -1;
    track.gpu = slice ? tracks->track[tracks->count - 1].gpu : tracks->count;
    *GL_APPEND (tracks->track, tracks->count) = track;
    memcpy (tracks->track[tracks->count - 1].gpu_uuid,
            tracks->track[track.gpu].uuid, sizeof (track.gpu_uuid));
    return words_end (line) ? 1 : -1;
}

static int parse_hold (tracks_t *tracks, const char *line)
{
    hold_t hold = {.job = 0};
    track_t *track = tracks->count ? &tracks->track[tracks->count - 1] : NULL;

    if (!track || track->hold_count == HOLDERS_SHARE_MAX
        || !words_number (&line, &hold.job)
        || !words_bytes (&line, hold.key, sizeof (hold.key))
        || !words_numbers (&line, (int64_t *)&hold.run, NUMBERS (hold.run))
        || !words_numbers (&line, (int64_t *)&hold.sum, NUMBERS (hold.sum))
        || !words_end (line))
        return -1;
    *GL_APPEND (track->hold, track->hold_count) = hold;
    return 1;
}

int tracks_parse (tracks_t *tracks, const char *line)
{
    if (words_is (&line, "gpu"))
        return parse_track (tracks, line, false);
    if (words_is (&line, "slice"))
        return parse_track (tracks, line, true);
    if (words_is (&line, "hold"))
        return parse_hold (tracks, line);
    return 0;
}

bool tracks_parsed (tracks_t *tracks)
{
    for (size_t i = 0; i < tracks->count; i++) {
        if (tracks->track[i].hold_count == 0)
            return false;
    }
    for (size_t i = 0; i < tracks->count; i++) {
        track_t *gpu = &tracks->track[i];
        int64_t rest = gpu->weight;
        if (gpu->slice)
            continue;
        track_weigh (tracks, gpu);
        gpu->weight = rest;
    }
    return true;
}
