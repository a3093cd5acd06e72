#include <string.h>

#include "acct/site.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "config/schema.h"

#define REQUIRED SCHEMA_REQUIRED
#define IDENTITY (SCHEMA_REQUIRED | SCHEMA_IDENTITY)
#define POSITIVE SCHEMA_POSITIVE
#define KEYS(array) array, GL_ARRAY_SIZE (array)

static const schema_word_t quantity_words[]
    = {{"compute", MIG_COMPUTE}, {"memory", MIG_MEMORY}, {NULL, 0}};
static const schema_word_t price_words[] = {{"compute", MIG_COMPUTE},
                                            {"memory", MIG_MEMORY},
                                            {"max", MIG_MAX},
                                            {NULL, 0}};
static const schema_word_t method_words[]
    = {{"straight-line", DEPRECIATION_STRAIGHT_LINE},
       {"declining-balance", DEPRECIATION_DECLINING},
       {"sum-of-years", DEPRECIATION_SUM_OF_YEARS},
       {"units-of-use", DEPRECIATION_UNITS_OF_USE},
       {NULL, 0}};
static const schema_word_t book_words[]
    = {{"full", BOOK_FULL}, {"recoverable", BOOK_RECOVERABLE}, {NULL, 0}};
static const schema_word_t disposal_words[]
    = {{"apart", DISPOSAL_APART}, {"in-rate", DISPOSAL_IN_RATE}, {NULL, 0}};
static const schema_word_t driver_words[] = {{"gpu_hours", COST_PER_GPU_HOUR},
                                             {"month", COST_PER_MONTH},
                                             {"year", COST_PER_YEAR},
                                             {"capacity", COST_PER_CAPACITY},
                                             {"energy", COST_PER_KWH},
                                             {"jobs", COST_PER_JOB},
                                             {NULL, 0}};
/* Of a pool; the policy itself has no word for the first of the enumeration. */
static const schema_word_t idle_words[] = {
    {"explicit", IDLE_EXPLICIT},
    {"in-rate", IDLE_IN_RATE},
    {"practical", IDLE_PRACTICAL},
    {"proportional", IDLE_PROPORTIONAL},
    {"uniform", IDLE_UNIFORM},
    {"entitlement", IDLE_ENTITLEMENT},
    {"none", IDLE_NONE},
    {NULL, 0},
};
static const schema_word_t reserved_words[]
    = {{"stated", RESERVED_STATED},
       {"holder", RESERVED_HOLDER},
       {"entitlement", RESERVED_ENTITLEMENT},
       {NULL, 0}};
static const schema_word_t unused_words[]
    = {{"expire", UNUSED_EXPIRES}, {"carry", UNUSED_CARRIED}, {NULL, 0}};
static const schema_word_t tiers_words[] = {
    {"gpu_hours", TIERS_BY_GPU_HOURS}, {"spend", TIERS_BY_SPEND}, {NULL, 0}};
static const schema_word_t share_words[] = {{"capacity", SHARE_BY_CAPACITY},
                                            {"gpu_hours", SHARE_BY_GPU_HOURS},
                                            {"energy", SHARE_BY_ENERGY},
                                            {"jobs", SHARE_BY_JOBS},
                                            {NULL, 0}};
static const schema_word_t cost_kind_words[]
    = {{"other", COST_OF_OTHER},
       {"network", COST_OF_NETWORK},
       {"storage", COST_OF_STORAGE},
       {"installation", COST_OF_INSTALLATION},
       {"rack", COST_OF_RACK},
       {"licence", COST_OF_LICENCE},
       {"maintenance", COST_OF_MAINTENANCE},
       {NULL, 0}};
static const schema_word_t status_words[] = {{"actual", COST_ACTUAL},
                                             {"accrued", COST_ACCRUED},
                                             {"planned", COST_PLANNED},
                                             {NULL, 0}};
static const schema_word_t meter_words[] = {{"machines", METER_MACHINES},
                                            {"nodes", METER_NODES},
                                            {"facility", METER_FACILITY},
                                            {NULL, 0}};
static const schema_word_t energy_words[]
    = {{"modelled", 0}, {"measured", 1}, {NULL, 0}};
static const schema_word_t before_words[]
    = {{"shown", BEFORE_GO_LIVE_SHOWN},
       {"imported", BEFORE_GO_LIVE_IMPORTED},
       {NULL, 0}};
static const schema_word_t suspended_words[]
    = {{"charged", SUSPENDED_CHARGED}, {"free", SUSPENDED_FREE}, {NULL, 0}};
static const schema_word_t analysis_words[]
    = {{"overhead", ANALYSIS_OVERHEAD},
       {"interruptible", ANALYSIS_INTERRUPTIBLE},
       {"egress", ANALYSIS_EGRESS},
       {"scaling", ANALYSIS_SCALING},
       {"newer-gpu", ANALYSIS_NEWER_GPU},
       {"memory", ANALYSIS_MEMORY},
       {"run", ANALYSIS_RUN},
       {"cash", ANALYSIS_CASH},
       {NULL, 0}};
static const schema_word_t overhead_words[]
    = {{"purchase", OVERHEAD_OF_PURCHASE},
       {"depreciation", OVERHEAD_OF_DEPRECIATION},
       {NULL, 0}};
static const schema_word_t period_words[] = {{"month", BUDGET_MONTH},
                                             {"quarter", BUDGET_QUARTER},
                                             {"year", BUDGET_YEAR},
                                             {NULL, 0}};
static const schema_word_t category_words[]
    = {{"compute", ISSUER_COMPUTE}, {"ai", ISSUER_AI}, {NULL, 0}};
static const schema_word_t bill_words[] = {{"gpus", BILL_GPUS},
                                           {"dominant", BILL_DOMINANT},
                                           {"weighted", BILL_WEIGHTED},
                                           {NULL, 0}};
static const schema_word_t cut_words[]
    = {{"60", 60}, {"30", 30}, {"15", 15}, {NULL, 0}};
static const schema_word_t truth_words[]
    = {{"yes", 1}, {"true", 1}, {"no", 0}, {"false", 0}, {NULL, 0}};

#define FROM_TO(type)                                                          \
    {"from",                                                                   \
     VALUE_FROM,                                                               \
     0,                                                                        \
     offsetof (type, valid),                                                   \
     NULL,                                                                     \
     NULL,                                                                     \
     NULL,                                                                     \
     NULL,                                                                     \
     "First day on which this holds; without it, always did."},                \
    {                                                                          \
        "to", VALUE_TO, 0, offsetof (type, valid), NULL, NULL, NULL, NULL,     \
            "First day on which this no longer holds; without it, never ends." \
    }

#define RECOVERABLE(type)                                                      \
    {                                                                          \
        "recoverable", VALUE_RATIO, SCHEMA_TO_ONE,                             \
            offsetof (type, recoverable), NULL, NULL, "100%", "100%",          \
            "Share that rates may recover: not what others have paid for, "    \
            "such as federal awards. Default 100%."                            \
    }

static const schema_key_t ledger_keys[] = {
    {"timezone", VALUE_ZONE, 0, offsetof (site_t, zone), NULL, NULL, NULL,
     "Europe/Oslo", "Zone of months, days and all dates here; default UTC."},
    {"currency", VALUE_CURRENCY, 0, offsetof (site_t, currency), NULL, NULL,
     NULL, "EUR", "Three letters of ISO 4217; default USD."},
    {"go_live", VALUE_DATE, 0, offsetof (site_t, go_live), NULL, NULL, NULL,
     "2026-01-01",
     "First day that is billed, the first of a month: months are closed from "
     "here on, in their order. Default none: from the first one closed."},
    {"before_go_live", VALUE_WORD, 0, offsetof (site_t, before_go_live),
     before_words, NULL, "shown", "shown",
     "Months before go_live: in reports and never closed (shown), or closed "
     "without charges with the first one (imported). Default shown."},
    {"fiscal_year", VALUE_MONTH, 0, offsetof (site_t, fiscal_month), NULL, NULL,
     "01-01", "07-01",
     "First day of the fiscal year, which is named after the year that it ends "
     "in: with 07-01 fiscal year 2027 is July 2026 to June 2027. Default 01-01."},
};

static const schema_key_t policy_keys[] = {
    {"idle", VALUE_WORD, 0, offsetof (site_t, policy.idle), idle_words, NULL,
     "explicit", "explicit",
     "Who bears the cost of time that nobody held, where no rate is published: "
     "the platform (explicit); the hours billed, by their rate (in-rate), or as "
     "far as the planned utilization says (practical); lines of their own for "
     "accounts by the time that they held (proportional), for teams in equal "
     "parts (uniform) or by their entitlements (entitlement); nobody (none). "
     "Default explicit."},
    {"reserved", VALUE_WORD, 0, offsetof (site_t, policy.reserved),
     reserved_words, NULL, "stated", "stated",
     "Reserved time that no job used: idle time like any other (stated), or "
     "charged to the accounts of the reservation in equal parts (holder), and "
     "drawn from what their team is entitled to, as far as that reaches "
     "(entitlement). Default stated."},
    {"book", VALUE_WORD, 0, offsetof (site_t, policy.book), book_words, NULL,
     "full", "full",
     "Which cost charges are made of: all of it (full), or without the shares "
     "that are not recoverable. Both are shown. Default full."},
    {"disposal", VALUE_WORD, 0, offsetof (site_t, policy.disposal),
     disposal_words, NULL, "apart", "apart",
     "Gain or loss of an asset that is retired: stated beside the cost (apart), "
     "or a cost of the month (in-rate). Default apart."},
    {"suspended", VALUE_WORD, 0, offsetof (site_t, policy.suspended),
     suspended_words, NULL, "charged", "charged",
     "GPUs that a suspended job holds: charged as held, or free and stated "
     "beside the charges. Default charged."},
    {"mig_price", VALUE_WORD, 0, offsetof (site_t, policy.mig_price),
     price_words, NULL, "max", "max",
     "Weight by which a MIG slice is priced at full cost. Default max."},
    {"utilization", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE,
     offsetof (site_t, policy.utilization), NULL, NULL, "80%", "80%",
     "Productive share of the time that planning and the practical rate "
     "assume. Default 80%."},
    {"wckey_is_project", VALUE_WORD, 0,
     offsetof (site_t, policy.wckey_is_project), truth_words, NULL, "no", "no",
     "Take Slurm's wckey for a project tag. Default no."},
    {"runaway_grace", VALUE_DURATION, 0,
     offsetof (site_t, policy.runaway_grace), NULL, NULL, "1h", "1h",
     "How long after its time limit an open job may still be running. What is "
     "later is quarantined, not counted. Default 1h."},
    {"minimum", VALUE_DURATION, 0, offsetof (site_t, policy.minimum), NULL,
     NULL, "0s", "0s",
     "Time that a job is billed at least once it has ended. Default 0s."},
    {"increment", VALUE_DURATION, POSITIVE, offsetof (site_t, policy.increment),
     NULL, NULL, "1s", "1s",
     "Its time is billed in whole ones of these. Default 1s."},
    {"grace", VALUE_DURATION, 0, offsetof (site_t, policy.grace), NULL, NULL,
     "0s", "0s", "A job that ended within less than this is free. Default 0s."},
    {"credits", VALUE_STATES, 0, offsetof (site_t, policy.credits), NULL, NULL,
     "NODE_FAIL BOOT_FAIL", "[NODE_FAIL, BOOT_FAIL]",
     "Ends, in the words of sacct, for which a job is given back what it was "
     "charged; or off. Default NODE_FAIL and BOOT_FAIL."},
    {"credit_cap", VALUE_DURATION, POSITIVE,
     offsetof (site_t, policy.credit_cap), NULL, NULL, NULL, NULL,
     "Of its time at most the last so much is given back. Default all."},
};

static const schema_key_t issuer_keys[] = {
    {"name", VALUE_TEXT, 0, offsetof (site_t, issuer.name), NULL, NULL,
     "GPU chargeback", "\"Research Computing\"",
     "Unit that issues statements: InvoiceIssuerName. Default GPU chargeback."},
    {"operator", VALUE_TEXT, 0, offsetof (site_t, issuer.operator), NULL, NULL,
     NULL, NULL,
     "Who runs the cluster: PublisherName, ServiceProviderName. "
     "Default the issuer."},
    {"owner", VALUE_TEXT, 0, offsetof (site_t, issuer.owner), NULL, NULL, NULL,
     NULL, "Whose hardware it is: HostProviderName. Default the operator."},
    {"service", VALUE_TEXT, 0, offsetof (site_t, issuer.service), NULL, NULL,
     "Slurm GPU Compute", "\"Slurm GPU Compute\"",
     "ServiceName. Default Slurm GPU Compute."},
    {"category", VALUE_WORD, 0, offsetof (site_t, issuer.category),
     category_words, NULL, "compute", "compute",
     "ServiceCategory and ServiceSubcategory: compute (Compute, Virtual "
     "Machines) or ai (AI and Machine Learning, AI Platforms). Default "
     "compute."},
    {"region", VALUE_TEXT, 0, offsetof (site_t, issuer.region), NULL, NULL,
     "on-premises", "on-premises", "Id of the site: RegionId. Default on-premises."},
    {"region_name", VALUE_TEXT, 0, offsetof (site_t, issuer.region_name), NULL,
     NULL, NULL, NULL, "Name of the site: RegionName. Default its id."},
    {"invoice_prefix", VALUE_TEXT, 0, offsetof (site_t, issuer.invoice_prefix),
     NULL, NULL, "st", "st",
     "How InvoiceId begins: PREFIX-2026-10-TEAM. Default st."},
};

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
     "Share of GPU time without a project from which on closing asks. Default "
     "100%: never."},
    {"coverage", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_t, close.coverage),
     NULL, NULL, "0%", "90%",
     "Share of GPU time seen by the nodes below which closing asks. Default "
     "0%: never."},
};

static const schema_key_t collector_keys[] = {
    {"hosts", VALUE_HOSTS, 0, offsetof (site_t, collector.hosts), NULL, NULL,
     NULL, "[ledger1, \"ledger2:6828\"]",
     "Where gpuledger-collector runs: HOST or HOST:PORT, tried in this order. "
     "Default port 6828."},
    {"user", VALUE_TEXT, 0, offsetof (site_t, collector.user), NULL, NULL, NULL,
     "gpuledger",
     "User that it runs as: an answer counts only if munge says that this user "
     "gave it. Default root."},
    {"munge_socket", VALUE_PATH, 0, offsetof (site_t, collector.munge_socket),
     NULL, NULL, NULL, NULL,
     "Socket of the local munged; default that of the munge library."},
    {"listen", VALUE_HOSTS, 0, offsetof (site_t, collector.listen), NULL, NULL,
     NULL, "[\"10.0.0.5:6828\"]",
     "Addresses that the collector listens on: ADDRESS or ADDRESS:PORT. "
     "Default every address, port 6828."},
    {"node_users", VALUE_LIST, 0, offsetof (site_t, collector.node_users), NULL,
     NULL, NULL, "[root]", "Users that may speak for a node. Default root."},
    {"clients", VALUE_COUNT, 0, offsetof (site_t, collector.clients), NULL,
     NULL, "4096", "4096", "Connections at once, at most. Default 4096."},
};

static const schema_key_t network_keys[] = {
    {"nodes", VALUE_NODES, IDENTITY, offsetof (site_network_t, nodes), NULL,
     NULL, NULL, "\"g[001-008]\"", "Nodes, as Slurm writes them."},
    {"network", VALUE_NETWORK, IDENTITY, offsetof (site_network_t, network), NULL,
     NULL, NULL, "10.1.0.0/16",
     "Address or network (IPv4) that munge may name as the origin of their "
     "credentials."},
    {"cluster", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_network_t, cluster),
     NULL, "clusters", NULL, "lab",
     "Their cluster: credentials from this network speak for no other. Default "
     "any."},
};

static const schema_key_t agent_keys[] = {
    {"spool", VALUE_PATH, 0, offsetof (site_t, agent.spool), NULL, NULL,
     LOCALSTATEDIR "/spool/gpuledger", LOCALSTATEDIR "/spool/gpuledger",
     "Directory of the spool: the spool= of the plugin. Default " LOCALSTATEDIR
     "/spool/gpuledger."},
    {"node", VALUE_NAME, 0, offsetof (site_t, agent.node), NULL, NULL, NULL,
     NULL,
     "NodeName of slurm.conf; default the host name up to its first dot."},
    {"cluster", VALUE_NAME, 0, offsetof (site_t, agent.cluster), NULL, NULL,
     NULL, NULL,
     "ClusterName of slurm.conf; default as slurmd told the plugin."},
    {"interval_seconds", VALUE_SECONDS, 0,
     offsetof (site_t, agent.interval_seconds), NULL, NULL, "10", "10",
     "Time between two looks at the devices. Default 10."},
    {"cut_minutes", VALUE_WORD, 0, offsetof (site_t, agent.cut_minutes),
     cut_words, NULL, "60", "60",
     "Length of the stretches that activity is recorded in. Zones with offsets "
     "of half or quarter hours need 30 or 15. Default 60."},
    {"idle_utilization", VALUE_RATIO, SCHEMA_TO_ONE,
     offsetof (site_t, agent.idle_utilization), NULL, NULL, "5%", "5%",
     "Below this utilization a device is idle. Default 5%."},
    {"idle_minutes", VALUE_COUNT, 0, offsetof (site_t, agent.idle_minutes),
     NULL, NULL, "30", "30",
     "After this time without a break an idle device is reported. Default 30."},
    {"idle_memory", VALUE_RATIO, SCHEMA_TO_ONE,
     offsetof (site_t, agent.idle_memory), NULL, NULL, "10%", "10%",
     "Share of its memory in use from which on a device that does nothing is "
     "reported as idle. Default 10%."},
    {"sharing", VALUE_WORD, 0, offsetof (site_t, agent.sharing), truth_words,
     NULL, "yes", "yes",
     "Whether several jobs may hold one device at once, as shards and MPS let "
     "them. With no, a later job on a device tells that the end of the earlier "
     "one was lost. Default yes."},
    {"metrics", VALUE_PATH, 0, offsetof (site_t, agent.metrics), NULL, NULL,
     NULL, "/var/lib/prometheus/node-exporter/gpuledger.prom",
     "File for the textfile collector of Prometheus' node_exporter. Default "
     "none."},
    {"replay", VALUE_PATH, 0, offsetof (site_t, agent.replay), NULL, NULL, NULL,
     NULL, "File of recorded devices that stands in for NVML: for tests."},
};

static const schema_key_t cluster_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_cluster_t, name), NULL, NULL,
     NULL, "lab", "ClusterName of slurm.conf."},
    {"timezone", VALUE_ZONE, 0, offsetof (site_cluster_t, zone), NULL, NULL,
     NULL, "Europe/Oslo",
     "Zone of the times in its sacct output; default the ledger's."},
    {"slurmdb", VALUE_TEXT, 0, offsetof (site_cluster_t, slurmdb), NULL, NULL,
     NULL,
     "\"mysql://gpuledger@dbhost/slurm_acct_db?option-file=/etc/gpuledger/"
     "slurmdb.cnf\"",
     "Database of slurmdbd, without a password."},
};

static const schema_key_t pool_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_pool_t, name), NULL, NULL,
     NULL, "h100", "Name of the pool."},
    {"cluster", VALUE_TEXT, 0, offsetof (site_pool_t, cluster), NULL,
     "clusters", NULL, "lab", "Its cluster; default every cluster."},
    {"nodes", VALUE_TEXT, REQUIRED, offsetof (site_pool_t, nodes), NULL, NULL,
     NULL, "\"g[001-008]\"", "Its nodes, as Slurm writes them."},
    {"gres", VALUE_LIST, 0, offsetof (site_pool_t, gres), NULL, NULL, NULL,
     "[h100]",
     "Slurm's GRES types that belong to it, MIG types included; \"gpu\" is "
     "the GPU without a type. Default every type on these nodes."},
    {"gpu", VALUE_TEXT, 0, offsetof (site_pool_t, gpu), NULL, NULL, NULL,
     "H100-SXM5-80GB",
     "Model: gives MIG profiles their weights and finds cloud prices."},
    {"gpus_per_node", VALUE_COUNT, REQUIRED,
     offsetof (site_pool_t, gpus_per_node), NULL, NULL, NULL, "8",
     "Physical GPUs of the pool in each node."},
    {"mig_weight", VALUE_WORD, 0, offsetof (site_pool_t, mig_weight),
     quantity_words, NULL, "compute", "compute",
     "Weight by which a MIG slice counts in gpu_hours. Default compute."},
    {"layout", VALUE_TEXT, 0, offsetof (site_pool_t, layout), NULL, NULL, NULL,
     NULL,
     "MIG slices into which the GPUs of one node are cut, as in "
     "\"1g.10gb:4,3g.40gb:1\"; says what is stranded."},
    {"shards_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, shards_per_gpu),
     NULL, NULL, NULL, NULL,
     "gres/shard of one GPU: a shard counts this part of a GPU. Without it "
     "the quantity of jobs that hold shards is unknown."},
    {"mps_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, mps_per_gpu), NULL,
     NULL, NULL, NULL, "gres/mps of one GPU. Default 100."},
    {"cpus_per_node", VALUE_COUNT, 0, offsetof (site_pool_t, cpus_per_node),
     NULL, NULL, NULL, NULL,
     "CPUs of each node, as Slurm counts them (CPUTot): says what is idle "
     "because jobs took the CPUs."},
    {"memory_per_node", VALUE_MEGABYTES, 0,
     offsetof (site_pool_t, memory_per_node), NULL, NULL, NULL, NULL,
     "Memory of each node in MB (RealMemory): the same for memory."},
    {"bill", VALUE_WORD, 0, offsetof (site_pool_t, bill), bill_words, NULL,
     "gpus", "gpus",
     "What is billed of a job: its GPUs (gpus); or as many as its CPUs or "
     "memory stand for, where these are more: rounded up (dominant), or as "
     "Slurm's MAX_TRES (weighted). Default gpus."},
    {"cpus_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, cpus_per_gpu), NULL,
     NULL, NULL, NULL, "With dominant: so many CPUs stand for a GPU."},
    {"memory_per_gpu", VALUE_MEGABYTES, 0,
     offsetof (site_pool_t, memory_per_gpu), NULL, NULL, NULL, NULL,
     "With dominant: so many MB of memory stand for a GPU."},
    {"gpu_weight", VALUE_DECIMAL, POSITIVE, offsetof (site_pool_t, gpu_weight),
     NULL, NULL, "1", NULL,
     "With weighted: TRESBillingWeights of slurm.conf for a GPU. Default 1."},
    {"cpu_weight", VALUE_DECIMAL, 0, offsetof (site_pool_t, cpu_weight), NULL,
     NULL, "0", NULL, "With weighted: the same for a CPU. Default 0."},
    {"memory_weight", VALUE_DECIMAL, 0, offsetof (site_pool_t, memory_weight),
     NULL, NULL, "0", NULL,
     "With weighted: the same for a GiB of memory. Default 0."},
    {"idle", VALUE_WORD, 0, offsetof (site_pool_t, idle), idle_words, NULL, NULL,
     NULL, "As policy.idle, for this pool. Default policy.idle."},
    FROM_TO (site_pool_t),
};

static const schema_key_t team_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_team_t, name), NULL, NULL,
     NULL, "vision", "Name of the team: whom a statement is addressed to."},
    {"accounts", VALUE_LIST, REQUIRED, offsetof (site_team_t, accounts), NULL,
     NULL, NULL, "[vision, \"subtree:cv\"]",
     "Slurm accounts it owns; subtree:NAME takes those below NAME too."},
    {"cost_center", VALUE_TEXT, 0, offsetof (site_team_t, cost_center), NULL,
     NULL, NULL, "CC-1", "Where finance posts it."},
    {"surcharge", VALUE_RATIO, 0, offsetof (site_team_t, surcharge), NULL, NULL,
     NULL, NULL,
     "Of an external customer, who pays internal price x (1 + surcharge) x "
     "(1 + overhead). Default 0."},
    {"overhead", VALUE_RATIO, 0, offsetof (site_team_t, overhead), NULL, NULL,
     NULL, NULL, "Of an external customer: indirect costs. Default 0."},
    FROM_TO (site_team_t),
};

static const schema_key_t project_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_project_t, name), NULL, NULL,
     NULL, "segmentation", "The tag."},
    {"users", VALUE_LIST, 0, offsetof (site_project_t, users), NULL, NULL, NULL,
     "[ada, grace]", "Users that may charge it."},
    {"accounts", VALUE_LIST, 0, offsetof (site_project_t, accounts), NULL, NULL,
     NULL, "[vision]",
     "Accounts that may charge it. Neither users nor accounts: everybody."},
    {"default_for", VALUE_LIST, 0, offsetof (site_project_t, default_for), NULL,
     NULL, NULL, NULL, "Accounts whose untagged jobs belong to it."},
    FROM_TO (site_project_t),
};

/* Of assets and costs; what names a fund must be in the list, where there is one. */
#define FUNDING(type, example)                                                 \
    {                                                                          \
        "funding", VALUE_FUNDING, 0, offsetof (type, funding), NULL, "funds",  \
            NULL, example,                                                     \
            "Who pays for it: a fund, or shares by fund, 100% in all. Each "   \
            "has a line of its own in the cost book."                          \
    }

static const schema_key_t fund_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_fund_t, name), NULL, NULL,
     NULL, "institutional", "Name of the fund, as funding has it."},
    {"recoverable", VALUE_RATIO, SCHEMA_TO_ONE | SCHEMA_YES_NO,
     offsetof (site_fund_t, recoverable), NULL, NULL, "yes", "yes",
     "Whether rates may recover what it pays for, or the share of it that they "
     "may: no for a federal award. Default yes."},
};

static const schema_key_t asset_change_keys[] = {
    {"from", VALUE_DATE, REQUIRED, offsetof (site_asset_change_t, from), NULL,
     NULL, NULL, "2029-01-01", "First day of the change."},
    {"pool", VALUE_TEXT, 0, offsetof (site_asset_change_t, pool), NULL, "pools",
     NULL, "h100", "Pool that it moves to."},
    {"life", VALUE_SPAN, 0, offsetof (site_asset_change_t, life_months), NULL,
     NULL, NULL, "6y", "Useful life in all, from the day in service."},
    {"salvage", VALUE_REVALUE, 0, offsetof (site_asset_change_t, salvage), NULL,
     NULL, NULL, "5%",
     "What one will be worth at the end: an amount, or a share of the price."},
    {"expected_gpu_hours", VALUE_DECIMAL, POSITIVE,
     offsetof (site_asset_change_t, expected_gpu_hours), NULL, NULL, NULL, NULL,
     "GPU-hours in all, from the day in service; for units-of-use."},
};

static const schema_key_t asset_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_asset_t, name), NULL, NULL,
     NULL, "dgx-2026", "Name of the purchase."},
    {"pool", VALUE_TEXT, REQUIRED, offsetof (site_asset_t, pool), NULL, "pools",
     NULL, "h100", "Pool that bears its cost."},
    {"units", VALUE_DECIMAL, POSITIVE, offsetof (site_asset_t, units), NULL,
     NULL, "1", "8", "How many of them. Default 1."},
    {"price", VALUE_DECIMAL, REQUIRED, offsetof (site_asset_t, price), NULL,
     NULL, NULL, "425000", "Price of one, with freight and installation."},
    {"in_service", VALUE_DATE, REQUIRED, offsetof (site_asset_t, in_service),
     NULL, NULL, NULL, "2026-01-01", "First day that bears cost."},
    {"life", VALUE_SPAN, 0, offsetof (site_asset_t, life_months), NULL, NULL,
     "5y", "5y", "Useful life. Default 5y."},
    {"salvage", VALUE_SALVAGE, 0, offsetof (site_asset_t, salvage), NULL, NULL,
     "0", "10%",
     "What one is worth at the end: an amount, or a share of the price. "
     "Default 0."},
    {"method", VALUE_WORD, 0, offsetof (site_asset_t, method), method_words,
     NULL, "straight-line", "straight-line",
     "Depreciation: straight-line, by day; declining-balance and sum-of-years "
     "by life-year; units-of-use by the GPU-hours that jobs hold. Default "
     "straight-line."},
    {"expected_gpu_hours", VALUE_DECIMAL, POSITIVE,
     offsetof (site_asset_t, expected_gpu_hours), NULL, NULL, NULL, NULL,
     "GPU-hours that jobs will hold of all units until they are written off; "
     "for units-of-use."},
    {"retired", VALUE_DATE, 0, offsetof (site_asset_t, retired), NULL, NULL,
     NULL, NULL, "First day that it no longer serves: sold or scrapped."},
    {"proceeds", VALUE_DECIMAL, 0, offsetof (site_asset_t, proceeds), NULL,
     NULL, "0", NULL, "What one was sold for when it was retired. Default 0."},
    FUNDING (site_asset_t, "institutional"),
    RECOVERABLE (site_asset_t),
    {"changes", VALUE_ENTRIES, 0, 0, NULL, "assets.changes", NULL, NULL,
     "What is otherwise of it from a day on. What came before stays as it "
     "was."},
};

static const schema_key_t staff_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_staff_t, name), NULL, NULL,
     NULL, "operations", "A role or a person; never printed in a report."},
    {"fte", VALUE_DECIMAL, REQUIRED | POSITIVE, offsetof (site_staff_t, fte),
     NULL, NULL, NULL, "1.5", "Full-time equivalents."},
    {"loaded_salary", VALUE_DECIMAL, REQUIRED,
     offsetof (site_staff_t, loaded_salary), NULL, NULL, NULL, "120000",
     "Yearly cost of one full-time equivalent, with all that comes on top."},
    RECOVERABLE (site_staff_t),
    {"pools", VALUE_SHARES, REQUIRED, offsetof (site_staff_t, pools), NULL, "pools", NULL,
     "{h100: \"100%\"}",
     "Share of the work for each pool, at most 100% in "
     "all."},
    FROM_TO (site_staff_t),
};

static const schema_key_t power_keys[] = {
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_power_t, pool), NULL, "pools",
     NULL, "h100", "Pool that draws it."},
    {"watts_per_gpu", VALUE_DECIMAL, REQUIRED | POSITIVE,
     offsetof (site_power_t, watts_per_gpu), NULL, NULL, NULL, "560",
     "Average over busy and idle time, with the GPU's share of its node. With "
     "idle_watts that of a GPU that a job holds, with node_watts without its "
     "node."},
    {"idle_watts", VALUE_DECIMAL, POSITIVE, offsetof (site_power_t, idle_watts),
     NULL, NULL, NULL, NULL,
     "Of a GPU that no job holds. Without it all GPUs draw watts_per_gpu."},
    {"node_watts", VALUE_DECIMAL, 0, offsetof (site_power_t, node_watts), NULL,
     NULL, "0", NULL, "Of the rest of each node, at all times. Default 0."},
    {"energy", VALUE_WORD, 0, offsetof (site_power_t, measured), energy_words,
     NULL, "modelled", "modelled",
     "Where the energy of held GPUs comes from: watts_per_gpu (modelled), or "
     "their own counters as far as agents read them, at the price of the time "
     "at which it was used, else watts_per_gpu (measured; needs idle_watts). "
     "Default modelled."},
    {"pue", VALUE_DECIMAL, REQUIRED | SCHEMA_FROM_ONE,
     offsetof (site_power_t, pue), NULL, NULL, NULL, "1.3",
     "Energy of the facility for each unit of energy of the machines."},
    {"tariff", VALUE_TEXT, REQUIRED, offsetof (site_power_t, tariff), NULL,
     "tariffs", NULL, "flat", "Tariff by which it is paid."},
    FROM_TO (site_power_t),
};

static const schema_key_t tariff_time_keys[] = {
    {"days", VALUE_DAYS, 0, offsetof (site_tariff_time_t, days), NULL, NULL,
     "mon-sun", "mon-fri", "Days on which it begins. Default all."},
    {"hours", VALUE_HOURS_OF_DAY, REQUIRED,
     offsetof (site_tariff_time_t, hours), NULL, NULL, NULL, "07:00-22:00",
     "From and to, of the local clock; a night may pass midnight."},
    {"per_kwh", VALUE_DECIMAL, REQUIRED, offsetof (site_tariff_time_t, per_kwh),
     NULL, NULL, NULL, "0.18", "Price of a kilowatt-hour in it."},
};

static const schema_key_t tariff_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_tariff_t, name), NULL, NULL,
     NULL, "flat", "Name of the tariff."},
    {"per_kwh", VALUE_DECIMAL, REQUIRED, offsetof (site_tariff_t, per_kwh),
     NULL, NULL, NULL, "0.10", "Price of a kilowatt-hour."},
    {"times", VALUE_ENTRIES, 0, 0, NULL, "tariffs.times", NULL, NULL,
     "Hours with another price; where several hold, the first counts."},
    {"timezone", VALUE_ZONE, 0, offsetof (site_tariff_t, zone), NULL, NULL, NULL,
     NULL, "Zone of these hours; default the ledger's."},
    {"demand_per_kw", VALUE_DECIMAL, 0, offsetof (site_tariff_t, demand_per_kw),
     NULL, NULL, "0", NULL,
     "Price a month of a kilowatt of the highest load in it, PUE included: as "
     "meters tell it in intervals of at most an hour, else as power has it. "
     "Default 0."},
    {"fixed_per_month", VALUE_DECIMAL, 0,
     offsetof (site_tariff_t, fixed_per_month), NULL, NULL, "0", NULL,
     "Fee a month, shared by the energy of the pools that pay by this tariff. "
     "Default 0."},
    FROM_TO (site_tariff_t),
};

static const schema_key_t meter_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_meter_t, name), NULL, NULL,
     NULL, "rack-1", "Name of the meter, for import --meter."},
    {"measures", VALUE_WORD, REQUIRED, offsetof (site_meter_t, measures),
     meter_words, NULL, NULL, "machines",
     "What it counts: machines (PDUs: all of them together), nodes (BMCs: GPU "
     "nodes as a whole) or facility (the utility's meter)."},
    {"tariff", VALUE_TEXT, 0, offsetof (site_meter_t, tariff), NULL, "tariffs",
     NULL, "flat",
     "Tariff by which what it measures is paid, for the demand charge. Default "
     "the only one that pools pay by."},
};

static const schema_key_t cost_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_cost_t, name), NULL, NULL,
     NULL, "fabric", "What it is: fabric, space, licences, maintenance ..."},
    {"pool", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_cost_t, pool), NULL,
     "pools", NULL, "h100", "Pool that bears it; or give pools."},
    {"pools", VALUE_SHARES, SCHEMA_NAMES, offsetof (site_cost_t, pools), NULL,
     "pools", NULL, NULL,
     "Pools that share it: by these shares, 100% in all; or a list of them, and "
     "share_by. For an amount a month or year."},
    {"share_by", VALUE_WORD, 0, offsetof (site_cost_t, share_by), share_words,
     NULL, NULL, NULL,
     "What the pools share it by, each month: GPU-hours in service (capacity) "
     "or held by jobs (gpu_hours), energy of the machines, jobs."},
    {"kind", VALUE_WORD, 0, offsetof (site_cost_t, category), cost_kind_words,
     NULL, "other", "network", "What sort of cost it is. Default other."},
    {"amount", VALUE_DECIMAL, REQUIRED, offsetof (site_cost_t, amount), NULL,
     NULL, NULL, "0.10", "Amount for each unit of the driver."},
    {"driver", VALUE_WORD, REQUIRED, offsetof (site_cost_t, driver),
     driver_words, NULL, NULL, "gpu_hours",
     "What it is paid for: each GPU-hour that jobs hold (gpu_hours) or that is "
     "in service (capacity), each kWh of the machines (energy), each job (jobs), "
     "month or year."},
    {"evidence", VALUE_TEXT, 0, offsetof (site_cost_t, evidence), NULL, NULL,
     NULL, "\"contract 4711\"",
     "What shows it: an invoice, a contract, an estimate."},
    {"status", VALUE_WORD, 0, offsetof (site_cost_t, status), status_words, NULL,
     NULL, "actual", "How certain it is."},
    FUNDING (site_cost_t, NULL),
    RECOVERABLE (site_cost_t),
    FROM_TO (site_cost_t),
};

static const schema_key_t tier_keys[] = {
    {"above", VALUE_DECIMAL, REQUIRED | POSITIVE, offsetof (site_tier_t, above),
     NULL, NULL, NULL, "5000", "Threshold, in what tiers_by says."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_tier_t, per_gpu_hour), NULL, NULL, NULL, "3.20",
     "Price of a GPU-hour above it."},
};

static const schema_key_t rate_keys[] = {
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_rate_t, pool), NULL, "pools",
     NULL, "h100",
     "Pool that it prices; without any, a pool is charged at "
     "full cost."},
    {"qos", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_rate_t, qos), NULL,
     NULL, NULL, NULL,
     "For this QOS only; default every QOS without a rate "
     "of its own."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_rate_t, per_gpu_hour), NULL, NULL, NULL, "3.60",
     "Price of one physical GPU for an hour."},
    {"mig_price", VALUE_WORD, 0, offsetof (site_rate_t, mig_price), price_words,
     NULL, "max", "max", "Weight by which a MIG slice is priced. Default max."},
    {"tiers", VALUE_ENTRIES, 0, 0, NULL, "rates.tiers", NULL, NULL,
     "Marginal prices of what a team takes above a threshold within the fiscal "
     "year, by rising thresholds."},
    {"tiers_by", VALUE_WORD, 0, offsetof (site_rate_t, tiers_by), tiers_words,
     NULL, "gpu_hours", "gpu_hours",
     "What the thresholds count: GPU-hours billed, or money due for them. "
     "Default gpu_hours."},
    {"approved_by", VALUE_TEXT, 0, offsetof (site_rate_t, approved_by), NULL,
     NULL, NULL, NULL,
     "Who approved this version of the rate, and when; an audit asks for it."},
    {"note", VALUE_TEXT, 0, offsetof (site_rate_t, note), NULL, NULL, NULL,
     NULL, "Why the rate is what it is."},
    FROM_TO (site_rate_t),
};

static const schema_key_t qos_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_qos_t, name), NULL, NULL, NULL,
     "scavenge", "QOS of Slurm."},
    {"pool", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_qos_t, pool), NULL,
     "pools", NULL, NULL,
     "For this pool only; default every pool without an entry of its own."},
    {"multiplier", VALUE_DECIMAL, 0, offsetof (site_qos_t, multiplier), NULL,
     NULL, "1", "1", "Times the price of the pool: 1.5 for priority. Default 1."},
    {"subsidy", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_qos_t, subsidy), NULL,
     NULL, "0", "100%",
     "Share of the price that the site pays: 100% is free, with its value "
     "shown. Default 0."},
    {"preemptible", VALUE_WORD, 0, offsetof (site_qos_t, preemptible),
     truth_words, NULL, "no", "no",
     "Whether its jobs may be stopped for others. Billing data of FOCUS then "
     "has its time as Dynamic, where its price is lower or a rate of its own. "
     "Default no."},
    FROM_TO (site_qos_t),
};

static const schema_key_t entitlement_keys[] = {
    {"team", VALUE_TEXT, IDENTITY, offsetof (site_entitlement_t, team), NULL,
     "teams", NULL, "vision", "Team that uses it without paying again."},
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_entitlement_t, pool), NULL,
     "pools", NULL, "h100", "Pool of which it is; the rest is at the rate."},
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
     "What is unused at the end of a month is gone (expire), or can be used in "
     "the next one of the same fiscal year (carry). Default expire."},
    {"carry_cap", VALUE_DECIMAL, POSITIVE,
     offsetof (site_entitlement_t, carry_cap), NULL, NULL, NULL, NULL,
     "Of unused: carry, so many GPU-hours at most; the rest expires. Default all "
     "of it."},
    FROM_TO (site_entitlement_t),
};

static const schema_key_t cloud_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_cloud_t, name), NULL, NULL,
     NULL, "cloud-3-years", "Name of the offer."},
    {"gpu", VALUE_TEXT, REQUIRED, offsetof (site_cloud_t, gpu), NULL, NULL,
     NULL, "H100-SXM5-80GB", "Model, written as in the pools."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_cloud_t, per_gpu_hour), NULL, NULL, NULL, "5.25",
     "Price of one GPU for an hour."},
    {"term", VALUE_TEXT, 0, offsetof (site_cloud_t, term), NULL, NULL, NULL,
     "3y", "How long one is bound: on-demand, 1y, 3y ..."},
    {"as_of", VALUE_TEXT, IDENTITY, offsetof (site_cloud_t, as_of), NULL, NULL,
     NULL, "2026-01-15", "When it was read: a day, month or year."},
    {"source", VALUE_TEXT, REQUIRED, offsetof (site_cloud_t, source), NULL,
     NULL, NULL, "\"the provider's price list\"", "Where it was read."},
};

#define INPUT(name) offsetof (site_analysis_t, input[INPUT_##name])

static const schema_key_t analysis_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_analysis_t, name), NULL, NULL,
     NULL, "spot", "Name of the question."},
    {"kind", VALUE_WORD, REQUIRED, offsetof (site_analysis_t, kind),
     analysis_words, NULL, NULL, "interruptible",
     "What is asked: docs/guides/decisions.md has the formula of each kind and "
     "the inputs that it needs."},
    {"price", VALUE_TEXT, 0, offsetof (site_analysis_t, price), NULL, NULL, NULL,
     "3.687",
     "Price of a GPU-hour: a number, a name of clouds (its latest as_of), or a "
     "pool, whose productive hour it then is (report breakeven)."},
    {"against", VALUE_TEXT, 0, offsetof (site_analysis_t, against), NULL, NULL,
     NULL, "cloud-3-years", "What it is compared with, in the same form."},
    {"as_of", VALUE_TEXT, 0, offsetof (site_analysis_t, as_of), NULL, NULL, NULL,
     "2026-01-15", "When the prices that are numbers were read."},
    {"source", VALUE_TEXT, 0, offsetof (site_analysis_t, source), NULL, NULL,
     NULL, "\"the provider's price list\"", "Where they were read."},
    {"purchase", VALUE_DECIMAL, POSITIVE, INPUT (PURCHASE), NULL, NULL, NULL,
     NULL, "Of overhead and cash: what is paid on the first day."},
    {"gpus", VALUE_DECIMAL, POSITIVE, INPUT (GPUS), NULL, NULL, NULL, NULL,
     "Of overhead, GPUs that the purchase buys; of memory, that share a model; "
     "of scaling and run, that work together. Default 1."},
    {"years", VALUE_DECIMAL, POSITIVE, INPUT (YEARS), NULL, NULL, NULL, NULL,
     "Of overhead, the life of what is bought; of cash, how far to look."},
    {"overhead", VALUE_RATIO, POSITIVE, INPUT (OVERHEAD), NULL, NULL, NULL,
     NULL, "Of overhead: cost of operation each year, as a share."},
    {"overhead_of", VALUE_WORD, 0, offsetof (site_analysis_t, overhead_of),
     overhead_words, NULL, NULL, NULL,
     "What that is a share of: the purchase, or one year's depreciation."},
    {"utilization", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE, INPUT (UTILIZATION),
     NULL, NULL, NULL, NULL,
     "Of overhead: productive share. Default policy.utilization."},
    {"interruptions_per_hour", VALUE_DECIMAL, POSITIVE, INPUT (INTERRUPTIONS),
     NULL, NULL, NULL, "0.02", "Of interruptible and run: how often it ends."},
    {"checkpoint_hours", VALUE_DECIMAL, POSITIVE, INPUT (CHECKPOINT), NULL, NULL,
     NULL, "0.5", "Time between two checkpoints."},
    {"restart_hours", VALUE_DECIMAL, 0, INPUT (RESTART), NULL, NULL, NULL, "0.1",
     "Time until it computes again. Default 0."},
    {"gb_per_day", VALUE_DECIMAL, POSITIVE, INPUT (GB_PER_DAY), NULL, NULL, NULL,
     NULL, "Of egress and run: GB (10^9 bytes) that leave a cloud a day."},
    {"days", VALUE_DECIMAL, POSITIVE, INPUT (DAYS), NULL, NULL, NULL, NULL,
     "For so many days. Default 30."},
    {"per_gb", VALUE_DECIMAL, POSITIVE, INPUT (PER_GB), NULL, NULL, NULL, NULL,
     "Price of a GB."},
    {"speed", VALUE_DECIMAL, POSITIVE, INPUT (SPEED), NULL, NULL, NULL, NULL,
     "Of scaling and run, how many times faster than on one GPU; of newer-gpu, "
     "than on the GPU that it is compared with."},
    {"parameters_billion", VALUE_DECIMAL, POSITIVE, INPUT (PARAMETERS), NULL,
     NULL, NULL, NULL, "Of memory: parameters of the model."},
    {"bytes_per_parameter", VALUE_DECIMAL, POSITIVE, INPUT (BYTES), NULL, NULL,
     NULL, NULL, "4, 2, 1 or 0.5."},
    {"cache_factor", VALUE_DECIMAL, POSITIVE, INPUT (CACHE), NULL, NULL, NULL,
     NULL, "Weights and key-value cache over weights. Default 1.3."},
    {"gpu_hours", VALUE_DECIMAL, POSITIVE, INPUT (GPU_HOURS), NULL, NULL, NULL,
     NULL, "Of run: what it takes on one GPU without interruptions."},
    {"storage", VALUE_DECIMAL, 0, INPUT (STORAGE), NULL, NULL, NULL, NULL,
     "Of run: what its storage costs. Default 0."},
    {"per_year", VALUE_DECIMAL, 0, INPUT (PER_YEAR), NULL, NULL, NULL, NULL,
     "Of cash: operation of what is owned. Default 0."},
    {"rent_per_year", VALUE_DECIMAL, POSITIVE, INPUT (RENT), NULL, NULL, NULL,
     NULL, "Of cash: what renting the same costs."},
    {"prepaid_months", VALUE_DECIMAL, 0, INPUT (PREPAID), NULL, NULL, NULL, NULL,
     "Of cash: months of operation that are paid on the first day, on top of "
     "the purchase. Default 0."},
    {"discount", VALUE_RATIO, POSITIVE, INPUT (DISCOUNT), NULL, NULL, NULL, NULL,
     "Of cash: rate of a year for present values; default none are shown."},
};

static const schema_key_t tax_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_tax_t, name), NULL, NULL,
     NULL, "VAT", "Name of the tax, as it stands on a statement."},
    {"percent", VALUE_RATIO, REQUIRED | POSITIVE,
     offsetof (site_tax_t, percent), NULL, NULL, NULL, "\"25%\"",
     "Share of what a team has to pay in a month, credits and corrections "
     "included; a row of its own, rounded once."},
    {"teams", VALUE_LIST, 0, offsetof (site_tax_t, teams), NULL, "teams", NULL,
     NULL, "Teams that pay it. Default every team."},
    FROM_TO (site_tax_t),
};

static const schema_key_t budget_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_budget_t, name), NULL, NULL,
     NULL, "vision-2026", "Name of the budget."},
    {"team", VALUE_TEXT, 0, offsetof (site_budget_t, team), NULL, "teams", NULL,
     "vision", "What it limits: one of team, project, account and pool."},
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
     truth_words, NULL, "no", "no",
     "Add what the period before left of its own amount. Default no."},
    FROM_TO (site_budget_t),
};

static const schema_key_t profile_keys[] = {
    {"gpu", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (mig_profile_t, model), NULL,
     NULL, NULL, "H100-SXM5-80GB",
     "Model, written as in the pools; default "
     "any."},
    {"profile", VALUE_TEXT, IDENTITY, offsetof (mig_profile_t, profile), NULL,
     NULL, NULL, "1g.10gb", "MIG profile, as in Slurm's GRES type."},
    {"compute", VALUE_SLICES, REQUIRED, offsetof (mig_profile_t, compute), NULL,
     NULL, NULL, "1/7", "Its compute slices of the GPU's."},
    {"memory", VALUE_SLICES, REQUIRED, offsetof (mig_profile_t, memory), NULL,
     NULL, NULL, "1/8", "Its memory slices of the GPU's."},
};

#define LIST_KIND(name, help, keys, array, counter, type)                      \
    {                                                                          \
        name, help, KEYS (keys), sizeof (type), offsetof (site_t, array),      \
            offsetof (site_t, counter), false, 0, true, offsetof (type, place) \
    }
#define DATED_KIND(name, help, keys, array, counter, type)                  \
    {                                                                       \
        name, help, KEYS (keys), sizeof (type), offsetof (site_t, array),   \
            offsetof (site_t, counter), true, offsetof (type, valid), true, \
            offsetof (type, place)                                          \
    }

/* The order in which kinds are read: the ledger's zone before any date. */
static const schema_kind_t kinds[] = {
    {"ledger", "One zone and one currency for money, however many clusters.",
     KEYS (ledger_keys), 0, 0, 0, false, 0, false, 0},
    {"policy", "How cost becomes charges.", KEYS (policy_keys), 0, 0, 0, false,
     0, false, 0},
    {"issuer", "Who issues statements, as a FOCUS export names it.",
     KEYS (issuer_keys), 0, 0, 0, false, 0, false, 0},
    {"close", "What has to be in order before a month is closed.",
     KEYS (close_keys), 0, 0, 0, false, 0, false, 0},
    {"collector", "Where nodes and users reach the ledger.",
     KEYS (collector_keys), 0, 0, 0, false, 0, false, 0},
    {"agent", "What gpuledger-agent does on a node.", KEYS (agent_keys), 0, 0,
     0, false, 0, false, 0},
    LIST_KIND ("networks", "Where nodes speak from.", network_keys, networks,
               network_count, site_network_t),
    LIST_KIND ("clusters", "Slurm clusters.", cluster_keys, clusters,
               cluster_count, site_cluster_t),
    DATED_KIND ("pools", "Sets of nodes and GRES types that share a cost.",
                pool_keys, pools, pool_count, site_pool_t),
    DATED_KIND ("teams", "Whom statements are addressed to.", team_keys, teams,
                team_count, site_team_t),
    DATED_KIND ("projects", "The allow-list of project tags.", project_keys,
                projects, project_count, site_project_t),
    LIST_KIND ("funds", "Who pays for assets and costs.", fund_keys, funds,
               fund_count, site_fund_t),
    LIST_KIND ("assets", "What was bought.", asset_keys, assets, asset_count,
               site_asset_t),
    DATED_KIND ("staff", "Who runs it.", staff_keys, staff, staff_count,
                site_staff_t),
    DATED_KIND ("power", "What the pools draw, where it is not measured.",
                power_keys, power, power_count, site_power_t),
    DATED_KIND ("tariffs", "Prices of electricity.", tariff_keys, tariffs,
                tariff_count, site_tariff_t),
    LIST_KIND ("meters", "Meters whose readings are imported.", meter_keys,
               meters, meter_count, site_meter_t),
    DATED_KIND ("costs", "Other costs of a pool.", cost_keys, costs, cost_count,
                site_cost_t),
    DATED_KIND ("rates", "Published prices.", rate_keys, rates, rate_count,
                site_rate_t),
    DATED_KIND ("qos", "What a QOS does to the price.", qos_keys, qos, qos_count,
                site_qos_t),
    DATED_KIND ("entitlements", "What teams own or have bought of a pool.",
                entitlement_keys, entitlements, entitlement_count,
                site_entitlement_t),
    LIST_KIND ("clouds", "Dated prices to compare with.", cloud_keys, clouds,
               cloud_count, site_cloud_t),
    LIST_KIND ("analyses", "Questions for report decide.", analysis_keys,
               analyses, analysis_count, site_analysis_t),
    DATED_KIND ("taxes", "What is added to what a team has to pay.", tax_keys,
                taxes, tax_count, site_tax_t),
    DATED_KIND ("budgets", "What may be spent in a period.", budget_keys,
                budgets, budget_count, site_budget_t),
    {"profiles", "MIG profiles that the built-in table lacks or has otherwise.",
     KEYS (profile_keys), sizeof (mig_profile_t), offsetof (site_t, profiles),
     offsetof (site_t, profile_count), false, 0, false, 0},
};

const schema_kind_t *schema_kinds (size_t *ret_count)
{
    *ret_count = GL_ARRAY_SIZE (kinds);
    return kinds;
}

/* Lists within an entry of another kind. */
static const schema_kind_t nested[] = {
    {"tariffs.times", "Hours with another price.", KEYS (tariff_time_keys),
     sizeof (site_tariff_time_t), offsetof (site_tariff_t, times),
     offsetof (site_tariff_t, time_count), false, 0, true,
     offsetof (site_tariff_time_t, place)},
    {"assets.changes", "What is otherwise from a day on.",
     KEYS (asset_change_keys), sizeof (site_asset_change_t),
     offsetof (site_asset_t, changes), offsetof (site_asset_t, change_count),
     false, 0, true, offsetof (site_asset_change_t, place)},
    {"rates.tiers", "The price above a threshold.", KEYS (tier_keys),
     sizeof (site_tier_t), offsetof (site_rate_t, tiers),
     offsetof (site_rate_t, tier_count), false, 0, true,
     offsetof (site_tier_t, place)},
};

const schema_kind_t *schema_entries (const schema_key_t *key)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (nested); i++) {
        if (strcmp (nested[i].name, key->refers) == 0)
            return &nested[i];
    }
    return NULL;
}

const schema_kind_t *schema_kind (const char *name)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (kinds); i++) {
        if (strcmp (kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

const schema_key_t *schema_key (const schema_kind_t *kind, const char *name)
{
    for (size_t i = 0; i < kind->key_count; i++) {
        if (strcmp (kind->keys[i].name, name) == 0)
            return &kind->keys[i];
    }
    return NULL;
}

const char *schema_type_text (value_type_t type)
{
    static const char *const texts[] = {
        [VALUE_TEXT] = "a text",
        [VALUE_LIST] = "a list of texts",
        [VALUE_PATH] = "an absolute path",
        [VALUE_NAME] = "a name (g001)",
        [VALUE_NODES] = "nodes (g[001-008])",
        [VALUE_NETWORK] = "an address or network (10.1.0.0/16)",
        [VALUE_HOSTS] = "a list of HOST or HOST:PORT",
        [VALUE_DECIMAL] = "a number (1250.50)",
        [VALUE_RATIO] = "a share (10% or 0.1)",
        [VALUE_COUNT] = "a whole number from 1 on",
        [VALUE_MEGABYTES] = "a whole number of MB",
        [VALUE_SECONDS] = "a whole number from 1 to 600",
        [VALUE_DURATION] = "a duration (90s, 30m, 1h, 2d)",
        [VALUE_STATES] = "words of sacct's State, or off",
        [VALUE_DATE] = "a date (2026-03-10)",
        [VALUE_FROM] = "a date (2026-03-10)",
        [VALUE_TO] = "a date (2026-03-10)",
        [VALUE_SPAN] = "a span (5y or 18m)",
        [VALUE_MONTH] = "the first day of a month (07-01)",
        [VALUE_ZONE] = "a time zone (Europe/Oslo)",
        [VALUE_CURRENCY] = "a currency (EUR)",
        [VALUE_WORD] = "one of",
        [VALUE_SHARES] = "shares by pool ({h100: 60%, a100: 40%})",
        [VALUE_FUNDING]
        = "a fund, or shares by fund ({federal: 60%, institutional: 40%})",
        [VALUE_SALVAGE] = "an amount or a share of the price",
        [VALUE_SLICES] = "slices of all slices (1/7)",
        [VALUE_DAYS] = "days of the week (mon-fri)",
        [VALUE_HOURS_OF_DAY] = "hours (07:00-22:00)",
        [VALUE_REVALUE] = "an amount or a share of the price",
        [VALUE_ENTRIES] = "a list of entries ([{from: 2029-01-01, ...}, ...])",
    };

    return texts[type];
}

#define WORD_MAX_LENGTH 32

/* Levenshtein's distance; words longer than any of ours are far away. */
static size_t distance (const char *a, const char *b)
{
    size_t m = strlen (a), n = strlen (b);
    size_t row[WORD_MAX_LENGTH + 1];

    if (m > WORD_MAX_LENGTH || n > WORD_MAX_LENGTH)
        return WORD_MAX_LENGTH;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t best = diagonal + (a[i - 1] != b[k - 1]);
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[n];
}

char *schema_hint (const schema_kind_t *kind, const char *word)
{
    size_t count = kind ? kind->key_count : GL_ARRAY_SIZE (kinds), best = 3;
    const char *nearest = NULL;
    buffer_t b = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        const char *name = kind ? kind->keys[i].name : kinds[i].name;
        size_t d = distance (word, name);
        buffer_printf (&b, "%s%s", i ? ", " : "; known are: ", name);
        if (d < best && d < strlen (name)) {
            best = d;
            nearest = name;
        }
    }
    if (nearest) {
        buffer_clear (&b);
        buffer_printf (&b, " (did you mean '%s'?)", nearest);
    }
    return buffer_take (&b);
}
