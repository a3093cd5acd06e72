#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t book_words[]
    = {{"full", BOOK_FULL}, {"recoverable", BOOK_RECOVERABLE}, {NULL, 0}};
static const schema_word_t disposal_words[]
    = {{"apart", DISPOSAL_APART}, {"in-rate", DISPOSAL_IN_RATE}, {NULL, 0}};
static const schema_word_t reserved_words[]
    = {{"stated", RESERVED_STATED},
       {"holder", RESERVED_HOLDER},
       {"entitlement", RESERVED_ENTITLEMENT},
       {NULL, 0}};
static const schema_word_t before_words[]
    = {{"shown", BEFORE_GO_LIVE_SHOWN},
       {"imported", BEFORE_GO_LIVE_IMPORTED},
       {NULL, 0}};
static const schema_word_t suspended_words[]
    = {{"charged", SUSPENDED_CHARGED}, {"free", SUSPENDED_FREE}, {NULL, 0}};
static const schema_word_t category_words[]
    = {{"compute", ISSUER_COMPUTE}, {"ai", ISSUER_AI}, {NULL, 0}};

static const schema_key_t ledger_keys[] = {
    {"timezone", VALUE_ZONE, 0, offsetof (site_t, zone), NULL, NULL, NULL,
     "Europe/Oslo",
     "Time zone of months, days and all dates of the configuration; default "
     "UTC."},
    {"currency", VALUE_CURRENCY, 0, offsetof (site_t, currency), NULL, NULL,
     NULL, "EUR", "Three letters of ISO 4217; default USD."},
    {"store", VALUE_TEXT, 0, offsetof (site_t, store), NULL, NULL, NULL, NULL,
     "Where the ledger is: the URL of --store, for all commands and the "
     "collector. Default: SQLite files in " LOCALSTATEDIR
     "/lib/gpuledger and gpuledger-ledger."},
    {"go_live", VALUE_DATE, 0, offsetof (site_t, go_live), NULL, NULL, NULL,
     "2026-01-01",
     "First day that is billed, the first of a month. Months are closed from "
     "it on, in order. Default: the first month that is closed."},
    {"before_go_live", VALUE_WORD, 0, offsetof (site_t, before_go_live),
     before_words, NULL, "shown", "shown",
     "Months before go_live: in reports and never closed (shown), or closed "
     "without charges together with the first billed month (imported). Default "
     "shown."},
    {"fiscal_year", VALUE_MONTH, 0, offsetof (site_t, fiscal_month), NULL, NULL,
     "01-01", "07-01",
     "First day of the fiscal year, which is named after the year that it ends "
     "in: with 07-01 fiscal year 2027 is July 2026 to June 2027. Default "
     "01-01."},
};

const schema_kind_t schema_ledger = ONE_KIND (
    "ledger", "One time zone and one currency for all clusters.", ledger_keys);

static const schema_key_t policy_keys[] = {
    {"idle", VALUE_WORD, 0, offsetof (site_t, policy.idle), schema_idle_words,
     NULL, "explicit", "explicit",
     "Who pays for idle time where no rate is published: "
     "the platform (explicit); the hours billed, by their rate (in-rate), or "
     "as "
     "far as the planned utilization says (practical); lines of their own for "
     "accounts by their allocated time (proportional), for teams in equal "
     "parts (uniform) or by their entitlements (entitlement); nobody (none). "
     "Default explicit."},
    {"reserved", VALUE_WORD, 0, offsetof (site_t, policy.reserved),
     reserved_words, NULL, "stated", "stated",
     "Reserved time that no job used: idle time like any other (stated); "
     "charged to the accounts of the reservation in equal parts (holder); or "
     "charged likewise, and consumed from their team's entitlement first "
     "(entitlement). Default stated."},
    {"book", VALUE_WORD, 0, offsetof (site_t, policy.book), book_words, NULL,
     NULL, "recoverable",
     "Cost on which charges are based: all of it (full), or only the shares "
     "that rates may recover (recoverable). Reports show both. Default full; "
     "closing asks where some of the cost is not recoverable and this is not "
     "set."},
    {"disposal", VALUE_WORD, 0, offsetof (site_t, policy.disposal),
     disposal_words, NULL, "apart", "apart",
     "Gain or loss of an asset that is retired: shown next to the cost "
     "(apart), "
     "or a cost of the month (in-rate). Default apart."},
    {"suspended", VALUE_WORD, 0, offsetof (site_t, policy.suspended),
     suspended_words, NULL, "charged", "charged",
     "GPUs allocated to a suspended job: charged, or free and shown as "
     "unallocated cost. Default charged."},
    {"discounts", VALUE_WORD, 0, offsetof (site_t, policy.discounts),
     schema_truth_words, NULL, "no", "no",
     "Whether a team may have a surcharge below 0. Federal awards may then pay "
     "more than others for the same hour (2 CFR 200.468). Default no."},
    {"mig_price", VALUE_WORD, 0, offsetof (site_t, policy.mig_price),
     schema_price_words, NULL, "max", "max",
     "Weight by which a MIG slice is priced at full cost. Default max."},
    {"utilization", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE,
     offsetof (site_t, policy.utilization), NULL, NULL, "80%", "80%",
     "Productive share of the time that planning and the practical rate "
     "assume. Default 80%."},
    {"wckey_is_project", VALUE_WORD, 0,
     offsetof (site_t, policy.wckey_is_project), schema_truth_words, NULL, "no",
     "no", "Use Slurm's wckey as a project tag. Default no."},
    {"runaway_grace", VALUE_DURATION, 0,
     offsetof (site_t, policy.runaway_grace), NULL, NULL, "1h", "1h",
     "How long after its time limit an open job may still be running. Later "
     "time is quarantined and not counted. Default 1h."},
    {"labels", VALUE_LIST, 0, offsetof (site_t, policy.labels), NULL, NULL,
     NULL, "[cost-center]",
     "Labels that every job should have: report tags shows GPU hours without "
     "them. Jobs without them run and are charged as any other."},
    {"minimum", VALUE_DURATION, 0, offsetof (site_t, policy.minimum), NULL,
     NULL, "0s", "0s",
     "Shortest time for which an ended job is billed. Default 0s."},
    {"increment", VALUE_DURATION, POSITIVE, offsetof (site_t, policy.increment),
     NULL, NULL, "1s", "1s",
     "A job's time is rounded up to a multiple of this. Default 1s."},
    {"grace", VALUE_DURATION, 0, offsetof (site_t, policy.grace), NULL, NULL,
     "0s", "0s", "A job that ran for less than this is free. Default 0s."},
    {"credits", VALUE_STATES, 0, offsetof (site_t, policy.credits), NULL, NULL,
     "NODE_FAIL BOOT_FAIL", "[NODE_FAIL, BOOT_FAIL]",
     "Job states (of sacct) for which a job's charge is credited; or off. "
     "Default NODE_FAIL and BOOT_FAIL."},
    {"credit_cap", VALUE_DURATION, POSITIVE,
     offsetof (site_t, policy.credit_cap), NULL, NULL, NULL, NULL,
     "Longest time at the end of a job that is credited. Default all."},
};

const schema_kind_t schema_policy
    = ONE_KIND ("policy", "How cost becomes charges.", policy_keys);

static const schema_key_t issuer_keys[] = {
    {"name", VALUE_TEXT, 0, offsetof (site_t, issuer.name), NULL, NULL,
     "GPU chargeback", "\"Research Computing\"",
     "Unit that issues statements: InvoiceIssuerName. Default GPU chargeback."},
    {"operator", VALUE_TEXT, 0, offsetof (site_t, issuer.operator), NULL, NULL,
     NULL, NULL,
     "Who runs the cluster: PublisherName, ServiceProviderName. "
     "Default the issuer."},
    {"owner", VALUE_TEXT, 0, offsetof (site_t, issuer.owner), NULL, NULL, NULL,
     NULL, "Owner of the hardware: HostProviderName. Default the operator."},
    {"service", VALUE_TEXT, 0, offsetof (site_t, issuer.service), NULL, NULL,
     "Slurm GPU Compute", "\"Slurm GPU Compute\"",
     "ServiceName. Default Slurm GPU Compute."},
    {"category", VALUE_WORD, 0, offsetof (site_t, issuer.category),
     category_words, NULL, "compute", "compute",
     "ServiceCategory and ServiceSubcategory: compute (Compute, Virtual "
     "Machines) or ai (AI and Machine Learning, AI Platforms). Default "
     "compute."},
    {"region", VALUE_TEXT, 0, offsetof (site_t, issuer.region), NULL, NULL,
     "on-premises", "on-premises",
     "Id of the site: RegionId. Default on-premises."},
    {"region_name", VALUE_TEXT, 0, offsetof (site_t, issuer.region_name), NULL,
     NULL, NULL, NULL, "Name of the site: RegionName. Default its id."},
    {"invoice_prefix", VALUE_TEXT, 0, offsetof (site_t, issuer.invoice_prefix),
     NULL, NULL, "st", "st",
     "How InvoiceId begins: PREFIX-2026-10-TEAM. Default st."},
    {"contact", VALUE_TEXT, 0, offsetof (site_t, issuer.contact), NULL, NULL,
     NULL, "gpu-billing@example.org",
     "Whom teams ask about a statement, and to whom they object: an address of "
     "e-mail, or a sentence. close.review says how long they can object. "
     "Default none."},
    {"payment", VALUE_TEXT, 0, offsetof (site_t, issuer.payment), NULL, NULL,
     NULL,
     "\"The amount is transferred from your cost center to CC-900. You need "
     "not do anything.\"",
     "How and to whom teams pay, a sentence for each statement. Default none."},
};

const schema_kind_t schema_issuer = ONE_KIND (
    "issuer", "Who issues statements, with the names of a FOCUS export.",
    issuer_keys);

static const schema_key_t close_keys[] = {
    {"review", VALUE_DURATION, 0, offsetof (site_t, close.review), NULL, NULL,
     "7d", "7d",
     "How long a closed month is open to disputes before it is handed over. "
     "Default 7d."},
    {"fresh", VALUE_DURATION, 0, offsetof (site_t, close.fresh), NULL, NULL,
     "2d", "2d",
     "How old the facts of a cluster may be when a month is closed. Default "
     "2d."},
    {"untagged", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_t, close.untagged),
     NULL, NULL, "100%", "10%",
     "With a larger share of GPU time without a project, closing needs "
     "--accept. Default 100%: never."},
    {"unknown", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_t, close.unknown),
     NULL, NULL, "10%", "10%",
     "With a larger share of the cost of pools for capacity without jobs whose "
     "state is unknown, closing needs --accept. Default 10%."},
    {"coverage", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_t, close.coverage),
     NULL, NULL, "0%", "90%",
     "With a smaller share of GPU time recorded by nodes, closing needs "
     "--accept. Default 0%: never."},
    {"anchor", VALUE_PATH, 0, offsetof (site_t, close.anchor), NULL, NULL, NULL,
     NULL,
     "File outside the store. Each closing and each decision appends the "
     "latest hash to it, and doctor and verify compare the store with it. It "
     "should be append-only, or on another host. Default none: syslog alone."},
    {"anchor_command", VALUE_LIST, 0, offsetof (site_t, close.anchor_command),
     NULL, NULL, NULL, NULL,
     "Program, with its arguments, that reads the same line from standard "
     "input, within 20 seconds. Default none."},
    {"sign", VALUE_LIST, 0, offsetof (site_t, close.sign), NULL, NULL, NULL,
     NULL,
     "Program, with its arguments, that reads the file of close.anchor from "
     "standard input and writes a detached signature of it, which is stored as "
     "FILE.sig; such as ssh-keygen -Y sign. Default none."},
};

const schema_kind_t schema_close
    = ONE_KIND ("close", "Conditions for closing a month.", close_keys);

static const schema_word_t publish_users[] = {
    {"names", PUBLISH_NAMES},
    {"pseudonyms", PUBLISH_PSEUDONYMS},
    {NULL, 0},
};

static const schema_word_t publish_access[] = {
    {"open", PUBLISH_OPEN},
    {"nginx", PUBLISH_NGINX},
    {"apache", PUBLISH_APACHE},
    {"groups", PUBLISH_GROUPS},
    {NULL, 0},
};

static const schema_key_t publish_keys[] = {
    {"directory", VALUE_PATH, 0, offsetof (site_t, publish.directory), NULL,
     NULL, NULL, "/var/lib/gpuledger-site",
     "Directory of the site, for gpuledger publish without DIR. Default none."},
    {"at_close", VALUE_WORD, 0, offsetof (site_t, publish.at_close),
     schema_truth_words, NULL, "no", "yes",
     "Whether gpuledger close writes the site after it has closed a month, "
     "into "
     "publish.directory. Default no."},
    {"pdf", VALUE_WORD, 0, offsetof (site_t, publish.pdf), schema_truth_words,
     NULL, "no", "yes",
     "Whether each month and each statement is written as a PDF, too. Needs "
     "WeasyPrint. Default no."},
    {"jobs", VALUE_COUNT, 0, offsetof (site_t, publish.jobs), NULL, NULL, "10",
     "20",
     "Jobs of each month that get a page which explains their charge: the most "
     "expensive one at each price, then the most expensive ones. Default 10."},
    {"job_rows", VALUE_COUNT, 0, offsetof (site_t, publish.job_rows), NULL,
     NULL, "25", "100",
     "Jobs of each user and project that a team's pages list at most, the most "
     "expensive ones; one row has the others. Default 25."},
    {"users", VALUE_WORD, 0, offsetof (site_t, publish.users), publish_users,
     NULL, "names", "pseudonyms",
     "names, or pseudonyms: the same user has the same pseudonym in all "
     "months, and only who has the key can tell whose it is. Default names."},
    {"key_file", VALUE_PATH, 0, offsetof (site_t, publish.key_file), NULL, NULL,
     NULL, "/etc/gpuledger/site.key",
     "File with the secret key of the pseudonyms, of 16 bytes or more, which "
     "nobody else can read. Default none."},
    {"logo", VALUE_PATH, 0, offsetof (site_t, publish.logo), NULL, NULL, NULL,
     NULL,
     "PNG or SVG file of at most 64 KiB on top of each page. Default "
     "none."},
    {"colour", VALUE_TEXT, 0, offsetof (site_t, publish.colour), NULL, NULL,
     NULL, "\"#1f5fa8\"",
     "Colour of the line on top of each page. Default "
     "none."},
    {"access", VALUE_WORD, 0, offsetof (site_t, publish.access), publish_access,
     NULL, "open", "nginx",
     "Who may read what: nginx or apache write access_file, a rule for each "
     "team's directory; groups gives the directories to groups of the file "
     "system. open: everybody who reaches the files. Default open."},
    {"access_file", VALUE_PATH, 0, offsetof (site_t, publish.access_file), NULL,
     NULL, NULL, "/etc/gpuledger/site-access.conf",
     "File for the web server, outside the site, which its configuration "
     "includes. Default none."},
    {"access_rule", VALUE_TEXT, 0, offsetof (site_t, publish.access_rule), NULL,
     NULL, "Require claim groups:%s", "\"Require group %s\"",
     "Rule of Apache for one group, where %s is its name. Default Require "
     "claim groups:%s, of mod_auth_openidc."},
    {"readers", VALUE_LIST, 0, offsetof (site_t, publish.readers), NULL, NULL,
     NULL, NULL,
     "Groups that may see all pages. With groups, the first one owns the "
     "pages of the site. Default none."},
};

const schema_kind_t schema_publish = ONE_KIND (
    "publish", "The web site that gpuledger publish writes.", publish_keys);

static const schema_key_t mail_keys[] = {
    {"from", VALUE_TEXT, 0, offsetof (site_t, mail.from), NULL, NULL, NULL,
     "GPU billing <gpu-billing@example.org>",
     "Sender of all mail, an address or NAME <ADDRESS>. Required to send "
     "statements and summaries."},
    {"reply_to", VALUE_TEXT, 0, offsetof (site_t, mail.reply_to), NULL, NULL,
     NULL, NULL, "Address to which people reply. Default mail.from."},
    {"sendmail", VALUE_LIST, 0, offsetof (site_t, mail.sendmail), NULL, NULL,
     "/usr/sbin/sendmail", "/usr/sbin/sendmail",
     "Program, with its arguments, that sends a message from standard input. "
     "It is run without a shell; -i, -f SENDER and the recipients are added. "
     "Default /usr/sbin/sendmail."},
    {"monthly", VALUE_LIST, 0, offsetof (site_t, mail.monthly), NULL, NULL,
     NULL, "[director@example.org]",
     "E-mail addresses to which the summary of each month is sent. Default "
     "none."},
    {"domain", VALUE_TEXT, 0, offsetof (site_t, mail.domain), NULL, NULL, NULL,
     "example.org",
     "Domain of users: mail to the owner of a job goes to USER@DOMAIN. Default "
     "none."},
};

const schema_kind_t schema_mail = ONE_KIND (
    "mail", "How statements, summaries and alerts are mailed.", mail_keys);

static const schema_key_t idle_jobs_keys[] = {
    {"after", VALUE_DURATION, 0, offsetof (site_t, idle_jobs.after), NULL, NULL,
     "1h", "2h",
     "How long all GPUs of a running job are idle before gpuledger idle lists "
     "it. Default 1h."},
    {"again", VALUE_DURATION, 0, offsetof (site_t, idle_jobs.again), NULL, NULL,
     "1d", "12h", "A job is warned at most once in this time. Default 1d."},
    {"command", VALUE_LIST, 0, offsetof (site_t, idle_jobs.command), NULL, NULL,
     NULL, "[/usr/local/sbin/end-idle-job]",
     "Program, with its arguments, that gpuledger idle --run runs for each "
     "job, with the JobId as last argument. It is run without a shell. Default "
     "none."},
};

const schema_kind_t schema_idle_jobs = ONE_KIND (
    "idle_jobs", "What is done about running jobs with idle GPUs.",
    idle_jobs_keys);

static const schema_key_t export_keys[] = {
    {"name", VALUE_NAME, IDENTITY, offsetof (site_export_t, name), NULL, NULL,
     NULL, "erp.csv", "Name of the file, in the folder exports of the set."},
    {"layout", VALUE_PATH, REQUIRED, offsetof (site_export_t, layout), NULL,
     NULL, NULL, "/etc/gpuledger/layouts/erp-journal.yaml",
     "Layout of the file (docs/formats/layout.md)."},
};

const schema_kind_t schema_exports = LIST_KIND (
    "exports",
    "Files for accounting systems in the month's set, which close --export and "
    "export --set write.",
    export_keys, exports, export_count, site_export_t);
