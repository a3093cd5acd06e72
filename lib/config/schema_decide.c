#include "config/schema_kinds.h"
#include "site/site.h"

static const schema_word_t analysis_words[] = {
#define KIND(id, word) {word, ANALYSIS_##id},
#include "site/analysis_kinds.h"
#undef KIND
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
    {"catalogue", VALUE_TEXT, 0, offsetof (site_cloud_t, catalogue), NULL, NULL,
     NULL, NULL,
     "Take price and source of this offer from the catalogue of prices: "
     "PROVIDER/INSTANCE/REGION, as gpuledger prices list has it; its newest "
     "price, or with `as_of` the newest until then. `term` says which plan."},
    {"per_gpu_hour", VALUE_DECIMAL, 0, offsetof (site_cloud_t, per_gpu_hour),
     NULL, NULL, NULL, "5.25",
     "Price of one GPU for an hour; required without `catalogue`."},
    {"provider", VALUE_TEXT, 0, offsetof (site_cloud_t, provider), NULL, NULL,
     NULL, "cloud",
     "Who offers it. `report plan` mixes the offers of one provider; offers "
     "without a provider are mixed with each other."},
    {"term", VALUE_TEXT, 0, offsetof (site_cloud_t, term), NULL, NULL, NULL,
     "3y",
     "How long one is bound: 1y, 3y, reserved ... is billed around the clock, "
     "used or not; on-demand, spot, preemptible, hourly, pay-as-you-go, none "
     "and no term by the hours that are used."},
    {"waste", VALUE_RATIO, SCHEMA_TO_ONE, offsetof (site_cloud_t, waste), NULL,
     NULL, "0", "5%",
     "Share of the rented time that is lost to interruptions, below 100%: an "
     "hour of work costs the price / (1 - waste)."},
    {"as_of", VALUE_TEXT, SCHEMA_IDENTITY, offsetof (site_cloud_t, as_of), NULL,
     NULL, NULL, "2026-01-15",
     "When it was read: a day, month or year; required without `catalogue`. "
     "Older prices than a year are not compared with (--max-age)."},
    {"source", VALUE_TEXT, 0, offsetof (site_cloud_t, source), NULL, NULL, NULL,
     "\"the provider's price list\"",
     "Where it was read; required without `catalogue`."},
};

const schema_kind_t schema_clouds
    = LIST_KIND ("clouds", "Dated prices to compare with.", cloud_keys, clouds,
                 cloud_count, site_cloud_t);

static const schema_key_t prices_keys[] = {
    {"file", VALUE_PATH, 0, offsetof (site_t, prices.file), NULL, NULL, NULL,
     "/etc/gpuledger/catalogue.csv",
     "The site's own catalogue of cloud prices, whose rows are added to the "
     "one that comes with the program; gpuledger prices import writes it. "
     "Default none."},
    {"shipped", VALUE_PATH, 0, offsetof (site_t, prices.shipped), NULL, NULL,
     NULL, NULL,
     "Where the catalogue that comes with the program is. Default: where it "
     "was installed."},
};

const schema_kind_t schema_prices
    = ONE_KIND ("prices", "The catalogue of cloud prices.", prices_keys);

static const schema_key_t analysis_keys[] = {
    {"name", VALUE_TEXT, IDENTITY, offsetof (site_analysis_t, name), NULL, NULL,
     NULL, "spot", "Name of the question."},
    {"kind", VALUE_WORD, REQUIRED, offsetof (site_analysis_t, kind),
     analysis_words, NULL, NULL, "interruptible",
     "Kind of question: docs/guides/decisions.md has the formula of each kind "
     "and the inputs that it needs."},
    {"price", VALUE_TEXT, 0, offsetof (site_analysis_t, price), NULL, NULL,
     NULL, "3.687",
     "Price of a GPU-hour: a number; a name of `clouds` (its latest as_of); or "
     "a pool, for the cost of its productive hour (report breakeven)."},
    {"against", VALUE_TEXT, 0, offsetof (site_analysis_t, against), NULL, NULL,
     NULL, "cloud-3-years", "Price to compare it with, in the same form."},
    {"as_of", VALUE_TEXT, 0, offsetof (site_analysis_t, as_of), NULL, NULL,
     NULL, "2026-01-15", "Date of the prices that are numbers."},
    {"source", VALUE_TEXT, 0, offsetof (site_analysis_t, source), NULL, NULL,
     NULL, "\"the provider's price list\"",
     "Source of the prices that are numbers."},
    {"overhead_of", VALUE_WORD, 0, offsetof (site_analysis_t, overhead_of),
     overhead_words, NULL, NULL, NULL,
     "What `overhead` is a share of: the purchase, or one year's "
     "depreciation."},
    {"demand", VALUE_LIST, 0, offsetof (site_analysis_t, demand), NULL, NULL,
     NULL, NULL,
     "For layers: GPUs in use, in days or other times of equal length."},
    {"per_gb_above", VALUE_MAP, 0, offsetof (site_analysis_t, tiers), NULL,
     NULL, NULL, NULL,
     "For egress, run and bill, in place of `per_gb`: the price of each GB "
     "above so many of the period, as {0: 0.09, 10240: 0.085}."},
#define INPUT(id, name, type, flags, money, unit, fallback, most, whole,       \
              example, help)                                                   \
    {name, VALUE_##type, flags, offsetof (site_analysis_t, input[INPUT_##id]), \
     NULL, NULL,         NULL,  example,                                       \
     help},
#include "site/analysis_inputs.h"
#undef INPUT
};

const schema_kind_t schema_analyses
    = LIST_KIND ("analyses", "Questions for report decide.", analysis_keys,
                 analyses, analysis_count, site_analysis_t);
