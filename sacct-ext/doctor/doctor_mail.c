/* What mail needs: a sender, a program that sends, addresses. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "doctor/doctor_private.h"
#include "mail/outbox.h"
#include "site/site.h"

/* NULL: it can be run. */
static const char *program_problem (const char *path)
{
    struct stat status;

    if (stat (path, &status) < 0)
        return strerror (errno);
    if (!S_ISREG (status.st_mode))
        return "it is no file";
    return access (path, X_OK) < 0 ? strerror (errno) : NULL;
}

/* Teams of today, each once. */
static void count_teams (const doctor_t *d, size_t *ret_teams,
                         doctor_names_t *ret_without)
{
    const site_t *site = d->cli->site;
    text_list_t teams = {.count = 0};

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        text_list_t to = {.count = 0};
        if (!period_has (team->valid, d->now)
            || !texts_add_new (&teams, team->name))
            continue;
        mail_team_addresses (site, team->name, &to);
        if (to.count == 0)
            doctor_add_name (ret_without, team->name);
        texts_clear (&to);
    }
    *ret_teams = teams.count;
    texts_clear (&teams);
}

doctor_state_t doctor_look_mail (doctor_t *d, buffer_t *finding)
{
    const site_mail_t *mail = d->cli->site ? &d->cli->site->mail : NULL;
    doctor_names_t without = {BUFFER_INIT, 0};
    const char *program, *problem;
    size_t teams;

    DOCTOR_NEED_STORE (d, finding);
    if (!mail || !mail->from)
        return buffer_say (finding, DOCTOR_SKIPPED, "mail.from is not set");
    program = mail->sendmail.item[0];
    problem = program_problem (program);
    if (problem)
        return buffer_say (finding, DOCTOR_FAIL, "mail.sendmail %s: %s",
                           program, problem);
    count_teams (d, &teams, &without);
    buffer_printf (finding, "%s; %zu of %zu teams have an address", program,
                   teams - without.count, teams);
    if (without.count > 0)
        buffer_printf (finding, ", not %s", buffer_text (&without.text));
    buffer_printf (finding, "; mail.monthly has %zu", mail->monthly.count);
    buffer_done (&without.text);
    return without.count > 0 || (teams == 0 && mail->monthly.count == 0)
               ? DOCTOR_WARN
               : DOCTOR_OK;
}
