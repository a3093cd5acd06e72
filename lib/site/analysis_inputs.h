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
       "Of overhead and cash: what is paid on the first day.")
INPUT (YEARS, "years", DECIMAL, POSITIVE, false, "years", NULL, 100, false, NULL,
       "For overhead: the life of the purchase. For cash: how many years to compare.")
INPUT (OVERHEAD, "overhead", RATIO, POSITIVE, false, "of it a year", NULL, 0, false,
       NULL, "Of overhead: cost of operation each year, as a share.")
INPUT (UTILIZATION, "utilization", RATIO, POSITIVE | SCHEMA_TO_ONE, false,
       "of the hours", NULL, 0, false, NULL,
       "Of overhead and cash: productive share. Default policy.utilization.")
INPUT (GPUS, "gpus", DECIMAL, POSITIVE, false, "GPUs", "1", 0, false, NULL,
       "Of overhead and cash, GPUs that the purchase buys; of memory, that share "
       "a model; of scaling and run, that work together. Default 1, of cash none.")
INPUT (INTERRUPTIONS, "interruptions_per_hour", DECIMAL, POSITIVE, false, "per hour",
       NULL, 0, false, "0.02", "Of interruptible and run: how often it ends.")
INPUT (CHECKPOINT, "checkpoint_hours", DECIMAL, POSITIVE, false, "hours", NULL, 0,
       false, "0.5", "Time between two checkpoints.")
INPUT (RESTART, "restart_hours", DECIMAL, 0, false, "hours", NULL, 0, false, "0.1",
       "Time until it computes again. Default 0.")
INPUT (GB_PER_DAY, "gb_per_day", DECIMAL, POSITIVE, false, "GB per day", NULL, 0,
       false, NULL, "Of egress and run: GB (10^9 bytes) that leave a cloud a day.")
INPUT (DAYS, "days", DECIMAL, POSITIVE, false, "days", "30", 0, false, NULL,
       "For so many days. Default 30.")
INPUT (PER_GB, "per_gb", DECIMAL, POSITIVE, true, "per GB", NULL, 0, false, NULL,
       "Price of a GB.")
INPUT (SPEED, "speed", DECIMAL, POSITIVE, false, "times", NULL, 0, false, NULL,
       "Of scaling and run, how many times faster than on one GPU; of newer-gpu, "
       "than on the GPU that it is compared with.")
INPUT (PARAMETERS, "parameters_billion", DECIMAL, POSITIVE, false, "10^9", NULL, 0,
       false, NULL, "Of memory: parameters of the model.")
INPUT (BYTES, "bytes_per_parameter", DECIMAL, POSITIVE, false, "bytes", NULL, 0, false,
       NULL, "4, 2, 1 or 0.5.")
INPUT (CACHE, "cache_factor", DECIMAL, POSITIVE, false, "times", "1.3", 0, false, NULL,
       "Weights and key-value cache over weights. Default 1.3.")
INPUT (GPU_HOURS, "gpu_hours", DECIMAL, POSITIVE, false, "GPU-hours", NULL, 0, false,
       NULL, "Of run: what it takes on one GPU without interruptions.")
INPUT (STORAGE, "storage", DECIMAL, 0, true, "", NULL, 0, false, NULL,
       "Of run: what its storage costs. Default 0.")
INPUT (PER_YEAR, "per_year", DECIMAL, 0, true, "per year", NULL, 0, false, NULL,
       "For cash: the yearly cost of operating the owned GPUs. Default 0.")
INPUT (RENT, "rent_per_year", DECIMAL, POSITIVE, true, "per year", NULL, 0, false, NULL,
       "Of cash: what renting the same costs.")
INPUT (PREPAID, "prepaid_months", DECIMAL, 0, false, "months", NULL, 1200, true, NULL,
       "Of cash: months of operation that are paid on the first day, on top of "
       "the purchase. Default 0.")
INPUT (DISCOUNT, "discount", RATIO, POSITIVE, false, "a year", NULL, 0, false, NULL,
       "Of cash: rate of a year for present values; default none are shown.")
