#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t cut_words[]
    = {{"60", 60}, {"30", 30}, {"15", 15}, {NULL, 0}};

static const schema_key_t collector_keys[] = {
    {"hosts", VALUE_HOSTS, 0, offsetof (site_t, collector.hosts), NULL, NULL,
     NULL, "[ledger1, \"ledger2:6828\"]",
     "Where gpuledger-collector runs: HOST or HOST:PORT, tried in this order. "
     "Default port 6828."},
    {"user", VALUE_TEXT, 0, offsetof (site_t, collector.user), NULL, NULL, NULL,
     "gpuledger",
     "User that it runs as: answers count only if munge proves that they are "
     "from this user. Default root."},
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
     NULL, "4096", "4096",
     "Largest number of connections at one time. Default 4096."},
};

const schema_kind_t schema_collector = ONE_KIND (
    "collector", "Where nodes and users reach the ledger.", collector_keys);

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
     "ClusterName of slurm.conf; default: the name that slurmd passes to the "
     "plugin."},
    {"interval_seconds", VALUE_SECONDS, 0,
     offsetof (site_t, agent.interval_seconds), NULL, NULL, "10", "10",
     "Seconds between two samples of the devices. Default 10."},
    {"cut_minutes", VALUE_WORD, 0, offsetof (site_t, agent.cut_minutes),
     cut_words, NULL, "60", "60",
     "Length of the intervals in which activity is recorded. Zones with "
     "offsets of half or quarter hours need 30 or 15. Default 60."},
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
    {"sharing", VALUE_WORD, 0, offsetof (site_t, agent.sharing),
     schema_truth_words, NULL, "yes", "yes",
     "Whether several jobs may share a device, as with shards and MPS. With "
     "no, a later job on a device shows that the end of the earlier one was "
     "lost. Default yes."},
    {"retain_days", VALUE_COUNT, 0, offsetof (site_t, agent.retain_days), NULL,
     NULL, "8", "8",
     "Days for which records stay in the spool after the collector has stored "
     "them, at most 64 MiB: gpuledger-agent --resend sends them again if the "
     "accounting host is lost. Longer than the age of the oldest backup that "
     "you may have to restore. Default 8."},
    {"metrics", VALUE_PATH, 0, offsetof (site_t, agent.metrics), NULL, NULL,
     NULL, "/var/lib/prometheus/node-exporter/gpuledger.prom",
     "File for the textfile collector of Prometheus' node_exporter. Default "
     "none."},
    {"replay", VALUE_PATH, 0, offsetof (site_t, agent.replay), NULL, NULL, NULL,
     NULL, "File of recorded devices that replaces the drivers, for tests."},
    {"counter_ports", VALUE_LIST, 0, offsetof (site_t, agent.counter_ports),
     NULL, NULL, NULL, "[8000, \"8100-8115\"]",
     "Ports of this node on which servers that run in jobs show counters of "
     "Prometheus at /metrics, such as vLLM: the agent reads the counters of "
     "`units` there and records what each job produced. PORT or FIRST-LAST, at "
     "most 64 ports. Default none: nothing is read."},
};

const schema_kind_t schema_agent
    = ONE_KIND ("agent", "What gpuledger-agent does on a node.", agent_keys);

static const schema_key_t network_keys[] = {
    {"nodes", VALUE_NODES, IDENTITY, offsetof (site_network_t, nodes), NULL,
     NULL, NULL, "\"g[001-008]\"", "Nodes, as Slurm writes them."},
    {"network", VALUE_NETWORK, IDENTITY, offsetof (site_network_t, network),
     NULL, NULL, NULL, "10.1.0.0/16",
     "Address or network (IPv4) from which their munge credentials come."},
    {"cluster", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_network_t, cluster),
     NULL, "clusters", NULL, "lab",
     "Their cluster: credentials from this network are valid for no other. "
     "Default any."},
};

const schema_kind_t schema_networks
    = LIST_KIND ("networks", "Networks of the nodes.", network_keys, networks,
                 network_count, site_network_t);

static const schema_key_t unit_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_unit_t, name), NULL, NULL,
     NULL, "tokens",
     "Name of the unit: 1 to 64 letters, digits, '.', '_' and '-'."},
    {"per", VALUE_COUNT, 0, offsetof (site_unit_t, per), NULL, NULL, NULL,
     "1000000",
     "The cost is given for so many of them. Default 1000000 if the name is or "
     "ends in tokens, else 1."},
    {"counters", VALUE_LIST, 0, offsetof (site_unit_t, counters), NULL, NULL,
     NULL, "[\"vllm:generation_tokens_total\", \"vllm:prompt_tokens_total\"]",
     "Counters of Prometheus that count the unit, for agent.counter_ports. "
     "Several add up. Default none."},
};

const schema_kind_t schema_units
    = LIST_KIND ("units",
                 "What jobs produce, for report results. With a list, jobs can "
                 "report these units only.",
                 unit_keys, units, unit_count, site_unit_t);
