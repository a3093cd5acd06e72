#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t quantity_words[]
    = {{"compute", MIG_COMPUTE}, {"memory", MIG_MEMORY}, {NULL, 0}};
static const schema_word_t bill_words[]
    = {{"gpus", BILL_GPUS},
       {"dominant", BILL_DOMINANT},
       {"max", BILL_MAX},
       {"sum", BILL_SUM},
       {"sum-or-memory", BILL_SUM_OR_MEMORY},
       {NULL, 0}};

static const schema_word_t resource_words[]
    = {{"gpu", RESOURCE_GPU}, {"cpu", RESOURCE_CPU}, {NULL, 0}};
static const schema_word_t cpu_jobs_words[]
    = {{"without_gpus", CPUS_WITHOUT_GPUS}, {"all", CPUS_OF_ALL}, {NULL, 0}};

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

const schema_kind_t schema_clusters
    = LIST_KIND ("clusters", "Slurm clusters.", cluster_keys, clusters,
                 cluster_count, site_cluster_t);

static const schema_key_t pool_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_pool_t, name), NULL, NULL,
     NULL, "h100", "Name of the pool."},
    {"resource", VALUE_WORD, 0, offsetof (site_pool_t, resource),
     resource_words, NULL, "gpu", "gpu",
     "What the pool counts: GPUs (gpu), or the CPUs of jobs (cpu). Use the "
     "keys of CPUs for a pool of CPUs: cpus_per_node, per_cpu_hour, cpu_hours. "
     "Default gpu."},
    {"cpu_jobs", VALUE_WORD, 0, offsetof (site_pool_t, cpu_jobs),
     cpu_jobs_words, NULL, "without_gpus", NULL,
     "With resource: cpu: count the CPUs of jobs without GPUs (without_gpus), "
     "or of every job, in addition to its GPUs (all). Default without_gpus."},
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
     "GPU model, by which weights of slices and cloud prices are found."},
    {"gpus_per_node", VALUE_COUNT, REQUIRED,
     offsetof (site_pool_t, gpus_per_node), NULL, NULL, NULL, "8",
     "Physical GPUs of the pool in each node."},
    {"mig_weight", VALUE_WORD, 0, offsetof (site_pool_t, mig_weight),
     quantity_words, NULL, "compute", "compute",
     "Weight by which a slice counts in gpu_hours. Default compute."},
    {"interruptible", VALUE_RATIO, SCHEMA_TO_ONE,
     offsetof (site_pool_t, interruptible), NULL, NULL, "0", "20%",
     "Share of the pool's work that may be interrupted: `report plan` may "
     "plan spot capacity for it."},
    {"layout", VALUE_TEXT, 0, offsetof (site_pool_t, layout), NULL, NULL, NULL,
     NULL,
     "Slices into which the GPUs of one node are cut, as in "
     "\"1g.10gb:4,3g.40gb:1\" (MIG) or \"cpx:8\" (AMD). Reports use it to find "
     "stranded parts of GPUs. "
     "GPUs that these slices do not need are whole if gres is not set or has a "
     "type that is no slice; else all are cut."},
    {"shards_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, shards_per_gpu),
     NULL, NULL, NULL, NULL,
     "gres/shard of one GPU: a shard counts this part of a GPU. Default: what "
     "accounting recorded of the node, gres/shard divided by gres/gpu. doctor "
     "and close report nodes of which both are known and differ."},
    {"mps_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, mps_per_gpu), NULL,
     NULL, NULL, NULL, "gres/mps of one GPU. Default 100."},
    {"cpus_per_node", VALUE_COUNT, 0, offsetof (site_pool_t, cpus_per_node),
     NULL, NULL, NULL, NULL,
     "CPUs of each node, as Slurm counts them (CPUTot). Reports use it to find "
     "GPUs that are idle because jobs took the CPUs."},
    {"memory_per_node", VALUE_MEGABYTES, 0,
     offsetof (site_pool_t, memory_per_node), NULL, NULL, NULL, NULL,
     "Memory of each node in MB (RealMemory): the same for memory."},
    {"bill", VALUE_WORD, 0, offsetof (site_pool_t, bill), bill_words, NULL,
     "gpus", "gpus",
     "What a job is billed for: its GPUs (gpus); or the GPUs to which its CPUs "
     "or memory correspond, rounded up, if these are more (dominant). Or the "
     "weights or prices of its GPUs, CPUs and memory: the largest of the "
     "three, as Slurm's MAX_TRES (max); their sum, as Slurm does by default "
     "(sum); or GPUs and CPUs added, or memory if that is more "
     "(sum-or-memory). Default gpus."},
    {"cpus_per_gpu", VALUE_COUNT, 0, offsetof (site_pool_t, cpus_per_gpu), NULL,
     NULL, NULL, NULL,
     "With dominant: the number of CPUs that count as one GPU."},
    {"memory_per_gpu", VALUE_MEGABYTES, 0,
     offsetof (site_pool_t, memory_per_gpu), NULL, NULL, NULL, NULL,
     "With dominant: the MB of memory that count as one GPU."},
    {"gpu_weight", VALUE_DECIMAL, POSITIVE, offsetof (site_pool_t, gpu_weight),
     NULL, NULL, "1", NULL,
     "With max and sum: TRESBillingWeights of slurm.conf for a GPU. Default "
     "1."},
    {"cpu_weight", VALUE_DECIMAL, 0, offsetof (site_pool_t, cpu_weight), NULL,
     NULL, "0", NULL, "With max and sum: the same for a CPU. Default 0."},
    {"memory_weight", VALUE_DECIMAL, 0, offsetof (site_pool_t, memory_weight),
     NULL, NULL, "0", NULL,
     "With max and sum: the same for a GiB of memory. Default 0."},
    {"idle", VALUE_WORD, 0, offsetof (site_pool_t, idle), schema_idle_words,
     NULL, NULL, NULL, "As policy.idle, for this pool. Default policy.idle."},
    FROM_TO (site_pool_t),
};

const schema_kind_t schema_pools
    = DATED_KIND ("pools", "Sets of nodes and GRES types that share a cost.",
                  pool_keys, pools, pool_count, site_pool_t);

static const schema_key_t team_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_team_t, name), NULL, NULL,
     NULL, "vision", "Name of the team: whom a statement is addressed to."},
    {"accounts", VALUE_LIST, REQUIRED, offsetof (site_team_t, accounts), NULL,
     NULL, NULL, "[vision, \"subtree:cv\"]",
     "Slurm accounts that it owns; subtree:NAME includes all accounts below "
     "NAME."},
    {"readers", VALUE_LIST, 0, offsetof (site_team_t, readers), NULL, NULL,
     NULL, NULL,
     "Groups that may see the pages of the team on a published site "
     "(publish.access). Default: the group with the team's name."},
    {"aliases", VALUE_LIST, 0, offsetof (site_team_t, aliases), NULL, NULL,
     NULL, NULL,
     "Other names of the team, such as an earlier one, for commands, filters "
     "and imported charges. To rename a team, let the old entry end and a new "
     "one begin on the same day, and give the new one the old name as an "
     "alias."},
    {"cost_center", VALUE_TEXT, 0, offsetof (site_team_t, cost_center), NULL,
     NULL, NULL, "CC-1", "Cost center to which its charges are booked."},
    {"pi", VALUE_TEXT, 0, offsetof (site_team_t, pi), NULL, NULL, NULL, NULL,
     "Principal investigator of the team, printed on its statements."},
    {"email", VALUE_TEXT, 0, offsetof (site_team_t, email), NULL, NULL, NULL,
     NULL,
     "E-mail address of the PI or the payer; `institutions` may use its "
     "domain."},
    {"mail", VALUE_LIST, 0, offsetof (site_team_t, mail), NULL, NULL, NULL,
     "[ada@example.org]",
     "E-mail addresses to which its statements and weekly summaries are sent. "
     "Default `email`."},
    {"institution", VALUE_TEXT, 0, offsetof (site_team_t, institution), NULL,
     NULL, NULL, NULL,
     "University, institute or company of the team, printed on its statements. "
     "It overrides the rules of `institutions`; if there are such rules, it "
     "must be one of their names."},
    {"billing_address", VALUE_TEXT, 0, offsetof (site_team_t, billing_address),
     NULL, NULL, NULL, NULL, "Whom its statements are addressed to."},
    {"class", VALUE_TEXT, 0, offsetof (site_team_t, class), NULL, NULL, NULL,
     NULL,
     "Customer class of the team, such as industry: it pays the rates of this "
     "class, if there are any."},
    {"plan", VALUE_TEXT, 0, offsetof (site_team_t, plan), NULL, NULL, NULL,
     NULL,
     "Price plan of the team: it pays the rates of this plan, if there are "
     "any."},
    {"surcharge", VALUE_RATIO, SCHEMA_SIGNED, offsetof (site_team_t, surcharge),
     NULL, NULL, NULL, NULL,
     "Surcharge of an external customer, who pays internal price x (1 + "
     "surcharge) x (1 + overhead). Below 0 it is a discount, which "
     "policy.discounts must allow. Default 0."},
    {"overhead", VALUE_RATIO, 0, offsetof (site_team_t, overhead), NULL, NULL,
     NULL, NULL, "Indirect costs that an external customer pays. Default 0."},
    FROM_TO (site_team_t),
};

const schema_kind_t schema_teams
    = DATED_KIND ("teams", "Whom statements are addressed to.", team_keys,
                  teams, team_count, site_team_t);

#define AT(member) offsetof (site_institution_t, member)
static const schema_key_t institution_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, AT (name), NULL, NULL, NULL,
     "University of Oslo", "Name of the institution."},
    {"teams", VALUE_LIST, 0, AT (teams), NULL, "teams", NULL, "[vision]",
     "Teams that belong to it."},
    {"accounts", VALUE_LIST, 0, AT (accounts), NULL, NULL, NULL, NULL,
     "Its teams are those that own one of these accounts; * and ? match as in "
     "a shell (\"uio-*\"), and subtree: is ignored."},
    {"email_domains", VALUE_LIST, 0, AT (email_domains), NULL, NULL, NULL, NULL,
     "Its teams are those whose `email` is in one of these domains or their "
     "subdomains."},
    {"billing_address", VALUE_TEXT, 0, AT (billing_address), NULL, NULL, NULL,
     NULL, "Billing address of its teams that have none of their own."},
    {"class", VALUE_TEXT, 0, AT (class), NULL, NULL, NULL, NULL,
     "Customer class of its teams that have none of their own."},
    FROM_TO (site_institution_t),
};
#undef AT

const schema_kind_t schema_institutions = DATED_KIND (
    "institutions",
    "Which teams belong to which institution. A team's own `institution` comes "
    "first; it is an error if rules of two institutions find one team at the "
    "same time.",
    institution_keys, institutions, institution_count, site_institution_t);

static const schema_key_t project_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_project_t, name), NULL, NULL,
     NULL, "segmentation", "The tag."},
    {"users", VALUE_LIST, 0, offsetof (site_project_t, users), NULL, NULL, NULL,
     "[ada, grace]", "Users that may use it."},
    {"accounts", VALUE_LIST, 0, offsetof (site_project_t, accounts), NULL, NULL,
     NULL, "[vision]",
     "Accounts that may use it. Without users and accounts, everybody may."},
    {"default_for", VALUE_LIST, 0, offsetof (site_project_t, default_for), NULL,
     NULL, NULL, NULL, "Accounts whose untagged jobs belong to it."},
    FROM_TO (site_project_t),
};

const schema_kind_t schema_projects
    = DATED_KIND ("projects", "The allow-list of project tags.", project_keys,
                  projects, project_count, site_project_t);

static const schema_key_t profile_keys[] = {
    {"gpu", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (mig_profile_t, model), NULL,
     NULL, NULL, "H100-SXM5-80GB",
     "Model, written as in the pools; default "
     "any."},
    {"profile", VALUE_TEXT, IDENTITY, offsetof (mig_profile_t, profile), NULL,
     NULL, NULL, "1g.10gb",
     "Profile of a slice, as in Slurm's GRES type: 1g.10gb of MIG, cpx of "
     "AMD."},
    {"compute", VALUE_SLICES, REQUIRED, offsetof (mig_profile_t, compute), NULL,
     NULL, NULL, "1/7", "Its compute slices, of those of the GPU."},
    {"memory", VALUE_SLICES, REQUIRED, offsetof (mig_profile_t, memory), NULL,
     NULL, NULL, "1/8", "Its memory slices, of those of the GPU."},
};

const schema_kind_t schema_profiles = {
    "profiles",
    "Profiles of slices that the built-in table lacks or that differ from it.",
    KEYS (profile_keys),
    sizeof (mig_profile_t),
    offsetof (site_t, profiles),
    offsetof (site_t, profile_count),
    false,
    0,
    false,
    0};
