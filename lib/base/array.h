/*
 * array.h: arrays that grow one entry at a time, and what is in them.
 *
 *     *GL_APPEND (list->item, list->count) = (item_t){...};
 *
 * The array is NULL and the count 0 at first; free() frees it. The room follows
 * from the count alone: it doubles at powers of two. So an array that grows by
 * GL_APPEND is never allocated in another way, but its count may fall.
 */
#ifndef GL_BASE_ARRAY_H
#define GL_BASE_ARRAY_H

#include "base/memory.h"

/* Room for entry number `count`, where those before it are in use. */
static inline void *array_room (void *array, size_t count, size_t size)
{
    if (count && (count < 4 || (count & (count - 1))))
        return array;
    return xreallocarray (array, count ? 2 * count : 4, size);
}

/* One more entry at the end, uninitialised; a pointer to it. */
#define GL_APPEND(array, count)                                     \
    ({                                                              \
        (array) = array_room ((array), (count), sizeof (*(array))); \
        &(array)[(count)++];                                        \
    })

/* The first entry for which `condition`, an expression of the pointer `it`, is
 * true; NULL. */
#define GL_FIND(array, count, it, condition)                         \
    ({                                                               \
        __typeof__ (*(array)) *found_ = NULL;                        \
        for (size_t i_ = 0; i_ < (size_t)(count) && !found_; i_++) { \
            __typeof__ (*(array)) *it = &(array)[i_];                \
            if (condition)                                           \
                found_ = it;                                         \
        }                                                            \
        found_;                                                      \
    })
/* Whether there is one. */
#define GL_ANY(array, count, it, condition) \
    (GL_FIND (array, count, it, condition) != NULL)

/* Free the array once `done` is done with each entry, the pointer `it`. */
#define GL_FREE_EACH(array, count, it, done)              \
    do {                                                  \
        for (size_t i_ = 0; i_ < (size_t)(count); i_++) { \
            __typeof__ (*(array)) *it = &(array)[i_];     \
            done;                                         \
        }                                                 \
        free (array);                                     \
    } while (0)

#endif /* !GL_BASE_ARRAY_H */
