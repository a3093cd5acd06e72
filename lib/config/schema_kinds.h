/*
 * schema_kinds.h: what the files of the table share; for schema*.c alone.
 *
 * A file holds the kinds of one part of the configuration, and schema.c the
 * order in which they are read and printed.
 */
#ifndef GL_CONFIG_SCHEMA_KINDS_H
#define GL_CONFIG_SCHEMA_KINDS_H

#include "base/memory.h"
#include "config/schema.h"

#define REQUIRED SCHEMA_REQUIRED
#define IDENTITY (SCHEMA_REQUIRED | SCHEMA_IDENTITY)
#define POSITIVE SCHEMA_POSITIVE
#define KEYS(array) array, GL_ARRAY_SIZE (array)

/* Of keys in more than one file: yes and no, mig_price, idle. */
extern const schema_word_t schema_truth_words[];
extern const schema_word_t schema_price_words[];
extern const schema_word_t schema_idle_words[];

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
#define ONE_KIND(name, help, keys)                           \
    {                                                        \
        name, help, KEYS (keys), 0, 0, 0, false, 0, false, 0 \
    }
/* A list in an entry of `owner`. */
#define NESTED_KIND(name, help, keys, owner, array, counter, type)            \
    {                                                                         \
        name, help, KEYS (keys), sizeof (type), offsetof (owner, array),      \
            offsetof (owner, counter), false, 0, true, offsetof (type, place) \
    }

/* schema_site.c: what holds for the whole ledger */
extern const schema_kind_t schema_ledger;
extern const schema_kind_t schema_policy;
extern const schema_kind_t schema_issuer;
extern const schema_kind_t schema_close;
extern const schema_kind_t schema_publish;
extern const schema_kind_t schema_mail;
extern const schema_kind_t schema_idle_jobs;
extern const schema_kind_t schema_exports;

/* schema_node.c: nodes, the collector, and where they meet */
extern const schema_kind_t schema_collector;
extern const schema_kind_t schema_agent;
extern const schema_kind_t schema_networks;
extern const schema_kind_t schema_units;

/* schema_cluster.c: what there is, and whose */
extern const schema_kind_t schema_clusters;
extern const schema_kind_t schema_pools;
extern const schema_kind_t schema_teams;
extern const schema_kind_t schema_institutions;
extern const schema_kind_t schema_projects;
extern const schema_kind_t schema_profiles;

/* schema_cost.c: the cost book */
extern const schema_kind_t schema_funds;
extern const schema_kind_t schema_assets;
extern const schema_kind_t schema_staff;
extern const schema_kind_t schema_power;
extern const schema_kind_t schema_tariffs;
extern const schema_kind_t schema_meters;
extern const schema_kind_t schema_costs;
extern const schema_kind_t schema_asset_changes;
extern const schema_kind_t schema_tariff_times;

/* schema_carbon.c: what energy and hardware cause */
extern const schema_kind_t schema_grid;
extern const schema_kind_t schema_embodied;

/* schema_rates.c: what is charged, and what may be spent */
extern const schema_kind_t schema_rates;
extern const schema_kind_t schema_qos;
extern const schema_kind_t schema_entitlements;
extern const schema_kind_t schema_taxes;
extern const schema_kind_t schema_budgets;
extern const schema_kind_t schema_rate_tiers;
extern const schema_kind_t schema_rate_cpu_steps;
extern const schema_kind_t schema_rate_gb_steps;

/* schema_settlement.c: who pays */
extern const schema_kind_t schema_settlement;
extern const schema_kind_t schema_deposits;
extern const schema_kind_t schema_outages;

/* schema_layout.c: a layout of exports, in a file of its own */
extern const schema_kind_t schema_layout;
extern const schema_kind_t schema_layout_only;
extern const schema_kind_t schema_layout_first;
extern const schema_kind_t schema_layout_columns;
extern const schema_kind_t schema_layout_trailer;

/* schema_decide.c: what owning is compared with */
extern const schema_kind_t schema_clouds;
extern const schema_kind_t schema_prices;
extern const schema_kind_t schema_analyses;

#endif /* !GL_CONFIG_SCHEMA_KINDS_H */
