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
#include "users/job_choice.h"

typedef struct {
    job_request_t of;
    const char *project; /* a tag */
    const char *labels;  /* "k=v,k=v"; NULL: as they are */
} retag_request_t;

typedef struct {
    size_t segments; /* changed */
    char cluster[129];
    uint64_t id_job;
    int64_t time_submit;
    char previous[65]; /* project before; "": untagged */
} retag_done_t;

/* Decide and do it, in one transaction; root may change to every project. `now`:
 * seconds, for the audit. -1 with a text for the person who asked: why not. */
int retag (store_t *store, const site_t *site, const job_person_t *person,
           const retag_request_t *request, int64_t now, retag_done_t *ret_done,
           gl_error_t *error);

#endif /* !GL_RETAG_H */
