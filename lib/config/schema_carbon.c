#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_key_t grid_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_grid_t, name), NULL, NULL,
     NULL, "Germany", "Name of the grid or contract."},
    {"cluster", VALUE_TEXT, 0, offsetof (site_grid_t, cluster), NULL,
     "clusters", NULL, NULL,
     "The cluster that it powers; default every cluster."},
    {"g_per_kwh", VALUE_DECIMAL, REQUIRED, offsetof (site_grid_t, g_per_kwh),
     NULL, NULL, NULL, "335.4",
     "Grams of CO2e for a kilowatt-hour, as the source says."},
    {"series", VALUE_TEXT, 0, offsetof (site_grid_t, series), NULL, NULL, NULL,
     NULL,
     "A CSV file start,end,g_per_kwh with the intensity of intervals of any "
     "length. Time without a value in it has g_per_kwh."},
    {"source", VALUE_TEXT, REQUIRED, offsetof (site_grid_t, source), NULL, NULL,
     NULL, "\"Ember 2024 (CC BY 4.0)\"",
     "Where the figure comes from, with its year; shown next to it."},
    FROM_TO (site_grid_t),
};

const schema_kind_t schema_grid
    = DATED_KIND ("grid", "Carbon intensity of electricity.", grid_keys, grid,
                  grid_count, site_grid_t);

static const schema_key_t embodied_keys[] = {
    {"pool", VALUE_TEXT, IDENTITY, offsetof (site_embodied_t, pool), NULL,
     "pools", NULL, "h100", "The pool of the GPUs."},
    {"kg_per_gpu", VALUE_DECIMAL, REQUIRED,
     offsetof (site_embodied_t, kg_per_gpu), NULL, NULL, NULL, "164",
     "Kilograms of CO2e that making a GPU caused, as the source says."},
    {"life_months", VALUE_COUNT, REQUIRED | POSITIVE,
     offsetof (site_embodied_t, life_months), NULL, NULL, NULL, "48",
     "Months of use over which it is spread evenly."},
    {"source", VALUE_TEXT, REQUIRED, offsetof (site_embodied_t, source), NULL,
     NULL, NULL, "\"NVIDIA HGX H100 PCF summary 2025\"",
     "Where the figure comes from, with its year; shown next to it."},
    FROM_TO (site_embodied_t),
};

const schema_kind_t schema_embodied
    = DATED_KIND ("embodied", "CO2e of making the hardware.", embodied_keys,
                  embodied, embodied_count, site_embodied_t);
