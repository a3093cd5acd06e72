/* gpuledger prices: the catalogue of cloud prices. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "import/catalogue_files.h"
#include "prices/catalogue_report.h"
#include "render/escape.h"
#include "site/site.h"

/* Of the site's own file, in bytes. */
#define OWN_MAX ((size_t)64 << 20)

struct request {
    const char *date;
    catalogue_query_t query;
    const char *operand; /* NULL: none */
    bool egress;         /* prices of traffic instead */
    output_t output;
};

/* The caller clears the catalogue, unless it cannot be read. */
static int read_files (cli_t *cli, bool egress, catalogue_t *ret_catalogue,
                       catalogue_findings_t *findings)
{
    gl_error_t error;

    if ((egress ? catalogue_egress_read : catalogue_files_read) (
            cli->site, ret_catalogue, findings, &error)
        == 0)
        return CLI_OK;
    catalogue_clear (ret_catalogue);
    return cli_fail (cli, &error);
}

/* --- list and show -------------------------------------------------------- */

static int nothing (cli_t *cli, const struct request *r,
                    const catalogue_t *catalogue)
{
    const char *asked = r->operand          ? r->operand
                        : r->query.provider ? r->query.provider
                                            : "";
    GL_AUTOFREE char *provider = xstrndup (asked, strcspn (asked, "/"));
    nearest_t nearest = {.word = provider};

    for (size_t i = 0; i < catalogue->count; i++)
        nearest_offer (&nearest, catalogue->row[i].cell[CELL_PROVIDER]);
    if (nearest.name && strcmp (nearest.name, provider) != 0)
        return cli_failf (cli,
                          "the catalogue has no provider '%.60s'; did you mean "
                          "'%s'?",
                          provider, nearest.name);
    return cli_failf (cli,
                      "the catalogue has no such price%s%s on or before the "
                      "date; gpuledger prices list names what it has",
                      r->operand ? ": " : "", r->operand ? r->operand : "");
}

static int show_rows (cli_t *cli, const struct request *r,
                      report_t *make (const catalogue_t *catalogue,
                                      const catalogue_query_t *query))
{
    catalogue_t catalogue;
    report_t *report;
    int rc = read_files (cli, r->egress, &catalogue, NULL);

    if (rc != CLI_OK)
        return rc;
    report = make (&catalogue, &r->query);
    rc = report->row_count + report->note_count > 0
             ? output_report (cli, &r->output, report)
             : nothing (cli, r, &catalogue);
    report_free (report);
    catalogue_clear (&catalogue);
    return rc;
}

static int list (cli_t *cli, struct request *r)
{
    return show_rows (cli, r,
                      r->egress ? catalogue_egress_list
                                : catalogue_list_report);
}

static int show (cli_t *cli, struct request *r)
{
    r->query.path = r->operand;
    return show_rows (cli, r,
                      r->egress ? catalogue_egress_history
                                : catalogue_history_report);
}

/* --- check ------------------------------------------------------------------ */

static int put_findings (cli_t *cli, const struct request *r,
                         const catalogue_findings_t *findings)
{
    report_t *report = catalogue_check_report (findings, r->query.day);
    int rc = output_report (cli, &r->output, report);

    report_free (report);
    return rc == CLI_OK && findings->count > 0 ? CLI_LOOK : rc;
}

static int check (cli_t *cli, struct request *r)
{
    catalogue_findings_t findings = {.count = 0};
    catalogue_t catalogue;
    int rc = read_files (cli, r->egress, &catalogue, &findings);

    if (rc == CLI_OK) {
        catalogue_check (&catalogue, r->query.day, &findings);
        if (findings.count > 0 || output_formed (&r->output) || r->output.file)
            rc = put_findings (cli, r, &findings);
        else
            cli_say (cli, "%zu prices, and no findings", catalogue.count);
    }
    catalogue_findings_clear (&findings);
    catalogue_clear (&catalogue);
    return rc;
}

/* --- import ----------------------------------------------------------------- */

/* The same price again, for the same offer and day. A price is never replaced. */
static int check_known (cli_t *cli, const catalogue_row_t *row,
                        const catalogue_row_t *known)
{
    static const catalogue_cell_t figures[]
        = {CELL_GPU, CELL_GPUS, CELL_CURRENCY};
    bool same = mpq_equal (row->per_hour, known->per_hour);

    for (size_t i = 0; i < GL_ARRAY_SIZE (figures); i++)
        same = same && !strcmp (row->cell[figures[i]], known->cell[figures[i]]);
    if (same)
        return CLI_OK;
    return cli_failf (cli,
                      "%s:%zu: %s %s for %s GPUs %s differs from %s %s for %s "
                      "GPUs %s of %s:%zu, for the same offer and date: nothing "
                      "is imported; give the price its own as_of, or correct "
                      "one of them",
                      row->file, row->line, row->cell[CELL_PRICE],
                      row->cell[CELL_CURRENCY], row->cell[CELL_GPUS],
                      row->cell[CELL_GPU], known->cell[CELL_PRICE],
                      known->cell[CELL_CURRENCY], known->cell[CELL_GPUS],
                      known->cell[CELL_GPU], known->file, known->line);
}

/* The rows of the file that are not known yet move to `fresh`. */
static int take_fresh (cli_t *cli, const catalogue_t *known, catalogue_t *file,
                       catalogue_t *fresh)
{
    int rc = CLI_OK;

    for (size_t i = 0; i < file->count && rc == CLI_OK; i++) {
        const catalogue_row_t *row = &file->row[i];
        const catalogue_row_t *same = catalogue_find (known, row);
        if (!same && i > 0 && catalogue_compare (row, row - 1) == 0)
            same = row - 1;
        if (same)
            rc = check_known (cli, row, same);
        else
            *GL_APPEND (fresh->row, fresh->count) = *row;
    }
    return rc;
}

/* What may be a mistake and may be none; an old price is history. */
static void warn_of (cli_t *cli, const catalogue_t *fresh, int64_t day)
{
    catalogue_findings_t findings = {.count = 0};

    catalogue_check (fresh, day, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (strcmp (findings.item[i].word, "too-old") != 0)
            cli_warn (cli, "%s: %s", findings.item[i].place,
                      findings.item[i].text);
    catalogue_findings_clear (&findings);
}

static void add_row (buffer_t *out, const catalogue_row_t *row)
{
    for (size_t i = 0; i < CATALOGUE_CELLS; i++) {
        if (i > 0)
            buffer_add_char (out, ',');
        escape_csv (out, row->cell[i], false);
    }
    buffer_add_char (out, '\n');
}

/* The rows of the site's own file stay as they are. */
static int read_own (const char *file, buffer_t *out, gl_error_t *error)
{
    size_t size;
    GL_AUTOFREE char *text
        = file_read (AT_FDCWD, file, file, OWN_MAX, &size, error);

    if (!text && errno != ENOENT)
        return -1;
    if (text)
        buffer_add (out, text, size);
    else
        buffer_add_text (out, CATALOGUE_HEADER "\n");
    if (text && size > 0 && text[size - 1] != '\n')
        buffer_add_char (out, '\n');
    return 0;
}

static int write_own (cli_t *cli, const catalogue_t *fresh)
{
    const char *file = cli->site->prices.file;
    const file_target_t target
        = {.at = AT_FDCWD, .name = file, .sync = FILE_WHOLE};
    BUFFER_AUTO text = BUFFER_INIT;
    gl_error_t error;

    if (fresh->count == 0)
        return CLI_OK;
    if (read_own (file, &text, &error) < 0)
        return cli_fail (cli, &error);
    for (size_t i = 0; i < fresh->count; i++)
        add_row (&text, &fresh->row[i]);
    return file_replace (&target, file, buffer_text (&text), text.length,
                         &error)
                   < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

/* As the files have them now, with the change from the price before. */
static int show_fresh (cli_t *cli, const struct request *r,
                       const catalogue_t *fresh)
{
    catalogue_query_t query = r->query;
    catalogue_t now;
    report_t *report;
    int rc = read_files (cli, false, &now, NULL);

    if (rc != CLI_OK)
        return rc;
    query.only = fresh;
    report = catalogue_history_report (&now, &query);
    rc = output_report (cli, &r->output, report);
    report_free (report);
    catalogue_clear (&now);
    return rc;
}

static int say_fresh (cli_t *cli, const struct request *r,
                      const catalogue_t *fresh, size_t known)
{
    int rc = CLI_OK;

    if (fresh->count > 0 || output_formed (&r->output))
        rc = show_fresh (cli, r, fresh);
    cli_say (cli, "%zu new price%s in %s, %zu known already", fresh->count,
             fresh->count == 1 ? "" : "s", cli->site->prices.file, known);
    return rc;
}

static int import_rows (cli_t *cli, const struct request *r,
                        const catalogue_t *known, catalogue_t *file)
{
    catalogue_t fresh = {.count = 0};
    int rc = take_fresh (cli, known, file, &fresh);

    if (rc == CLI_OK) {
        warn_of (cli, &fresh, r->query.day);
        rc = write_own (cli, &fresh);
    }
    if (rc == CLI_OK)
        rc = say_fresh (cli, r, &fresh, file->count - fresh.count);
    free (fresh.row); /* the cells are the file's */
    return rc;
}

static int read_file (cli_t *cli, const char *file, catalogue_t *catalogue)
{
    gl_error_t error;

    if (catalogue_file_read (file, false, catalogue, NULL, &error) < 0)
        return cli_fail (cli, &error);
    catalogue_sort (catalogue);
    return CLI_OK;
}

static int import_locked (cli_t *cli, struct request *r)
{
    catalogue_t known, file = {.count = 0};
    int rc = read_files (cli, false, &known, NULL);

    if (rc == CLI_OK)
        rc = read_file (cli, r->operand, &file);
    if (rc == CLI_OK)
        rc = import_rows (cli, r, &known, &file);
    catalogue_clear (&file);
    catalogue_clear (&known);
    return rc;
}

/* The file is replaced by another one, so its directory has the lock; two imports at a
 * time would each write what they read, and the rows of one were lost. */
static int lock_own (cli_t *cli, int *ret_fd)
{
    const char *file = cli->site->prices.file, *slash = strrchr (file, '/');
    GL_AUTOFREE char *dir = !slash          ? xstrdup (".")
                            : slash == file ? xstrdup ("/")
                                            : xstrndup (file, slash - file);

    *ret_fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0)
        return cli_failf (cli,
                          "cannot open the directory %s of prices.file: %s",
                          dir, strerror (errno));
    if (flock (*ret_fd, LOCK_EX | LOCK_NB) == 0)
        return CLI_OK;
    cli_say (cli, "waiting for another import into %s", file);
    return flock (*ret_fd, LOCK_EX) == 0
               ? CLI_OK
               : cli_failf (cli, "cannot lock %s: %s", dir, strerror (errno));
}

static int import (cli_t *cli, struct request *r)
{
    int fd, rc;

    if (!cli->site->prices.file)
        return cli_failf (cli, "no file takes the rows: set prices.file in %s",
                          cli->config);
    rc = lock_own (cli, &fd);
    if (rc == CLI_OK)
        rc = import_locked (cli, r);
    if (fd >= 0)
        close (fd);
    return rc;
}

/* --- the verb --------------------------------------------------------------- */

static const struct {
    const char *word;
    int (*run) (cli_t *cli, struct request *r);
    const char *operand; /* NULL: none */
    bool filters;        /* --gpu, --provider and --plan are for it */
} words[] = {
    {"list", list, NULL, true},
    {"show", show, "PROVIDER[/INSTANCE[/REGION]]", true},
    {"check", check, NULL, false},
    {"import", import, "FILE", false},
};

/* An empty name would be any. */
static int check_filters (cli_t *cli, const struct request *r, bool filters)
{
    const char *const given[]
        = {r->query.gpu, r->query.provider, r->query.plan};
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (given); i++)
        if (given[i] && (!filters || !*given[i]))
            return cli_usage (cli, filters ? "--gpu, --provider and --plan "
                                             "need a name"
                                           : "--gpu, --provider and --plan are "
                                             "for list and show");
    if (r->egress && (r->query.gpu || r->query.plan))
        return cli_usage (cli, "prices of traffic have no --gpu and --plan");
    if (r->query.plan && catalogue_check_plan (r->query.plan, &error) < 0)
        return cli_usage (cli, "--plan %.40s: %s", r->query.plan, error.text);
    return CLI_OK;
}

static int run_word (cli_t *cli, const char *word, struct request *r)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        int rc;
        if (strcmp (words[i].word, word) != 0)
            continue;
        if (!words[i].operand && r->operand)
            return cli_usage (cli, "prices %s takes no argument: '%s'", word,
                              r->operand);
        if (words[i].operand && !r->operand)
            return cli_usage (cli, "prices %s needs one: prices %s %s", word,
                              word, words[i].operand);
        if (r->egress && words[i].run == import)
            return cli_usage (cli, "import is for prices of GPUs: enter your "
                                   "price of traffic as per_gb_above of "
                                   "`analyses`");
        rc = check_filters (cli, r, words[i].filters);
        if (rc == CLI_OK && !cli_site (cli))
            rc = CLI_FAILED;
        if (rc == CLI_OK)
            rc = query_option_day (cli, r->date, &r->query.day);
        return rc == CLI_OK ? words[i].run (cli, r) : rc;
    }
    return cli_usage (cli,
                      "unknown 'prices %.40s'; there are: list show check "
                      "import",
                      word);
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind == argc)
        return cli_usage (cli, "give list, show, check or import");
    if (optind < argc - 2)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind + 2]);
    r.operand = optind + 1 < argc ? argv[optind + 1] : NULL;
    return run_word (cli, argv[optind], &r);
}

static const cli_option_t options[] = {
    {0, "gpu", "MODEL",
     "list, show: GPUs with these parts of a name: H100, H100-PCIe",
     CLI_AT (struct request, query.gpu)},
    {0, "provider", "NAME", "list, show: prices of this provider",
     CLI_AT (struct request, query.provider)},
    {0, "plan", "PLAN",
     "list, show: on-demand, spot, committed, or with its term:\n"
     "committed-1y",
     CLI_AT (struct request, query.plan)},
    {0, "egress", NULL,
     "list, show, check: prices of traffic to the internet, by tiers;\n"
     "show takes PROVIDER[/REGION]",
     CLI_AT (struct request, egress)},
    {0, "date", "DAY", "prices and ages on that day (default: today)",
     CLI_AT (struct request, date)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_prices = {
    .name = "prices",
    .run = run,
    .synopsis = "list [OPTION]... | show PROVIDER[/INSTANCE[/REGION]] | check "
                "| import FILE",
    .summary = "dated prices of cloud GPUs, to compare with",
    .help
    = "The catalogue of cloud prices: the rows that come with the program, and "
      "those of the site's own file (prices.file). Each price has its date and "
      "source; a price that is a year old is no price of today. check exits "
      "with 3 if it finds something.",
    .options = options,
    .example = "gpuledger prices list --gpu H100 --plan spot\n"
               "gpuledger prices show aws/p5.48xlarge",
};
