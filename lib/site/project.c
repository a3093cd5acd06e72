#include <stdio.h>
#include <string.h>

#include "site/project.h"

#define COMMENT_PREFIX "gpuledger: project="

const char *project_rule_name (project_rule_t rule)
{
    static const char *const names[] = {
        [PROJECT_NONE] = "untagged",
        [PROJECT_RETAG] = "audited re-tag",
        [PROJECT_ADMIN_COMMENT] = "admin_comment, written at submission",
        [PROJECT_RECORD] = "the node's record",
        [PROJECT_WCKEY] = "wckey",
        [PROJECT_ACCOUNT_DEFAULT] = "default of the account",
    };

    return names[rule];
}

/* Without a list of projects every tag counts. */
static bool accepted (const site_t *site, const segment_t *s, const char *tag)
{
    for (size_t i = 0; i < site->project_count; i++) {
        const site_project_t *p = &site->projects[i];
        if (strcmp (p->name, tag) || !period_has (p->valid, s->time_start))
            continue;
        if ((p->users.count == 0 && p->accounts.count == 0)
            || texts_have (&p->users, s->user)
            || texts_have (&p->accounts, s->account))
            return true;
    }
    return site->project_count == 0;
}

const char *project_of_account (const site_t *site, const char *account,
                                int64_t instant)
{
    for (size_t i = 0; i < site->project_count; i++) {
        const site_project_t *p = &site->projects[i];
        if (period_has (p->valid, instant)
            && texts_have (&p->default_for, account))
            return p->name;
    }
    return NULL;
}

static bool take_tag (project_t *p, const char *tag, size_t length,
                      project_rule_t rule)
{
    if (!tag || !tag_valid (tag, length))
        return false;
    memcpy (p->project, tag, length);
    p->project[length] = '\0';
    p->rule = rule;
    return true;
}

static void take_labels (project_t *p, const char *labels, size_t length)
{
    if (!labels || length > LABELS_MAX)
        return;
    memcpy (p->labels, labels, length);
    p->labels[length] = '\0';
    if (labels_problem (p->labels))
        p->labels[0] = '\0';
}

/* "gpuledger: project=NAME source=SOURCE labels=K=V,K=V", docs/formats. */
static bool take_comment (project_t *p, const char *comment)
{
    const char *at = comment ? strstr (comment, COMMENT_PREFIX) : NULL;
    const char *labels;
    size_t length, entry;

    if (!at || (at != comment && at[-1] != ' ' && at[-1] != ';'))
        return false;
    at += strlen (COMMENT_PREFIX);
    length = strcspn (at, " ;");
    if (!take_tag (p, at, length, PROJECT_ADMIN_COMMENT))
        return false;
    at += length;
    entry = strcspn (at, ";");
    labels = strstr (at, " labels=");
    if (labels && labels < at + entry)
        take_labels (p, labels + 8, strcspn (labels + 8, " ;"));
    return true;
}

static bool ingest_record (const site_t *site, const segment_t *s,
                           const evidence_t *record, project_t *p)
{
    if (!record || !record->project
        || !tag_valid (record->project, strlen (record->project)))
        return false;
    if (!accepted (site, s, record->project)) {
        snprintf (p->refused, sizeof (p->refused), "%s", record->project);
        return false;
    }
    p->source = record->source;
    return take_tag (p, record->project, strlen (record->project),
                     PROJECT_RECORD);
}

static bool take_text (project_t *p, const char *text, project_rule_t rule)
{
    return text && take_tag (p, text, strlen (text), rule);
}

static bool take_retag (project_t *p, const retag_t *retag)
{
    if (!retag || !take_text (p, retag->project, PROJECT_RETAG))
        return false;
    if (retag->labels)
        take_labels (p, retag->labels, strlen (retag->labels));
    return true;
}

void project_resolve (const site_t *site, const segment_t *s,
                      const evidence_t *record, const retag_t *retag,
                      project_t *ret)
{
    project_t p = {.rule = PROJECT_NONE};

    if (record && record->labels)
        take_labels (&p, record->labels, strlen (record->labels));
    (void)(take_retag (&p, retag) || take_comment (&p, s->admin_comment)
           || ingest_record (site, s, record, &p)
           || (site->policy.wckey_is_project
               && take_text (&p, s->wckey, PROJECT_WCKEY))
           || take_text (&p,
                         project_of_account (site, s->account, s->time_start),
                         PROJECT_ACCOUNT_DEFAULT));
    *ret = p;
}

/* The team that lists `account` itself (or its subtree) at that instant. */
static const site_team_t *team_listing (const site_t *site, const char *account,
                                        bool leaf, int64_t instant)
{
    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (!period_has (team->valid, instant))
            continue;
        for (size_t k = 0; k < team->accounts.count; k++) {
            const char *item = team->accounts.item[k];
            bool subtree = !strncmp (item, "subtree:", 8);
            if ((subtree || leaf) && !strcmp (item + (subtree ? 8 : 0), account))
                return team;
        }
    }
    return NULL;
}

static const site_team_t *last_within (const site_t *site, const char *name,
                                       bool alias, period_t period)
{
    const site_team_t *last = NULL;

    for (size_t i = 0; name && i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (period_overlaps (team->valid, period)
            && (alias ? texts_have (&team->aliases, name)
                      : strcmp (team->name, name) == 0)
            && (!last || team->valid.start > last->valid.start))
            last = team;
    }
    return last;
}

bool team_is_called (const site_team_t *team, const char *name)
{
    return strcmp (team->name, name) == 0 || texts_have (&team->aliases, name);
}

const char *team_current_name (const site_t *site, const char *name)
{
    const site_team_t *last = NULL;

    for (size_t i = 0; i < site->team_count; i++)
        if (team_is_called (&site->teams[i], name)
            && (!last || site->teams[i].valid.start > last->valid.start))
            last = &site->teams[i];
    return last ? last->name : NULL;
}

/* Names that the teams so called had before: their aliases, and those of these. */
static void add_earlier (const site_t *site, text_list_t *names)
{
    for (size_t i = 0; i < names->count; i++)
        for (size_t k = 0; k < site->team_count; k++) {
            const site_team_t *team = &site->teams[k];
            if (strcmp (team->name, names->item[i]) != 0)
                continue;
            for (size_t a = 0; a < team->aliases.count; a++)
                texts_add_new (names, team->aliases.item[a]);
        }
}

/* Names that they had later: of entries that have one of these as an alias. */
static void add_later (const site_t *site, text_list_t *names)
{
    for (size_t i = 0; i < names->count; i++)
        for (size_t k = 0; k < site->team_count; k++)
            if (texts_have (&site->teams[k].aliases, names->item[i]))
                texts_add_new (names, site->teams[k].name);
}

static const site_team_t *last_called (const site_t *site, const char *name,
                                       period_t period)
{
    const site_team_t *last = NULL;

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (period_overlaps (team->valid, period) && team_is_called (team, name)
            && (!last || team->valid.start > last->valid.start))
            last = team;
    }
    return last;
}

/* The team gets its name only after the period: its entry with an earlier name. */
static const site_team_t *earlier_within (const site_t *site, const char *name,
                                          period_t period)
{
    text_list_t names = {NULL, 0};
    const site_team_t *team = NULL;

    texts_add (&names, name);
    add_earlier (site, &names);
    for (size_t i = 1; i < names.count && !team; i++)
        team = last_called (site, names.item[i], period);
    texts_clear (&names);
    return team;
}

const site_team_t *team_within (const site_t *site, const char *name,
                                period_t period)
{
    const site_team_t *team = last_within (site, name, false, period);

    if (!team)
        team = last_within (site, name, true, period);
    return team || !name ? team : earlier_within (site, name, period);
}

const site_team_t *team_in_month (const site_t *site, const char *name,
                                  const char *month)
{
    civil_t civil;

    if (!month || calendar_parse_month (month, strlen (month), &civil) < 0)
        return NULL;
    return team_within (site, name,
                        zone_unit (site->zone, CALENDAR_MONTH,
                                   zone_instant (site->zone, &civil)));
}

const char *team_last_name (const site_t *site, const char *name,
                            period_t period)
{
    const site_team_t *last = last_called (site, name, period);

    if (!last)
        last = earlier_within (site, name, period);
    for (size_t i = 0; last && i <= site->team_count; i++) {
        bool same = !strcmp (last->name, name); /* most were never renamed */
        name = last->name;
        last = same ? NULL : last_called (site, name, period);
    }
    return name;
}

void team_add_names (const site_t *site, text_list_t *names)
{
    text_list_t earlier = {NULL, 0};

    for (size_t i = 0; i < names->count; i++)
        texts_add (&earlier, names->item[i]);
    add_earlier (site, &earlier);
    add_later (site, names);
    for (size_t i = 0; i < earlier.count; i++)
        texts_add_new (names, earlier.item[i]);
    texts_clear (&earlier);
}

const site_team_t *team_of_account (const site_t *site,
                                    const accounts_t *accounts,
                                    const char *cluster, const char *account,
                                    int64_t instant)
{
    /* Slurm's account trees are a few levels deep; a loop in bad data ends. */
    for (int depth = 0; account && depth < 64; depth++) {
        const site_team_t *team
            = team_listing (site, account, depth == 0, instant);
        if (team)
            return team;
        account = accounts_parent (accounts, cluster, account, instant);
    }
    return NULL;
}

bool label_value (const char *labels, const char *key, char buf[TAG_MAX + 1])
{
    const char *cursor = labels, *k, *v;
    size_t klen, vlen;

    while (labels_next (&cursor, &k, &klen, &v, &vlen)) {
        if (klen == strlen (key) && !memcmp (k, key, klen) && vlen <= TAG_MAX) {
            memcpy (buf, v, vlen);
            buf[vlen] = '\0';
            return true;
        }
    }
    return false;
}
