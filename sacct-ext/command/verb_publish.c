#include <getopt.h>

#include "command/verb.h"
#include "command/verb_report.h"
#include "import/catalogue_files.h"
#include "publish/publish.h"
#include "site/site.h"

struct request {
    bool fresh;
    bool pdf;
};

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.fresh = false};
    publish_t publish
        = {.report = report_for_site, .prices = catalogue_price_clouds};

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (argc - optind > 1 || (optind < argc && !*argv[optind]))
        return cli_usage (cli, "give one directory, that of the site");
    if (!cli_site (cli))
        return CLI_FAILED;
    publish.dir = optind < argc ? argv[optind] : cli->site->publish.directory;
    publish.fresh = request.fresh;
    publish.pdf = request.pdf;
    if (!publish.dir)
        return cli_usage (cli, "give the directory of the site, or set "
                               "publish.directory");
    return publish_site (cli, &publish);
}

static const cli_option_t options[] = {
    {0, "all", NULL,
     "make all pages again; without it closed months whose pages are there\n"
     "are left as they are",
     CLI_AT (struct request, fresh)},
    {0, "pdf", NULL,
     "write each month and each statement as a PDF, too, with WeasyPrint; as\n"
     "publish.pdf",
     CLI_AT (struct request, pdf)},
    {0},
};

const verb_t verb_publish = {
    .name = "publish",
    .run = run,
    .synopsis = "[DIR] [OPTION]...",
    .summary = "write the web site of all months, teams and pools",
    .help = "Writes static pages into DIR (without it, publish.directory) for "
            "a web server or a file share: an "
            "index, each month on one page, the statements of all teams with "
            "their users, projects and most expensive jobs, pools, "
            "definitions, and the hashes of closed months; with the data of "
            "each page as CSV and JSON. Only files that differ are replaced. "
            "'publish' in the configuration says who may read what.",
    .options = options,
    .example = "gpuledger publish /srv/www/gpuledger",
};
