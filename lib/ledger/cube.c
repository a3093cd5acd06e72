#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"
#include "ledger/cube.h"

struct group {
    void *row;
    size_t *member;
    size_t member_count, member_size;
    const void *later, *earlier;
    char *key; /* its bytes tell groups apart */
    UT_hash_handle hh;
};

/* Fields in the order in which they are compared. */
struct order {
    struct {
        const field_t *field;
        bool descends;
    } * part;
    size_t count;
};

struct filter {
    const field_t *field; /* NULL: wants */
    char *value;
    cube_wants_f wants;
    void *arg;
};

struct cube {
    const fields_t *fields;
    struct order by, sort;
    const field_t **measure; /* that are added up */
    size_t measure_count;
    struct group
        *last; /* that a row was added to: the next row is often of it, too */
    struct group *groups; /* by key */
    struct group **list;  /* in order, where `sorted` */
    bool sorted;
    struct filter *filter;
    size_t filter_count;
    buffer_t key;
};

/* --- the object -------------------------------------------------------- */

static const field_t *field_of (const fields_t *fields, const char *name)
{
    const field_t *field = field_named (fields, name);

    if (!field)
        abort ();
    return field;
}

static struct order order_of (const fields_t *fields, const char *names)
{
    struct order order = {NULL, 0};
    GL_AUTOFREE char *copy = xstrdup (names);
    char *rest = NULL;

    for (char *name = strtok_r (copy, ",", &rest); name;
         name = strtok_r (NULL, ",", &rest)) {
        bool descends = name[0] == '-';
        order.part
            = xreallocarray (order.part, order.count + 1, sizeof (*order.part));
        order.part[order.count].field = field_of (fields, name + descends);
        order.part[order.count++].descends = descends;
    }
    return order;
}

static bool is_key (const cube_t *cube, const field_t *field)
{
    for (size_t i = 0; i < cube->by.count; i++)
        if (cube->by.part[i].field == field)
            return true;
    return false;
}

cube_t *cube_new (const fields_t *fields, const char *by)
{
    cube_t *cube = xcalloc (1, sizeof (*cube));

    cube->fields = fields;
    cube->by = order_of (fields, by);
    cube->measure = xcalloc (fields->count, sizeof (*cube->measure));
    for (size_t i = 0; i < fields->count; i++)
        if (field_is_measure (&fields->field[i])
            && !is_key (cube, &fields->field[i]))
            cube->measure[cube->measure_count++] = &fields->field[i];
    return cube;
}

void cube_measures (cube_t *cube, const char *names)
{
    struct order order = order_of (cube->fields, names);

    cube->measure_count = order.count;
    for (size_t i = 0; i < order.count; i++)
        cube->measure[i] = order.part[i].field;
    free (order.part);
}

static void free_group (cube_t *cube, struct group *group)
{
    HASH_DEL (cube->groups, group);
    if (cube->last == group)
        cube->last = NULL;
    fields_clear (cube->fields, group->row);
    free (group->row);
    free (group->member);
    free (group->key);
    free (group);
}

void cube_free (cube_t *cube)
{
    struct group *group, *next;

    if (!cube)
        return;
    HASH_ITER (hh, cube->groups, group, next)
    {
        free_group (cube, group);
    }
    for (size_t i = 0; i < cube->filter_count; i++)
        free (cube->filter[i].value);
    free (cube->filter);
    free (cube->by.part);
    free (cube->sort.part);
    free (cube->measure);
    free (cube->list);
    buffer_done (&cube->key);
    free (cube);
}

/* --- filters ----------------------------------------------------------- */

static void add_filter (cube_t *cube, struct filter filter)
{
    cube->filter = xreallocarray (cube->filter, cube->filter_count + 1,
                                  sizeof (*cube->filter));
    cube->filter[cube->filter_count++] = filter;
}

void cube_where (cube_t *cube, const char *field, const char *value)
{
    add_filter (cube, (struct filter){.field = field_of (cube->fields, field),
                                      .value = xstrdup (value)});
}

void cube_where_wanted (cube_t *cube, cube_wants_f wants, void *arg)
{
    add_filter (cube, (struct filter){.wants = wants, .arg = arg});
}

static bool passes (const struct filter *filter, const void *row)
{
    BUFFER_AUTO text = BUFFER_INIT;

    if (!filter->field)
        return filter->wants (row, filter->arg);
    if (field_is_absent (filter->field, row))
        return !filter->value;
    field_text (filter->field, row, &text);
    return filter->value && !strcmp (buffer_text (&text), filter->value);
}

/* --- rows in ----------------------------------------------------------- */

/* A NUL, which texts do not contain, ends a value. */
static void make_key (const cube_t *cube, const void *row, buffer_t *key)
{
    buffer_clear (key);
    for (size_t i = 0; i < cube->by.count; i++) {
        const field_t *field = cube->by.part[i].field;
        bool absent = field_is_absent (field, row);
        buffer_add_char (key, absent ? '-' : '+');
        if (absent)
            continue;
        field_value (field, row, key);
        buffer_add_char (key, '\0');
    }
}

static struct group *find_group (const cube_t *cube, const buffer_t *key)
{
    struct group *group;

    HASH_FIND (hh, cube->groups, buffer_text (key), key->length, group);
    return group;
}

static struct group *get_group (cube_t *cube, const void *row)
{
    struct group *group;

    make_key (cube, row, &cube->key);
    group = find_group (cube, &cube->key);
    if (group)
        return group;
    group = xcalloc (1, sizeof (*group));
    group->row = xmalloc (cube->fields->size);
    fields_init (cube->fields, group->row);
    for (size_t i = 0; i < cube->by.count; i++)
        field_copy (cube->by.part[i].field, group->row, row);
    group->key = memcpy (xmalloc (cube->key.length), buffer_text (&cube->key),
                         cube->key.length);
    HASH_ADD_KEYPTR (hh, cube->groups, group->key, cube->key.length, group);
    return group;
}

static void add_measures (const cube_t *cube, void *to, const void *from,
                          int sign)
{
    for (size_t i = 0; i < cube->measure_count; i++)
        field_add (cube->measure[i], to, from, sign);
}

static int compare_by (const struct order *order, const void *a, const void *b)
{
    int result = 0;

    for (size_t i = 0; i < order->count && result == 0; i++) {
        result = field_compare (order->part[i].field, a, b);
        if (order->part[i].descends)
            result = -result;
    }
    return result;
}

static struct group *add_row (cube_t *cube, const void *row)
{
    struct group *group;

    for (size_t i = 0; i < cube->filter_count; i++)
        if (!passes (&cube->filter[i], row))
            return NULL;
    group = cube->last;
    if (!group || compare_by (&cube->by, group->row, row) != 0)
        group = cube->last = get_group (cube, row);
    add_measures (cube, group->row, row, 1);
    cube->sorted = false;
    return group;
}

void *cube_add (cube_t *cube, const void *row)
{
    struct group *group = add_row (cube, row);

    return group ? group->row : NULL;
}

void *cube_add_at (cube_t *cube, const void *row, size_t index)
{
    struct group *group = add_row (cube, row);

    if (!group)
        return NULL;
    if (group->member_count == group->member_size) {
        group->member_size = group->member_size * 2 + 4;
        group->member = xreallocarray (group->member, group->member_size,
                                       sizeof (*group->member));
    }
    group->member[group->member_count++] = index;
    return group->row;
}

void cube_add_list (cube_t *cube, const void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cube_add (cube, (const char *)rows + i * cube->fields->size);
}

void cube_add_cube (cube_t *cube, cube_t *from)
{
    for (size_t i = 0; i < cube_count (from); i++)
        cube_add (cube, cube_row (from, i));
}

/* --- groups out -------------------------------------------------------- */

static int compare_groups (const void *a, const void *b, void *arg)
{
    const cube_t *cube = arg;
    const struct group *x = *(struct group *const *)a,
                       *y = *(struct group *const *)b;
    int result = compare_by (&cube->sort, x->row, y->row);

    return result ? result : compare_by (&cube->by, x->row, y->row);
}

void cube_sort (cube_t *cube, const char *order)
{
    free (cube->sort.part);
    cube->sort = order_of (cube->fields, order);
    cube->sorted = false;
}

size_t cube_count (const cube_t *cube)
{
    return HASH_COUNT (cube->groups);
}

static struct group *group_at (cube_t *cube, size_t index)
{
    size_t count = 0;

    if (cube->sorted)
        return cube->list[index];
    cube->list = xreallocarray (cube->list, cube_count (cube) + 1,
                                sizeof (*cube->list));
    for (struct group *group = cube->groups; group; group = group->hh.next)
        cube->list[count++] = group;
    if (count > 1)
        qsort_r (cube->list, count, sizeof (*cube->list), compare_groups, cube);
    cube->sorted = true;
    return cube->list[index];
}

const void *cube_row (cube_t *cube, size_t index)
{
    return group_at (cube, index)->row;
}

void cube_hand_over (cube_t *cube, size_t index, void *ret_row)
{
    fields_move (cube->fields, ret_row, group_at (cube, index)->row);
    cube->last = NULL; /* its keys are moved */
}

static const struct group *group_like (const cube_t *cube, const void *row)
{
    BUFFER_AUTO key = BUFFER_INIT;

    make_key (cube, row, &key);
    return find_group (cube, &key);
}

const void *cube_find (const cube_t *cube, const void *keys)
{
    const struct group *group = group_like (cube, keys);

    return group ? group->row : NULL;
}

const size_t *cube_members (const cube_t *cube, const void *keys,
                            size_t *ret_count)
{
    const struct group *group = group_like (cube, keys);

    *ret_count = group ? group->member_count : 0;
    return group ? group->member : NULL;
}

static bool agree (const cube_t *cube, const field_t *field, const void *row,
                   size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (field_compare (field, row, cube->list[i]->row) != 0)
            return false;
    return true;
}

void cube_sum (cube_t *cube, size_t first, size_t end, void *ret_row)
{
    const void *row = first < end ? cube_row (cube, first) : NULL;

    fields_reset (cube->fields, ret_row);
    for (size_t i = 0; row && i < cube->by.count; i++)
        if (agree (cube, cube->by.part[i].field, row, first, end))
            field_copy (cube->by.part[i].field, ret_row, row);
    for (size_t i = first; i < end; i++)
        add_measures (cube, ret_row, cube->list[i]->row, 1);
}

size_t cube_same (cube_t *cube, size_t first, size_t keys)
{
    const struct order leading = {cube->by.part, keys};
    const void *row = cube_row (cube, first);
    size_t end = first + 1;

    while (end < cube_count (cube)
           && compare_by (&leading, row, cube->list[end]->row) == 0)
        end++;
    return end;
}

/* --- two cubes --------------------------------------------------------- */

static void take_side (cube_t *to, const cube_t *from, bool later)
{
    for (struct group *side = from->groups; side; side = side->hh.next) {
        struct group *group = get_group (to, side->row);
        if (later)
            group->later = side->row;
        else
            group->earlier = side->row;
        add_measures (to, group->row, side->row, later ? 1 : -1);
    }
}

static bool is_same (const cube_t *cube, const struct group *group)
{
    for (size_t i = 0; i < cube->measure_count; i++)
        if (!field_is_absent (cube->measure[i], group->row))
            return false;
    return true;
}

cube_t *cube_difference (const cube_t *later, const cube_t *earlier, bool all)
{
    cube_t *cube = cube_new (later->fields, "");
    struct group *group, *next;

    cube->by.count = later->by.count;
    cube->by.part = xcalloc (cube->by.count + 1, sizeof (*cube->by.part));
    memcpy (cube->by.part, later->by.part,
            cube->by.count * sizeof (*cube->by.part));
    cube->measure_count = later->measure_count;
    memcpy (cube->measure, later->measure,
            cube->measure_count * sizeof (*cube->measure));
    take_side (cube, later, true);
    take_side (cube, earlier, false);
    HASH_ITER (hh, cube->groups, group, next)
    {
        if (!all && is_same (cube, group))
            free_group (cube, group);
    }
    return cube;
}

const void *cube_later (cube_t *difference, size_t index)
{
    return group_at (difference, index)->later;
}

const void *cube_earlier (cube_t *difference, size_t index)
{
    return group_at (difference, index)->earlier;
}
