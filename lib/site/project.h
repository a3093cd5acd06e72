/*
 * project.h: which project, which labels, which team a segment belongs to.
 *
 * The first that answers, in the order of the design (6.1): an audited re-tag;
 * admin_comment as the site's job_submit wrote it; the tag in a node's record
 * if the site's dated allow-list accepts it for the job's user or account;
 * wckey, where the site opts in; the default of the account; none.
 */
#ifndef GL_SITE_PROJECT_H
#define GL_SITE_PROJECT_H

#include "base/tag.h"
#include "site/account.h"
#include "site/segment.h"
#include "site/site.h"

typedef enum {
    PROJECT_NONE,
    PROJECT_RETAG,
    PROJECT_ADMIN_COMMENT,
    PROJECT_RECORD,
    PROJECT_WCKEY,
    PROJECT_ACCOUNT_DEFAULT,
} project_rule_t;

/* "the node's record (option)", for `explain`. */
const char *project_rule_name (project_rule_t rule);

typedef struct {
    char project[TAG_MAX + 1];  /* "": untagged */
    char labels[LABELS_MAX + 1]; /* "": none */
    project_rule_t rule;
    tag_source_t source;         /* of a record's tag */
    char refused[TAG_MAX + 1];   /* a record's tag that the allow-list does not
                                    accept, else "" */
} project_t;

/* `record` and `retag` (what the join chose, evidence/evidence.h) may be NULL. Labels
 * of a retag replace those of the record. Pure. */
void project_resolve (const site_t *site, const segment_t *segment,
                      const evidence_t *record, const retag_t *retag,
                      project_t *ret_project);

/* The project of an account's jobs that have no tag, at that instant; NULL: none. */
const char *project_of_account (const site_t *site, const char *account,
                                int64_t instant);

/* The team that owns the cluster's account at that instant, or NULL: the one
 * that lists the account itself, else the one that lists the nearest
 * "subtree:NAME" above it. Without a tree (NULL) an account stands alone. */
const site_team_t *team_of_account (const site_t *site,
                                    const accounts_t *accounts,
                                    const char *cluster, const char *account,
                                    int64_t instant);

/* The entry of a team in a period, by its name, else by an alias, else by a name that
 * it gets only later: of several, whose dates follow one another, the last. `name`
 * NULL, or no entry: NULL. Its institution, class and cost center are those of the
 * period's bill. */
const site_team_t *team_within (const site_t *site, const char *name,
                                period_t period);

/* The same in a month, as "2026-10". */
const site_team_t *team_in_month (const site_t *site, const char *name,
                                  const char *month);
/* It is the entry's name or an alias. */
bool team_is_called (const site_team_t *team, const char *name);
/* The name that the team so called has last; NULL: there is none. */
const char *team_current_name (const site_t *site, const char *name);

/* The same in a period, also of one that was renamed several times or gets this name
 * only later; the name itself if there is none. */
const char *team_last_name (const site_t *site, const char *name,
                            period_t period);

/* Adds the earlier and later names of the teams so called: a team that is renamed
 * stays the same. Of teams that became one, each has the names of the one, and not
 * those of the others. */
void team_add_names (const site_t *site, text_list_t *names);

/* One label's value, copied to buf; false if the list has no such key. */
bool label_value (const char *labels, const char *key, char buf[TAG_MAX + 1]);

#endif /* !GL_SITE_PROJECT_H */
