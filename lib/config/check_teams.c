/* Teams: whose an account and a name is, and to which institution each belongs. */
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/address.h"
#include "base/array.h"
#include "base/memory.h"
#include "config/check.h"
#include "site/project.h"

/* ---- accounts and names ---- */

/* In both. NULL: none is. */
static const char *common_text (const text_list_t *a, const text_list_t *b)
{
    char **both = GL_FIND (a->item, a->count, it, texts_have (b, *it));

    return both ? *both : NULL;
}

/* An alias of one that is the other's name or alias. NULL: none is. */
static const char *common_name (const site_team_t *a, const site_team_t *b)
{
    if (strcmp (a->name, b->name) == 0)
        return NULL;
    if (texts_have (&a->aliases, b->name))
        return b->name;
    if (texts_have (&b->aliases, a->name))
        return a->name;
    return common_text (&a->aliases, &b->aliases);
}

static int check_pair (const site_team_t *a, const site_team_t *b,
                       gl_error_t *error)
{
    const char *account, *name;

    if (!period_overlaps (a->valid, b->valid))
        return 0;
    if ((account = common_text (&a->accounts, &b->accounts)))
        return gl_error (error,
                         "%s:%d: account '%s' belongs to two teams at the "
                         "same time, '%s' and '%s' (%s:%d)",
                         a->place.file, a->place.line, account, a->name,
                         b->name, b->place.file, b->place.line);
    if ((name = common_name (a, b)))
        return gl_error (error,
                         "%s:%d: '%s' is a name of two teams at the same "
                         "time, '%s' and '%s' (%s:%d); remove the alias, or "
                         "give them `from` and `to` that do not overlap",
                         a->place.file, a->place.line, name, a->name, b->name,
                         b->place.file, b->place.line);
    return 0;
}

static int check_mail (const site_team_t *team, gl_error_t *error)
{
    gl_error_t wrong;

    for (size_t i = 0; i < team->mail.count; i++) {
        address_t address;
        if (address_parse (team->mail.item[i], &address, &wrong) < 0)
            return gl_error (error, "%s:%d: `mail` of team '%s': %s",
                             team->place.file, team->place.line, team->name,
                             wrong.text);
        address_clear (&address);
    }
    return 0;
}

static int check_team (const site_t *site, const site_team_t *team,
                       gl_error_t *error)
{
    const char *at = team->email ? strrchr (team->email, '@') : NULL;

    if (team->email && (!at || at == team->email || !at[1]))
        return gl_error (error,
                         "%s:%d: `email` of team '%s' is '%s'; write an "
                         "address, as in ada@example.org",
                         team->place.file, team->place.line, team->name,
                         team->email);
    if (mpq_sgn (team->surcharge) < 0 && !site->policy.discounts)
        return gl_error (error,
                         "%s:%d: the surcharge of team '%s' is below 0, a "
                         "discount; if it is meant, add `policy: "
                         "{discounts: yes}`",
                         team->place.file, team->place.line, team->name);
    return check_mail (team, error);
}

int check_teams (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->team_count; i++) {
        if (check_team (site, &site->teams[i], error) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (check_pair (&site->teams[i], &site->teams[k], error) < 0)
                return -1;
    }
    return 0;
}

/* ---- which rule finds a team ---- */

static const char *plain_account (const char *account)
{
    static const char subtree[] = "subtree:";
    size_t length = strlen (subtree);

    return strncmp (account, subtree, length) ? account : account + length;
}

static bool has_account (const site_institution_t *rule,
                         const site_team_t *team)
{
    for (size_t i = 0; i < team->accounts.count; i++)
        if (GL_ANY (rule->accounts.item, rule->accounts.count, it,
                    !fnmatch (plain_account (*it),
                              plain_account (team->accounts.item[i]), 0)))
            return true;
    return false;
}

/* "x.edu" has ada@x.edu and ada@cs.x.edu. */
static bool has_domain (const site_institution_t *rule, const site_team_t *team)
{
    const char *at = team->email ? strrchr (team->email, '@') : NULL;
    size_t length = at ? strlen (at) : 0;

    for (size_t i = 0; at && i < rule->email_domains.count; i++) {
        const char *domain = rule->email_domains.item[i];
        size_t n = strlen (domain);
        if (n < length && !strcasecmp (at + length - n, domain)
            && (at[length - n - 1] == '@' || at[length - n - 1] == '.'))
            return true;
    }
    return false;
}

static bool lists_team (const site_institution_t *rule, const site_team_t *team)
{
    return texts_have (&rule->teams, team->name)
           || common_text (&rule->teams, &team->aliases);
}

static bool finds (const site_institution_t *rule, const site_team_t *team)
{
    if (!period_overlaps (rule->valid, team->valid))
        return false;
    if (team->institution)
        return strcmp (team->institution, rule->name) == 0;
    return lists_team (rule, team) || has_account (rule, team)
           || has_domain (rule, team);
}

static int check_rule (const site_institution_t *rule, gl_error_t *error)
{
    char **wrong = GL_FIND (rule->email_domains.item, rule->email_domains.count,
                            it, strchr (*it, '@') || **it == '.');

    return wrong ? gl_error (error,
                             "%s:%d: '%s' in `email_domains` is not a domain; "
                             "write the part behind the @, as in x.edu",
                             rule->place.file, rule->place.line, *wrong)
                 : 0;
}

/* What a team says itself, against the rules. */
static int check_own (const site_t *site, const site_team_t *team,
                      gl_error_t *error)
{
    bool known = false;

    for (size_t i = 0; i < site->institution_count; i++) {
        const site_institution_t *rule = &site->institutions[i];
        bool same = strcmp (team->institution, rule->name) == 0;
        known = known || same;
        if (!same && lists_team (rule, team)
            && period_overlaps (rule->valid, team->valid))
            return gl_error (error,
                             "%s:%d: `teams` of institution '%s' has '%s', "
                             "whose own `institution` is '%s' (%s:%d); remove "
                             "one of them",
                             rule->place.file, rule->place.line, rule->name,
                             team->name, team->institution, team->place.file,
                             team->place.line);
    }
    return known ? 0
                 : gl_error (error,
                             "%s:%d: there is no institution '%s', which team "
                             "'%s' names; add it to `institutions`",
                             team->place.file, team->place.line,
                             team->institution, team->name);
}

static int two_institutions (const site_team_t *team,
                             const site_institution_t *a,
                             const site_institution_t *b, gl_error_t *error)
{
    return gl_error (error,
                     "%s:%d: team '%s' belongs to two institutions at the same "
                     "time, '%s' (%s:%d) and '%s' (%s:%d); say which with "
                     "`institution` of the team",
                     team->place.file, team->place.line, team->name, a->name,
                     a->place.file, a->place.line, b->name, b->place.file,
                     b->place.line);
}

/* The rules that find it, in their order. -1: two of them at the same time. */
static int rules_of (const site_t *site, const site_team_t *team,
                     const site_institution_t **rules, size_t *ret_count,
                     gl_error_t *error)
{
    size_t count = 0;

    for (size_t i = 0; i < site->institution_count; i++) {
        const site_institution_t *rule = &site->institutions[i];
        if (!finds (rule, team))
            continue;
        for (size_t k = 0; k < count; k++)
            if (strcmp (rules[k]->name, rule->name) != 0
                && period_overlaps (period_clip (rules[k]->valid, team->valid),
                                    period_clip (rule->valid, team->valid)))
                return two_institutions (team, rules[k], rule, error);
        rules[count++] = rule;
    }
    *ret_count = count;
    return 0;
}

/* ---- what a rule says of a team ---- */

static void copy_texts (text_list_t *to, const text_list_t *from)
{
    *to = (text_list_t){NULL, 0};
    for (size_t i = 0; i < from->count; i++)
        texts_add (to, from->item[i]);
}

static site_team_t copy_team (const site_team_t *from)
{
    site_team_t team = *from;
    char **texts[] = {&team.name,        &team.cost_center,
                      &team.class,       &team.plan,
                      &team.pi,          &team.email,
                      &team.institution, &team.billing_address};

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        *texts[i] = xstrdup (*texts[i]);
    copy_texts (&team.aliases, &from->aliases);
    copy_texts (&team.mail, &from->mail);
    copy_texts (&team.readers, &from->readers);
    copy_texts (&team.accounts, &from->accounts);
    mpq_inits (team.surcharge, team.overhead, NULL);
    mpq_set (team.surcharge, from->surcharge);
    mpq_set (team.overhead, from->overhead);
    return team;
}

static void take_if_absent (char **to, const char *from)
{
    if (!*to)
        *to = xstrdup (from);
}

static void apply (site_team_t *team, const site_institution_t *rule)
{
    take_if_absent (&team->institution, rule->name);
    take_if_absent (&team->billing_address, rule->billing_address);
    take_if_absent (&team->class, rule->class);
}

struct teams {
    site_team_t *item;
    size_t count;
};

/* An entry for each part of its time in which one rule, or none, is in force. Takes
 * what the team has. */
static void add_parts (struct teams *to, site_team_t *team,
                       const site_institution_t *const *rules, size_t count)
{
    int64_t *at = xcalloc (2 * count + 2, sizeof (*at));
    size_t ends = 0;

    at[ends++] = team->valid.start;
    at[ends++] = team->valid.end;
    for (size_t i = 0; i < count; i++) {
        period_t in = period_clip (rules[i]->valid, team->valid);
        at[ends++] = in.start;
        at[ends++] = in.end;
    }
    ends = instants_sort (at, ends);
    for (size_t i = 0; i + 1 < ends; i++) {
        site_team_t *part = GL_APPEND (to->item, to->count);
        *part = i + 2 < ends ? copy_team (team) : *team;
        part->valid = (period_t){at[i], at[i + 1]};
        for (size_t k = 0; k < count; k++)
            if (period_overlaps (rules[k]->valid, part->valid))
                apply (part, rules[k]);
    }
    free (at);
}

int institutions_apply (site_t *site, gl_error_t *error)
{
    const site_institution_t **rules
        = xcalloc (site->institution_count + 1, sizeof (*rules));
    struct teams teams = {.count = 0};
    size_t count = 0, done = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < site->institution_count; i++)
        rc = check_rule (&site->institutions[i], error);
    for (; rc == 0 && site->institution_count && done < site->team_count;) {
        site_team_t *team = &site->teams[done];
        if (team->institution)
            rc = check_own (site, team, error);
        if (rc == 0)
            rc = rules_of (site, team, rules, &count, error);
        if (rc == 0) {
            add_parts (&teams, team, rules, count);
            done++;
        }
    }
    /* those that it did not come to */
    for (; teams.count && done < site->team_count; done++)
        *GL_APPEND (teams.item, teams.count) = site->teams[done];
    if (teams.count) {
        free (site->teams);
        site->teams = teams.item;
        site->team_count = teams.count;
    }
    free (rules);
    return rc;
}

/* --- names ------------------------------------------------------------------- */

static const period_t always = {SITE_ALWAYS_START, SITE_ALWAYS_END};

static void name_budget (const site_t *site, site_budget_t *budget)
{
    char *last;

    if (!budget->team)
        return;
    texts_add (&budget->team_names, budget->team);
    team_add_names (site, &budget->team_names);
    last = xstrdup (team_last_name (site, budget->team, always));
    free (budget->team);
    budget->team = last;
}

static site_entitlement_t copy_entitlement (const site_entitlement_t *from)
{
    site_entitlement_t to = *from;
    mpq_ptr numbers[] = {to.gpus,      to.share,        to.gpu_hours,
                         to.carry_cap, to.per_gpu_hour, to.per_month};
    const mpq_srcptr had[]
        = {from->gpus,      from->share,        from->gpu_hours,
           from->carry_cap, from->per_gpu_hour, from->per_month};

    to.team = xstrdup (from->team);
    to.pool = xstrdup (from->pool);
    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++) {
        mpq_init (numbers[i]);
        mpq_set (numbers[i], had[i]);
    }
    return to;
}

struct entitlements {
    site_entitlement_t *item;
    size_t count;
};

/* The entry, or an entry for each name that its team has in turn. */
static void add_named (const site_t *site, struct entitlements *to,
                       const site_entitlement_t *e)
{
    int64_t *at = xcalloc (2 * site->team_count + 2, sizeof (*at));
    size_t ends = 0;
    site_entitlement_t *last = NULL;

    at[ends++] = e->valid.start;
    at[ends++] = e->valid.end;
    for (size_t i = 0; i < site->team_count; i++) {
        period_t in = period_clip (site->teams[i].valid, e->valid);
        if (in.start < in.end) {
            at[ends++] = in.start;
            at[ends++] = in.end;
        }
    }
    ends = instants_sort (at, ends);
    for (size_t i = 0; i + 1 < ends; i++) {
        const char *name
            = team_last_name (site, e->team, (period_t){at[i], at[i + 1]});
        if (last && !strcmp (last->team, name)) {
            last->valid.end = at[i + 1];
            continue;
        }
        last = GL_APPEND (to->item, to->count);
        *last = copy_entitlement (e);
        free (last->team);
        last->team = xstrdup (name);
        last->valid = (period_t){at[i], at[i + 1]};
    }
    free (at);
}

static void name_entitlements (site_t *site)
{
    struct entitlements named = {.count = 0};

    for (size_t i = 0; i < site->entitlement_count; i++) {
        add_named (site, &named, &site->entitlements[i]);
        site_entitlement_free (&site->entitlements[i]);
    }
    free (site->entitlements);
    site->entitlements = named.item;
    site->entitlement_count = named.count;
}

void team_names_apply (site_t *site)
{
    for (size_t i = 0; i < site->settlement_count; i++)
        team_add_names (site, &site->settlement[i].teams);
    for (size_t i = 0; i < site->tax_count; i++)
        team_add_names (site, &site->taxes[i].teams);
    for (size_t i = 0; i < site->budget_count; i++)
        name_budget (site, &site->budgets[i]);
    name_entitlements (site);
}
