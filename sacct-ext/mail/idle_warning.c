#include "mail/idle_warning.h"

#include <string.h>

#include "base/address.h"
#include "base/memory.h"
#include "base/program.h"
#include "mail/alert.h"
#include "mail/deliver.h"
#include "mail/message.h"
#include "mail/outbox.h"

#define COMMAND_MS (120 * 1000)

struct warning {
    const idle_warning_t *of;
    store_mail_t record;
    bool before; /* there is one that is young enough */
    int64_t not_before;
    bool act;
};

static const char *const kinds[]
    = {[IDLE_MAIL] = "idle", [IDLE_COMMAND] = "idle_command"};

int idle_warning_check (cli_t *cli, idle_action_t action)
{
    const site_t *site = cli->site;

    if (action == IDLE_COMMAND && site->idle_jobs.command.count == 0)
        return cli_failf (cli,
                          "there is no command for idle jobs: set `idle_jobs: "
                          "{command: [PROGRAM]}` in %s",
                          cli->config);
    if (action == IDLE_MAIL && !site->mail.from)
        return cli_failf (cli,
                          "nobody is the sender of mail: set `mail: {from: "
                          "ADDRESS}` in %s",
                          cli->config);
    if (action == IDLE_MAIL && !site->mail.domain)
        return cli_failf (cli,
                          "users have no addresses: set `mail: {domain: "
                          "example.org}` in %s",
                          cli->config);
    return CLI_OK;
}

/* --- the record ------------------------------------------------------------- */

static int claim (store_t *store, void *arg, gl_error_t *error)
{
    struct warning *w = arg;
    store_mail_t *had;
    size_t count;

    w->before = false; /* a transaction may be tried again */
    if (store_mails (store, w->record.kind, w->record.period, &had, &count,
                     error)
        < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!strcmp (had[i].name, w->record.name)
            && had[i].begun > w->not_before)
            w->before = true;
    store_mails_free (had, count);
    return w->before || !w->act ? 0 : store_mail_add (store, &w->record, error);
}

static int confirm (store_t *store, void *arg, gl_error_t *error)
{
    const struct warning *w = arg;

    return store_mail_sent (store, w->record.id, w->record.begun, error);
}

static int withdraw (store_t *store, void *arg, gl_error_t *error)
{
    const struct warning *w = arg;

    return store_mail_forget (store, w->record.id, error);
}

/* --- the actions -------------------------------------------------------------- */

/* Yours; NULL: none. */
static char *address_of (const site_t *site, const char *user)
{
    GL_AUTOFREE char *text
        = user ? xasprintf ("%s@%s", user, site->mail.domain) : NULL;
    address_t address;
    gl_error_t ignored;

    if (!text || address_parse (text, &address, &ignored) < 0)
        return NULL;
    address_clear (&address);
    return GL_TAKE (text);
}

static void write_body (const site_t *site, const struct warning *w,
                        buffer_t *body)
{
    const segment_t *s = w->of->segment;
    GL_AUTOFREE char *job = xasprintf ("%llu", (unsigned long long)s->id_job);
    GL_AUTOFREE char *gpus
        = xasprintf ("%llu, all idle", (unsigned long long)w->of->gpus);
    GL_AUTOFREE char *minutes = xasprintf (
        "%lld minutes", (long long)(w->of->until - w->of->since) / 60);
    char stamp[ZONE_STAMP_SIZE];

    alert_line (body, "Job", job);
    alert_line (body, "Name", s->job_name);
    alert_line (body, "Cluster", s->cluster);
    alert_line (body, "Nodes", s->nodelist);
    alert_line (body, "GPUs", gpus);
    alert_line (body, "Idle since",
                zone_stamp (site->zone, w->of->since, stamp));
    alert_line (body, "Idle for", minutes);
    alert_line (body, "Measured until",
                zone_stamp (site->zone, w->of->until, stamp));
    buffer_printf (body,
                   "\nNobody else can use these GPUs, and they are charged. If "
                   "the work is done, end the job:\n\n  scancel %s\n",
                   job);
}

static int mail_it (cli_t *cli, const struct warning *w, const char *to,
                    const char *mbox, gl_error_t *error)
{
    const site_t *site = cli->site;
    BUFFER_AUTO body = BUFFER_INIT;
    BUFFER_AUTO bytes = BUFFER_INIT;
    text_list_t recipients = {.count = 0};
    GL_AUTOFREE char *subject = xasprintf (
        "Job %llu on %s: its GPUs are idle",
        (unsigned long long)w->of->segment->id_job, w->of->segment->cluster);
    GL_AUTOFREE char *id = xasprintf (
        "idle.%llu.%lld.%lld@%s", (unsigned long long)w->of->segment->id_job,
        (long long)w->of->segment->time_submit, (long long)w->record.begun,
        site->mail.domain);
    message_t message = {.from = site->mail.from,
                         .reply_to = site->mail.reply_to,
                         .to = &recipients,
                         .subject = subject,
                         .date = w->record.begun,
                         .id = id};
    int rc;

    texts_add (&recipients, to);
    write_body (site, w, &body);
    message.text = buffer_text (&body);
    message_write (&message, &bytes);
    rc = mbox ? deliver_mbox (mbox, w->record.begun, &bytes, error)
              : deliver_sendmail (&site->mail.sendmail, site->mail.from,
                                  &recipients, &bytes, error);
    texts_clear (&recipients);
    return rc;
}

static int run_command (cli_t *cli, const struct warning *w, gl_error_t *error)
{
    const text_list_t *command = &cli->site->idle_jobs.command;
    GL_AUTOFREE const char **argv
        = xcalloc (command->count + 2, sizeof (*argv));
    GL_AUTOFREE char *job
        = xasprintf ("%llu", (unsigned long long)w->of->segment->id_job);
    GL_AUTOFREE char *output = NULL;

    for (size_t i = 0; i < command->count; i++)
        argv[i] = command->item[i];
    argv[command->count] = job;
    output = program_run (
        &(program_t){.argv = argv, .input = -1, .timeout_ms = COMMAND_MS},
        error);
    return output ? 0 : -1;
}

static int perform (cli_t *cli, struct warning *w, idle_action_t action,
                    const char *mbox, idle_outcome_t *ret_outcome,
                    gl_error_t *error)
{
    gl_error_t why;
    int rc = action == IDLE_COMMAND
                 ? run_command (cli, w, &why)
                 : mail_it (cli, w, w->record.recipients, mbox, &why);

    *ret_outcome = rc < 0 ? IDLE_FAILED : IDLE_DONE;
    if (rc < 0)
        cli_warn (cli, "job %llu: %s",
                  (unsigned long long)w->of->segment->id_job, why.text);
    return store_transaction (cli->store, rc < 0 ? withdraw : confirm, w,
                              error);
}

int idle_warn (cli_t *cli, const idle_warning_t *warning, idle_action_t action,
               bool act, const char *mbox, int64_t now,
               idle_outcome_t *ret_outcome, gl_error_t *error)
{
    const segment_t *s = warning->segment;
    char day[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *name
        = xasprintf ("%s/%llu", s->cluster, (unsigned long long)s->id_job);
    GL_AUTOFREE char *who = mail_who ();
    GL_AUTOFREE char *to
        = action == IDLE_MAIL ? address_of (cli->site, s->user) : NULL;
    struct warning w
        = {.of = warning,
           .act = act,
           .not_before = now - cli->site->idle_jobs.again,
           .record = {.kind = (char *)kinds[action],
                      .period = (char *)zone_unit_name (
                          cli->site->zone, CALENDAR_DAY, s->time_submit, day),
                      .name = name,
                      .content = (char *)"",
                      .message = (char *)"",
                      .recipients = to ? to : (char *)"",
                      .who = who,
                      .begun = now}};

    if (action == IDLE_MAIL && !to) {
        *ret_outcome = IDLE_NO_ADDRESS;
        return 0;
    }
    if ((act ? store_transaction (cli->store, claim, &w, error)
             : claim (cli->store, &w, error))
        < 0)
        return -1;
    *ret_outcome = w.before ? IDLE_BEFORE : IDLE_TO_DO;
    return w.before || !act
               ? 0
               : perform (cli, &w, action, mbox, ret_outcome, error);
}
