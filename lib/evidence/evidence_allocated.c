#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/evidence.h"
#include "gres/tres.h"

/* What accounting counts of one type. */
struct counted {
    char *type; /* NULL: untyped */
    uint64_t count;
};

struct counts {
    struct counted *of;
    size_t count;
};

static void count_type (const char *type, size_t length, uint64_t count,
                        void *arg)
{
    struct counts *c = arg;

    *GL_APPEND (c->of, c->count)
        = (struct counted){type ? xstrndup (type, length) : NULL, count};
}

static void free_counts (struct counts *c)
{
    for (size_t i = 0; i < c->count; i++)
        free (c->of[i].type);
    free (c->of);
}

/* `type`, which is copied behind the list, is that of all; NULL: the inventory
 * is asked. */
static allocated_device_t *list_devices (const segment_evidence_t *e,
                                         const char *type,
                                         device_lookup_f lookup, void *arg)
{
    size_t size = e->device_count * sizeof (allocated_device_t);
    allocated_device_t *held
        = xcalloc (1, size + (type ? strlen (type) + 1 : 0));
    char *copy = type ? strcpy ((char *)held + size, type) : NULL;
    size_t n = 0;

    for (size_t i = 0; i < e->node_count; i++) {
        for (size_t k = 0; k < e->node[i].count; k++) {
            allocated_device_t *d = &held[n++];
            const char *text = e->node[i].device[k];
            *d = (allocated_device_t){
                .node = e->node[i].node, .gres_index = -1, .type = copy};
            if (number_i64_text (text, &d->gres_index) < 0 || d->gres_index < 0)
                d->gres_index = -1;
            if (!type)
                lookup (e->segment, d->node, d->gres_index, text, d, arg);
        }
    }
    return held;
}

/* Of several types: the inventory tells which is which, if it agrees with the
 * counts. */
static bool take_types (allocated_device_t *held, size_t allocated_count,
                        struct counts *c)
{
    for (size_t i = 0; i < allocated_count; i++) {
        size_t k = 0;
        while (k < c->count
               && (!held[i].gres_type || !c->of[k].type
                   || strcmp (c->of[k].type, held[i].gres_type)))
            k++;
        if (k == c->count || c->of[k].count == 0)
            return false;
        c->of[k].count--;
        held[i].type = held[i].gres_type;
    }
    return true;
}

size_t evidence_allocated (const segment_evidence_t *e, device_lookup_f lookup,
                           void *arg, allocated_device_t **ret_allocated)
{
    const segment_t *s = e->segment;
    struct counts c = {0};
    allocated_device_t *held = NULL;
    uint64_t total = s->gres ? gres_devices (s->gres, count_type, &c, NULL) : 0;
    bool typed = c.count == 1 && c.of[0].type;
    bool known = total > 0 && total == e->device_count
                 && !(typed && e->node_count == 1);

    if (known)
        held
            = list_devices (e, c.count == 1 ? c.of[0].type : NULL, lookup, arg);
    if (known && c.count > 1)
        known = take_types (held, total, &c);
    free_counts (&c);
    if (!known) {
        free (held);
        held = NULL;
    }
    *ret_allocated = held;
    return known ? total : 0;
}
