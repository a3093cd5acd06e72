/* segments.h: an import kept in memory, for tests that look at it. */
#ifndef GL_TESTS_SUPPORT_SEGMENTS_H
#define GL_TESTS_SUPPORT_SEGMENTS_H

#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "import/import.h"

typedef struct {
    segment_t *segment; /* texts are copies */
    size_t count;
} segments_t;

static inline const char *segments_copy (const char *text)
{
    return xstrdup (text);
}

static inline int segments_add (const segment_t *s, void *arg,
                                gl_error_t *error)
{
    segments_t *all = arg;
    segment_t *to;

    (void)error;
    all->segment = xreallocarray (all->segment, all->count + 1, sizeof (*s));
    to = &all->segment[all->count++];
    *to = *s;
#define COPY(field) to->field = segments_copy (s->field)
    COPY (cluster);
    COPY (user);
    COPY (account);
    COPY (partition);
    COPY (qos);
    COPY (wckey);
    COPY (reservation);
    COPY (nodelist);
    COPY (job_name);
    COPY (admin_comment);
    COPY (gres);
    COPY (gres_requested);
#undef COPY
    return 0;
}

static inline void segments_free (segments_t *all)
{
    for (size_t i = 0; i < all->count; i++) {
        segment_t *s = &all->segment[i];
        const char *texts[] = {
            s->cluster,     s->user,     s->account,  s->partition,
            s->qos,         s->wckey,    s->nodelist, s->reservation,
            s->job_name,    s->gres,     s->admin_comment,
            s->gres_requested,
        };
        for (size_t n = 0; n < GL_ARRAY_SIZE (texts); n++)
            free ((char *)texts[n]);
    }
    free (all->segment);
    *all = (segments_t){0};
}

static inline const zone_t *segments_zone (const char *cluster, void *arg)
{
    (void)cluster;
    return arg;
}

/* Import a file, with columns that users fill in, whose naive times are of
 * `zone`. 0, or -1 with the error. */
static inline int segments_import (const char *path, const char *zone_name_,
                                   int64_t as_of, segments_t *ret,
                                   import_stats_t *ret_stats,
                                   gl_error_t *error)
{
    zone_t *zone = zone_open (zone_name_, error);
    const import_options_t options = {
        .cluster = "test",
        .zone = segments_zone,
        .zone_arg = zone,
        .trust_text = true,
        .as_of = as_of,
    };
    import_t *import = zone ? import_open (path, &options, NULL, NULL, error)
                            : NULL;
    int rc = import ? import_run (import, segments_add, ret, error) : -1;

    if (rc == 0 && ret_stats)
        *ret_stats = *import_stats (import);
    import_close (import);
    zone_close (zone);
    return rc;
}

/* The same from bytes. */
static inline int segments_import_bytes (const void *data, size_t length,
                                         const char *zone, int64_t as_of,
                                         segments_t *ret,
                                         import_stats_t *ret_stats,
                                         gl_error_t *error)
{
    char path[] = "/tmp/gl_import.XXXXXX";
    int fd = mkstemp (path), rc = -1;

    if (fd >= 0 && write (fd, data, length) == (ssize_t)length)
        rc = segments_import (path, zone, as_of, ret, ret_stats, error);
    if (fd >= 0)
        close (fd);
    unlink (path);
    return rc;
}

#endif /* !GL_TESTS_SUPPORT_SEGMENTS_H */
