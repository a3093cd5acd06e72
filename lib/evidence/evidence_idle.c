/* Why devices were idle, where only the other stretches of the segment tell it. */
#include <string.h>

#include "evidence/evidence_private.h"

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

static bool same_device (const device_usage_t *a, const device_usage_t *b)
{
    return same_text (a->node, b->node) && same_text (a->gpu, b->gpu)
           && same_text (a->slice, b->slice);
}

/* It was busy for some of the time for which that is known. */
static bool is_busy (const device_usage_t *u)
{
    return u->utilization_ms > 0 && u->idle_ms >= 0
           && u->idle_ms < u->utilization_ms;
}

static bool is_known (const device_usage_t *u)
{
    return u->utilization_ms > 0 && u->idle_ms >= 0;
}

/* The parts [first, end) of a device. */
struct device {
    usage_part_of_t **part;
    size_t count;
    size_t busy; /* the end of its last busy part; 0: it never was */
    bool known;
};

static struct device device_at (usage_part_of_t **part, size_t count)
{
    struct device d = {.part = part};

    for (;
         d.count < count && same_device (part[d.count]->usage, part[0]->usage);
         d.count++) {
        d.known = d.known || is_known (part[d.count]->usage);
        if (is_busy (part[d.count]->usage))
            d.busy = d.count + 1;
    }
    return d;
}

uint64_t evidence_busy_devices (const segment_evidence_t *e,
                                uint64_t *ret_known)
{
    uint64_t busy = 0;

    *ret_known = 0;

    for (size_t i = 0; i < e->part_count;) {
        struct device d = device_at (e->part + i, e->part_count - i);
        busy += d.busy > 0;
        *ret_known += d.known;
        i += d.count;
    }
    return busy;
}

static void mark (const struct device *d, size_t from, idle_cause_t cause)
{
    for (size_t i = from; i < d->count; i++)
        d->part[i]->idle = cause;
}

void evidence_mark_idle (segment_evidence_t *e)
{
    bool any_busy = false;

    for (size_t i = 0; i < e->part_count; i++)
        any_busy = any_busy || is_busy (e->part[i]->usage);
    for (size_t i = 0; i < e->part_count && any_busy;) {
        struct device d = device_at (e->part + i, e->part_count - i);
        if (d.busy == 0 && d.known)
            mark (&d, 0, IDLE_SPARE);
        else if (d.busy > 0 && e->segment->time_end != 0)
            mark (&d, d.busy, IDLE_AFTER);
        i += d.count;
    }
}
