#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t rule_words[] = {
    {"waiver", SETTLE_WAIVER},
    {"fee", SETTLE_FEE},
    {"minimum", SETTLE_MINIMUM},
    {"cap", SETTLE_CAP},
    {"grant", SETTLE_GRANT},
    {"sponsor", SETTLE_SPONSOR},
    {"prepaid", SETTLE_PREPAID},
    {"split", SETTLE_SPLIT},
    {NULL, 0},
};
static const schema_word_t per_words[] = {{"month", SETTLE_MONTH},
                                          {"quarter", SETTLE_QUARTER},
                                          {"year", SETTLE_YEAR},
                                          {"once", SETTLE_ONCE},
                                          {NULL, 0}};
static const schema_word_t order_words[]
    = {{"dearest", SETTLE_DEAREST},
       {"cheapest", SETTLE_CHEAPEST},
       {"proportional", SETTLE_IN_PROPORTION},
       {NULL, 0}};
static const schema_word_t unused_words[]
    = {{"expire", SETTLE_EXPIRES},
       {"carry", SETTLE_CARRIED},
       {"carry_once", SETTLE_CARRIED_ONCE},
       {"expire_evenly", SETTLE_EXPIRES_EVENLY},
       {NULL, 0}};
static const schema_word_t each_words[]
    = {{"team", SETTLE_EACH_TEAM},       {"user", SETTLE_EACH_USER},
       {"project", SETTLE_EACH_PROJECT}, {"account", SETTLE_EACH_ACCOUNT},
       {"node", SETTLE_EACH_NODE},       {NULL, 0}};

#define AT(member) offsetof (site_settlement_t, member)

static const schema_key_t deposit_keys[] = {
    {"on", VALUE_DATE, REQUIRED, offsetof (site_deposit_t, on), NULL, NULL,
     NULL, "2026-07-01", "Day on which the money was paid in."},
    {"amount", VALUE_DECIMAL, REQUIRED | POSITIVE,
     offsetof (site_deposit_t, amount), NULL, NULL, NULL, "20000", "How much."},
    {"team", VALUE_TEXT, REQUIRED | SCHEMA_ALIASES,
     offsetof (site_deposit_t, team), NULL, "teams", NULL, "vision",
     "Team that paid it."},
};

const schema_kind_t schema_deposits = NESTED_KIND (
    "settlement.deposits", "Money paid in advance.", deposit_keys,
    site_settlement_t, deposits, deposit_count, site_deposit_t);

static const schema_key_t keys[] = {
    {"name", VALUE_TEXT, IDENTITY, AT (name), NULL, NULL, NULL, "start-up",
     "Name of the rule on statements."},
    {"rule", VALUE_WORD, REQUIRED, AT (rule), rule_words, NULL, NULL, "grant",
     "What it does: waiver, fee, minimum, cap, grant, sponsor, prepaid or "
     "split."},
    {"step", VALUE_COUNT, 0, AT (step), NULL, NULL, NULL, NULL,
     "Rules apply by rising step, then by name. Default: waiver 10, fee 20, "
     "minimum 30, cap 40, grant 50, sponsor 60, prepaid 70, split 80."},
    {"teams", VALUE_LIST, SCHEMA_ALIASES, AT (teams), NULL, "teams", NULL,
     "[vision]", "Teams whose charges it is for. Default every team."},
    {"classes", VALUE_LIST, 0, AT (classes), NULL, NULL, NULL, NULL,
     "Teams of these classes only. Default every class."},
    {"pools", VALUE_LIST, 0, AT (pools), NULL, "pools", NULL, NULL,
     "Charges of these pools only. Default every pool."},
    {"partitions", VALUE_LIST, 0, AT (partitions), NULL, NULL, NULL, NULL,
     "Charges of jobs in these partitions only."},
    {"qos", VALUE_LIST, 0, AT (qos), NULL, NULL, NULL, NULL,
     "Charges of jobs with these QOS only."},
    {"projects", VALUE_LIST, 0, AT (projects), NULL, NULL, NULL, NULL,
     "Charges of these projects only."},
    {"accounts", VALUE_LIST, 0, AT (accounts), NULL, NULL, NULL, NULL,
     "Charges of these Slurm accounts only."},
    {"of", VALUE_LIST, 0, AT (of), NULL, NULL, NULL, "[fees]",
     "Kinds of charges that it is for: charges (of time, with shared idle time "
     "and credits), purchases (of entitlements), services, fees (of earlier "
     "rules), sponsored (paid for other teams). Default all; of a grant, "
     "charges."},
    {"amount", VALUE_DECIMAL, POSITIVE, AT (amount), NULL, NULL, NULL, "5000",
     "Money for each team and period: what a grant or sponsor pays at most, a "
     "fee, a minimum, a cap."},
    {"gpu_hours", VALUE_DECIMAL, POSITIVE, AT (gpu_hours), NULL, NULL, NULL,
     NULL,
     "GPU-hours that a grant or sponsor pays at most, instead of amount."},
    {"cpu_hours", VALUE_DECIMAL, POSITIVE, AT (cpu_hours), NULL, NULL, NULL,
     NULL,
     "CPU-hours in pools with resource: cpu that a grant or sponsor pays at "
     "most, instead of amount."},
    {"share", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE, AT (share), NULL, NULL,
     NULL, NULL, "Share of the charges that it pays. Default 100%."},
    {"per", VALUE_WORD, 0, AT (per), per_words, NULL, "month", "month",
     "Period of the amount: month, quarter or year of the fiscal year, or "
     "once. Default month."},
    {"first_months", VALUE_COUNT, 0, AT (first_months), NULL, NULL, NULL, NULL,
     "Only so many months for each team (or user, with each: user), from its "
     "first use on."},
    {"prorated", VALUE_WORD, 0, AT (prorated), schema_truth_words, NULL, "no",
     "no",
     "The first period counts by the months of it that are left; a month, by "
     "its days. Default no."},
    {"order", VALUE_WORD, 0, AT (order), order_words, NULL, "dearest",
     "dearest",
     "Which charges are paid first: those with the highest price of a "
     "GPU-hour (dearest), the lowest (cheapest), or all in proportion "
     "(proportional). Default dearest."},
    {"unused", VALUE_WORD, 0, AT (unused), unused_words, NULL, "expire",
     "expire",
     "What is unused at the end of a period expires (expire), rolls over to "
     "the next (carry), or rolls over and expires at the end of that "
     "(carry_once). Of a year, expire_evenly: at the end of each quarter at "
     "most the part of the amount is left that the year still has. Default "
     "expire."},
    {"together", VALUE_WORD, 0, AT (together), schema_truth_words, NULL, "no",
     "no",
     "One amount for all teams together, instead of one for each; with each: "
     "user, one for each user in all teams. Default no."},
    {"payer", VALUE_TEXT, SCHEMA_ALIASES, AT (payer), NULL, "teams", NULL, NULL,
     "Team that pays, of a sponsor: a college, a grant office, a department."},
    {"split", VALUE_FUNDING, 0, AT (split), NULL, NULL, NULL, NULL,
     "Cost objects and their shares of a team's charges, 100% in all."},
    {"each", VALUE_WORD, 0, AT (each), each_words, NULL, "team", "team",
     "What a fee is paid for: each team; or each user, project or account "
     "that used GPUs in the month; or each node of the team's entitlements in "
     "GPUs, on the first day of the month in which the fee is charged. Of a "
     "grant, sponsor, cap or waiver: each team, or each user of a team, has "
     "the amount. Default team."},
    {"quantity", VALUE_DECIMAL, POSITIVE, AT (quantity), NULL, NULL, "1", "1",
     "The fee times so many, such as nodes or students. Default 1."},
    {"deposits", VALUE_ENTRIES, 0, 0, NULL, "settlement.deposits", NULL, NULL,
     "What was paid in, of prepaid money."},
    {"refund", VALUE_WORD, 0, AT (refund), schema_truth_words, NULL, "no", "no",
     "Prepaid money that is left when the rule ends goes back to who paid it "
     "in. Default no: it expires."},
    {"low_balance", VALUE_RATIO, SCHEMA_TO_ONE, AT (low_balance), NULL, NULL,
     "0", NULL,
     "A balance below this share of the deposits is reported as low. Default "
     "never."},
    {"note", VALUE_TEXT, 0, AT (note), NULL, NULL, NULL, NULL,
     "A sentence for the statement: why."},
    FROM_TO (site_settlement_t),
};

const schema_kind_t schema_settlement = DATED_KIND (
    "settlement", "Who pays, once charges are known: rules in steps.", keys,
    settlement, settlement_count, site_settlement_t);

static const schema_word_t source_words[]
    = {{"site", OUTAGE_OF_SITE}, {"slurmdbd", OUTAGE_OF_SLURMDBD}, {NULL, 0}};

#define OUT(member) offsetof (site_outage_t, member)

static const schema_key_t outage_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, OUT (name), NULL, NULL, NULL, "cooling",
     "Name of the outage, the reason of its credits on statements."},
    {"from", VALUE_START, 0, OUT (valid), NULL, NULL, NULL, "2026-10-05 14:00",
     "When it began, in the ledger's time zone."},
    {"to", VALUE_END, 0, OUT (valid), NULL, NULL, NULL, "2026-10-05 20:30",
     "When it was over."},
    {"pools", VALUE_LIST, 0, OUT (pools), NULL, "pools", NULL, "[h100]",
     "GPUs of these pools only. Default every pool."},
    {"nodes", VALUE_NODES, 0, OUT (nodes), NULL, NULL, NULL, NULL,
     "Only jobs that had one of these nodes. Default every node."},
    {"source", VALUE_WORD, 0, OUT (source), source_words, NULL, "site", NULL,
     "site: all of the time from `from` to `to`. slurmdbd: in it, each time in "
     "which slurmdbd has a node as down, for the jobs of that node. Default "
     "site."},
    {"killed", VALUE_STATES, 0, OUT (killed), NULL, NULL, NULL, NULL,
     "A job that ended in one of these states (of sacct) within the outage is "
     "credited its whole charge, others the share of the outage. Default "
     "none."},
    {"note", VALUE_TEXT, 0, OUT (note), NULL, NULL, NULL, NULL,
     "A sentence about what happened."},
};

const schema_kind_t schema_outages
    = DATED_KIND ("outages", "Times for which jobs are credited their charge.",
                  outage_keys, outages, outage_count, site_outage_t);
