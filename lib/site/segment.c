#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "site/segment.h"

static const struct {
    segment_state_t state;
    const char *name;
    segment_loss_t loss;
} states[] = {
    {SEGMENT_PENDING, "PENDING", LOSS_NONE},
    {SEGMENT_RUNNING, "RUNNING", LOSS_NONE},
    {SEGMENT_SUSPENDED, "SUSPENDED", LOSS_NONE},
    {SEGMENT_COMPLETED, "COMPLETED", LOSS_NONE},
    {SEGMENT_CANCELLED, "CANCELLED", LOSS_CANCELLED},
    {SEGMENT_FAILED, "FAILED", LOSS_FAILED},
    {SEGMENT_TIMEOUT, "TIMEOUT", LOSS_TIMEOUT},
    {SEGMENT_NODE_FAIL, "NODE_FAIL", LOSS_NODE_FAIL},
    {SEGMENT_PREEMPTED, "PREEMPTED", LOSS_REQUEUED},
    {SEGMENT_BOOT_FAIL, "BOOT_FAIL", LOSS_NODE_FAIL},
    {SEGMENT_DEADLINE, "DEADLINE", LOSS_TIMEOUT},
    {SEGMENT_OUT_OF_MEMORY, "OUT_OF_MEMORY", LOSS_OUT_OF_MEMORY},
    {SEGMENT_REQUEUED, "REQUEUED", LOSS_REQUEUED},
    {SEGMENT_RESIZING, "RESIZING", LOSS_NONE},
    {SEGMENT_REVOKED, "REVOKED", LOSS_NONE},
};

static const segment_loss_t cancelled[] = {
    [CANCELLED_BY_UNKNOWN] = LOSS_CANCELLED,
    [CANCELLED_BY_USER] = LOSS_CANCELLED_BY_USER,
    [CANCELLED_BY_OTHER] = LOSS_CANCELLED_BY_OTHER,
    [CANCELLED_BY_NOBODY] = LOSS_CANCELLED_BY_NOBODY,
};

segment_loss_t segment_loss (const segment_t *s)
{
    if (s->state == SEGMENT_CANCELLED
        && (size_t)s->cancelled_by < GL_ARRAY_SIZE (cancelled))
        return cancelled[s->cancelled_by];
    for (size_t i = 0; i < GL_ARRAY_SIZE (states); i++)
        if (states[i].state == s->state)
            return states[i].loss;
    return LOSS_NONE;
}

cancelled_by_t segment_cancelled_by (segment_state_t state, uint32_t uid,
                                     uint32_t who)
{
    if (state != SEGMENT_CANCELLED || uid == UINT32_MAX || who == UINT32_MAX)
        return CANCELLED_BY_UNKNOWN;
    return who == uid ? CANCELLED_BY_USER : CANCELLED_BY_OTHER;
}

cancelled_by_t segment_cancelled_text (const char *text, uint32_t uid)
{
    static const char begin[] = "CANCELLED by ";
    uint64_t who;

    if (strncmp (text, begin, sizeof (begin) - 1) != 0
        || number_u64_text (text + sizeof (begin) - 1, &who) < 0
        || who >= UINT32_MAX)
        return CANCELLED_BY_UNKNOWN;
    return segment_cancelled_by (SEGMENT_CANCELLED, uid, (uint32_t)who);
}

bool segment_state_at (size_t index, segment_state_t *ret_state)
{
    if (index >= GL_ARRAY_SIZE (states))
        return false;
    *ret_state = states[index].state;
    return true;
}

const char *segment_state_name (segment_state_t state)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (states); i++) {
        if (states[i].state == state)
            return states[i].name;
    }
    return "UNKNOWN";
}

uint32_t segment_state_bit (segment_state_t state)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (states); i++)
        if (states[i].state == state)
            return UINT32_C (1) << i;
    return 0;
}

int segment_state_parse (const char *text, size_t length,
                         segment_state_t *ret_state)
{
    size_t word = 0;

    /* "CANCELLED by 1000", and sacct's '+' for a word cut to the column */
    while (word < length && text[word] != ' ' && text[word] != '+')
        word++;
    for (size_t i = 0; i < GL_ARRAY_SIZE (states); i++) {
        if (strlen (states[i].name) == word
            && memcmp (states[i].name, text, word) == 0) {
            *ret_state = states[i].state;
            return 0;
        }
    }
    return -1;
}

uint64_t segment_sluid (const segment_t *s)
{
    return s->sluid ? s->sluid : s->job_db_inx;
}

int64_t segment_end (const segment_t *s)
{
    int64_t end = s->time_end ? s->time_end : s->observed_at;

    if (s->time_start == 0)
        return 0;
    if (s->time_end == 0 && s->believed_end != 0 && s->believed_end < end)
        end = s->believed_end;
    return end > s->time_start ? end : s->time_start;
}
