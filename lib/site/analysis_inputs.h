/*
 * analysis_inputs.h: the inputs of `analyses`, one line each, in the order in which
 * reports print them. Whoever includes this defines INPUT:
 *
 *   INPUT (ID, "key", type, flags, money, "unit", default, most, whole, example, help)
 *
 * type and flags as in config/schema.h; money: the currency precedes the unit; default:
 * NULL for none; most: an upper bound that the formulas need, 0 for none; whole: in
 * kinds that count it, only a whole number. No guard: this is a table, not a header.
 */
INPUT (PURCHASE, "purchase", DECIMAL, POSITIVE, true, "", NULL, 0, false, NULL,
       "For overhead and cash: what is paid on the first day.")
INPUT (YEARS, "years", DECIMAL, POSITIVE, false, "years", NULL, 100, false, NULL,
       "For overhead and generation: the life of the purchase. For cash: how many "
       "years to compare.")
INPUT (OVERHEAD, "overhead", RATIO, POSITIVE, false, "of it a year", NULL, 0,
       false, NULL, "For overhead: yearly cost of operation, as a share.")
INPUT (UTILIZATION, "utilization", RATIO, POSITIVE | SCHEMA_TO_ONE, false,
       "of the hours", NULL, 0, false, NULL,
       "For overhead and cash: productive share of the time; for capacity, the "
       "share that is planned for. Default policy.utilization.")
INPUT (GPUS, "gpus", DECIMAL, POSITIVE, false, "GPUs", "1", 0, false, NULL,
       "Number of GPUs: for overhead and cash, those of the purchase; for "
       "memory, those that share a model; for scaling and run, those that work "
       "together. Default 1; for cash, none.")
INPUT (INTERRUPTIONS, "interruptions_per_hour", DECIMAL, POSITIVE, false,
       "per hour", NULL, 0, false, "0.02",
       "For interruptible and run: how often the job is interrupted.")
INPUT (CHECKPOINT, "checkpoint_hours", DECIMAL, POSITIVE, false, "hours", NULL, 0,
       false, "0.5", "Time between two checkpoints.")
INPUT (RESTART, "restart_hours", DECIMAL, 0, false, "hours", NULL, 0, false,
       "0.1", "Time until the job computes again. Default 0.")
INPUT (GB_PER_DAY, "gb_per_day", DECIMAL, POSITIVE, false, "GB per day", NULL,
       0, false, NULL,
       "For egress, run and bill: GB (10^9 bytes) a day that leave the cloud.")
INPUT (DAYS, "days", DECIMAL, POSITIVE, false, "days", "30", 0, false, NULL,
       "For so many days. Default 30.")
INPUT (PER_GB, "per_gb", DECIMAL, POSITIVE, true, "per GB", NULL, 0, false, NULL,
       "Price of a GB.")
INPUT (
    SPEED, "speed", DECIMAL, POSITIVE, false, "times", NULL, 0, false, NULL,
    "For scaling and run: how many times faster than on one GPU. For "
    "newer-gpu and generation: how many times faster than the GPU that it is "
    "compared with.")
INPUT (PARAMETERS, "parameters_billion", DECIMAL, POSITIVE, false, "10^9", NULL,
       0, false, NULL, "For memory: parameters of the model.")
INPUT (BYTES, "bytes_per_parameter", DECIMAL, POSITIVE, false, "bytes", NULL, 0,
       false, NULL, "For memory: bytes of a parameter: 4, 2, 1 or 0.5.")
INPUT (CACHE, "cache_factor", DECIMAL, POSITIVE, false, "times", "1.3", 0,
       false, NULL,
       "For memory: size of weights and key-value cache, divided by that of "
       "the weights. Default 1.3.")
INPUT (GPU_HOURS, "gpu_hours", DECIMAL, POSITIVE, false, "GPU-hours", NULL, 0,
       false, NULL, "For run: GPU-hours on one GPU without interruptions. For bill: those of "
       "the bill.")
INPUT (STORAGE, "storage", DECIMAL, 0, true, "", NULL, 0, false, NULL,
       "For run and bill: cost of its storage. Default 0.")
INPUT (PER_YEAR, "per_year", DECIMAL, 0, true, "per year", NULL, 0, false, NULL,
       "For cash: the yearly cost of operating the owned GPUs. Default 0.")
INPUT (RENT, "rent_per_year", DECIMAL, POSITIVE, true, "per year", NULL, 0,
       false, NULL, "For cash: yearly cost of renting the same GPUs.")
INPUT (PREPAID, "prepaid_months", DECIMAL, 0, false, "months", NULL, 1200, true,
       NULL,
       "For cash: months of operation that are paid on the first day, in "
       "addition to the purchase. Default 0.")
INPUT (DISCOUNT, "discount", RATIO, POSITIVE, false, "a year", NULL, 0, false,
       NULL,
       "For cash: yearly rate for present values; without it, none are shown.")
INPUT (RESALE, "resale", DECIMAL, POSITIVE, true, "", NULL, 0, false, NULL,
       "For cash: what the purchase is sold for at the end.")
INPUT (GPU_HOURS_PER_DAY, "gpu_hours_per_day", DECIMAL, POSITIVE, false,
       "GPU-hours a day", NULL, 0, false, NULL, "For capacity: the demand.")
INPUT (DOWNTIME, "downtime", RATIO, SCHEMA_TO_ONE, false, "of the time", NULL,
       0, false, NULL, "For capacity: share of the time that GPUs are down. "
       "Default 0.")
INPUT (SPARES, "spares", RATIO, 0, false, "of the GPUs", NULL, 0, false, NULL,
       "For capacity: GPUs in addition, as a share. Default 0.")
INPUT (PER_NODE, "gpus_per_node", DECIMAL, POSITIVE, false, "GPUs", "8", 0,
       false, NULL, "For capacity: GPUs of a node. Default 8.")
INPUT (SPOT, "spot", DECIMAL, POSITIVE, true, "per GPU-hour", NULL, 0, false,
       NULL, "For layers: price of an interruptible hour of work.")
INPUT (INTERRUPTIBLE_SHARE, "interruptible", RATIO, SCHEMA_TO_ONE, false,
       "of the work", NULL, 0, false, NULL,
       "For layers: share of the work that may be interrupted. Default 0.")
INPUT (RESERVED, "reserved", DECIMAL, POSITIVE, false, "GPUs", NULL, 1000000,
       true, NULL,
       "For layers: GPUs that are reserved. Without it, as many as cost the "
       "least.")
INPUT (MANAGED, "managed", RATIO, POSITIVE, false, "more", NULL, 0, false,
       NULL, "For bill: how much more a managed platform costs than plain "
       "GPUs.")
INPUT (SUPPORT, "support", RATIO, POSITIVE, false, "of the bill", NULL, 0,
       false, NULL, "For bill: price of support, as a share of all else.")
INPUT (MONTHS, "months", DECIMAL, POSITIVE, false, "months", "18", 1200, false,
       NULL, "For generation: until the new GPU can be rented. Default 18.")
INPUT (NEW_PRICE, "new_price", DECIMAL, POSITIVE, true, "per GPU-hour", NULL, 0,
       false, NULL,
       "For generation: price of an hour of the new GPU. Default: that of "
       "`against`.")
