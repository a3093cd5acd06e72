/*
 * outbox.h: the one way in which gpuledger sends mail: to whom, once, and recorded.
 *
 * A letter is a report as a message: its table as text, its page as HTML, its rows as
 * an attached CSV file. It is known by kind, period, name and content, and sent once:
 * the store records it (store_mail_t). The record is written in two steps: that the
 * letter is about to be sent, and that it was. If gpuledger ends between the two,
 * nobody knows whether the letter arrived. The next run says so and sends it again
 * with the same Message-ID, by which mail programs recognise it: a letter is sent at
 * least once. A letter that was not accepted leaves no record.
 *
 * A failure of one letter does not keep the others back.
 */
#ifndef GL_MAIL_OUTBOX_H
#define GL_MAIL_OUTBOX_H

#include "base/text.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "report/report.h"
#include "site/site.h"

/* Options of all that is mailed, as a CLI_GROUP for a mail_options_t. */
typedef struct {
    const char
        *mbox; /* --mbox: appended to this file; NULL: sent by mail.sendmail */
    bool dry_run;   /* --dry-run */
    bool again;     /* --again */
    bool draft;     /* --draft */
    bool if_closed; /* --if-closed */
} mail_options_t;
extern const cli_option_t mail_options[];

/* CLI_OK, or told: an option makes sense with mail alone. `mail`: it is asked for. */
int mail_options_check (cli_t *cli, const mail_options_t *options, bool mail);

/* Everything is borrowed for the call. */
typedef struct {
    const char *name;      /* of the team; "": of no team */
    const char *content;   /* of a statement its id; else "" */
    const char *what;      /* "the statement of vision for 2026-10" */
    const text_list_t *to; /* addresses */
    const char *subject;
    const char
        *file; /* name of the attachment: "statement-2026-10-vision.csv" */
    int64_t
        date; /* that the letter speaks of; of a message in a file its Date */
    report_t *report; /* afterwards its fields are those of a page */
} letter_t;

/* Letters of one kind and period. NULL: told why there can be none. `output`: how
 * --dry-run lists them. */
typedef struct outbox outbox_t;
outbox_t *outbox_open (cli_t *cli, const mail_options_t *options,
                       const output_t *output, const char *kind,
                       const char *period);
/* Whether this letter is still to be sent; else it has been told why not. Need not be
 * asked. */
bool outbox_wants (outbox_t *outbox, const letter_t *letter);
/* A letter of this name and another content was sent before: this one replaces it. */
bool outbox_sent_other (outbox_t *outbox, const char *name,
                        const char *content);
/* Its outcome is reported, and counts for outbox_close(). */
void outbox_send (outbox_t *outbox, const letter_t *letter);
/* It could not be made, which has been told. */
void outbox_fail (outbox_t *outbox);
/* Says what was sent, or lists what would be. Returns an exit code: CLI_FAILED if
 * a letter failed, CLI_LOOK if nobody is to receive one. Accepts NULL. */
int outbox_close (outbox_t *outbox);

/* To whom the mail of a team goes, as the configuration of today says: `mail` of its
 * last entry, else `email`. Appended to ret_to. */
void mail_team_addresses (const site_t *site, const char *team,
                          text_list_t *ret_to);

/* "root@host 4711": who sends, and which process that is. Yours. */
char *mail_who (void);

/* All that the store has of letters and alerts, as a report. Returns an exit code. */
int mail_list (cli_t *cli, const output_t *output);

#endif /* !GL_MAIL_OUTBOX_H */
