#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t unused_words[]
    = {{"expire", UNUSED_EXPIRES}, {"carry", UNUSED_CARRIED}, {NULL, 0}};
static const schema_word_t tiers_words[]
    = {{"gpu_hours", TIERS_BY_GPU_HOURS}, {"spend", TIERS_BY_SPEND}, {NULL, 0}};
static const schema_word_t gb_words[]
    = {{"binary", GB_BINARY}, {"decimal", GB_DECIMAL}, {NULL, 0}};
static const schema_word_t steps_words[]
    = {{"unit", STEPS_BY_UNIT}, {"job", STEPS_BY_JOB}, {NULL, 0}};
static const schema_word_t round_words[] = {{"job", ROUND_BY_JOB},
                                            {"account", ROUND_BY_ACCOUNT},
                                            {"month", ROUND_BY_MONTH},
                                            {NULL, 0}};
static const schema_word_t after_end_words[]
    = {{"other_rates", AFTER_END_OTHER_RATES},
       {"not_billed", AFTER_END_NOT_BILLED},
       {NULL, 0}};
static const schema_word_t period_words[] = {{"month", BUDGET_MONTH},
                                             {"quarter", BUDGET_QUARTER},
                                             {"year", BUDGET_YEAR},
                                             {NULL, 0}};

static const schema_key_t tier_keys[] = {
    {"above", VALUE_DECIMAL, REQUIRED, offsetof (site_tier_t, above), NULL,
     NULL, NULL, "5000", "Threshold, in what tiers_by says."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_tier_t, per_gpu_hour), NULL, NULL, NULL, "3.20",
     "Price of a GPU-hour above it."},
};

const schema_kind_t schema_rate_tiers
    = NESTED_KIND ("rates.tiers", "The price above a threshold.", tier_keys,
                   site_rate_t, tiers, tier_count, site_tier_t);

static const schema_key_t cpu_step_keys[] = {
    {"above", VALUE_DECIMAL, REQUIRED, offsetof (site_tier_t, above), NULL,
     NULL, NULL, "48",
     "Number of CPUs for each GPU of the job, or what steps_by says."},
    {"per_cpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_tier_t, per_gpu_hour), NULL, NULL, NULL, "0.20",
     "Price of a CPU-hour of a job with more."},
};

const schema_kind_t schema_rate_cpu_steps = NESTED_KIND (
    "rates.cpu_steps", "The price of a CPU of larger jobs.", cpu_step_keys,
    site_rate_t, cpu_steps, cpu_step_count, site_tier_t);

static const schema_key_t gb_step_keys[] = {
    {"above", VALUE_DECIMAL, REQUIRED, offsetof (site_tier_t, above), NULL,
     NULL, NULL, "384",
     "GB of memory for each GPU of the job, or what steps_by says."},
    {"per_gb_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_tier_t, per_gpu_hour), NULL, NULL, NULL, "0.020",
     "Price of a GB for an hour of a job with more."},
};

const schema_kind_t schema_rate_gb_steps = NESTED_KIND (
    "rates.gb_steps", "The price of memory of larger jobs.", gb_step_keys,
    site_rate_t, gb_steps, gb_step_count, site_tier_t);

static const schema_key_t rate_keys[] = {
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_rate_t, pool), NULL, "pools",
     NULL, "h100",
     "Pool that it prices; without any, a pool is charged at "
     "full cost."},
    {"plan", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_rate_t, plan), NULL,
     NULL, NULL, NULL,
     "For teams of this plan only. Of all rates that fit a job, one for a plan "
     "wins; then one for a class, a reservation, a partition, a QOS, a number "
     "of GPUs."},
    {"class", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_rate_t, class), NULL,
     NULL, NULL, NULL, "For teams of this class only."},
    {"reservation", VALUE_TEXT, SCHEMA_IDENTITY,
     offsetof (site_rate_t, reservation), NULL, NULL, NULL, NULL,
     "For jobs in this reservation only. Tiers and mig_price are those of the "
     "rate without it."},
    {"partition", VALUE_TEXT, SCHEMA_IDENTITY,
     offsetof (site_rate_t, partition), NULL, NULL, NULL, NULL,
     "For jobs in this partition only."},
    {"qos", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_rate_t, qos), NULL,
     NULL, NULL, NULL,
     "For this QOS only; default every QOS without a rate "
     "of its own."},
    {"gpus", VALUE_NUMBERS, SCHEMA_IDENTITY, offsetof (site_rate_t, gpus), NULL,
     NULL, NULL, NULL,
     "For jobs with so many GPUs only, as Slurm counts them: 4, 2-4 or 2+. "
     "Where several fit, the one that begins highest applies, to all GPUs of "
     "the job. Tiers and mig_price are those of the rate without it."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_rate_t, per_gpu_hour), NULL, NULL, NULL, "3.60",
     "Price of one physical GPU for an hour."},
    {"per_cpu_hour", VALUE_DECIMAL, 0, offsetof (site_rate_t, per_cpu_hour),
     NULL, NULL, "0", NULL,
     "Price of a CPU for an hour, in a pool with `bill: sum`, `max` or "
     "`sum-or-memory`, instead of the weights of the pool. Default 0."},
    {"per_gb_hour", VALUE_DECIMAL, 0, offsetof (site_rate_t, per_gb_hour), NULL,
     NULL, "0", NULL, "Price of a GB of memory for an hour. Default 0."},
    {"gb", VALUE_WORD, 0, offsetof (site_rate_t, gb), gb_words, NULL, "binary",
     NULL,
     "What a GB is: 2^30 bytes, as Slurm's G (binary), or 10^9 bytes "
     "(decimal). Default binary."},
    {"included_cpus", VALUE_DECIMAL, 0, offsetof (site_rate_t, included_cpus),
     NULL, NULL, "0", NULL,
     "CPUs of each GPU that per_cpu_hour leaves free. Default 0."},
    {"included_gb", VALUE_DECIMAL, 0, offsetof (site_rate_t, included_gb), NULL,
     NULL, "0", NULL,
     "GB of memory of each GPU that per_gb_hour leaves free. Default 0."},
    {"cpu_steps", VALUE_ENTRIES, 0, 0, NULL, "rates.cpu_steps", NULL, NULL,
     "Prices of a CPU-hour of jobs with more CPUs for each GPU, by rising "
     "thresholds: of all CPUs beyond the included ones."},
    {"gb_steps", VALUE_ENTRIES, 0, 0, NULL, "rates.gb_steps", NULL, NULL,
     "The same of memory, by GB for each GPU (of a pool of CPUs: for each "
     "CPU)."},
    {"steps_by", VALUE_WORD, 0, offsetof (site_rate_t, steps_by), steps_words,
     NULL, "unit", NULL,
     "What the thresholds of steps count: CPUs and GB for each GPU, or for "
     "each CPU of a pool of CPUs (unit); or all that the job has beyond the "
     "included ones (job). Default unit."},
    {"minimum", VALUE_DECIMAL, 0, offsetof (site_rate_t, minimum), NULL, NULL,
     "0", NULL,
     "Least list price of an ended job, in money. What it adds lies where the "
     "job ends. Default 0."},
    {"minimum_gpu_hours", VALUE_DECIMAL, 0,
     offsetof (site_rate_t, minimum_gpu_hours), NULL, NULL, "0", NULL,
     "The same in GPU-hours at this rate. Default 0."},
    {"round_hours", VALUE_DURATION, 0, offsetof (site_rate_t, round_hours),
     NULL, NULL, "0s", NULL,
     "Hours are rounded up to a multiple of this: 1h, 15m, 1m. Default: they "
     "are not."},
    {"round_hours_by", VALUE_WORD, 0, offsetof (site_rate_t, round_hours_by),
     round_words, NULL, "job", NULL,
     "Which hours: of a job when it has ended (job), of all jobs of an account "
     "in a month (account), or of those of a team (month). Default job."},
    {"mig_price", VALUE_WORD, 0, offsetof (site_rate_t, mig_price),
     schema_price_words, NULL, "max", "max",
     "Weight by which a MIG slice is priced. Default max."},
    {"tiers", VALUE_ENTRIES, 0, 0, NULL, "rates.tiers", NULL, NULL,
     "Marginal prices of what a team takes above a threshold within the fiscal "
     "year, by rising thresholds."},
    {"tiers_by", VALUE_WORD, 0, offsetof (site_rate_t, tiers_by), tiers_words,
     NULL, "gpu_hours", "gpu_hours",
     "What the thresholds count: GPU-hours billed, or money due for them. "
     "Default gpu_hours."},
    {"tiers_pools", VALUE_LIST, 0, offsetof (site_rate_t, tiers_pools), NULL,
     "pools", NULL, NULL,
     "Pools whose use counts for the thresholds together, this one included; "
     "their rates have the same tiers, in proportion to the price. Default "
     "this pool."},
    {"approved_by", VALUE_TEXT, 0, offsetof (site_rate_t, approved_by), NULL,
     NULL, NULL, NULL,
     "Who approved this version of the rate, and when; an audit asks for it."},
    {"note", VALUE_TEXT, 0, offsetof (site_rate_t, note), NULL, NULL, NULL,
     NULL, "Why the rate is what it is."},
    {"after_end", VALUE_WORD, 0, offsetof (site_rate_t, after_end),
     after_end_words, NULL, "other_rates", NULL,
     "Price after `to`, until a rate for the same begins: that of the other "
     "rates of the pool, else full cost (other_rates), or nothing "
     "(not_billed). Default other_rates."},
    FROM_TO (site_rate_t),
};

const schema_kind_t schema_rates = DATED_KIND (
    "rates", "Published prices.", rate_keys, rates, rate_count, site_rate_t);

static const schema_key_t qos_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_qos_t, name), NULL, NULL,
     NULL, "scavenge", "QOS of Slurm."},
    {"pool", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_qos_t, pool), NULL,
     "pools", NULL, NULL,
     "For this pool only; default every pool without an entry of its own."},
    {"multiplier", VALUE_DECIMAL, 0, offsetof (site_qos_t, multiplier), NULL,
     NULL, "1", "1",
     "Times the price of the pool: 1.5 for priority. Default 1."},
    {"subsidy", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_qos_t, subsidy),
     NULL, NULL, "0", "100%",
     "Share of the price that the site pays: 100% is free, with its value "
     "shown. Default 0."},
    {"preemptible", VALUE_WORD, 0, offsetof (site_qos_t, preemptible),
     schema_truth_words, NULL, "no", "no",
     "Whether its jobs may be stopped for others. Billing data of FOCUS then "
     "has its time as Dynamic, where its price is lower or a rate of its own. "
     "Default no."},
    FROM_TO (site_qos_t),
};

const schema_kind_t schema_qos
    = DATED_KIND ("qos", "What a QOS does to the price.", qos_keys, qos,
                  qos_count, site_qos_t);

static const schema_key_t entitlement_keys[] = {
    {"team", VALUE_TEXT, IDENTITY | SCHEMA_ALIASES,
     offsetof (site_entitlement_t, team), NULL, "teams", NULL, "vision",
     "Team that uses it without paying again."},
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_entitlement_t, pool), NULL,
     "pools", NULL, "h100", "The pool; other hours are at the rate."},
    {"gpus", VALUE_DECIMAL, POSITIVE, offsetof (site_entitlement_t, gpus), NULL,
     NULL, NULL, "8",
     "So many physical GPUs all the time; or share, or gpu_hours."},
    {"share", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE,
     offsetof (site_entitlement_t, share), NULL, NULL, NULL, NULL,
     "This share of the capacity of the pool."},
    {"gpu_hours", VALUE_DECIMAL, POSITIVE,
     offsetof (site_entitlement_t, gpu_hours), NULL, NULL, NULL, NULL,
     "So many GPU-hours in each calendar month."},
    {"unused", VALUE_WORD, 0, offsetof (site_entitlement_t, unused),
     unused_words, NULL, "expire", "expire",
     "Unused hours at the end of a month expire (expire), or roll over to the "
     "next month of the same fiscal year (carry), from ledger.go_live on, or "
     "from the first fact. "
     "Default expire."},
    {"carry_cap", VALUE_DECIMAL, POSITIVE,
     offsetof (site_entitlement_t, carry_cap), NULL, NULL, NULL, NULL,
     "With unused: carry, the most GPU-hours that roll over; others expire. "
     "Default all."},
    {"per_gpu_hour", VALUE_DECIMAL, POSITIVE,
     offsetof (site_entitlement_t, per_gpu_hour), NULL, NULL, NULL, NULL,
     "Price that the team pays for each GPU-hour of it, used or not, as a row "
     "of its own; or per_month. Default: free."},
    {"per_month", VALUE_DECIMAL, POSITIVE,
     offsetof (site_entitlement_t, per_month), NULL, NULL, NULL, NULL,
     "Price for each calendar month, by days in a part of one."},
    FROM_TO (site_entitlement_t),
};

const schema_kind_t schema_entitlements = DATED_KIND (
    "entitlements", "What teams own or have bought of a pool.",
    entitlement_keys, entitlements, entitlement_count, site_entitlement_t);

static const schema_key_t tax_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_tax_t, name), NULL, NULL,
     NULL, "VAT", "Name of the tax on a statement."},
    {"percent", VALUE_RATIO, REQUIRED | POSITIVE,
     offsetof (site_tax_t, percent), NULL, NULL, NULL, "\"25%\"",
     "Share of what a team has to pay in a month, credits and corrections "
     "included; a row of its own, rounded once."},
    {"teams", VALUE_LIST, SCHEMA_ALIASES, offsetof (site_tax_t, teams), NULL,
     "teams", NULL, NULL, "Teams that pay it. Default every team."},
    FROM_TO (site_tax_t),
};

const schema_kind_t schema_taxes
    = DATED_KIND ("taxes", "What is added to what a team has to pay.", tax_keys,
                  taxes, tax_count, site_tax_t);

static const schema_key_t budget_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_budget_t, name), NULL, NULL,
     NULL, "vision-2026", "Name of the budget."},
    {"team", VALUE_TEXT, SCHEMA_ALIASES, offsetof (site_budget_t, team), NULL,
     "teams", NULL, "vision",
     "What it limits: one of team, project, account and pool."},
    {"project", VALUE_TEXT, 0, offsetof (site_budget_t, project), NULL, NULL,
     NULL, NULL, "A project tag."},
    {"account", VALUE_TEXT, 0, offsetof (site_budget_t, account), NULL, NULL,
     NULL, NULL, "A Slurm account, itself alone."},
    {"pool", VALUE_TEXT, 0, offsetof (site_budget_t, pool), NULL, "pools", NULL,
     NULL, "A pool."},
    {"amount", VALUE_DECIMAL, POSITIVE, offsetof (site_budget_t, amount), NULL,
     NULL, NULL, "120000", "Money for each period; or gpu_hours."},
    {"gpu_hours", VALUE_DECIMAL, POSITIVE, offsetof (site_budget_t, gpu_hours),
     NULL, NULL, NULL, NULL, "GPU-hours for each period; or amount."},
    {"period", VALUE_WORD, 0, offsetof (site_budget_t, period), period_words,
     NULL, "month", "month",
     "month, or quarter or year of the fiscal year. Default month."},
    {"soft", VALUE_RATIO, POSITIVE, offsetof (site_budget_t, soft), NULL, NULL,
     NULL, "\"90%\"",
     "Share of it from which the file of limits warns new jobs. Default "
     "never."},
    {"hard", VALUE_RATIO, POSITIVE, offsetof (site_budget_t, hard), NULL, NULL,
     NULL, "\"100%\"",
     "Share of it from which the file of limits refuses new jobs. Default "
     "never."},
    {"owner", VALUE_TEXT, 0, offsetof (site_budget_t, owner), NULL, NULL, NULL,
     "ada@example.org", "Whom mail about it is addressed to."},
    {"carry_over", VALUE_WORD, 0, offsetof (site_budget_t, carry_over),
     schema_truth_words, NULL, "no", "no",
     "Add what the period before left of its own amount. Default no."},
    FROM_TO (site_budget_t),
};

const schema_kind_t schema_budgets
    = DATED_KIND ("budgets", "What may be spent in a period.", budget_keys,
                  budgets, budget_count, site_budget_t);
