/* gpuledger verify: whether what was closed is what was written. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/exact.h"
#include "base/memory.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "command/manual.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "month/anchor.h"
#include "month/closed_lists.h"
#include "month/verify.h"
#include "site/site.h"

struct request {
    const char *head;
    const char *since;
    bool anchor;
    bool if_configured;
    output_t output;
};

static void tell_found (const verified_t *found, const struct request *r,
                        size_t anchors)
{
    char text[MONTH_HASH_SIZE];

    hash_text (found->head.hash, text);
    progress_end ();
    for (size_t i = 0; i < found->count; i++)
        printf ("%s\n", found->problem[i]);
    printf ("%" PRIu64 " entries, %" PRIu64 " rows in %" PRIu64
            " closed months: %s\n",
            found->entries, found->rows, found->months,
            found->count ? "NOT as they were written" : "as they were written");
    if (r->head && found->has_head)
        printf ("the given hash is in the chain\n");
    if (anchors)
        printf ("compared with %zu anchor%s\n", anchors,
                anchors == 1 ? "" : "s");
    printf ("head %s\n", text);
}

/* --- since -------------------------------------------------------------- */

enum { AT_ENTRIES, AT_KIND, AT_MONTH, AT_VERSION, AT_BY, AT_WHEN, AT_WHAT };

static const column_info_t columns[] = {
    {"entries", "Entries", COLUMN_TEXT, true, false, ""},
    {"kind", "Kind", COLUMN_TEXT, false, false, ""},
    {"month", "Month", COLUMN_DATE, false, false, ""},
    {"version", "Version", COLUMN_TEXT, false, false, ""},
    {"by", "By", COLUMN_TEXT, false, false, ""},
    {"when", "When", COLUMN_DATE, false, false, ""},
    {"what", "What", COLUMN_TEXT, false, false, ""},
};

static void put_row (report_t *report, const site_t *site, uint64_t first,
                     uint64_t last, const char *kind, const char *month,
                     const char *who, int64_t when, const char *what)
{
    char stamp[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *entries
        = first == last ? xasprintf ("%" PRIu64, last)
                        : xasprintf ("%" PRIu64 "-%" PRIu64, first, last);

    report_row (report);
    report_put_text (report, AT_ENTRIES, entries);
    report_put_text (report, AT_KIND, kind);
    report_put_text (report, AT_MONTH, month);
    report_put_text (report, AT_BY, who ? who : "");
    report_put_text (report, AT_WHEN, zone_stamp (site->zone, when, stamp));
    report_put_text (report, AT_WHAT, what);
}

/* All that leads up to a closing was written with it, in one transaction. */
static void put_closing (report_t *report, const site_t *site,
                         const closing_t *closing, uint64_t since)
{
    GL_AUTOFREE char *accept = body_get (closing->body, "accept");
    GL_AUTOFREE char *what = xasprintf (
        "%" PRIu64 " rows%s%s", closed_postings (closing),
        accept ? "; findings were accepted: " : "", accept ? accept : "");
    char version[16];

    put_row (report, site, closing->first > since ? closing->first : since + 1,
             closing->number, "close", closing->month, closing->who,
             closing->when, what);
    snprintf (version, sizeof (version), "%" PRIu32, closing->version);
    report_put_text (report, AT_VERSION, version);
}

static void put_decision (report_t *report, const site_t *site,
                          const decision_t *d)
{
    BUFFER_AUTO what = BUFFER_INIT;

    if (d->reference)
        buffer_printf (&what, "%s: ", d->reference);
    if (d->row) {
        GL_AUTOFREE char *amount
            = exact_units_text (d->row->charge_units, site->currency_digits);
        buffer_printf (&what,
                       "%s %s %s: ", d->row->team ? d->row->team : "(none)",
                       amount, site->currency);
    }
    buffer_add_text (&what, d->reason ? d->reason : "");
    put_row (report, site, d->number, d->number, chain_kind_word (d->kind),
             d->month, d->who, d->when, buffer_text (&what));
}

static report_t *make_list (const periods_t *p, const site_t *site,
                            uint64_t since)
{
    report_t *report = report_new ("verify", "Entries since that hash");
    size_t closing = 0, decision = 0;

    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    while (closing < p->closing_count || decision < p->decision_count) {
        const closing_t *a
            = closing < p->closing_count ? &p->closings[closing] : NULL;
        const decision_t *b
            = decision < p->decision_count ? &p->decisions[decision] : NULL;
        if (a && (!b || a->number < b->number)) {
            if (a->number > since)
                put_closing (report, site, a, since);
            closing++;
        } else {
            if (b->number > since)
                put_decision (report, site, b);
            decision++;
        }
    }
    return report;
}

static int list_since (cli_t *cli, const struct request *r,
                       const verified_t *found)
{
    periods_t *periods;
    report_t *report;
    gl_error_t error;
    char head[MONTH_HASH_SIZE];
    int rc;

    for (size_t i = 0; i < found->count; i++)
        cli_warn (cli, "%s", found->problem[i]);
    if (!found->has_head)
        return CLI_LOOK;
    if (periods_read (cli->store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    report = make_list (periods, cli->site, found->head_number);
    hash_text (periods->head.hash, head);
    report_parameter (report, "since", r->since);
    report_parameter (report, "head", head);
    rc = output_report (cli, &r->output, report);
    report_free (report);
    periods_free (periods);
    return rc == CLI_OK && found->count ? CLI_LOOK : rc;
}

/* --- the verb ----------------------------------------------------------- */

static void take_anchor (const char *sentence, bool bad, void *arg)
{
    (void)bad;
    verified_add (arg, sentence);
}

/* `verify --anchor` mends what is merely not anchored. */
static void take_bad_anchor (const char *sentence, bool bad, void *arg)
{
    if (bad)
        verified_add (arg, sentence);
}

static int nothing_closed (cli_t *cli, const struct request *r)
{
    const char *text = "nothing was closed yet: there is no hash to anchor";

    if (!r->if_configured)
        return cli_failf (cli, "%s", text);
    cli_say (cli, "%s", text);
    return CLI_OK;
}

static int anchor_now (cli_t *cli, const struct request *r,
                       const verified_t *found)
{
    anchor_t anchor
        = {.head = found->head, .event = "verify", .when = time (NULL)};
    uid_t uid;

    anchor.who = user_verb_person (cli, NULL, &uid);
    if (!anchor.who)
        return CLI_FAILED;
    if (found->head.number == 0)
        return nothing_closed (cli, r);
    return manual_anchor (cli, &anchor);
}

static int finish (cli_t *cli, const struct request *r, verified_t *found)
{
    size_t anchors;
    gl_error_t error;
    int rc;

    if (anchor_check (cli->store, &cli->site->close,
                      r->anchor ? take_bad_anchor : take_anchor, found,
                      &anchors, &error)
        < 0)
        return cli_fail (cli, &error);
    if (r->since)
        return list_since (cli, r, found);
    tell_found (found, r, anchors);
    rc = found->count ? CLI_LOOK : CLI_OK;
    if (r->anchor && rc == CLI_OK)
        rc = anchor_now (cli, r, found);
    else if (r->anchor)
        cli_warn (cli, "no anchor was written");
    return rc;
}

static int verify (cli_t *cli, const struct request *r)
{
    const char *wanted = r->head ? r->head : r->since;
    uint8_t hash[STORE_DIGEST_SIZE];
    verified_t found;
    gl_error_t error;
    int rc;

    if (wanted && hash_parse (wanted, hash) < 0)
        return cli_usage (cli,
                          "--%s needs 64 hexadecimal digits, as a statement "
                          "prints them",
                          r->head ? "head" : "since");
    if (!cli_site (cli))
        return CLI_FAILED;
    if (r->if_configured && !cli->site->close.anchor) {
        cli_say (cli, "close.anchor is not set: no hash is anchored");
        return CLI_OK;
    }
    if (!cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (verify_chain (cli->store, wanted ? hash : NULL, &found, &error) < 0)
        return cli_fail (cli, &error);
    rc = finish (cli, r, &found);
    verified_clear (&found);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli, "verify takes no argument");
    if (!!r.head + !!r.since + r.anchor > 1)
        return cli_usage (cli, "give one of --head, --since and --anchor");
    if (r.if_configured && !r.anchor)
        return cli_usage (cli, "--if-configured needs --anchor");
    return verify (cli, &r);
}

static const cli_option_t options[] = {
    {0, "head", "HASH", "a hash from a statement: fail if the chain lacks it",
     CLI_AT (struct request, head)},
    {0, "since", "HASH", "list every entry after that hash: who, when and what",
     CLI_AT (struct request, since)},
    {0, "anchor", NULL,
     "if nothing is wrong, anchor the latest hash (close.anchor)",
     CLI_AT (struct request, anchor)},
    {0, "if-configured", NULL,
     "with --anchor: do nothing without close.anchor, or before the first "
     "closing",
     CLI_AT (struct request, if_configured)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_verify = {
    .name = "verify",
    .run = run,
    .without_prices = true,
    .synopsis = "[--head HASH | --since HASH [OUTPUT] | --anchor "
                "[--if-configured]]",
    .summary = "compute every hash of closed months again",
    .help = "Names each month, row and field that was changed (exit code 3), "
            "compares the store with the hashes that are anchored outside of "
            "it (close.anchor), and prints the latest hash. The owner of the "
            "database can compute an entire new chain, so also give a hash "
            "from a statement, a mail or a printout.",
    .options = options,
    .example = "gpuledger verify",
};
