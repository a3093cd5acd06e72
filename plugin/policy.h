/*
 * policy.h: the allow-list of projects, by user (docs/formats/projects.md).
 *
 *     # name [user ... | account:NAME ...]
 *     alpha  alice bob
 *     beta   account:vision
 *     open
 *
 * A project without users is open to all. SPANK cannot see the account that a
 * job is submitted under, so at submit an `account:` entry lets every user
 * pass; job_submit and the host decide those. The file is read anew for each
 * submission, line by line, at most POLICY_FILE_MAX bytes of it.
 */
#ifndef GL_PLUGIN_POLICY_H
#define GL_PLUGIN_POLICY_H

#include <stdbool.h>

#include "base/error.h"

/* 1 MiB holds some 20,000 projects and is read in about a millisecond. */
#define POLICY_FILE_MAX (1 << 20)
#define POLICY_LINE_MAX 4096
#define POLICY_LIST_MAX 1024

typedef struct {
    bool known;                  /* `project` may be used by `user` */
    char yours[POLICY_LIST_MAX]; /* "a, b": the user's projects, cut with
                                  * ", ..." when there are many; "": none */
} policy_answer_t;

/* `project` may be NULL (then it is not known). An error (no such file, a line
 * that breaks the format, with its number) says nothing about the project. */
int policy_ask (const char *file, const char *user, const char *project,
                policy_answer_t *ret_answer, gl_error_t *error);

#endif /* !GL_PLUGIN_POLICY_H */
