/* To and from bytes: docs/formats/rollup.md. */
#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/rollup_private.h"

static const char magic[4] = {'G', 'L', 'R', ROLLUP_VERSION};

/* Flags of a cell: which of its numbers follow. */
#define CELL_GRES 0x01
#define CELL_RECORDED 0x02
#define CELL_SUSPENDED 0x04
#define CELL_SUSPENDED_UNKNOWN 0x08
#define CELL_SEGMENTS 0x10
#define CELL_JOBS 0x20
#define CELL_MEASURED 0x40
#define CELL_MORE 0x80
#define CELL_LOST 0x100

/* Quarters of an hour since 1970: further ones are no time. */
#define LOAD_START_MAX (INT64_C (1) << 40)

/* Of a kind. */
#define KIND_UNSURE 0x04 /* below it the sort */
#define KIND_QUARANTINED 0x08

/* The numbers of measured_t, one list for both ways. */
static const size_t measures[] = {
    offsetof (measured_t, watched_ms),
    offsetof (measured_t, sampled_ms),
    offsetof (measured_t, energy_mj),
    offsetof (measured_t, energy_ms),
    offsetof (measured_t, energy_stretches),
    offsetof (measured_t, utilization_sum),
    offsetof (measured_t, utilization_ms),
    offsetof (measured_t, idle_ms),
    offsetof (measured_t, idle_known_ms),
    offsetof (measured_t, idle_by[IDLE_NO_PROCESS]),
    offsetof (measured_t, no_process_ms),
    offsetof (measured_t, processes_ms),
    offsetof (measured_t, counter_resets),
    offsetof (measured_t, idle_rule_ms),
};
static const size_t maxima[] = {
    offsetof (measured_t, utilization_max),
    offsetof (measured_t, memory_max),
    offsetof (measured_t, memory_total),
    offsetof (measured_t, idle_longest_ms),
};

static uint64_t zigzag (int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag (uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* --- encode ------------------------------------------------------------ */

struct text {
    const char *text;
    uint64_t number; /* from 1 on; 0 is absent */
    UT_hash_handle hh;
};

/* Texts in the order in which they are first needed. */
struct writer {
    buffer_t body;
    buffer_t texts;
    struct text *seen;
    uint64_t count;
};

static void put_text (struct writer *w, const char *text)
{
    struct text *entry = NULL;

    if (!text) {
        varint_add (&w->body, 0);
        return;
    }
    HASH_FIND_STR (w->seen, text, entry);
    if (!entry) {
        size_t length = strlen (text);
        entry = xcalloc (1, sizeof (*entry));
        entry->text = text;
        entry->number = ++w->count;
        HASH_ADD_KEYPTR (hh, w->seen, entry->text, length, entry);
        varint_add (&w->texts, length);
        buffer_add (&w->texts, text, length + 1);
    }
    varint_add (&w->body, entry->number);
}

static void put_kinds (struct writer *w, const rollup_t *r)
{
    varint_add (&w->body, r->kind_count);
    for (size_t i = 0; i < r->kind_count; i++) {
        const struct rollup_kind *k = &r->kind[i];
        varint_add (&w->body, (uint64_t)k->sort | (k->unsure ? KIND_UNSURE : 0)
                                  | (k->quarantined ? KIND_QUARANTINED : 0));
        if (k->sort != ROLLUP_TOLD)
            continue;
        put_text (w, k->pool);
        put_text (w, k->type);
        put_text (w, k->seen);
        put_text (w, k->model);
    }
}

static void put_whos (struct writer *w, const rollup_t *r)
{
    varint_add (&w->body, r->who_count);
    for (size_t i = 0; i < r->who_count; i++)
        for (size_t k = 0; k < WHO_TEXTS; k++)
            put_text (w, r->who[i].text[k]);
}

static void put_measured (buffer_t *out, const measured_t *m)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (measures); i++)
        varint_add (out, *(const uint64_t *)((const char *)m + measures[i]));
    for (size_t i = 0; i < GL_ARRAY_SIZE (maxima); i++)
        varint_add (out,
                    zigzag (*(const int64_t *)((const char *)m + maxima[i])));
    varint_add (out, m->idle_rule);
    varint_add (out, m->energy_rules);
}

/* The length with the sign in the lowest bit, then the bytes, low ones first. */
static void put_integer (buffer_t *out, const mpz_t value)
{
    size_t length = mpz_sgn (value) ? (mpz_sizeinbase (value, 2) + 7) / 8 : 0;

    varint_add (out, length << 1 | (mpz_sgn (value) < 0));
    mpz_export (buffer_reserve (out, length + 1), NULL, -1, 1, 0, 0, value);
    out->length += length;
}

static void put_fraction (buffer_t *out, const mpq_t value)
{
    put_integer (out, mpq_numref (value));
    put_integer (out, mpq_denref (value));
}

/* Idle time in segments that ended so. */
static uint64_t idle_lost_ms (const struct rollup_cell *c, size_t loss)
{
    return c->measured ? c->measured->idle_lost_ms[loss] : 0;
}

/* A bit for each end of which there is time. */
static unsigned lost_mask (const struct rollup_cell *c)
{
    unsigned mask = 0;

    for (size_t i = 0; i < LOSS_COUNT; i++)
        if (c->lost_gres_seconds[i] || idle_lost_ms (c, i))
            mask |= 1u << i;
    return mask;
}

static void put_lost (buffer_t *out, const struct rollup_cell *c)
{
    unsigned mask = lost_mask (c);

    varint_add (out, mask);
    for (size_t i = 0; i < LOSS_COUNT; i++) {
        if (!(mask >> i & 1))
            continue;
        varint_add (out, c->lost_gres_seconds[i]);
        varint_add (out, idle_lost_ms (c, i));
    }
}

static unsigned cell_flags (const struct rollup_cell *c)
{
    return (c->gres_seconds ? CELL_GRES : 0)
           | (c->recorded_gres_seconds ? CELL_RECORDED : 0)
           | (c->suspended_gres_seconds ? CELL_SUSPENDED : 0)
           | (c->suspended_unknown ? CELL_SUSPENDED_UNKNOWN : 0)
           | (c->present || c->begun ? CELL_SEGMENTS : 0)
           | (c->jobs.count ? CELL_JOBS : 0) | (c->measured ? CELL_MEASURED : 0)
           | (c->more && mpq_sgn (*c->more) ? CELL_MORE : 0)
           | (lost_mask (c) ? CELL_LOST : 0);
}

static void put_cell (buffer_t *out, const struct rollup_cell *c)
{
    unsigned flags = cell_flags (c);

    varint_add (out, flags);
    varint_add (out, c->kind);
    if (flags & CELL_GRES)
        varint_add (out, c->gres_seconds);
    if (flags & CELL_RECORDED)
        varint_add (out, c->recorded_gres_seconds);
    if (flags & CELL_SUSPENDED)
        varint_add (out, c->suspended_gres_seconds);
    if (flags & CELL_SEGMENTS) {
        varint_add (out, c->present);
        varint_add (out, c->begun);
    }
    if (flags & CELL_JOBS) {
        varint_add (out, c->jobs.count);
        varint_add (out, c->jobs.last);
        varint_add (out, c->jobs.length);
        buffer_add (out, c->jobs.bytes, c->jobs.length);
    }
    if (flags & CELL_MEASURED)
        put_measured (out, c->measured);
    if (flags & CELL_MORE)
        put_fraction (out, *c->more);
    if (flags & CELL_LOST)
        put_lost (out, c);
}

static void put_cells (struct writer *w, const rollup_t *r)
{
    size_t who = 0;

    varint_add (&w->body, r->cell_count);
    for (size_t i = 0; i < r->cell_count; i++) {
        varint_add (&w->body, r->cell[i].who - who);
        who = r->cell[i].who;
        put_cell (&w->body, &r->cell[i]);
    }
}

static void put_rows (buffer_t *out, const rollup_t *r)
{
    varint_add (out, r->row_count);
    for (size_t i = 0; i < r->row_count; i++) {
        const struct rollup_row *row = &r->row[i];
        varint_add (out, row->who);
        varint_add (out, row->kind_count);
        for (size_t k = 0; k < row->kind_count; k++)
            varint_add (out, row->kind[k]);
        varint_add (out, row->present);
        varint_add (out, row->begun);
    }
}

static void put_halves (buffer_t *out, const rollup_t *r)
{
    varint_add (out, r->half_count);
    for (size_t i = 0; i < r->half_count; i++) {
        const struct rollup_half *h = &r->half[i];
        varint_add (out, h->cell);
        varint_add (out, h->id_job);
        varint_add (out, zigzag (h->time_submit));
        varint_add (out, h->ends);
        varint_add (out, h->gres_seconds);
    }
}

static void put_reserved (struct writer *w, const rollup_capacity_t *c)
{
    varint_add (&w->body, c->reserved_count);
    for (size_t i = 0; i < c->reserved_count; i++) {
        varint_add (&w->body, c->reserved[i].id);
        put_text (w, c->reserved[i].name);
        put_text (w, c->reserved[i].accounts);
        put_fraction (&w->body, c->reserved[i].gpu_seconds);
    }
}

static void put_capacity (struct writer *w, const rollup_t *r)
{
    size_t members;

    capacity_sum_members (&members);
    varint_add (&w->body, members);
    varint_add (&w->body, r->capacity_count);
    varint_add (&w->body, r->reserved_count);
    for (size_t i = 0; i < r->capacity_count; i++) {
        put_text (w, r->capacity[i].pool);
        for (size_t k = 0; k < members; k++)
            put_fraction (&w->body, *capacity_sum_member (&r->sum[i], k));
        put_reserved (w, &r->capacity[i]);
    }
}

static void put_evidence (buffer_t *out, const evidence_counts_t *counts)
{
    varint_add (out, EVIDENCE_REASON_COUNT);
    for (size_t i = EVIDENCE_MATCHED + 1; i < EVIDENCE_REASON_COUNT; i++) {
        varint_add (out, counts->attempts[i]);
        varint_add (out, counts->usage_ms[i]);
    }
}

static void put_load (struct writer *w, const rollup_t *r)
{
    varint_add (&w->body, r->load.pool_count);
    for (size_t i = 0; i < r->load.pool_count; i++) {
        const pool_load_t *load = &r->load.pool[i];
        put_text (w, load->pool);
        varint_add (&w->body, zigzag (load->start / LOAD_SECONDS));
        varint_add (&w->body, load->count);
        for (size_t k = 0; k < load->count; k++)
            varint_add (&w->body, load->energy_mj[k]);
    }
}

/* What is known last comes first. The body moves: of a large month there is no
 * room for a second one. */
static void put_head (struct writer *w, size_t start)
{
    BUFFER_AUTO head = BUFFER_INIT;
    buffer_t *out = &w->body;
    size_t length = out->length - start;

    buffer_add (&head, magic, sizeof (magic));
    varint_add (&head, w->count);
    buffer_add (&head, w->texts.data, w->texts.length);
    buffer_reserve (out, head.length);
    memmove (out->data + start + head.length, out->data + start, length);
    memcpy (out->data + start, head.data, head.length);
    out->length += head.length;
    out->data[out->length] = '\0';
}

void rollup_encode (const rollup_t *r, buffer_t *out)
{
    struct writer w = {BUFFER_INIT, *out, NULL, 0};
    size_t start = out->length;
    struct text *text, *next;

    put_text (&w, r->cluster);
    varint_add (&w.body, zigzag (r->period.start));
    varint_add (&w.body, zigzag (r->period.end));
    varint_add (&w.body, zigzag (r->held_until));
    put_kinds (&w, r);
    put_whos (&w, r);
    put_cells (&w, r);
    put_rows (&w.body, r);
    put_halves (&w.body, r);
    put_capacity (&w, r);
    put_evidence (&w.body, &r->evidence);
    put_load (&w, r);
    put_head (&w, start);
    *out = w.body;
    HASH_ITER (hh, w.seen, text, next)
    {
        HASH_DEL (w.seen, text);
        free (text);
    }
    buffer_done (&w.texts);
}

/* --- decode ------------------------------------------------------------ */

/* `at` NULL: the bytes are no rollup, and every number is 0 from there on. */
struct reader {
    const uint8_t *at;
    const uint8_t *end;
    rollup_t *rollup;
    const char **text;
    uint64_t text_count;
};

static uint64_t get (struct reader *r)
{
    uint64_t value = 0;

    if (r->at)
        r->at = varint_read (r->at, r->end, &value);
    return r->at ? value : 0;
}

static uint64_t get_below (struct reader *r, uint64_t limit)
{
    uint64_t value = get (r);

    if (value < limit)
        return value;
    r->at = NULL;
    return 0;
}

/* So many things follow, of at least so many bytes each: that bounds what is
 * allocated for them. */
static size_t get_count (struct reader *r, size_t least)
{
    uint64_t count = get (r);

    if (r->at && count <= (uint64_t)(r->end - r->at) / least)
        return (size_t)count;
    r->at = NULL;
    return 0;
}

static const uint8_t *get_bytes (struct reader *r, uint64_t length)
{
    const uint8_t *bytes = r->at;

    if (!bytes || length > (uint64_t)(r->end - bytes)) {
        r->at = NULL;
        return NULL;
    }
    r->at += length;
    return bytes;
}

static const char *get_text (struct reader *r)
{
    uint64_t number = get_below (r, r->text_count + 1);

    return number ? r->text[number - 1] : NULL;
}

static const char *get_name (struct reader *r)
{
    const char *name = get_text (r);

    if (!name)
        r->at = NULL;
    return name ? name : "";
}

static void get_texts (struct reader *r)
{
    size_t count = get_count (r, 2);

    r->text = rollup_alloc (r->rollup, count, sizeof (*r->text));
    for (size_t i = 0; i < count && r->at; i++) {
        uint64_t length = get (r);
        const char *text = (const char *)get_bytes (r, length + 1);
        if (!text || length == UINT64_MAX
            || memchr (text, '\0', (size_t)length + 1) != text + length)
            r->at = NULL;
        r->text[i] = text;
    }
    r->text_count = count;
}

static void get_kinds (struct reader *r)
{
    rollup_t *to = r->rollup;

    to->kind_count = get_count (r, 1);
    to->kind = rollup_alloc (to, to->kind_count, sizeof (*to->kind));
    for (size_t i = 0; i < to->kind_count && r->at; i++) {
        struct rollup_kind *k = &to->kind[i];
        uint64_t flags = get_below (r, 2 * KIND_QUARANTINED);
        k->sort = (rollup_sort_t)(flags & (KIND_UNSURE - 1));
        k->unsure = flags & KIND_UNSURE;
        k->quarantined = flags & KIND_QUARANTINED;
        if (k->sort >= ROLLUP_SORTS)
            r->at = NULL;
        if (k->sort != ROLLUP_TOLD)
            continue;
        k->pool = get_text (r);
        k->type = get_text (r);
        k->seen = get_text (r);
        k->model = get_text (r);
    }
}

static void get_whos (struct reader *r)
{
    rollup_t *to = r->rollup;

    to->who_count = get_count (r, WHO_TEXTS);
    to->who = rollup_alloc (to, to->who_count, sizeof (*to->who));
    for (size_t i = 0; i < to->who_count && r->at; i++)
        for (size_t k = 0; k < WHO_TEXTS; k++)
            to->who[i].text[k] = get_text (r);
}

static void get_measured (struct reader *r, measured_t *m)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (measures); i++)
        *(uint64_t *)((char *)m + measures[i]) = get (r);
    for (size_t i = 0; i < GL_ARRAY_SIZE (maxima); i++)
        *(int64_t *)((char *)m + maxima[i]) = unzigzag (get (r));
    m->idle_rule = (unsigned)get_below (r, UINT32_MAX);
    m->energy_rules = (unsigned)get_below (r, UINT32_MAX);
}

static void get_jobs (struct reader *r, jobids_t *jobs)
{
    jobs->count = get (r);
    jobs->last = get (r);
    jobs->length = (size_t)get (r);
    jobs->bytes = get_bytes (r, jobs->length);
    if (!jobs->bytes || jobs->count == 0 || jobids_check (jobs) < 0)
        r->at = NULL;
}

static void get_integer (struct reader *r, mpz_t value)
{
    uint64_t head = get (r);
    const uint8_t *bytes = get_bytes (r, head >> 1);

    if (bytes)
        mpz_import (value, (size_t)(head >> 1), -1, 1, 0, 0, bytes);
    if (head & 1)
        mpz_neg (value, value);
}

static void get_fraction (struct reader *r, mpq_t value)
{
    get_integer (r, mpq_numref (value));
    get_integer (r, mpq_denref (value));
    if (mpz_sgn (mpq_denref (value)) <= 0) {
        mpz_set_ui (mpq_denref (value), 1);
        r->at = NULL;
    }
    mpq_canonicalize (value);
}

static void get_more (struct reader *r, mpq_t **ret_more)
{
    mpq_t more;

    mpq_init (more);
    get_fraction (r, more);
    billable_more_add (ret_more, more);
    mpq_clear (more);
}

static void get_lost (struct reader *r, struct rollup_cell *c)
{
    uint64_t mask = get_below (r, 1u << LOSS_COUNT), idle_ms;

    for (size_t i = 0; i < LOSS_COUNT; i++) {
        if (!(mask >> i & 1))
            continue;
        c->lost_gres_seconds[i] = get (r);
        idle_ms = get (r);
        if (c->measured)
            c->measured->idle_lost_ms[i] = idle_ms;
        else if (idle_ms != 0)
            r->at = NULL; /* idle time is measured */
    }
}

static void get_cell (struct reader *r, struct rollup_cell *c)
{
    uint64_t flags = get_below (r, 2 * CELL_LOST);

    c->kind = (size_t)get_below (r, r->rollup->kind_count);
    if (flags & CELL_GRES)
        c->gres_seconds = get (r);
    if (flags & CELL_RECORDED)
        c->recorded_gres_seconds = get (r);
    if (flags & CELL_SUSPENDED)
        c->suspended_gres_seconds = get (r);
    c->suspended_unknown = flags & CELL_SUSPENDED_UNKNOWN;
    if (flags & CELL_SEGMENTS) {
        c->present = get (r);
        c->begun = get (r);
    }
    if (flags & CELL_JOBS)
        get_jobs (r, &c->jobs);
    if (flags & CELL_MEASURED) {
        c->measured = rollup_alloc (r->rollup, 1, sizeof (*c->measured));
        measured_init (c->measured);
        get_measured (r, c->measured);
    }
    if (flags & CELL_MORE)
        get_more (r, &c->more);
    if (flags & CELL_LOST)
        get_lost (r, c);
}

static void get_cells (struct reader *r)
{
    rollup_t *to = r->rollup;
    uint64_t who = 0;

    to->cell_count = get_count (r, 3);
    to->cell = rollup_alloc (to, to->cell_count, sizeof (*to->cell));
    for (size_t i = 0; i < to->cell_count && r->at; i++) {
        who += get_below (r, to->who_count);
        if (who >= to->who_count)
            r->at = NULL;
        to->cell[i].who = (size_t)who;
        get_cell (r, &to->cell[i]);
    }
}

static void get_rows (struct reader *r)
{
    rollup_t *to = r->rollup;

    to->row_count = get_count (r, 6);
    to->row = rollup_alloc (to, to->row_count, sizeof (*to->row));
    for (size_t i = 0; i < to->row_count && r->at; i++) {
        struct rollup_row *row = &to->row[i];
        size_t *kind;
        row->who = (size_t)get_below (r, to->who_count);
        row->kind_count = get_count (r, 1);
        row->kind = kind = rollup_alloc (to, row->kind_count, sizeof (*kind));
        for (size_t k = 0; k < row->kind_count; k++)
            kind[k] = (size_t)get_below (r, to->kind_count);
        row->present = get (r);
        row->begun = get (r);
    }
}

static void get_halves (struct reader *r)
{
    rollup_t *to = r->rollup;

    to->half_count = get_count (r, 5);
    to->half = rollup_alloc (to, to->half_count, sizeof (*to->half));
    for (size_t i = 0; i < to->half_count && r->at; i++) {
        struct rollup_half *h = &to->half[i];
        h->cell = (size_t)get_below (r, to->cell_count);
        h->id_job = get (r);
        h->time_submit = unzigzag (get (r));
        h->ends = (unsigned)get_below (r, HALF_BEGIN | HALF_END);
        h->gres_seconds = get (r);
    }
}

/* `all`: of all pools; room is made for so many. */
static void get_reserved (struct reader *r, rollup_capacity_t *c, size_t all)
{
    rollup_t *to = r->rollup;
    uint64_t count = get_below (r, all - to->reserved_count + 1);

    c->reserved = to->reserved + to->reserved_count;
    c->reserved_count = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        capacity_reserved_t *one = &to->reserved[to->reserved_count++];
        mpq_init (one->gpu_seconds);
        one->id = get (r);
        one->name = get_text (r);
        one->accounts = get_text (r);
        get_fraction (r, one->gpu_seconds);
    }
}

static void get_capacity (struct reader *r)
{
    rollup_t *to = r->rollup;
    size_t members, count, reserved;

    capacity_sum_members (&members);
    if (get (r) != members)
        r->at = NULL;
    count = get_count (r, 1 + 3 * members);
    reserved = get_count (r, 6);
    to->reserved = rollup_alloc (to, reserved, sizeof (*to->reserved));
    to->capacity = rollup_alloc (to, count, sizeof (*to->capacity));
    to->sum = rollup_alloc (to, count, sizeof (*to->sum));
    for (size_t i = 0; i < count && r->at; i++) {
        capacity_sum_init (&to->sum[i]);
        to->capacity_count++;
        to->capacity[i].pool = get_name (r);
        to->capacity[i].sum = &to->sum[i];
        for (size_t k = 0; k < members; k++)
            get_fraction (r, *capacity_sum_member (&to->sum[i], k));
        get_reserved (r, &to->capacity[i], reserved);
    }
}

static void get_evidence (struct reader *r)
{
    evidence_counts_t *counts = &r->rollup->evidence;

    if (get (r) != EVIDENCE_REASON_COUNT)
        r->at = NULL;
    for (size_t i = EVIDENCE_MATCHED + 1; i < EVIDENCE_REASON_COUNT; i++) {
        counts->attempts[i] = get (r);
        counts->usage_ms[i] = get (r);
    }
}

/* One pool; `start` in quarters of an hour. */
static void get_pool_load (struct reader *r)
{
    const char *pool = get_name (r);
    int64_t start = unzigzag (get (r));
    size_t count = get_count (r, 1);

    if (start > LOAD_START_MAX || start < -LOAD_START_MAX
        || load_profile_pool (&r->rollup->load, pool))
        r->at = NULL;
    for (size_t i = 0; i < count && r->at; i++)
        load_profile_add (&r->rollup->load, pool,
                          (start + (int64_t)i) * LOAD_SECONDS, get (r));
}

static void get_load (struct reader *r)
{
    size_t count = get_count (r, 4);

    for (size_t i = 0; i < count && r->at; i++)
        get_pool_load (r);
}

static void get_all (struct reader *r)
{
    rollup_t *to = r->rollup;

    get_texts (r);
    free (to->cluster);
    to->cluster = xstrdup (get_name (r));
    to->period.start = unzigzag (get (r));
    to->period.end = unzigzag (get (r));
    to->held_until = unzigzag (get (r));
    get_kinds (r);
    get_whos (r);
    get_cells (r);
    get_rows (r);
    get_halves (r);
    get_capacity (r);
    get_evidence (r);
    get_load (r);
    if (r->at != r->end || to->period.end <= to->period.start)
        r->at = NULL;
}

rollup_t *rollup_decode (const void *bytes, size_t length, gl_error_t *error)
{
    struct reader r = {.rollup = rollup_new ("", (period_t){0, 0})};
    uint8_t *copy = rollup_alloc (r.rollup, 1, length + 1);

    if (length)
        memcpy (copy, bytes, length);
    r.end = copy + length;
    if (length > sizeof (magic) && !memcmp (copy, magic, sizeof (magic))) {
        r.at = copy + sizeof (magic);
        get_all (&r);
    }
    if (r.at)
        return r.rollup;
    rollup_free (r.rollup);
    gl_error (error, "%zu bytes are not a rollup of this version", length);
    return NULL;
}
