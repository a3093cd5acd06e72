/*
 * retag.h: change the project of a job that has been recorded, audited. The one
 * place that decides who may: the collector calls it for users, the command for
 * root next to a store.
 */
#ifndef GL_RETAG_H
#define GL_RETAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "site/segment.h"
#include "site/site.h"
#include "store/store.h"

typedef struct {
    const char *job;     /* "4711", "4711_3", "4711+1" */
    const char *project; /* a tag */
    const char *submit;  /* of these segments only, in timespec.h's grammar;
                            NULL: the latest submission,
                            with its requeues and resizes */
    const char *labels;  /* "k=v,k=v"; NULL: as they are */
    const char *cluster; /* NULL: any, if one cluster alone has the job */
} retag_request_t;

typedef struct {
    uid_t uid;
    const char *user; /* name of the uid on this host; NULL: it has none */
    bool root;        /* may change everybody's, and to every project */
} retag_person_t;

typedef struct {
    size_t segments; /* changed */
    char cluster[129];
    uint64_t id_job;
    int64_t time_submit;
    char previous[65]; /* project before; "": untagged */
} retag_done_t;

/* Decide and do it, in one transaction. `now`: seconds, for the audit. -1 with
 * a text for the person who asked: why not. */
int retag (store_t *store, const site_t *site, const retag_person_t *person,
           const retag_request_t *request, int64_t now, retag_done_t *ret_done,
           gl_error_t *error);

#endif /* !GL_RETAG_H */
