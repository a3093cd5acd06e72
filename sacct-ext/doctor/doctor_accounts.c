/* Accounts and teams: what Slurm has and what the configuration names. */
#include <inttypes.h>

#include "base/exact.h"
#include "base/memory.h"
#include "doctor/doctor_private.h"
#include "facts/facts.h"
#include "facts/unowned.h"
#include "facts/unseen.h"
#include "gres/tres.h"
#include "site/account.h"
#include "site/project.h"

struct looking {
    const site_t *site;
    accounts_t *accounts;
    unowned_t *unowned;
    period_t period;
};

static int see_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct looking *l = arg;
    const segment_t *s = fact->segment;
    period_t held
        = period_clip ((period_t){s->time_start, segment_end (s)}, l->period);
    int64_t devices;
    mpq_t seconds;

    (void)error;
    if (!s->gres || !s->time_start || held.end <= held.start
        || team_of_account (l->site, l->accounts, s->cluster, s->account,
                            held.start))
        return 0;
    devices = (int64_t)gres_devices (s->gres, NULL, NULL, NULL);
    if (devices == 0)
        return 0;
    mpq_init (seconds);
    exact_set_i64 (seconds, devices * period_seconds (held), 1);
    unowned_add (l->unowned, s->account, seconds, NULL);
    mpq_clear (seconds);
    return 0;
}

static void say_account (const char *sentence, void *arg)
{
    doctor_add_name (arg, sentence);
}

/* Of the last month that is over and the one after it. */
static int read_facts (doctor_t *d, struct looking *l, gl_error_t *error)
{
    store_query_t query = {.gpu_only = true};
    int rc = doctor_last_month (d, &l->period, error);

    if (rc <= 0)
        return rc;
    l->period.end += 32 * INT64_C (86400);
    query.start = l->period.start;
    query.end = l->period.end;
    l->accounts = facts_accounts (d->cli->store, error);
    if (!l->accounts
        || facts_each (d->cli->store, l->site, &query, see_fact, l, error) < 0)
        return -1;
    return 1;
}

doctor_state_t doctor_look_accounts (doctor_t *d, buffer_t *finding)
{
    struct looking l = {.site = d->cli->site};
    doctor_names_t names = {BUFFER_INIT, 0};
    doctor_state_t state;
    gl_error_t error;
    int rc;

    DOCTOR_NEED_STORE (d, finding);
    if (!l.site || l.site->team_count == 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "no teams are configured");
    l.unowned = unowned_new (l.site);
    rc = read_facts (d, &l, &error);
    unowned_each (l.unowned, say_account, &names);
    if (rc < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (rc == 0)
        state = buffer_say (finding, DOCTOR_SKIPPED, "the store is empty");
    else if (names.count)
        state = buffer_say (finding, DOCTOR_WARN, "%s",
                            buffer_text (&names.text));
    else
        state = buffer_say (finding, DOCTOR_OK,
                            "since the beginning of last month, all");
    buffer_done (&names.text);
    unowned_free (l.unowned);
    accounts_free (l.accounts);
    return state;
}

doctor_state_t doctor_look_teams (doctor_t *d, buffer_t *finding)
{
    doctor_names_t names = {BUFFER_INIT, 0};
    doctor_state_t state;
    gl_error_t error;
    size_t known;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site || d->cli->site->team_count == 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "no teams are configured");
    if (unowned_each_unseen (d->cli->store, d->cli->site, d->now, say_account,
                             &names, &known, &error)
        < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (known == 0)
        state = buffer_say (finding, DOCTOR_SKIPPED,
                            "the store has no account yet");
    else if (names.count)
        state = buffer_say (finding, DOCTOR_WARN,
                            "no job and no association has: %s",
                            buffer_text (&names.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "all of them");
    buffer_done (&names.text);
    return state;
}

static void say_unseen (const char *sentence, const char *nearest, void *arg)
{
    GL_AUTOFREE char *text
        = nearest ? xasprintf ("%s, did you mean '%s'?", sentence, nearest)
                  : xstrdup (sentence);

    doctor_add_name (arg, text);
}

doctor_state_t doctor_look_names (doctor_t *d, buffer_t *finding)
{
    doctor_names_t names = {BUFFER_INIT, 0};
    doctor_state_t state;
    gl_error_t error;
    size_t count;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site)
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "there is no configuration");
    if (unseen_each (d->cli->store, d->cli->site,
                     (period_t){d->now, d->now + 1}, say_unseen, &names, &count,
                     &error)
        < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (count == 0)
        state = buffer_say (finding, DOCTOR_SKIPPED,
                            "none are named, or the store has no job yet");
    else if (names.count)
        state = buffer_say (finding, DOCTOR_WARN, "no job ever had: %s",
                            buffer_text (&names.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "all of them");
    buffer_done (&names.text);
    return state;
}
