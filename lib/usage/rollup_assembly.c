/* A rollup while it is put together: values, cells and rows by hash, one slot
 * for each span; then it is ordered and packed. */
#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/rollup_private.h"

/* --- assembly ---------------------------------------------------------- */

struct text {
    char *text;
    UT_hash_handle hh;
};

/* By its interned texts. */
struct who {
    struct rollup_who who;
    size_t number;
    UT_hash_handle hh;
};

struct cell_key {
    size_t slot, who, kind;
};

struct hashed_cell {
    struct assembly_cell cell;
    struct cell_key key;
    UT_hash_handle hh;
};

/* Keyed by slot, who and the kinds. */
struct row {
    size_t *key;
    size_t length; /* numbers in it */
    uint64_t present, begun;
    struct row *next; /* of the slot */
    UT_hash_handle hh;
};

struct half {
    struct assembly_cell *cell;
    uint64_t id_job;
    int64_t time_submit;
    unsigned ends;
    uint64_t gres_seconds;
};

struct pool_sum {
    char *pool;
    capacity_sum_t sum;
    capacity_reserved_t *reserved; /* texts are its own */
    size_t reserved_count;
};

struct slot {
    int64_t held_until;
    struct assembly_cell *cells;
    size_t cell_count;
    struct row *rows;
    size_t row_count;
    struct half *half;
    size_t half_count, half_size;
    struct pool_sum *pool;
    size_t pool_count;
    load_profile_t load;
    evidence_counts_t evidence;
};

struct assembly {
    struct slot *slot;
    size_t slot_count;
    struct text *texts;
    struct who *whos;
    struct who **who; /* by number */
    size_t who_count, who_size;
    struct rollup_kind *kind; /* by number; texts are interned */
    size_t kind_count;
    struct hashed_cell *cells;
    struct row *rows;
};

assembly_t *assembly_new (size_t slots)
{
    assembly_t *a = xcalloc (1, sizeof (*a));

    a->slot_count = slots;
    a->slot = xcalloc (slots ? slots : 1, sizeof (*a->slot));
    return a;
}

static void free_pool_sum (struct pool_sum *pool)
{
    for (size_t i = 0; i < pool->reserved_count; i++) {
        free ((char *)pool->reserved[i].name);
        free ((char *)pool->reserved[i].accounts);
        mpq_clear (pool->reserved[i].gpu_seconds);
    }
    free (pool->reserved);
    capacity_sum_clear (&pool->sum);
    free (pool->pool);
}

static void free_slot (struct slot *slot)
{
    for (size_t i = 0; i < slot->pool_count; i++)
        free_pool_sum (&slot->pool[i]);
    free (slot->pool);
    free (slot->half);
    load_profile_clear (&slot->load);
}

static void free_cell (struct hashed_cell *cell)
{
    jobids_list_done (&cell->cell.ids);
    free (cell->cell.sets);
    billable_more_free (&cell->cell.sum.more);
    free (cell->cell.sum.measured);
    free (cell);
}

void assembly_free (assembly_t *a)
{
    struct text *text, *next_text;
    struct who *who, *next_who;
    struct hashed_cell *cell, *next_cell;
    struct row *row, *next_row;

    if (!a)
        return;
    HASH_ITER (hh, a->cells, cell, next_cell)
    {
        HASH_DEL (a->cells, cell);
        free_cell (cell);
    }
    HASH_ITER (hh, a->rows, row, next_row)
    {
        HASH_DEL (a->rows, row);
        free (row->key);
        free (row);
    }
    HASH_ITER (hh, a->whos, who, next_who)
    {
        HASH_DEL (a->whos, who);
        free (who);
    }
    HASH_ITER (hh, a->texts, text, next_text)
    {
        HASH_DEL (a->texts, text);
        free (text->text);
        free (text);
    }
    for (size_t i = 0; i < a->slot_count; i++)
        free_slot (&a->slot[i]);
    free (a->slot);
    free (a->who);
    free (a->kind);
    free (a);
}

static const char *intern (assembly_t *a, const char *text)
{
    struct text *entry;

    if (!text)
        return NULL;
    HASH_FIND_STR (a->texts, text, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->text = xstrdup (text);
        HASH_ADD_KEYPTR (hh, a->texts, entry->text, strlen (entry->text),
                         entry);
    }
    return entry->text;
}

size_t assembly_who (assembly_t *a, const char *const text[WHO_TEXTS])
{
    struct rollup_who key;
    struct who *who;

    memset (&key, 0, sizeof (key));
    for (size_t i = 0; i < WHO_TEXTS; i++)
        key.text[i] = text[i] && text[i][0] ? intern (a, text[i]) : NULL;
    HASH_FIND (hh, a->whos, &key, sizeof (key), who);
    if (!who) {
        who = xcalloc (1, sizeof (*who));
        who->who = key;
        who->number = a->who_count;
        HASH_ADD (hh, a->whos, who, sizeof (who->who), who);
        if (a->who_count == a->who_size) {
            a->who_size = a->who_size * 2 + 64;
            a->who = xreallocarray (a->who, a->who_size, sizeof (*a->who));
        }
        a->who[a->who_count++] = who;
    }
    return who->number;
}

size_t assembly_kind (assembly_t *a, const struct rollup_kind *kind)
{
    struct rollup_kind *fresh;

    for (size_t i = 0; i < a->kind_count; i++)
        if (rollup_kind_compare (&a->kind[i], kind) == 0)
            return i;
    a->kind = xreallocarray (a->kind, a->kind_count + 1, sizeof (*a->kind));
    fresh = &a->kind[a->kind_count];
    *fresh = (struct rollup_kind){.sort = kind->sort,
                                  .unsure = kind->unsure,
                                  .quarantined = kind->quarantined,
                                  .pool = intern (a, kind->pool),
                                  .type = intern (a, kind->type),
                                  .seen = intern (a, kind->seen),
                                  .model = intern (a, kind->model)};
    return a->kind_count++;
}

struct assembly_cell *assembly_cell (assembly_t *a, size_t slot, size_t who,
                                     size_t kind)
{
    struct cell_key key = {slot, who, kind};
    struct hashed_cell *cell;

    HASH_FIND (hh, a->cells, &key, sizeof (key), cell);
    if (!cell) {
        cell = xcalloc (1, sizeof (*cell));
        cell->key = key;
        cell->cell.sum.who = who;
        cell->cell.sum.kind = kind;
        cell->cell.next = a->slot[slot].cells;
        a->slot[slot].cells = &cell->cell;
        a->slot[slot].cell_count++;
        HASH_ADD (hh, a->cells, key, sizeof (cell->key), cell);
    }
    return &cell->cell;
}

measured_t *assembly_measured (struct assembly_cell *cell)
{
    if (!cell->sum.measured) {
        cell->sum.measured = xmalloc (sizeof (*cell->sum.measured));
        measured_init (cell->sum.measured);
    }
    return cell->sum.measured;
}

static int by_number (const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void assembly_row (assembly_t *a, size_t slot, size_t who, size_t *kind,
                   size_t kind_count, uint64_t present, uint64_t begun)
{
    size_t length = kind_count + 2;
    size_t *key = xcalloc (length, sizeof (*key));
    struct row *row;

    qsort (kind, kind_count, sizeof (*kind), by_number);
    key[0] = slot;
    key[1] = who;
    memcpy (key + 2, kind, kind_count * sizeof (*kind));
    HASH_FIND (hh, a->rows, key, length * sizeof (*key), row);
    if (row)
        free (key);
    else {
        row = xcalloc (1, sizeof (*row));
        row->key = key;
        row->length = length;
        row->next = a->slot[slot].rows;
        a->slot[slot].rows = row;
        a->slot[slot].row_count++;
        HASH_ADD_KEYPTR (hh, a->rows, row->key, length * sizeof (*key), row);
    }
    row->present += present;
    row->begun += begun;
}

void assembly_half (assembly_t *a, size_t slot, struct assembly_cell *cell,
                    uint64_t id_job, int64_t time_submit, unsigned ends,
                    uint64_t gres_seconds)
{
    struct slot *s = &a->slot[slot];

    if (s->half_count == s->half_size) {
        s->half_size = s->half_size * 2 + 16;
        s->half = xreallocarray (s->half, s->half_size, sizeof (*s->half));
    }
    s->half[s->half_count++]
        = (struct half){cell, id_job, time_submit, ends, gres_seconds};
}

static struct pool_sum *pool_get (struct slot *s, const char *pool)
{
    struct pool_sum *fresh;

    for (size_t i = 0; i < s->pool_count; i++)
        if (!strcmp (s->pool[i].pool, pool))
            return &s->pool[i];
    s->pool = xreallocarray (s->pool, s->pool_count + 1, sizeof (*s->pool));
    fresh = &s->pool[s->pool_count++];
    memset (fresh, 0, sizeof (*fresh));
    fresh->pool = xstrdup (pool);
    capacity_sum_init (&fresh->sum);
    return fresh;
}

static int compare_reserved (const void *a, const void *b)
{
    const capacity_reserved_t *x = a, *y = b;
    int order = (x->id > y->id) - (x->id < y->id);

    if (order == 0)
        order = rollup_text_compare (x->name, y->name);
    return order ? order : rollup_text_compare (x->accounts, y->accounts);
}

static void add_reserved (struct pool_sum *to, const capacity_reserved_t *more)
{
    capacity_reserved_t *fresh;

    for (size_t i = 0; i < to->reserved_count; i++) {
        if (compare_reserved (&to->reserved[i], more) != 0)
            continue;
        mpq_add (to->reserved[i].gpu_seconds, to->reserved[i].gpu_seconds,
                 more->gpu_seconds);
        return;
    }
    to->reserved = xreallocarray (to->reserved, to->reserved_count + 1,
                                  sizeof (*to->reserved));
    fresh = &to->reserved[to->reserved_count++];
    fresh->id = more->id;
    fresh->name = xstrdup (more->name);
    fresh->accounts = xstrdup (more->accounts);
    mpq_init (fresh->gpu_seconds);
    mpq_set (fresh->gpu_seconds, more->gpu_seconds);
}

void assembly_capacity (assembly_t *a, size_t slot, const rollup_capacity_t *c)
{
    struct pool_sum *to = pool_get (&a->slot[slot], c->pool);

    capacity_sum_add (&to->sum, c->sum);
    for (size_t i = 0; i < c->reserved_count; i++)
        add_reserved (to, &c->reserved[i]);
}

void assembly_held (assembly_t *a, size_t slot, int64_t until)
{
    if (until > a->slot[slot].held_until)
        a->slot[slot].held_until = until;
}

evidence_counts_t *assembly_evidence (assembly_t *a, size_t slot)
{
    return &a->slot[slot].evidence;
}

load_profile_t *assembly_load (assembly_t *a, size_t slot)
{
    return &a->slot[slot].load;
}

/* --- a slot becomes a rollup ------------------------------------------- */

/* Values of the assembly that the slot uses, by value, and where each went. */
struct sorted {
    size_t *number; /* of the assembly, in the rollup's order */
    size_t *place;  /* of each of the assembly's numbers */
    size_t count;
};

static int by_who (const void *a, const void *b, void *arg)
{
    const assembly_t *assembly = arg;

    return rollup_who_compare (&assembly->who[*(const size_t *)a]->who,
                               &assembly->who[*(const size_t *)b]->who);
}

static int by_kind (const void *a, const void *b, void *arg)
{
    const assembly_t *assembly = arg;

    return rollup_kind_compare (&assembly->kind[*(const size_t *)a],
                                &assembly->kind[*(const size_t *)b]);
}

#define UNUSED SIZE_MAX

static void sorted_init (struct sorted *s, size_t all)
{
    s->count = 0;
    s->number = xcalloc (all + 1, sizeof (*s->number));
    s->place = xcalloc (all + 1, sizeof (*s->place));
    for (size_t i = 0; i < all; i++)
        s->place[i] = UNUSED;
}

static void sorted_use (struct sorted *s, size_t number)
{
    if (s->place[number] != UNUSED)
        return;
    s->place[number] = 0;
    s->number[s->count++] = number;
}

static void sorted_sort (struct sorted *s, assembly_t *a,
                         int (*compare) (const void *, const void *, void *))
{
    if (s->count > 1)
        qsort_r (s->number, s->count, sizeof (*s->number), compare, a);
    for (size_t i = 0; i < s->count; i++)
        s->place[s->number[i]] = i;
}

static void sorted_done (struct sorted *s)
{
    free (s->number);
    free (s->place);
}

/* One slot on its way. */
struct taking {
    assembly_t *assembly;
    struct slot *slot;
    rollup_t *rollup;
    struct sorted whos, kinds;
};

static char *copy_text (rollup_t *r, const char *text)
{
    size_t size = text ? strlen (text) + 1 : 0;

    return text ? memcpy (rollup_alloc (r, 1, size), text, size) : NULL;
}

static void sort_values (struct taking *t)
{
    sorted_init (&t->whos, t->assembly->who_count);
    sorted_init (&t->kinds, t->assembly->kind_count);
    for (struct assembly_cell *c = t->slot->cells; c; c = c->next) {
        sorted_use (&t->whos, c->sum.who);
        sorted_use (&t->kinds, c->sum.kind);
    }
    sorted_sort (&t->whos, t->assembly, by_who);
    sorted_sort (&t->kinds, t->assembly, by_kind);
}

/* The texts of all, each once: they are interned, and most occur often. */
static const char *take_text (struct taking *t, const char *text,
                              const char **last_from, const char **last_to)
{
    if (!text)
        return NULL;
    if (text != *last_from) {
        *last_from = text;
        *last_to = copy_text (t->rollup, text);
    }
    return *last_to;
}

static void take_values (struct taking *t)
{
    rollup_t *r = t->rollup;
    const char *from[WHO_TEXTS] = {NULL}, *to[WHO_TEXTS] = {NULL};

    r->who_count = t->whos.count;
    r->who = rollup_alloc (r, r->who_count, sizeof (*r->who));
    for (size_t i = 0; i < r->who_count; i++) {
        const struct rollup_who *who
            = &t->assembly->who[t->whos.number[i]]->who;
        for (size_t k = 0; k < WHO_TEXTS; k++)
            r->who[i].text[k] = take_text (t, who->text[k], &from[k], &to[k]);
    }
    r->kind_count = t->kinds.count;
    r->kind = rollup_alloc (r, r->kind_count, sizeof (*r->kind));
    for (size_t i = 0; i < r->kind_count; i++) {
        const struct rollup_kind *kind = &t->assembly->kind[t->kinds.number[i]];
        r->kind[i] = *kind;
        r->kind[i].pool = copy_text (r, kind->pool);
        r->kind[i].type = copy_text (r, kind->type);
        r->kind[i].seen = copy_text (r, kind->seen);
        r->kind[i].model = copy_text (r, kind->model);
    }
}

static int by_cell (const void *a, const void *b, void *arg)
{
    const struct taking *t = arg;
    const struct assembly_cell *x = *(struct assembly_cell *const *)a;
    const struct assembly_cell *y = *(struct assembly_cell *const *)b;
    size_t p = t->whos.place[x->sum.who], q = t->whos.place[y->sum.who];

    if (p == q) {
        p = t->kinds.place[x->sum.kind];
        q = t->kinds.place[y->sum.kind];
    }
    return (p > q) - (p < q);
}

static jobids_t take_ids (rollup_t *r, jobids_work_t *work,
                          const struct assembly_cell *cell)
{
    jobids_list_t list = {BUFFER_INIT, 0, 0};
    jobids_t ids;

    if (cell->set_count > 0)
        jobids_union (work, cell->sets, cell->set_count, &list);
    ids = cell->set_count > 0 ? jobids_of_list (&list)
                              : jobids_of_list (&cell->ids);
    ids.bytes = ids.length ? memcpy (rollup_alloc (r, 1, ids.length), ids.bytes,
                                     ids.length)
                           : NULL;
    jobids_list_done (&list);
    return ids;
}

static void take_cells (struct taking *t)
{
    rollup_t *r = t->rollup;
    jobids_work_t *work = jobids_work_new ();
    struct assembly_cell **cell
        = xcalloc (t->slot->cell_count + 1, sizeof (*cell));

    r->cell = rollup_alloc (r, t->slot->cell_count, sizeof (*r->cell));
    for (struct assembly_cell *c = t->slot->cells; c; c = c->next)
        cell[r->cell_count++] = c;
    if (r->cell_count > 1)
        qsort_r (cell, r->cell_count, sizeof (*cell), by_cell, t);
    for (size_t i = 0; i < r->cell_count; i++) {
        struct rollup_cell *to = &r->cell[i];
        cell[i]->index = i;
        *to = cell[i]->sum;
        cell[i]->sum.more = NULL; /* it is the rollup's now */
        if (cell[i]->sum.measured) {
            to->measured = rollup_alloc (r, 1, sizeof (*to->measured));
            *to->measured = *cell[i]->sum.measured;
        }
        to->who = t->whos.place[to->who];
        to->kind = t->kinds.place[to->kind];
        to->jobs = take_ids (r, work, cell[i]);
    }
    free (cell);
    jobids_work_free (work);
}

static int compare_size (size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_row (const void *a, const void *b)
{
    const struct rollup_row *x = a, *y = b;
    int order = compare_size (x->who, y->who);

    for (size_t i = 0; order == 0 && i < x->kind_count && i < y->kind_count;
         i++)
        order = compare_size (x->kind[i], y->kind[i]);
    return order ? order : compare_size (x->kind_count, y->kind_count);
}

static void take_rows (struct taking *t)
{
    rollup_t *r = t->rollup;

    r->row = rollup_alloc (r, t->slot->row_count, sizeof (*r->row));
    for (const struct row *from = t->slot->rows; from; from = from->next) {
        struct rollup_row *to = &r->row[r->row_count++];
        size_t *kind = rollup_alloc (r, from->length - 2, sizeof (*kind));
        for (size_t i = 2; i < from->length; i++)
            kind[i - 2] = t->kinds.place[from->key[i]];
        qsort (kind, from->length - 2, sizeof (*kind), by_number);
        *to = (struct rollup_row){t->whos.place[from->key[1]], from->length - 2,
                                  kind, from->present, from->begun};
    }
    if (r->row_count > 1)
        qsort (r->row, r->row_count, sizeof (*r->row), by_row);
}

static int by_half (const void *a, const void *b)
{
    const struct half *x = a, *y = b;
    int order = compare_size (x->cell->index, y->cell->index);

    if (order == 0)
        order = (x->id_job > y->id_job) - (x->id_job < y->id_job);
    return order ? order
                 : (x->time_submit > y->time_submit)
                       - (x->time_submit < y->time_submit);
}

static bool same_half (const struct half *a, const struct half *b)
{
    return a->cell == b->cell && a->id_job == b->id_job
           && a->time_submit == b->time_submit;
}

/* Those of one segment become one; with both ends it is none any more. */
static void take_halves (struct taking *t)
{
    rollup_t *r = t->rollup;
    struct half *half = t->slot->half;
    size_t count = t->slot->half_count;

    if (count > 1)
        qsort (half, count, sizeof (*half), by_half);
    r->half = rollup_alloc (r, count, sizeof (*r->half));
    for (size_t i = 0; i < count;) {
        struct half one = half[i];
        for (i++; i < count && same_half (&one, &half[i]); i++) {
            one.ends |= half[i].ends;
            one.gres_seconds += half[i].gres_seconds;
        }
        if (one.ends == (HALF_BEGIN | HALF_END))
            r->cell[one.cell->index].suspended_gres_seconds += one.gres_seconds;
        else
            r->half[r->half_count++] = (struct rollup_half){
                one.cell->index, one.id_job, one.time_submit, one.ends,
                one.gres_seconds};
    }
}

static int by_pool (const void *a, const void *b)
{
    return strcmp (((const struct pool_sum *)a)->pool,
                   ((const struct pool_sum *)b)->pool);
}

static void take_reserved (rollup_t *r, struct pool_sum *from,
                           rollup_capacity_t *to)
{
    if (from->reserved_count > 1)
        qsort (from->reserved, from->reserved_count, sizeof (*from->reserved),
               compare_reserved);
    to->reserved = r->reserved + r->reserved_count;
    to->reserved_count = from->reserved_count;
    for (size_t i = 0; i < from->reserved_count; i++) {
        capacity_reserved_t *one = &r->reserved[r->reserved_count++];
        one->id = from->reserved[i].id;
        one->name = copy_text (r, from->reserved[i].name);
        one->accounts = copy_text (r, from->reserved[i].accounts);
        mpq_init (one->gpu_seconds);
        mpq_set (one->gpu_seconds, from->reserved[i].gpu_seconds);
    }
}

static void take_capacity (struct taking *t)
{
    rollup_t *r = t->rollup;
    struct slot *s = t->slot;
    size_t reserved = 0;

    if (s->pool_count > 1)
        qsort (s->pool, s->pool_count, sizeof (*s->pool), by_pool);
    for (size_t i = 0; i < s->pool_count; i++)
        reserved += s->pool[i].reserved_count;
    r->capacity = rollup_alloc (r, s->pool_count, sizeof (*r->capacity));
    r->sum = rollup_alloc (r, s->pool_count, sizeof (*r->sum));
    r->reserved = rollup_alloc (r, reserved, sizeof (*r->reserved));
    for (size_t i = 0; i < s->pool_count; i++) {
        capacity_sum_init (&r->sum[i]);
        capacity_sum_add (&r->sum[i], &s->pool[i].sum);
        r->capacity[i].pool = copy_text (r, s->pool[i].pool);
        r->capacity[i].sum = &r->sum[i];
        take_reserved (r, &s->pool[i], &r->capacity[i]);
    }
    r->capacity_count = s->pool_count;
}

rollup_t *assembly_take (assembly_t *a, size_t slot, const char *cluster,
                         period_t period)
{
    struct taking t = {.assembly = a,
                       .slot = &a->slot[slot],
                       .rollup = rollup_new (cluster, period)};

    sort_values (&t);
    take_values (&t);
    take_cells (&t);
    take_rows (&t);
    take_halves (&t);
    take_capacity (&t);
    load_profile_join (&t.rollup->load, &t.slot->load);
    t.rollup->evidence = t.slot->evidence;
    t.rollup->held_until = t.slot->held_until;
    sorted_done (&t.whos);
    sorted_done (&t.kinds);
    return t.rollup;
}
