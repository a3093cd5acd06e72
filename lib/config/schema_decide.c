#include "config/schema_kinds.h"
#include "site/site.h"

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

static const schema_key_t cloud_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_cloud_t, name), NULL, NULL,
     NULL, "cloud-3-years", "Name of the offer."},
    {"gpu", VALUE_TEXT, REQUIRED, offsetof (site_cloud_t, gpu), NULL, NULL,
     NULL, "H100-SXM5-80GB", "Model, written as in the pools."},
    {"per_gpu_hour", VALUE_DECIMAL, REQUIRED,
     offsetof (site_cloud_t, per_gpu_hour), NULL, NULL, NULL, "5.25",
     "Price of one GPU for an hour."},
    {"term", VALUE_TEXT, 0, offsetof (site_cloud_t, term), NULL, NULL, NULL,
     "3y",
     "How long one is bound: 1y, 3y, reserved ... is billed around the clock, "
     "used or not; on-demand, spot, preemptible, hourly, pay-as-you-go, none "
     "and no term by the hours that are used."},
    {"as_of", VALUE_TEXT, IDENTITY, offsetof (site_cloud_t, as_of), NULL, NULL,
     NULL, "2026-01-15",
     "When it was read: a day, month or year. Older prices than a year are not "
     "compared with (--max-age)."},
    {"source", VALUE_TEXT, REQUIRED, offsetof (site_cloud_t, source), NULL,
     NULL, NULL, "\"the provider's price list\"", "Where it was read."},
};

const schema_kind_t schema_clouds
    = LIST_KIND ("clouds", "Dated prices to compare with.", cloud_keys, clouds,
                 cloud_count, site_cloud_t);

#define INPUT(name) offsetof (site_analysis_t, input[INPUT_##name])

static const schema_key_t analysis_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_analysis_t, name), NULL, NULL,
     NULL, "spot", "Name of the question."},
    {"kind", VALUE_WORD, REQUIRED, offsetof (site_analysis_t, kind),
     analysis_words, NULL, NULL, "interruptible",
     "What is asked: docs/guides/decisions.md has the formula of each kind and "
     "the inputs that it needs."},
    {"price", VALUE_TEXT, 0, offsetof (site_analysis_t, price), NULL, NULL,
     NULL, "3.687",
     "Price of a GPU-hour: a number, a name of clouds (its latest as_of), or a "
     "pool, whose productive hour it then is (report breakeven)."},
    {"against", VALUE_TEXT, 0, offsetof (site_analysis_t, against), NULL, NULL,
     NULL, "cloud-3-years", "What it is compared with, in the same form."},
    {"as_of", VALUE_TEXT, 0, offsetof (site_analysis_t, as_of), NULL, NULL,
     NULL, "2026-01-15", "When the prices that are numbers were read."},
    {"source", VALUE_TEXT, 0, offsetof (site_analysis_t, source), NULL, NULL,
     NULL, "\"the provider's price list\"", "Where they were read."},
    {"purchase", VALUE_DECIMAL, POSITIVE, INPUT (PURCHASE), NULL, NULL, NULL,
     NULL, "Of overhead and cash: what is paid on the first day."},
    {"gpus", VALUE_DECIMAL, POSITIVE, INPUT (GPUS), NULL, NULL, NULL, NULL,
     "Of overhead and cash, GPUs that the purchase buys; of memory, that share "
     "a model; of scaling and run, that work together. Default 1, of cash none."},
    {"years", VALUE_DECIMAL, POSITIVE, INPUT (YEARS), NULL, NULL, NULL, NULL,
     "Of overhead, the life of what is bought; of cash, how far to look."},
    {"overhead", VALUE_RATIO, POSITIVE, INPUT (OVERHEAD), NULL, NULL, NULL,
     NULL, "Of overhead: cost of operation each year, as a share."},
    {"overhead_of", VALUE_WORD, 0, offsetof (site_analysis_t, overhead_of),
     overhead_words, NULL, NULL, NULL,
     "What that is a share of: the purchase, or one year's depreciation."},
    {"utilization", VALUE_RATIO, POSITIVE | SCHEMA_TO_ONE, INPUT (UTILIZATION),
     NULL, NULL, NULL, NULL,
     "Of overhead and cash: productive share. Default policy.utilization."},
    {"interruptions_per_hour", VALUE_DECIMAL, POSITIVE, INPUT (INTERRUPTIONS),
     NULL, NULL, NULL, "0.02", "Of interruptible and run: how often it ends."},
    {"checkpoint_hours", VALUE_DECIMAL, POSITIVE, INPUT (CHECKPOINT), NULL,
     NULL, NULL, "0.5", "Time between two checkpoints."},
    {"restart_hours", VALUE_DECIMAL, 0, INPUT (RESTART), NULL, NULL, NULL,
     "0.1", "Time until it computes again. Default 0."},
    {"gb_per_day", VALUE_DECIMAL, POSITIVE, INPUT (GB_PER_DAY), NULL, NULL,
     NULL, NULL,
     "Of egress and run: GB (10^9 bytes) that leave a cloud a day."},
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
    {"prepaid_months", VALUE_DECIMAL, 0, INPUT (PREPAID), NULL, NULL, NULL,
     NULL,
     "Of cash: months of operation that are paid on the first day, on top of "
     "the purchase. Default 0."},
    {"discount", VALUE_RATIO, POSITIVE, INPUT (DISCOUNT), NULL, NULL, NULL,
     NULL,
     "Of cash: rate of a year for present values; default none are shown."},
};

const schema_kind_t schema_analyses
    = LIST_KIND ("analyses", "Questions for report decide.", analysis_keys,
                 analyses, analysis_count, site_analysis_t);
