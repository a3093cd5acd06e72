#include "mail/outbox.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/address.h"
#include "base/memory.h"
#include "base/zone.h"
#include "mail/deliver.h"
#include "mail/message.h"
#include "render/render.h"
#include "site/project.h"
#include "store/store.h"

/* --- options ------------------------------------------------------------ */

const cli_option_t mail_options[] = {
    {0, "mbox", "FILE",
     "append the mail to FILE in mbox form ('-': print it) instead of\n"
     "sending it",
     CLI_AT (mail_options_t, mbox)},
    {0, "dry-run", NULL,
     "list who would get what; nothing is sent or recorded. With\n"
     "--mbox the mail is written nevertheless",
     CLI_AT (mail_options_t, dry_run)},
    {0, "again", NULL, "send mail again that was sent already",
     CLI_AT (mail_options_t, again)},
    {0, "draft", NULL, "also of a month that is not closed, marked provisional",
     CLI_AT (mail_options_t, draft)},
    {0, "if-closed", NULL,
     "do nothing if the month is not closed, which is else an error",
     CLI_AT (mail_options_t, if_closed)},
    {0},
};

int mail_options_check (cli_t *cli, const mail_options_t *options, bool mail)
{
    if (!mail
        && (options->mbox || options->dry_run || options->again
            || options->draft || options->if_closed))
        return cli_usage (cli, "--mbox, --dry-run, --again, --draft and "
                               "--if-closed are of mail that is sent");
    if (options->draft && options->if_closed)
        return cli_usage (cli, "--draft and --if-closed exclude each other");
    if (options->mbox && !*options->mbox)
        return cli_usage (cli, "--mbox needs the name of a file");
    return CLI_OK;
}

/* --- the list of letters ------------------------------------------------ */

enum {
    AT_KIND,
    AT_PERIOD,
    AT_NAME,
    AT_CONTENT,
    AT_STATE,
    AT_TIME,
    AT_RECIPIENTS,
    AT_WHO,
    AT_MESSAGE,
    AT_COUNT,
};
static const column_info_t columns[AT_COUNT] = {
    [AT_KIND] = {"kind", "Mail", COLUMN_TEXT, true, false,
                 "statement, draft (of a month that is not closed), weekly, "
                 "monthly; alerts: budget, balance, idle, idle_command."},
    [AT_PERIOD] = {"period", "Period", COLUMN_DATE, true, false,
                   "The month, or the first day of the week."},
    [AT_NAME] = {"name", "Name", COLUMN_TEXT, true, false,
                 "The team; of an alert the budget or the rule."},
    [AT_CONTENT]
    = {"content", "Content", COLUMN_TEXT, true, true,
       "The id of the statement; of a monthly summary that of the closing; of "
       "an alert the threshold."},
    [AT_STATE] = {"state", "State", COLUMN_TEXT, false, false,
                  "to be sent; sent; unknown (gpuledger ended while it was "
                  "being sent, and the next run sends it again); no address."},
    [AT_TIME] = {"time", "Time", COLUMN_DATE, false, false,
                 "When it was sent; of unknown ones, when sending began."},
    [AT_RECIPIENTS] = {"recipients", "Recipients", COLUMN_TEXT, false, false,
                       "E-mail addresses."},
    [AT_WHO] = {"who", "By", COLUMN_TEXT, false, true,
                "Who ran the command, on which host, and the process."},
    [AT_MESSAGE] = {"message_id", "Message-ID", COLUMN_TEXT, false, true, ""},
};

static report_t *new_list (const char *title)
{
    report_t *list = report_new ("mail", title);

    report_columns (list, columns, AT_COUNT);
    return list;
}

/* Addresses, one a line, in one line. Yours to free. */
static char *in_one_line (const char *lines)
{
    buffer_t text = BUFFER_INIT;

    for (; *lines; lines++)
        if (*lines == '\n')
            buffer_add_text (&text, ", ");
        else
            buffer_add_char (&text, *lines);
    return buffer_take (&text);
}

static void put_recipients (report_t *list, const char *lines)
{
    GL_AUTOFREE char *text = in_one_line (lines);

    report_put_text (list, AT_RECIPIENTS, *text ? text : NULL);
}

static char *lines_of (const text_list_t *texts)
{
    buffer_t lines = BUFFER_INIT;

    for (size_t i = 0; i < texts->count; i++)
        buffer_printf (&lines, "%s%s", i ? "\n" : "", texts->item[i]);
    return buffer_take (&lines);
}

int mail_list (cli_t *cli, const output_t *output)
{
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    report_t *list;
    store_mail_t *mails;
    gl_error_t error;
    size_t count;
    int rc;

    if (!store)
        return CLI_FAILED;
    if (store_mails (store, NULL, NULL, &mails, &count, &error) < 0)
        return cli_fail (cli, &error);
    list = new_list ("Mail that was sent");
    for (size_t i = 0; i < count; i++) {
        const store_mail_t *mail = &mails[i];
        char stamp[ZONE_STAMP_SIZE];
        report_row (list);
        report_put_text (list, AT_KIND, mail->kind);
        report_put_text (list, AT_PERIOD, mail->period);
        report_put_text (list, AT_NAME, *mail->name ? mail->name : NULL);
        report_put_text (list, AT_CONTENT,
                         *mail->content ? mail->content : NULL);
        report_put_text (list, AT_STATE, mail->sent ? "sent" : "unknown");
        report_put_text (list, AT_TIME,
                         zone_stamp (cli->site->zone,
                                     mail->sent ? mail->sent : mail->begun,
                                     stamp));
        put_recipients (list, mail->recipients);
        report_put_text (list, AT_WHO, mail->who);
        report_put_text (list, AT_MESSAGE, mail->message);
    }
    store_mails_free (mails, count);
    rc = output_report (cli, output, list);
    report_free (list);
    return rc;
}

char *mail_who (void)
{
    const struct passwd *user = getpwuid (geteuid ());
    char host[256] = "";

    gethostname (host, sizeof (host) - 1);
    return user ? xasprintf ("%s@%s %ld", user->pw_name, host, (long)getpid ())
                : xasprintf ("uid %u@%s %ld", (unsigned)geteuid (), host,
                             (long)getpid ());
}

/* --- an outbox ---------------------------------------------------------- */

struct outbox {
    cli_t *cli;
    store_t *store;
    const site_mail_t *mail;
    mail_options_t options;
    const output_t *output;
    const char *kind;
    char *period;
    char *who;
    report_t *list; /* of a dry run; else NULL */
    size_t sent;
    size_t already;
    size_t failed;
    size_t unaddressed;
};

/* Another process of this host that still runs. */
static bool is_running (const outbox_t *o, const char *who)
{
    const char *host = strrchr (o->who, '@'), *other = strrchr (who, '@');
    size_t length = host ? strcspn (host, " ") : 0;
    long pid;

    if (!host || !other || strncmp (host, other, length + 1) != 0)
        return false;
    pid = strtol (other + length, NULL, 10);
    return pid > 0 && pid != getpid ()
           && (kill ((pid_t)pid, 0) == 0 || errno == EPERM);
}

outbox_t *outbox_open (cli_t *cli, const mail_options_t *options,
                       const output_t *output, const char *kind,
                       const char *period)
{
    site_t *site = cli_site (cli);
    store_t *store
        = site ? cli_store (cli, options->dry_run ? STORE_READ_ONLY : 0) : NULL;
    outbox_t *o;

    if (!store)
        return NULL;
    if (!site->mail.from && (!options->dry_run || options->mbox)) {
        cli_failf (cli,
                   "nobody is the sender of mail: set `mail: {from: ADDRESS}` "
                   "in %s",
                   cli->config);
        return NULL;
    }
    o = xcalloc (1, sizeof (*o));
    *o = (outbox_t){.cli = cli,
                    .store = store,
                    .mail = &site->mail,
                    .options = *options,
                    .output = output,
                    .kind = kind,
                    .period = xstrdup (period),
                    .who = mail_who ()};
    if (options->dry_run)
        o->list = new_list ("Mail to be sent");
    return o;
}

void outbox_fail (outbox_t *o)
{
    o->failed++;
}

static void list_letter (outbox_t *o, const letter_t *letter, const char *state,
                         const store_mail_t *record)
{
    GL_AUTOFREE char *recipients = lines_of (letter->to);
    char stamp[ZONE_STAMP_SIZE];

    report_row (o->list);
    report_put_text (o->list, AT_KIND, o->kind);
    report_put_text (o->list, AT_PERIOD, o->period);
    report_put_text (o->list, AT_NAME, *letter->name ? letter->name : NULL);
    report_put_text (o->list, AT_CONTENT,
                     *letter->content ? letter->content : NULL);
    report_put_text (o->list, AT_STATE, state);
    if (record)
        report_put_text (
            o->list, AT_TIME,
            zone_stamp (o->cli->site->zone,
                        record->sent ? record->sent : record->begun, stamp));
    put_recipients (o->list, recipients);
}

/* --- records ------------------------------------------------------------ */

/* What the store says of a letter. */
struct record {
    size_t sent;          /* how often it was */
    store_mail_t last;    /* the last of these; its texts are copies */
    store_mail_t pending; /* begun and not known to be sent; id 0: none */
};

static void copy_mail (store_mail_t *to, const store_mail_t *from)
{
    free (to->recipients);
    free (to->who);
    *to = (store_mail_t){.id = from->id,
                         .recipients = xstrdup (from->recipients),
                         .who = xstrdup (from->who),
                         .begun = from->begun,
                         .sent = from->sent};
}

static void record_clear (struct record *record)
{
    free (record->last.recipients);
    free (record->last.who);
    free (record->pending.recipients);
    free (record->pending.who);
    *record = (struct record){.sent = 0};
}

/* Also in a transaction. */
static int find_record (outbox_t *o, const letter_t *letter,
                        struct record *ret_record, gl_error_t *error)
{
    store_mail_t *mails;
    size_t count;

    record_clear (ret_record);
    if (store_mails (o->store, o->kind, o->period, &mails, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const store_mail_t *mail = &mails[i];
        if (strcmp (mail->name, letter->name) != 0
            || strcmp (mail->content, letter->content) != 0)
            continue;
        ret_record->sent += mail->sent != 0;
        copy_mail (mail->sent ? &ret_record->last : &ret_record->pending, mail);
    }
    store_mails_free (mails, count);
    return 0;
}

/* --- one letter: whether it is sent ------------------------------------- */

typedef enum { VERDICT_SEND, VERDICT_ALREADY, VERDICT_BUSY } verdict_t;

static verdict_t judge (const outbox_t *o, const struct record *record)
{
    if (record->pending.id && is_running (o, record->pending.who))
        return VERDICT_BUSY;
    return record->sent > 0 && !o->options.again ? VERDICT_ALREADY
                                                 : VERDICT_SEND;
}

static void tell_already (outbox_t *o, const letter_t *letter,
                          const store_mail_t *last)
{
    GL_AUTOFREE char *to = in_one_line (last->recipients);
    char stamp[ZONE_STAMP_SIZE];

    o->already++;
    if (o->list)
        list_letter (o, letter, "sent", last);
    else
        cli_say (o->cli,
                 "%s was already sent to %s on %s; --again sends it again",
                 letter->what, to,
                 zone_stamp (o->cli->site->zone, last->sent, stamp));
}

static void tell_busy (outbox_t *o, const letter_t *letter,
                       const store_mail_t *pending)
{
    o->failed++;
    if (o->list)
        list_letter (o, letter, "unknown", pending);
    cli_failf (o->cli,
               "%s is being sent by another gpuledger (%s): wait until that "
               "process has ended",
               letter->what, pending->who);
}

/* False: nobody is to receive it, which has been told. */
static bool has_recipients (outbox_t *o, const letter_t *letter)
{
    if (letter->to->count > 0)
        return true;
    o->unaddressed++;
    if (o->list)
        list_letter (o, letter, "no address", NULL);
    if (*letter->name)
        cli_warn (o->cli,
                  "%s was not sent, because the team has no e-mail address: "
                  "give it `mail` in %s",
                  letter->what, o->cli->config);
    else
        cli_warn (o->cli,
                  "%s was not sent, because nobody receives it: give `mail: "
                  "{monthly: ADDRESS}` in %s",
                  letter->what, o->cli->config);
    return false;
}

/* Tells all verdicts but that to send it. */
static verdict_t tell_verdict (outbox_t *o, const letter_t *letter,
                               const struct record *record)
{
    verdict_t verdict = judge (o, record);

    if (verdict == VERDICT_ALREADY)
        tell_already (o, letter, &record->last);
    else if (verdict == VERDICT_BUSY)
        tell_busy (o, letter, &record->pending);
    return verdict;
}

static void fail (outbox_t *o, const letter_t *letter, const gl_error_t *error)
{
    o->failed++;
    cli_failf (o->cli, "%s was not sent: %s", letter->what, error->text);
}

bool outbox_wants (outbox_t *o, const letter_t *letter)
{
    struct record record = {.sent = 0};
    verdict_t verdict = VERDICT_BUSY;
    gl_error_t error;

    if (!has_recipients (o, letter))
        return false;
    if (find_record (o, letter, &record, &error) < 0)
        fail (o, letter, &error);
    else
        verdict = tell_verdict (o, letter, &record);
    record_clear (&record);
    return verdict == VERDICT_SEND;
}

bool outbox_sent_other (outbox_t *o, const char *name, const char *content)
{
    store_mail_t *mails;
    gl_error_t error;
    bool other = false;
    size_t count;

    if (store_mails (o->store, o->kind, o->period, &mails, &count, &error) < 0)
        return false; /* sending it says why */
    for (size_t i = 0; i < count; i++)
        other = other
                || (mails[i].sent && !strcmp (mails[i].name, name)
                    && strcmp (mails[i].content, content) != 0);
    store_mails_free (mails, count);
    return other;
}

/* --- one letter: its message -------------------------------------------- */

/* As the verbs print it. */
static void render (report_t *report, render_format_t format, buffer_t *out)
{
    const render_options_t options = {.width = 0};

    if (format != RENDER_CSV)
        report_select_brief (report);
    render_report (report, format, &options, out);
}

/* Of a digest: so many that the letters of a period differ, and the line is short. */
#define NAME_BYTES 5

/* The same for the same letter and number, and no other. */
static char *message_id (const outbox_t *o, const letter_t *letter,
                         size_t number)
{
    BUFFER_AUTO text = BUFFER_INIT;
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    char hash[2 * NAME_BYTES + 1];
    address_t from;
    gl_error_t error;
    char *id;

    buffer_add_escaped (&text, o->kind, strlen (o->kind));
    buffer_printf (&text, "\n%s\n", o->period);
    buffer_add_escaped (&text, letter->name, strlen (letter->name));
    buffer_printf (&text, "\n%s\n", letter->content);
    EVP_Digest (text.data, text.length, digest, NULL, EVP_sha256 (), NULL);
    for (size_t i = 0; i < NAME_BYTES; i++)
        snprintf (hash + 2 * i, 3, "%02x", digest[i]);
    if (!o->mail->from || address_parse (o->mail->from, &from, &error) < 0)
        return NULL;
    id = xasprintf ("%s.%s.%s.%zu@%s", o->kind,
                    *letter->content ? letter->content : o->period, hash,
                    number, from.host);
    address_clear (&from);
    return id;
}

/* Rows first: the page and the table have fewer columns. */
static void write_message (const outbox_t *o, const letter_t *letter,
                           const char *id, int64_t date, buffer_t *out)
{
    BUFFER_AUTO csv = BUFFER_INIT;
    BUFFER_AUTO html = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;
    message_file_t file = {"text/csv; charset=utf-8", letter->file, NULL, 0};
    message_t message = {.from = o->mail->from,
                         .reply_to = o->mail->reply_to,
                         .to = letter->to,
                         .subject = letter->subject,
                         .date = date,
                         .id = id,
                         .file = &file,
                         .file_count = 1};

    render (letter->report, RENDER_CSV, &csv);
    render (letter->report, RENDER_HTML, &html);
    render (letter->report, RENDER_TABLE, &text);
    file.data = csv.data;
    file.length = csv.length;
    message.html = buffer_text (&html);
    message.text = buffer_text (&text);
    message_write (&message, out);
}

/* --- one letter: sent and recorded -------------------------------------- */

struct sending {
    outbox_t *o;
    const letter_t *letter;
    struct record record;
    verdict_t verdict;
    char *recipients;
    char *id;
    uint64_t row;
    int64_t now;
};

/* That it is about to be sent, unless somebody else was faster. */
static int claim (store_t *store, void *arg, gl_error_t *error)
{
    struct sending *s = arg;
    store_mail_t mail;

    if (find_record (s->o, s->letter, &s->record, error) < 0)
        return -1;
    s->verdict = judge (s->o, &s->record);
    if (s->verdict != VERDICT_SEND)
        return 0;
    free (s->id);
    s->id = message_id (s->o, s->letter, s->record.sent + 1);
    mail = (store_mail_t){.kind = (char *)s->o->kind,
                          .period = s->o->period,
                          .name = (char *)s->letter->name,
                          .content = (char *)s->letter->content,
                          .message = s->id,
                          .recipients = s->recipients,
                          .who = s->o->who,
                          .begun = s->now};
    if ((s->record.pending.id
         && store_mail_forget (store, s->record.pending.id, error) < 0)
        || store_mail_add (store, &mail, error) < 0)
        return -1;
    s->row = mail.id;
    return 0;
}

static int confirm (store_t *store, void *arg, gl_error_t *error)
{
    struct sending *s = arg;

    return store_mail_sent (store, s->row, s->now, error);
}

static int withdraw (store_t *store, void *arg, gl_error_t *error)
{
    struct sending *s = arg;

    return store_mail_forget (store, s->row, error);
}

static void tell_pending (outbox_t *o, const letter_t *letter,
                          const store_mail_t *pending)
{
    char stamp[ZONE_STAMP_SIZE];

    if (pending->id)
        cli_warn (o->cli,
                  "gpuledger ended on %s while %s was being sent: it may have "
                  "arrived. It is sent again with the same Message-ID",
                  zone_stamp (o->cli->site->zone, pending->begun, stamp),
                  letter->what);
}

static int deliver (struct sending *s, gl_error_t *error)
{
    outbox_t *o = s->o;
    BUFFER_AUTO message = BUFFER_INIT;
    const char *mbox = o->options.mbox;

    /* a file is data, and the same store gives the same bytes; what is sent carries
     * the time at which it is handed over (RFC 5322, 3.6.1) */
    write_message (o, s->letter, s->id, mbox ? s->letter->date : s->now,
                   &message);
    return mbox ? deliver_mbox (mbox, s->letter->date, &message, error)
                : deliver_sendmail (&o->mail->sendmail, o->mail->from,
                                    s->letter->to, &message, error);
}

static void send_now (struct sending *s)
{
    outbox_t *o = s->o;
    gl_error_t error, other;

    tell_pending (o, s->letter, &s->record.pending);
    if (deliver (s, &error) < 0) {
        fail (o, s->letter, &error);
        if (store_transaction (o->store, withdraw, s, &other) < 0)
            cli_fail (o->cli, &other);
        return;
    }
    s->now = time (NULL);
    o->sent++;
    if (store_transaction (o->store, confirm, s, &error) < 0) {
        o->failed++;
        cli_failf (o->cli,
                   "%s was sent, which could not be recorded: %s. The next run "
                   "sends it again",
                   s->letter->what, error.text);
    } else {
        GL_AUTOFREE char *to = in_one_line (s->recipients);
        cli_detail (o->cli, "sent %s to %s", s->letter->what, to);
    }
}

/* Lists it, and writes the message where a file is given. */
static void send_dry (struct sending *s)
{
    outbox_t *o = s->o;
    gl_error_t error;

    if (find_record (o, s->letter, &s->record, &error) < 0) {
        fail (o, s->letter, &error);
        return;
    }
    s->verdict = tell_verdict (o, s->letter, &s->record);
    if (s->verdict != VERDICT_SEND)
        return;
    s->id = message_id (o, s->letter, s->record.sent + 1);
    if (o->options.mbox && deliver (s, &error) < 0) {
        fail (o, s->letter, &error);
        return;
    }
    o->sent++;
    list_letter (o, s->letter, s->record.pending.id ? "unknown" : "to be sent",
                 s->record.pending.id ? &s->record.pending : NULL);
}

void outbox_send (outbox_t *o, const letter_t *letter)
{
    struct sending s = {.o = o, .letter = letter, .now = time (NULL)};
    gl_error_t error;

    if (!has_recipients (o, letter))
        return;
    s.recipients = lines_of (letter->to);
    if (o->list)
        send_dry (&s);
    else if (store_transaction (o->store, claim, &s, &error) < 0)
        fail (o, letter, &error);
    else if (s.verdict == VERDICT_SEND)
        send_now (&s);
    else
        tell_verdict (o, letter, &s.record);
    record_clear (&s.record);
    free (s.recipients);
    free (s.id);
}

static const char *plural (size_t count)
{
    return count == 1 ? "" : "s";
}

int outbox_close (outbox_t *o)
{
    int rc;

    if (!o)
        return CLI_FAILED;
    rc = o->failed ? CLI_FAILED : o->unaddressed ? CLI_LOOK : CLI_OK;
    if (o->list) {
        /* an mbox on standard output leaves no place for the list */
        int listed = o->options.mbox && !strcmp (o->options.mbox, "-")
                         ? CLI_OK
                         : output_report (o->cli, o->output, o->list);
        rc = listed == CLI_OK ? rc : listed;
    } else
        cli_say (o->cli,
                 "sent %zu message%s; already sent: %zu, failed: %zu, without "
                 "an address: %zu",
                 o->sent, plural (o->sent), o->already, o->failed,
                 o->unaddressed);
    report_free (o->list);
    free (o->period);
    free (o->who);
    free (o);
    return rc;
}

/* --- addresses ---------------------------------------------------------- */

void mail_team_addresses (const site_t *site, const char *team,
                          text_list_t *ret_to)
{
    const site_team_t *last = NULL;
    address_t address;
    gl_error_t error;

    for (size_t i = 0; i < site->team_count; i++)
        if (team_is_called (&site->teams[i], team)
            && (!last || site->teams[i].valid.start > last->valid.start))
            last = &site->teams[i];
    for (size_t i = 0; last && i < last->mail.count; i++)
        texts_add_new (ret_to, last->mail.item[i]);
    if (!last || last->mail.count > 0 || !last->email
        || address_parse (last->email, &address, &error) < 0)
        return;
    address_clear (&address);
    texts_add_new (ret_to, last->email);
}
