#include "setup/answers.h"

#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/network.h"
#include "base/zone.h"
#include "setup/sql.h"
#include "site/site.h"
#include "store/db_url.h"

#define ZONES "/zoneinfo/"

/* --- proposals: NULL: none ------------------------------------------------ */

static char *propose_cluster (setup_t *setup)
{
    const char *name = slurm_conf_value (setup->slurm, "ClusterName");

    if (name)
        return xstrdup (name);
    return setup->site && setup->site->cluster_count == 1
               ? xstrdup (setup->site->clusters[0].name)
               : NULL;
}

static const char *configured_slurmdb (const setup_t *setup)
{
    const char *name = setup->options.answers.cluster;
    const site_cluster_t *cluster
        = setup->site && name ? site_cluster (setup->site, name) : NULL;

    return cluster ? cluster->slurmdb : NULL;
}

static char *propose_slurmdb (setup_t *setup)
{
    const char *known = configured_slurmdb (setup);

    return known             ? xstrdup (known)
           : setup->slurmdbd ? sql_slurmdb_url (setup->slurmdbd)
                             : NULL;
}

/* What /etc/localtime is a link to. */
static char *propose_zone (setup_t *setup)
{
    GL_AUTOFREE char *path = realpath ("/etc/localtime", NULL);
    const char *name = path ? strstr (path, ZONES) : NULL;

    if (setup->site && setup->site->files.count && setup->site->zone)
        return xstrdup (zone_name (setup->site->zone));
    return xstrdup (name ? name + strlen (ZONES) : "UTC");
}

/* That of the administrator's locale. */
static char *propose_currency (setup_t *setup)
{
    locale_t own = newlocale (LC_MONETARY_MASK, "", (locale_t)0);
    const char *code = own ? nl_langinfo_l (INT_CURR_SYMBOL, own) : "";
    char *proposed;

    if (setup->site && setup->site->files.count)
        code = setup->site->currency;
    proposed = strlen (code) >= 3 ? xstrndup (code, 3) : xstrdup ("USD");
    if (own)
        freelocale (own);
    return proposed;
}

static char *propose_collector (setup_t *setup)
{
    BUFFER_AUTO hosts = BUFFER_INIT;
    const site_t *site = setup->site;

    for (size_t i = 0; site && i < site->collector.hosts.count; i++)
        buffer_printf (&hosts, "%s%s", i ? "," : "",
                       site->collector.hosts.item[i]);
    return hosts.length ? buffer_take (&hosts) : NULL;
}

/* --- checks -------------------------------------------------------------- */

static int check_cluster (const char *text, gl_error_t *error)
{
    static const char allowed[]
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
          "TUVWXYZ0123456789_-.";

    return *text && strspn (text, allowed) == strlen (text)
               ? 0
               : gl_error (error,
                           "'%s' is not a name of letters, digits, '_', '-' "
                           "and '.'",
                           text);
}

static int check_slurmdb (const char *text, gl_error_t *error)
{
    db_url_t url;

    if (db_url_parse (text, &url, error) < 0)
        return -1;
    db_url_done (&url);
    return 0;
}

static int check_zone (const char *text, gl_error_t *error)
{
    zone_t *zone = zone_open (text, error);

    zone_close (zone);
    return zone ? 0 : -1;
}

static int check_currency (const char *text, gl_error_t *error)
{
    return strlen (text) == 3
                   && strspn (text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3
               ? 0
               : gl_error (error,
                           "'%s' is not a currency; write the three capital "
                           "letters of ISO 4217, such as EUR",
                           text);
}

static int check_collector (const char *text, gl_error_t *error)
{
    int rc = 0;

    for (const char *at = text; rc == 0 && *at;) {
        size_t length = strcspn (at, ",");
        GL_AUTOFREE char *host = xstrndup (at, length);
        rc = network_check_host (host, error);
        at += length + (at[length] == ',');
    }
    return rc;
}

/* --- the table ----------------------------------------------------------- */

#define OF_ANSWER(member) offsetof (setup_answers_t, member)

/* In this order: a proposal may need the answers before it. */
static const struct question {
    size_t at;          /* of the answer */
    const char *option; /* "--cluster NAME" */
    const char *text;
    char *(*propose) (setup_t *setup);
    int (*check) (const char *text, gl_error_t *error);
    bool of_host; /* the accounting host needs it; else nodes and login hosts */
    const char *if_none; /* why there is no proposal */
} questions[] = {
    {OF_ANSWER (cluster), "--cluster NAME",
     "Name of the cluster (ClusterName of slurm.conf)", propose_cluster,
     check_cluster, true,
     "there is no slurm.conf: --slurm-conf FILE says where it is"},
    {OF_ANSWER (slurmdb), "--slurmdb URL", "Database of slurmdbd",
     propose_slurmdb, check_slurmdb, true,
     "there is no slurmdbd.conf: --slurmdbd-conf FILE says where it is; a URL "
     "is mysql://gpuledger_reader@HOST/slurm_acct_db?option-file=" SYSCONFDIR
     "/gpuledger/slurmdb.cnf"},
    {OF_ANSWER (timezone), "--timezone ZONE",
     "Time zone of days and months on statements", propose_zone, check_zone,
     true, ""},
    {OF_ANSWER (currency), "--currency CODE", "Currency of all amounts",
     propose_currency, check_currency, true, ""},
    {OF_ANSWER (collector), "--collector HOST",
     "Host where gpuledger-collector runs", propose_collector, check_collector,
     false, "nothing on this host names the accounting host"},
};

static const char **answer_of (setup_t *setup, const struct question *q)
{
    return (const char **)((char *)&setup->options.answers + q->at);
}

static void propose (setup_t *setup, const struct question *q)
{
    const char **answer = answer_of (setup, q);
    char *proposed;

    if (!*answer && (proposed = q->propose (setup)))
        *answer = setup_own (setup, proposed);
}

void answers_propose (setup_t *setup)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (questions); i++)
        propose (setup, &questions[i]);
}

/* --- asked --------------------------------------------------------------- */

/* A line of standard input, yours; NULL: its end. */
static char *read_line (void)
{
    char *line = NULL;
    size_t size = 0;

    if (getline (&line, &size, stdin) < 0) {
        free (line);
        return NULL;
    }
    line[strcspn (line, "\n")] = '\0';
    return line;
}

/* Until the answer is one, or there is no more input. */
static int ask (setup_t *setup, const struct question *q)
{
    const char **answer = answer_of (setup, q);
    gl_error_t error;

    for (;;) {
        printf (*answer ? "%s [%s]: " : "%s: ", q->text, *answer);
        fflush (stdout);
        char *line = read_line ();
        if (!line)
            return -1;
        setup_own (setup, line);
        if (*line)
            *answer = line;
        if (*answer && q->check (*answer, &error) == 0)
            return 0;
        if (*answer)
            printf ("%s\n", error.text);
        *answer = NULL;
    }
}

static bool is_asked (const setup_t *setup, const struct question *q)
{
    return !setup->options.yes && isatty (STDIN_FILENO)
           && isatty (STDOUT_FILENO)
           && !GL_ANY (setup->cli->given, setup->cli->given_count, it,
                       !strncmp (q->option + 2, it->name, strlen (it->name)));
}

/* One line for each option that is missing or wrong. */
static void complain (setup_t *setup, const struct question *q,
                      buffer_t *missing)
{
    const char *answer = *answer_of (setup, q);
    gl_error_t error;

    if (!answer)
        buffer_printf (missing, "\n  %s: %s", q->option, q->if_none);
    else if (q->check (answer, &error) < 0)
        buffer_printf (missing, "\n  %s: %s", q->option, error.text);
}

int answers_ask (setup_t *setup, const setup_step_t *const *kind)
{
    BUFFER_AUTO missing = BUFFER_INIT;
    bool of_host = kind == setup_accounting;

    for (size_t i = 0; i < GL_ARRAY_SIZE (questions); i++) {
        const struct question *q = &questions[i];
        propose (setup, q);
        if (q->of_host != of_host)
            continue;
        if (is_asked (setup, q) && ask (setup, q) < 0)
            break;
        complain (setup, q, &missing);
    }
    if (!missing.length)
        return CLI_OK;
    fprintf (stderr, "gpuledger: setup needs these options:%s\n",
             buffer_text (&missing));
    return CLI_USAGE;
}
