#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t method_words[]
    = {{"straight-line", DEPRECIATION_STRAIGHT_LINE},
       {"declining-balance", DEPRECIATION_DECLINING},
       {"sum-of-years", DEPRECIATION_SUM_OF_YEARS},
       {"units-of-use", DEPRECIATION_UNITS_OF_USE},
       {NULL, 0}};
static const schema_word_t driver_words[] = {{"gpu_hours", COST_PER_GPU_HOUR},
                                             {"month", COST_PER_MONTH},
                                             {"year", COST_PER_YEAR},
                                             {"capacity", COST_PER_CAPACITY},
                                             {"energy", COST_PER_KWH},
                                             {"jobs", COST_PER_JOB},
                                             {NULL, 0}};
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

#define RECOVERABLE(type)                                                   \
    {                                                                       \
        "recoverable", VALUE_RATIO, SCHEMA_TO_ONE,                          \
            offsetof (type, recoverable), NULL, NULL, "100%", "100%",       \
            "Share that rates may recover: not what others have paid for, " \
            "such as federal awards. Default 100%."                         \
    }

/* What names a fund must be in the list, where there is one. */
#define FUNDING(type, example)                                                \
    {                                                                         \
        "funding", VALUE_FUNDING, 0, offsetof (type, funding), NULL, "funds", \
            NULL, example,                                                    \
            "Who pays for it: a fund, or shares by fund, 100% in all. Each "  \
            "has a line of its own in the cost book."                         \
    }

static const schema_key_t fund_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_fund_t, name), NULL, NULL,
     NULL, "institutional", "Name of the fund, for `funding`."},
    {"recoverable", VALUE_RATIO, SCHEMA_TO_ONE | SCHEMA_YES_NO,
     offsetof (site_fund_t, recoverable), NULL, NULL, "yes", "yes",
     "Whether rates may recover what it pays for, or which share of it: no for "
     "a federal award. Default yes."},
};

const schema_kind_t schema_funds
    = LIST_KIND ("funds", "Who pays the costs of the cost book.", fund_keys,
                 funds, fund_count, site_fund_t);

static const schema_key_t asset_change_keys[] = {
    {"from", VALUE_DATE, REQUIRED, offsetof (site_asset_change_t, from), NULL,
     NULL, NULL, "2029-01-01", "First day of the change."},
    {"pool", VALUE_TEXT, 0, offsetof (site_asset_change_t, pool), NULL, "pools",
     NULL, "h100", "Pool that it moves to."},
    {"life", VALUE_SPAN, 0, offsetof (site_asset_change_t, life_months), NULL,
     NULL, NULL, "6y", "Total useful life, from the day in service."},
    {"salvage", VALUE_REVALUE, 0, offsetof (site_asset_change_t, salvage), NULL,
     NULL, NULL, "5%",
     "Salvage value of a unit at the end of its life: an amount, or a share of "
     "the price."},
    {"expected_gpu_hours", VALUE_DECIMAL, POSITIVE,
     offsetof (site_asset_change_t, expected_gpu_hours), NULL, NULL, NULL, NULL,
     "For units-of-use: total GPU-hours, from the day in service."},
};

const schema_kind_t schema_asset_changes = NESTED_KIND (
    "assets.changes", "What is otherwise from a day on.", asset_change_keys,
    site_asset_t, changes, change_count, site_asset_change_t);

static const schema_key_t asset_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_asset_t, name), NULL, NULL,
     NULL, "dgx-2026", "Name of the purchase."},
    {"pool", VALUE_TEXT, REQUIRED, offsetof (site_asset_t, pool), NULL, "pools",
     NULL, "h100", "Pool that bears its cost."},
    {"units", VALUE_DECIMAL, POSITIVE, offsetof (site_asset_t, units), NULL,
     NULL, "1", "8", "Number of units. Default 1."},
    {"price", VALUE_DECIMAL, REQUIRED, offsetof (site_asset_t, price), NULL,
     NULL, NULL, "425000", "Price of a unit, with freight and installation."},
    {"in_service", VALUE_DATE, REQUIRED, offsetof (site_asset_t, in_service),
     NULL, NULL, NULL, "2026-01-01",
     "First day in service, from which on it costs."},
    {"life", VALUE_SPAN, 0, offsetof (site_asset_t, life_months), NULL, NULL,
     "5y", "5y", "Useful life. Default 5y."},
    {"salvage", VALUE_SALVAGE, 0, offsetof (site_asset_t, salvage), NULL, NULL,
     "0", "10%",
     "Salvage value of a unit at the end of its life: an amount, or a share of "
     "the price. Default 0."},
    {"method", VALUE_WORD, 0, offsetof (site_asset_t, method), method_words,
     NULL, "straight-line", "straight-line",
     "Depreciation: straight-line, by day; declining-balance and sum-of-years, "
     "by year of life; units-of-use, by GPU-hours allocated to jobs. Default "
     "straight-line."},
    {"expected_gpu_hours", VALUE_DECIMAL, POSITIVE,
     offsetof (site_asset_t, expected_gpu_hours), NULL, NULL, NULL, NULL,
     "For units-of-use: GPU-hours that are allocated to jobs, of all units, "
     "until they are written off."},
    {"retired", VALUE_DATE, 0, offsetof (site_asset_t, retired), NULL, NULL,
     NULL, NULL, "First day out of service: sold or scrapped."},
    {"proceeds", VALUE_DECIMAL, 0, offsetof (site_asset_t, proceeds), NULL,
     NULL, "0", NULL, "Sales price of a unit when it was retired. Default 0."},
    FUNDING (site_asset_t, "institutional"),
    RECOVERABLE (site_asset_t),
    {"changes", VALUE_ENTRIES, 0, 0, NULL, "assets.changes", NULL, NULL,
     "Changes of the asset from a day on. Earlier days are not affected."},
};

const schema_kind_t schema_assets
    = LIST_KIND ("assets", "What was bought.", asset_keys, assets, asset_count,
                 site_asset_t);

static const schema_key_t staff_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_staff_t, name), NULL, NULL,
     NULL, "operations", "A role or a person; never printed in a report."},
    {"fte", VALUE_DECIMAL, REQUIRED | POSITIVE, offsetof (site_staff_t, fte),
     NULL, NULL, NULL, "1.5", "Full-time equivalents."},
    {"loaded_salary", VALUE_DECIMAL, REQUIRED,
     offsetof (site_staff_t, loaded_salary), NULL, NULL, NULL, "120000",
     "Yearly cost of one full-time equivalent, with benefits and overhead."},
    FUNDING (site_staff_t, NULL),
    RECOVERABLE (site_staff_t),
    {"pools", VALUE_SHARES, REQUIRED, offsetof (site_staff_t, pools), NULL,
     "pools", NULL, "{h100: \"100%\"}",
     "Share of the work for each pool, at most 100% in "
     "all."},
    FROM_TO (site_staff_t),
};

const schema_kind_t schema_staff = DATED_KIND (
    "staff", "Who runs it.", staff_keys, staff, staff_count, site_staff_t);

static const schema_key_t power_keys[] = {
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_power_t, pool), NULL, "pools",
     NULL, "h100", "Pool that draws it."},
    {"watts_per_gpu", VALUE_DECIMAL, REQUIRED | POSITIVE,
     offsetof (site_power_t, watts_per_gpu), NULL, NULL, NULL, "560",
     "Average power over busy and idle time, with the GPU's share of its node. "
     "With idle_watts, the power of an allocated GPU; with node_watts, without "
     "its node."},
    {"idle_watts", VALUE_DECIMAL, POSITIVE, offsetof (site_power_t, idle_watts),
     NULL, NULL, NULL, NULL,
     "Power of a GPU without a job. Without it all GPUs draw watts_per_gpu."},
    {"node_watts", VALUE_DECIMAL, 0, offsetof (site_power_t, node_watts), NULL,
     NULL, "0", NULL,
     "Power of the node without its GPUs, at all times. Default 0."},
    {"energy", VALUE_WORD, 0, offsetof (site_power_t, measured), energy_words,
     NULL, "modelled", "modelled",
     "Energy of allocated GPUs: by watts_per_gpu (modelled), or by their own "
     "counters, at the price of the time of use, and by watts_per_gpu where "
     "agents did not read them (measured; needs idle_watts). Default "
     "modelled."},
    {"pue", VALUE_DECIMAL, REQUIRED | SCHEMA_FROM_ONE,
     offsetof (site_power_t, pue), NULL, NULL, NULL, "1.3",
     "Power usage effectiveness: energy of the facility divided by energy of "
     "the machines."},
    {"tariff", VALUE_TEXT, REQUIRED, offsetof (site_power_t, tariff), NULL,
     "tariffs", NULL, "flat", "Tariff by which it is paid."},
    FROM_TO (site_power_t),
};

const schema_kind_t schema_power
    = DATED_KIND ("power", "Power of the pools that is not measured.",
                  power_keys, power, power_count, site_power_t);

static const schema_key_t tariff_time_keys[] = {
    {"days", VALUE_DAYS, 0, offsetof (site_tariff_time_t, days), NULL, NULL,
     "mon-sun", "mon-fri", "Days on which it begins. Default all."},
    {"hours", VALUE_HOURS_OF_DAY, REQUIRED,
     offsetof (site_tariff_time_t, hours), NULL, NULL, NULL, "07:00-22:00",
     "Beginning and end in local time; may pass midnight."},
    {"per_kwh", VALUE_DECIMAL, REQUIRED, offsetof (site_tariff_time_t, per_kwh),
     NULL, NULL, NULL, "0.18", "Price of a kilowatt-hour in these hours."},
};

const schema_kind_t schema_tariff_times = NESTED_KIND (
    "tariffs.times", "Hours with another price.", tariff_time_keys,
    site_tariff_t, times, time_count, site_tariff_time_t);

static const schema_key_t tariff_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_tariff_t, name), NULL, NULL,
     NULL, "flat", "Name of the tariff."},
    {"per_kwh", VALUE_DECIMAL, REQUIRED, offsetof (site_tariff_t, per_kwh),
     NULL, NULL, NULL, "0.10", "Price of a kilowatt-hour."},
    {"times", VALUE_ENTRIES, 0, 0, NULL, "tariffs.times", NULL, NULL,
     "Hours with another price; if several apply, the first one counts."},
    {"timezone", VALUE_ZONE, 0, offsetof (site_tariff_t, zone), NULL, NULL,
     NULL, NULL, "Zone of these hours; default the ledger's."},
    {"demand_per_kw", VALUE_DECIMAL, 0, offsetof (site_tariff_t, demand_per_kw),
     NULL, NULL, "0", NULL,
     "Monthly price of each kilowatt of the month's highest load, PUE "
     "included: as meters measure it in intervals of at most an hour, else by "
     "`power`. Default 0."},
    {"fixed_per_month", VALUE_DECIMAL, 0,
     offsetof (site_tariff_t, fixed_per_month), NULL, NULL, "0", NULL,
     "Monthly fee, shared by energy among the pools that pay this tariff. "
     "Default 0."},
    FUNDING (site_tariff_t, NULL),
    RECOVERABLE (site_tariff_t),
    FROM_TO (site_tariff_t),
};

const schema_kind_t schema_tariffs
    = DATED_KIND ("tariffs", "Prices of electricity.", tariff_keys, tariffs,
                  tariff_count, site_tariff_t);

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

const schema_kind_t schema_meters
    = LIST_KIND ("meters", "Meters whose readings are imported.", meter_keys,
                 meters, meter_count, site_meter_t);

static const schema_key_t cost_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_cost_t, name), NULL, NULL,
     NULL, "fabric",
     "Name of the cost: fabric, space, licences, maintenance ..."},
    {"pool", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_cost_t, pool), NULL,
     "pools", NULL, "h100", "Pool that bears it; or give pools."},
    {"pools", VALUE_SHARES, SCHEMA_NAMES, offsetof (site_cost_t, pools), NULL,
     "pools", NULL, NULL,
     "Pools that share a monthly or yearly amount: with their shares, 100% in "
     "all; or a list of pools, with share_by."},
    {"share_by", VALUE_WORD, 0, offsetof (site_cost_t, share_by), share_words,
     NULL, NULL, NULL,
     "How pools share it each month: by GPU-hours in service (capacity) or "
     "allocated to jobs (gpu_hours), energy of the machines, jobs."},
    {"kind", VALUE_WORD, 0, offsetof (site_cost_t, category), cost_kind_words,
     NULL, "other", "network", "What sort of cost it is. Default other."},
    {"amount", VALUE_DECIMAL, REQUIRED, offsetof (site_cost_t, amount), NULL,
     NULL, NULL, "0.10", "Amount for each unit of the driver."},
    {"driver", VALUE_WORD, REQUIRED, offsetof (site_cost_t, driver),
     driver_words, NULL, NULL, "gpu_hours",
     "Unit that the amount is for: a GPU-hour that is allocated (gpu_hours) or "
     "in service (capacity), a kWh of the machines (energy), a job (jobs), a "
     "month or a year."},
    {"evidence", VALUE_TEXT, 0, offsetof (site_cost_t, evidence), NULL, NULL,
     NULL, "\"contract 4711\"",
     "Evidence: an invoice, a contract, an estimate."},
    {"status", VALUE_WORD, 0, offsetof (site_cost_t, status), status_words,
     NULL, NULL, "actual", "How certain it is."},
    FUNDING (site_cost_t, NULL),
    RECOVERABLE (site_cost_t),
    FROM_TO (site_cost_t),
};

const schema_kind_t schema_costs
    = DATED_KIND ("costs", "Other costs of a pool.", cost_keys, costs,
                  cost_count, site_cost_t);
