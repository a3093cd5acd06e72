#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/tres.h"

/* Slurm's "no value": NO_VAL64 is 2^64-2, INFINITE64 2^64-3; anything up
 * there is no count (slurm.h, as slurmdb_defs.c tests it). */
#define NO_VALUE_FROM 0xfffffffffffffffdULL

/* The static ids of every slurmdbd (slurmdbd.h, enum tres_types). */
#define TRES_ID_CPU 1
#define TRES_ID_MEM 2
#define TRES_ID_NODE 4
#define TRES_ID_STATIC_LAST 8

/* What is kept; the others are parts of a node that no one bills as GPU. */
static const char *const gpu_names[] = {"gpu", "mps", "shard"};

struct tres_entry {
    const char *name; /* "gpu:a100", borrowed until tres_end */
    size_t length;
    uint64_t count;
};

static bool is_gpu_name (const char *name, size_t length)
{
    const char *colon = memchr (name, ':', length);
    size_t word = colon ? (size_t)(colon - name) : length;

    return GL_ANY (gpu_names, GL_ARRAY_SIZE (gpu_names), it,
                   strlen (*it) == word && memcmp (*it, name, word) == 0);
}

/* Types come from slurm.conf and from files: printable, without blanks and
 * without what separates entries of a canonical text. */
static bool name_valid (const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!isgraph ((unsigned char)text[i]) || text[i] == '='
            || text[i] == ',')
            return false;
    }
    return length > 0 && text[length - 1] != ':';
}

static int add_entry (tres_t *tres, const char *name, size_t length,
                      uint64_t count, gl_error_t *error)
{
    struct tres_entry *entry = NULL;

    if (count == 0 || !is_gpu_name (name, length))
        return 0;
    if (!name_valid (name, length))
        return gl_error (error, "TRES name with a blank, a control character, "
                                "'=' or an empty type");
    for (size_t i = 0; i < tres->count && !entry; i++) {
        if (tres->entries[i].length == length
            && memcmp (tres->entries[i].name, name, length) == 0)
            entry = &tres->entries[i];
    }
    if (!entry) {
        if (tres->count == tres->size) {
            tres->size = tres->size ? 2 * tres->size : 8;
            tres->entries = xreallocarray (tres->entries, tres->size,
                                           sizeof (*tres->entries));
        }
        entry = &tres->entries[tres->count++];
        *entry = (struct tres_entry){name, length, 0};
    }
    if (count > GRES_COUNT_MAX - entry->count)
        return gl_error (error,
                         "gres/%.*s=%llu: more than %d devices in one job",
                         (int)(length > 64 ? 64 : length), name,
                         (unsigned long long)count, GRES_COUNT_MAX);
    entry->count += count;
    return 0;
}

static int add_amount (uint64_t *amount, const char *type, uint64_t count,
                       gl_error_t *error)
{
    if (*amount == TRES_UNKNOWN)
        *amount = 0;
    if (__builtin_add_overflow (*amount, count, amount)
        || *amount >= NO_VALUE_FROM)
        return gl_error (error, "TRES %s: the sum is beyond 64 bits", type);
    return 0;
}

static int add_typed (tres_t *tres, const char *type, size_t type_length,
                      const char *name, size_t name_length, uint64_t count,
                      gl_error_t *error)
{
    const struct {
        const char *type;
        uint64_t *amount;
    } amounts[] = {
        {"cpu", &tres->cpus},
        {"mem", &tres->memory_mb},
        {"node", &tres->nodes},
    };
    bool gres = type_length == 4 && memcmp (type, "gres", 4) == 0;

    if (count >= NO_VALUE_FROM) {
        tres->gpu_without_count |= gres && is_gpu_name (name, name_length);
        return 0;
    }
    if (gres)
        return add_entry (tres, name, name_length, count, error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (amounts); i++) {
        if (strlen (amounts[i].type) == type_length
            && memcmp (amounts[i].type, type, type_length) == 0)
            return add_amount (amounts[i].amount, amounts[i].type, count,
                               error);
    }
    return 0;
}

void tres_begin (tres_t *tres)
{
    tres->cpus = tres->memory_mb = tres->nodes = TRES_UNKNOWN;
    tres->gres = "";
    tres->unresolved = 0;
    tres->gpu_without_count = false;
    tres->count = 0;
    buffer_clear (&tres->text);
}

int tres_add (tres_t *tres, const char *type, const char *name, uint64_t count,
              gl_error_t *error)
{
    const char *n = name ? name : "";

    return add_typed (tres, type, strlen (type), n, strlen (n), count, error);
}

int tres_add_gres_name (tres_t *tres, const char *name, size_t length,
                        uint64_t count, gl_error_t *error)
{
    return add_typed (tres, "gres", 4, name, length, count, error);
}

static int compare_entries (const void *pa, const void *pb)
{
    const struct tres_entry *a = pa, *b = pb;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp (a->name, b->name, shorter);

    if (order != 0)
        return order;
    return (a->length > b->length) - (a->length < b->length);
}

void tres_end (tres_t *tres)
{
    if (tres->count > 1)
        qsort (tres->entries, tres->count, sizeof (*tres->entries),
               compare_entries);
    for (size_t i = 0; i < tres->count; i++) {
        const struct tres_entry *e = &tres->entries[i];
        if (i > 0)
            buffer_add_char (&tres->text, ',');
        buffer_add (&tres->text, e->name, e->length);
        buffer_printf (&tres->text, "=%llu", (unsigned long long)e->count);
    }
    tres->count = 0;
    tres->gres = buffer_text (&tres->text);
}

void tres_done (tres_t *tres)
{
    free (tres->entries);
    buffer_done (&tres->text);
    *tres = (tres_t)TRES_INIT;
}

/* The power of 1024 that a suffix means, or -1. */
static int suffix_power (char c)
{
    static const char suffixes[] = "KMGTP";
    const char *p = c ? strchr (suffixes, c) : NULL;

    return p ? (int)(p - suffixes) + 1 : -1;
}

/* NUMBER[.FRACTION][SUFFIX] in units of 1024^base_power; a fraction needs a
 * suffix and is rounded down to the unit ("1.50G" is 1536 M). */
static int parse_amount (const char *text, size_t length, int base_power,
                         uint64_t *ret_value)
{
    int power = length > 1 ? suffix_power (text[length - 1]) : -1;
    size_t digits = power >= 0 ? length - 1 : length;
    const char *point = memchr (text, '.', digits);
    size_t whole = point ? (size_t)(point - text) : digits;
    uint64_t value = 0, fraction = 0, scale = 1;
    int up = power >= 0 ? power - base_power : 0;

    if (power < 0 && point)
        return -1;
    if (!(point && whole == 0) && number_u64 (text, whole, &value) < 0)
        return -1;
    if (point) {
        size_t places = digits - whole - 1;
        if (places > 6 || number_u64 (point + 1, places, &fraction) < 0)
            return -1;
        for (size_t i = 0; i < places; i++)
            scale *= 10;
    }
    for (; up > 0; up--) {
        if (__builtin_mul_overflow (value, 1024, &value)
            || __builtin_mul_overflow (fraction, 1024, &fraction))
            return -1;
    }
    for (; up < 0; up++) {
        value /= 1024;
        fraction /= 1024;
    }
    if (__builtin_add_overflow (value, fraction / scale, &value))
        return -1;
    *ret_value = value;
    return 0;
}

/* "gres/gpu:a100" or "cpu" */
static int add_by_name (tres_t *tres, const char *key, size_t length,
                        const char *value, size_t value_length,
                        gl_error_t *error)
{
    const char *slash = memchr (key, '/', length);
    size_t type_length = slash ? (size_t)(slash - key) : length;
    const char *name = slash ? slash + 1 : "";
    size_t name_length = slash ? length - type_length - 1 : 0;
    bool mem = type_length == 3 && memcmp (key, "mem", 3) == 0;
    uint64_t count;

    if (value_length == 4 && memcmp (value, "NONE", 4) == 0)
        count = TRES_UNKNOWN;
    else if (parse_amount (value, value_length, mem ? 2 : 0, &count) < 0)
        return gl_error (error, "'%.*s' is not a count for TRES %.*s",
                         (int)(value_length > 64 ? 64 : value_length), value,
                         (int)(length > 64 ? 64 : length), key);
    return add_typed (tres, key, type_length, name, name_length, count, error);
}

static bool resolve_static (uint64_t id, const char **ret_type)
{
    static const char *const types[TRES_ID_STATIC_LAST + 1] = {
        [TRES_ID_CPU] = "cpu",
        [TRES_ID_MEM] = "mem",
        [TRES_ID_NODE] = "node",
    };

    if (id > TRES_ID_STATIC_LAST)
        return false;
    *ret_type = types[id] ? types[id] : "";
    return true;
}

static int add_by_id (tres_t *tres, uint64_t id, const char *value,
                      size_t value_length, tres_resolve_f resolve, void *arg,
                      gl_error_t *error)
{
    const char *type = "", *name = "";
    uint64_t count;

    if (number_u64 (value, value_length, &count) < 0)
        return gl_error (error, "'%.*s' is not a count for TRES id %llu",
                         (int)(value_length > 64 ? 64 : value_length), value,
                         (unsigned long long)id);
    if (!resolve_static (id, &type)
        && !(resolve && resolve (id, &type, &name, arg))) {
        tres->unresolved++;
        return 0;
    }
    return tres_add (tres, type ? type : "", name, count, error);
}

static int parse_items (tres_t *tres, const char *text, tres_resolve_f resolve,
                        void *arg, gl_error_t *error)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn (p, ",");
        const char *equals = memchr (p, '=', length);
        size_t key = equals ? (size_t)(equals - p) : 0;
        uint64_t id;
        int rc;

        if (key == 0)
            return gl_error (error, "'%.*s' is not NAME=COUNT",
                             (int)(length > 64 ? 64 : length), p);
        if (number_u64 (p, key, &id) == 0)
            rc = add_by_id (tres, id, equals + 1, length - key - 1, resolve,
                            arg, error);
        else
            rc = add_by_name (tres, p, key, equals + 1, length - key - 1,
                              error);
        if (rc < 0)
            return -1;
        p += length;
        if (*p == ',' && *++p == '\0')
            return gl_error (error, "it ends with a comma: cut off?");
    }
    return 0;
}

int tres_parse (tres_t *tres, const char *text, tres_resolve_f resolve,
                void *arg, gl_error_t *error)
{
    /* the database keeps a leading comma after some edits */
    if (text && *text == ',')
        text++;
    tres_begin (tres);
    if (text && parse_items (tres, text, resolve, arg, error) < 0)
        return gl_error_prefix (error, "TRES '%.200s'", text);
    tres_end (tres);
    return 0;
}

bool gres_next (const char **cursor, gres_item_t *ret_item)
{
    const char *p = *cursor;
    size_t length = strcspn (p, ",");
    const char *equals = memchr (p, '=', length);
    const char *colon;
    gres_item_t item = {.name = p};

    if (!equals
        || number_u64 (equals + 1, p + length - equals - 1, &item.count) < 0)
        return false;
    colon = memchr (p, ':', equals - p);
    item.name_length = (colon ? colon : equals) - p;
    if (colon) {
        item.type = colon + 1;
        item.type_length = equals - item.type;
    }
    *cursor = p[length] == ',' ? p + length + 1 : p + length;
    *ret_item = item;
    return true;
}

static bool is_named (const gres_item_t *item, const char *name)
{
    return item->name_length == strlen (name)
           && memcmp (item->name, name, item->name_length) == 0;
}

static uint64_t count_named (const char *gres, const char *name,
                             gres_device_f device, void *arg,
                             bool *ret_contradiction)
{
    bool has_total = false;
    uint64_t total = 0, typed = 0;
    const char *cursor = gres;
    gres_item_t item;

    while (gres_next (&cursor, &item)) {
        if (!is_named (&item, name))
            continue;
        if (item.type) {
            typed += item.count;
            if (device)
                device (item.type, item.type_length, item.count, arg);
        } else {
            has_total = true;
            total += item.count;
        }
    }
    if (ret_contradiction)
        *ret_contradiction = has_total && typed > total;
    if (typed < total && device)
        device (NULL, 0, total - typed, arg);
    return typed > total ? typed : total;
}

uint64_t gres_devices (const char *gres, gres_device_f device, void *arg,
                       bool *ret_contradiction)
{
    return count_named (gres, "gpu", device, arg, ret_contradiction);
}

uint64_t gres_parts (const char *gres, const char *name, gres_device_f device,
                     void *arg)
{
    if (count_named (gres, "gpu", NULL, NULL, NULL) > 0)
        return 0;
    return count_named (gres, name, device, arg, NULL);
}

bool gres_any (const char *gres)
{
    const char *cursor = gres ? gres : "";
    gres_item_t item;

    while (gres_next (&cursor, &item)) {
        if (item.count > 0)
            return true;
    }
    return false;
}
