#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <gmp.h>

#include "base/limbs.h"
#include "base/memory.h"

/* Larger blocks are malloc()'s. */
#define POOLED_MAX 64
#define STEP 8
#define CHUNK ((size_t)64 << 10)

struct block {
    struct block *next;
};

static struct block *unused[POOLED_MAX / STEP + 1]; /* by size / STEP */
static char *rest;                                  /* of the last chunk */
static size_t rest_size;

static size_t rounded (size_t size)
{
    return size > STEP ? (size + STEP - 1) & ~(size_t)(STEP - 1) : STEP;
}

static void *cut (size_t size)
{
    char *block;

    if (rest_size < size) {
        rest = xmalloc (CHUNK);
        rest_size = CHUNK;
    }
    block = rest;
    rest += size;
    rest_size -= size;
    return block;
}

static void *allocate (size_t size)
{
    struct block *block;

    size = rounded (size);
    if (size > POOLED_MAX)
        return xmalloc (size);
    block = unused[size / STEP];
    if (!block)
        return cut (size);
    unused[size / STEP] = block->next;
    return block;
}

static void release (void *ptr, size_t size)
{
    struct block *block = ptr;

    size = rounded (size);
    if (size > POOLED_MAX) {
        free (ptr);
        return;
    }
    block->next = unused[size / STEP];
    unused[size / STEP] = block;
}

static void *resize (void *ptr, size_t from, size_t to)
{
    void *moved;

    if (rounded (from) == rounded (to))
        return ptr;
    if (rounded (from) > POOLED_MAX && rounded (to) > POOLED_MAX)
        return xrealloc (ptr, rounded (to));
    moved = allocate (to);
    memcpy (moved, ptr, from < to ? from : to);
    release (ptr, from);
    return moved;
}

/* The sanitizer looks at each block. */
#ifdef __SANITIZE_ADDRESS__
#define POOLED false
#else
#define POOLED true
#endif

void limbs_pool (void)
{
    if (POOLED)
        mp_set_memory_functions (allocate, resize, release);
}
