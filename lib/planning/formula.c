#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/formula.h"

/* ---- values by name ---- */

void values_init (values_t *v)
{
    v->count = 0;
}

void values_clear (values_t *v)
{
    while (v->count > 0)
        mpq_clear (v->number[--v->count]);
}

static size_t find (const values_t *v, const char *name)
{
    size_t i = 0;

    while (i < v->count && strcmp (v->name[i].name, name) != 0)
        i++;
    return i;
}

void values_set (values_t *v, const char *name, mpq_srcptr number)
{
    size_t i = find (v, name);

    if (i == VALUES_MAX)
        abort (); /* a row of the table with too many steps */
    if (i == v->count) {
        mpq_init (v->number[i]);
        v->name[i] = (expression_name_t){name, v->number[i]};
        v->count++;
    }
    mpq_set (v->number[i], number);
    v->given[i] = true;
}

void values_set_i64 (values_t *v, const char *name, int64_t number)
{
    mpq_t q;

    mpq_init (q);
    mpq_set_si (q, number, 1);
    values_set (v, name, q);
    mpq_clear (q);
}

void values_set_text (values_t *v, const char *name, const char *decimal)
{
    mpq_t q;

    mpq_init (q);
    exact_parse_ratio (decimal, q, NULL);
    values_set (v, name, q);
    mpq_clear (q);
}

mpq_srcptr values_get (const values_t *v, const char *name)
{
    size_t i = find (v, name);

    return i < v->count ? v->number[i] : NULL;
}

bool values_true (const values_t *v, const char *name)
{
    mpq_srcptr number = values_get (v, name);

    return number && mpq_sgn (number) != 0;
}

bool values_compute (const values_t *v, const char *expression, mpq_t ret_value)
{
    const expression_scope_t scope = {v->name, v->count};
    gl_error_t none;

    if (expression_value (expression, &scope, ret_value, &none) == 0)
        return true;
    mpq_set_ui (ret_value, 0, 1);
    return false;
}

char *values_text (const values_t *v, const char *text)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (const char *open; (open = strchr (text, '{')) != NULL;) {
        size_t length = strcspn (open, "}");
        GL_AUTOFREE char *name = xasprintf ("%.*s", (int)length - 1, open + 1);
        GL_AUTOFREE char *number = exact_shortest (values_get (v, name));
        buffer_add (&out, text, (size_t)(open - text));
        buffer_add_text (&out, number);
        text = open + length + 1;
    }
    buffer_add_text (&out, text);
    return buffer_take (&out);
}

/* ---- the table ---- */

#define MONEY {"", true, -1}
#define PER_GPU_YEAR {"per GPU-year", true, -1}
#define PER_GPU_HOUR {"per GPU-hour", true, 4}
#define PERCENT {"%", false, 2}
#define TIMES {"times", false, 4}
#define LOST {"GPU-hours per GPU-hour", false, 4}
#define GB {"GB", false, 2}
#define GIB {"GiB", false, 2}
#define WORK {"GPU-hours a day", false, 2}
#define PER_DAY {"per day", true, -1}

#define AROUND_THE_CLOCK ": a term is paid around the clock"
#define PRESENT_VALUE \
    "first day + a year / (1 + discount) + a year / (1 + discount)^2 ..."

/* Cumulative cash (F16) at the end of so many months. Operation is paid by the month,
 * that of the first `prepaid_months` on day one. */
#define LARGER(a, b) "(" a " * (" a " >= " b ") + " b " * (" a " < " b "))"
#define OWNED(months) \
    "(purchase + per_year / 12 * " LARGER (months, "prepaid_months") ")"
#define RENTED(months) "rent_per_year / 12 * " months
#define SAVING(id_, years_, when_)                                        \
    {.id = id_, .value = RENTED ("12 * " years_) " - " OWNED ("12 * " years_), \
     .title = "saving", .unit = MONEY, .how = "rented - owned",               \
     .when = when_, .after = years_}

static const formula_t table[] = {
    {
        "overhead", "F7",
        .needs = {"purchase", "years", "overhead"},
        .takes = {"gpus", "utilization", "against"},
        .title = "Owning, of which only the price is known",
        .left_out = "what the overhead does not hold; storage, egress and "
                    "resale. Where the costs are known one by one, report "
                    "breakeven says more",
        .step = {
            {"year", "purchase / gpus * (1 / years + overhead)",
             "cost of a year", PER_GPU_YEAR,
             "purchase / gpus x (1 / years + overhead)",
             .when = "of_depreciation == 0"},
            {"year", "purchase / gpus * (1 / years + overhead / years)",
             "cost of a year", PER_GPU_YEAR,
             "purchase / gpus x (1 / years + overhead / years)",
             .when = "of_depreciation"},
            {"busy", "year / 8760", "cost of an hour, always busy",
             PER_GPU_HOUR, "cost of a year / 8760"},
            {"hour", "year / (8760 * utilization)",
             "cost of a productive hour", PER_GPU_HOUR,
             "cost of a year / (8760 utilization)"},
            {"owning", "year / (8760 * against)",
             "owning for each 1 of renting", TIMES,
             "cost of a year / (8760 against)" AROUND_THE_CLOCK,
             .given = "against", .when = "term"},
            {"breakeven", "year / (8760 * against)", "break-even utilization",
             PERCENT, "cost of a year / (8760 against)", .given = "against",
             .when = "term == 0"},
            {"owning", "breakeven / utilization",
             "owning for each 1 of renting", TIMES,
             "break-even utilization / utilization", .given = "against",
             .when = "term == 0"},
        },
    },
    {
        "interruptible", "F8",
        .needs = {"price", "interruptions_per_hour", "checkpoint_hours"},
        .takes = {"restart_hours", "against"},
        .title = "Capacity that may be taken away",
        .left_out = "waiting until there is capacity again, and work that "
                    "cannot restart",
        .step = {
            {"loss",
             "interruptions_per_hour * (checkpoint_hours / 2 + restart_hours)",
             "expected loss", LOST,
             "interruptions_per_hour (checkpoint_hours / 2 + restart_hours)"},
            {"worst", "interruptions_per_hour * (checkpoint_hours + restart_hours)",
             "loss at worst", LOST,
             "interruptions_per_hour (checkpoint_hours + restart_hours)"},
            {"effective", "price * (1 + loss)", "effective price",
             PER_GPU_HOUR, "price (1 + expected loss)"},
            {"saving", "1 - effective / against", "saving", PERCENT,
             "1 - effective price / against", .given = "against"},
            {"effective_worst", "price * (1 + worst)",
             "effective price at worst", PER_GPU_HOUR,
             "price (1 + loss at worst)"},
            {"saving_worst", "1 - effective_worst / against",
             "saving at worst", PERCENT, "1 - effective price / against",
             .given = "against"},
            {"breakeven_loss", "against / price - 1", .given = "against"},
            {"breakeven",
             "breakeven_loss / (checkpoint_hours / 2 + restart_hours)"
             " / (breakeven_loss > 0)",
             "break-even interruptions", {"per hour", false, 4},
             "(against / price - 1) / (checkpoint_hours / 2 + restart_hours)",
             .given = "against"},
        },
    },
    {
        "egress", "F10",
        .needs = {"gb_per_day"},
        .takes = {"per_gb", "days", "tiered_cost"},
        .title = "Traffic out of a cloud",
        .left_out = "free allowances. GB are 10^9 bytes; tiers are those of "
                    "one period",
        .step = {
            {"traffic", "gb_per_day * days", "traffic", GB, "gb_per_day days"},
            {"cost", "traffic * per_gb", "cost", MONEY,
             "gb_per_day days per_gb", .given = "per_gb"},
            {"cost", "tiered_cost", "cost", MONEY,
             "gb_per_day days, by the tiers", .given = "tiered_cost"},
            {"mean", "cost / traffic", "on average", {"per GB", true, 4},
             "cost / traffic", .given = "tiered_cost"},
            {"year", "cost / days * 365", "cost of a year", MONEY,
             "cost / days x 365"},
        },
    },
    {
        "scaling", "F12",
        .needs = {"speed", "gpus"},
        .title = "One run on more GPUs",
        .left_out = "the value of an earlier result",
        .step = {
            {"efficiency", "speed / gpus", "efficiency", PERCENT,
             "speed / gpus"},
            {"work", "1 / efficiency", "cost of the same work", TIMES,
             "1 / efficiency"},
            {"poor", "efficiency < 0.60"},
        },
    },
    {
        "newer-gpu", "F13",
        .needs = {"price", "against"},
        .takes = {"speed"},
        .title = "The same run on another GPU",
        .left_out = "porting it, memory that one of them lacks, and the value of an earlier result",
        .step = {
            {"breakeven", "price / against", "break-even speed", TIMES,
             "price / against"},
            {"run", "price / against / speed", "cost of the same run", TIMES,
             "price / against / speed", .given = "speed"},
        },
    },
    {
        "memory", "F14",
        .needs = {"parameters_billion", "bytes_per_parameter"},
        .takes = {"cache_factor", "gpus"},
        .title = "Memory that a model needs",
        .left_out = "activations, which grow with batch and sequence, and "
                    "fragmentation. GB are 10^9 bytes",
        .step = {
            {"weights", "parameters_billion * bytes_per_parameter", "weights",
             GB, "parameters_billion bytes_per_parameter"},
            {"serve", "weights * cache_factor", "to serve", GB,
             "weights cache_factor"},
            {"serve_gib", "serve * 10**9 / 2**30", "to serve", GIB,
             "GB x 10^9 / 2^30"},
            {"serve_each", "serve / gpus", "to serve, on each GPU", GB,
             "GB / gpus"},
            {"train", "parameters_billion * (2 * bytes_per_parameter + 8)",
             "to train", GB, "parameters_billion (2 bytes_per_parameter + 8)"},
            {"train_gib", "train * 10**9 / 2**30", "to train", GIB,
             "GB x 10^9 / 2^30"},
            {"train_each", "train / gpus", "to train, on each GPU", GB,
             "GB / gpus"},
        },
    },
    {
        "run", "F8, F10, F12",
        .needs = {"gpu_hours", "price"},
        .takes = {"speed", "gpus", "interruptions_per_hour", "checkpoint_hours",
                  "restart_hours", "gb_per_day", "per_gb", "days", "storage",
                  "tiered_cost"},
        .together = {{"interruptions_per_hour", "checkpoint_hours"},
                     {"gb_per_day", "per_gb"}},
        .title = "What a run costs before it starts",
        .left_out = "failed attempts, people, and time in the queue",
        .step = {
            {"efficiency", "1", .absent = "speed"},
            {"efficiency", "speed / gpus", .given = "speed"},
            {"loss",
             "interruptions_per_hour * (checkpoint_hours / 2 + restart_hours)"},
            {"hours", "gpu_hours * (1 + loss) / efficiency", "hours to buy",
             {"GPU-hours", false, 2},
             "gpu_hours (1 + interruptions_per_hour (checkpoint_hours / 2 + "
             "restart_hours)) / (speed / gpus)"},
            {"computing", "hours * price", "computing", MONEY,
             "hours to buy x price"},
            {"egress", "0", .absent = "gb_per_day"},
            {"egress", "gb_per_day * days * per_gb", "egress", MONEY,
             "gb_per_day days per_gb", .given = "per_gb"},
            {"egress", "tiered_cost", "egress", MONEY,
             "gb_per_day days, by the tiers", .given = "tiered_cost"},
            {"cost", "computing + storage + egress",
             "cost of the run", MONEY, "computing + storage + egress"},
        },
    },
    {
        "cash", "F16",
        .needs = {"purchase", "years"},
        .takes = {"rent_per_year", "per_year", "prepaid_months", "discount",
                  "gpus", "against", "utilization", "resale"},
        .together = {{"gpus", "against"}},
        .title = "Cash over the years",
        .left_out = "resale (unless `resale` is given), disposal, and prices that change: every year "
                    "costs the same; and whether both sides do the same work, "
                    "where `gpus` and `against` do not say it",
        .step = {
            {"rent_per_year", "gpus * 8760 * against", "rented for a year",
             MONEY, "gpus x 8760 x against" AROUND_THE_CLOCK,
             .absent = "rent_per_year", .when = "term"},
            {"rent_per_year", "gpus * 8760 * utilization * against",
             "rented for a year", MONEY, "gpus x 8760 x utilization x against",
             .absent = "rent_per_year", .when = "term == 0"},
            {"owned_work", "gpus * 24 * utilization", "work of the owned GPUs",
             WORK, "gpus x 24 x utilization", .given = "against"},
            {"rented_work", "rent_per_year / against / 365 * utilization",
             "work of the rented GPUs", WORK,
             "rent_per_year / against / 365 x utilization" AROUND_THE_CLOCK,
             .given = "against", .when = "term"},
            {"rented_work", "rent_per_year / against / 365",
             "work of the rented GPUs", WORK, "rent_per_year / against / 365",
             .given = "against", .when = "term == 0"},
            /* by more than a hundredth of either */
            {"unequal",
             "((100 * (owned_work - rented_work))**2 > owned_work**2)"
             " * ((100 * (owned_work - rented_work))**2 > rented_work**2)",
             .given = "against"},
            SAVING ("saving_1", "1", "years > 1"),
            SAVING ("saving_3", "3", "years > 3"),
            SAVING ("saving_5", "5", "years > 5"),
            {"owned", OWNED ("12 * years"), "owned", MONEY,
             "purchase + per_year x years", .after = "years"},
            {"rented", RENTED ("12 * years"), "rented", MONEY,
             "rent_per_year x years", .after = "years"},
            SAVING ("saving", "years", NULL),
            {"sold", "saving + resale", "saving with resale", MONEY,
             "rented - owned + resale", .given = "resale", .after = "years"},
            /* until operation is paid by the month rent alone flows, from then on
             * the difference of the two */
            {"payback", OWNED ("0") " / (rent_per_year / 12)"},
            {"payback",
             "purchase / ((rent_per_year - per_year) / 12)"
             " / (rent_per_year > per_year)",
             .when = "payback > prepaid_months"},
            {"payback", "payback", "payback", {"months", false, 2},
             "first month with rented >= owned"},
            /* of 1 at the end of each year; an exponent is at most 64 */
            {"annuity",
             "(1 - (1 + discount)**-ceil (years / 2)"
             " * (1 + discount)**(ceil (years / 2) - years)) / discount",
             .given = "discount"},
            {"owned_now", "purchase + per_year * annuity",
             "owned, present value", MONEY, PRESENT_VALUE, .given = "discount"},
            {"rented_now", "rent_per_year * annuity", "rented, present value",
             MONEY, PRESENT_VALUE, .given = "discount"},
            {"resale_now",
             "resale * (1 + discount)**-ceil (years / 2)"
             " * (1 + discount)**(ceil (years / 2) - years)"},
            {"saving_now", "rented_now - owned_now + resale_now",
             "saving, present value", MONEY,
             "rented - owned + resale / (1 + discount)^years",
             .given = "discount"},
        },
    },
    {
        "capacity", "F15",
        .needs = {"gpu_hours_per_day"},
        .takes = {"utilization", "downtime", "spares", "gpus_per_node"},
        .title = "How many GPUs a demand needs",
        .left_out = "peaks: work that does not fit into an hour waits for "
                    "another",
        .step = {
            {"exact",
             "gpu_hours_per_day / (24 * utilization * (1 - downtime))",
             "GPUs needed", {"GPUs", false, 2},
             "gpu_hours_per_day / (24 utilization (1 - downtime))",
             .when = "downtime < 1"},
            {"exact_spare", "exact * (1 + spares)", "with spares",
             {"GPUs", false, 2}, "GPUs needed x (1 + spares)",
             .when = "downtime < 1"},
            {"gpus", "ceil (exact_spare)", "full GPUs", {"GPUs", false, 0},
             "with spares, rounded up", .when = "downtime < 1"},
            {"nodes", "ceil (exact_spare / gpus_per_node)", "full nodes",
             {"nodes", false, 0}, "with spares / gpus_per_node, rounded up",
             .when = "downtime < 1"},
        },
    },
    {
        /* the numbers of a mix come from the demand: planning/layers.h */
        "layers", "F9, F8",
        .needs = {"price", "against"},
        .takes = {"spot", "interruptible", "reserved"},
        .together = {{"spot", "interruptible"}},
        .title = "A reserved floor, spot above it, and the rest on demand",
        .left_out = "hours that interruptions lose (give `spot` the effective "
                    "price of the kind interruptible), and waiting for spot "
                    "capacity",
        .step = {
            {"threshold", "price / against", "share of the time above which a "
             "reserved GPU pays", PERCENT, "price / against"},
            {"floor", "floor_gpus", "reserved GPUs", {"GPUs", false, 0},
             "the least cost of all", .absent = "reserved"},
            {"floor", "floor_gpus", "reserved GPUs", {"GPUs", false, 0},
             "as given", .given = "reserved"},
            {"work", "mean_gpus", "GPUs in use, on average",
             {"GPUs", false, 2}, "mean of demand"},
            {"reserved_cost", "24 * floor_gpus * price", "reserved", PER_DAY,
             "24 x reserved GPUs x price"},
            {"spot_cost", "0", .absent = "spot"},
            {"spot_cost", "24 * spot_gpus * spot", "spot", PER_DAY,
             "24 x what may be interrupted above the floor x spot",
             .given = "spot"},
            {"demand_cost", "24 * on_demand_gpus * against", "on demand",
             PER_DAY, "24 x the rest x against"},
            {"day", "reserved_cost + spot_cost + demand_cost", "all of it",
             PER_DAY, "reserved + spot + on demand"},
            {"less", "24 * cost_less", "with one reserved GPU less", PER_DAY,
             "the same", .when = "floor_gpus > 0"},
            {"more", "24 * cost_more", "with one reserved GPU more", PER_DAY,
             "the same"},
            {"all", "24 * mean_gpus * against", "all on demand", PER_DAY,
             "24 x GPUs in use x against"},
            {"saving", "1 - day / all", "saving against all on demand",
             PERCENT, "1 - all of it / all on demand"},
        },
    },
    {
        "bill", "F10",
        .needs = {"gpu_hours", "price"},
        .takes = {"managed", "support", "gb_per_day", "per_gb", "days",
                  "storage", "against", "tiered_cost"},
        .together = {{"gb_per_day", "per_gb"}},
        .title = "A bill with its premiums, and at another price",
        .left_out = "discounts, taxes, and services that are billed apart",
        .step = {
            {"computing", "gpu_hours * price", "computing", MONEY,
             "gpu_hours x price"},
            {"managed_cost", "computing * managed", "managed platform", MONEY,
             "computing x managed", .given = "managed"},
            {"egress", "gb_per_day * days * per_gb", "egress", MONEY,
             "gb_per_day days per_gb", .given = "per_gb"},
            {"egress", "tiered_cost", "egress", MONEY,
             "gb_per_day days, by the tiers", .given = "tiered_cost"},
            {"egress", "0", .absent = "gb_per_day"},
            {"before",
             "computing * (1 + managed) + egress + storage",
             "before support", MONEY,
             "computing + managed platform + egress + storage"},
            {"support_cost", "before * support", "support", MONEY,
             "before support x support", .given = "support"},
            {"bill", "before * (1 + support)", "the bill", MONEY,
             "before support + support"},
            {"hour", "bill / gpu_hours", "all of it", PER_GPU_HOUR,
             "the bill / gpu_hours"},
            {"other", "gpu_hours * against", "the same hours at the other price",
             MONEY, "gpu_hours x against", .given = "against"},
            {"difference", "bill - other", "more than at the other price",
             MONEY, "the bill - the same hours", .given = "against"},
            {"share", "bill / other - 1", "more than at the other price",
             PERCENT, "the bill / the same hours - 1", .given = "against"},
        },
    },
    {
        "generation", "F13",
        .needs = {"price", "against", "speed", "years"},
        .takes = {"months", "new_price"},
        .title = "Owning through a new generation of GPUs",
        .left_out = "porting, resale, and a rental price that falls: before "
                    "the new GPU all hours cost `against`",
        .step = {
            {"now", "price / against", "owning for each 1 of renting, today",
             TIMES, "price / against"},
            {"later", "against", .absent = "new_price"},
            {"later", "new_price", .given = "new_price"},
            {"after", "later / speed", "the same work on the new GPU",
             PER_GPU_HOUR, "new_price / speed"},
            {"span", "12 * years"},
            {"first", "min (months, span)"},
            {"rented", "(against * first + min (against, after) * (span - first)) / span",
             "renting, on average over the life", PER_GPU_HOUR,
             "against until then, the new GPU from then on, whichever is "
             "cheaper"},
            {"ratio", "price / rented", "owning for each 1 of renting",
             TIMES, "price / renting on average"},
            {"room", "price * span - against * first"},
            {"breakeven", "later * (span - first) / room / (room > 0) / (price < against) / (span > first)",
             "speed from which renting is cheaper", TIMES,
             "new_price x (life - months) / (price x life - against x months)"},
        },
    },
    /* the memory of a model; the weights of activations are bytes of an element of
     * sequence x batch x width in a layer, with elements of 16 bits */
    {
        "train-memory", "F14",
        .needs = {"parameters", "bytes", "optimizer_bytes", "layers", "hidden",
                  "heads", "context", "batch"},
        .step = {
            {"weights", "parameters * bytes / 10**9", "weights", GB,
             "parameters x {bytes} bytes"},
            {"gradients", "parameters * bytes / 10**9", "gradients", GB,
             "parameters x {bytes} bytes"},
            {"optimizer", "parameters * optimizer_bytes / 10**9",
             "optimizer states", GB, "parameters x {optimizer_bytes} bytes"},
            {"elements", "layers * context * batch * hidden * bytes / 2"},
            {"activations",
             "elements * (34 + 5 * heads * context / hidden) / 10**9",
             "activations", GB,
             "layers x context x batch x width x (34 + 5 heads x context / "
             "width) bytes", .when = "recompute == 0"},
            {"activations", "elements * 34 / 10**9",
             "activations (attention recomputed)", GB,
             "layers x context x batch x width x 34 bytes",
             .when = "recompute == 1"},
            {"activations", "elements * 2 / 10**9",
             "activations (all recomputed)", GB,
             "layers x context x batch x width x 2 bytes",
             .when = "recompute == 2"},
            {"total", "weights + gradients + optimizer + activations",
             "to train", GB, "the sum"},
        },
    },
    {
        "serve-memory", "F14",
        .needs = {"parameters", "bytes", "cache_bytes", "layers", "hidden",
                  "heads", "kv_heads", "context"},
        .step = {
            {"weights", "parameters * bytes / 10**9", "weights", GB,
             "parameters x {bytes} bytes"},
            {"token", "2 * layers * kv_heads * hidden / heads * cache_bytes"},
            {"cache", "token * context * batch / 10**9", "key-value cache", GB,
             "2 x layers x KV heads x width / heads x {cache_bytes} bytes x "
             "context x batch"},
            {"total", "weights + cache", "to serve", GB, "the sum"},
        },
    },
    /* the parts of the yearly cost of a pool; {INPUT} in what people are shown */
    {
        "hardware", "F2",
        .needs = {"written_off", "gpus"},
        .step = {{"hardware", "written_off", "hardware",
                  .how = ", over {gpus} GPUs"}},
    },
    {
        "staff", "F3",
        .needs = {"fte", "salary", "gpus"},
        .step = {{"staff", "fte * salary", "staff",
                  .how = "full-time equivalents x their loaded salary, over "
                         "{gpus} GPUs"}},
    },
    {
        "energy", "F4",
        .needs = {"watts", "hours", "pue", "per_kwh", "demand_per_kw",
                  "fixed_per_month", "share", "gpus"},
        .step = {
            {"each", "watts / gpus"},
            {"power", "watts * hours / 1000 * pue * per_kwh", "power",
             .how = "{each} W x {hours} h x PUE {pue} x {per_kwh} per kWh"},
            {"kw", "watts * pue / 1000"},
            {"demand", "kw * demand_per_kw * 12", "power demand",
             .how = "{demand_per_kw} a month x 12 x {kw} kW of even load, over "
                    "the pool's GPUs"},
            {"fee", "fixed_per_month * 12 * share", "power fee",
             .how = "{fixed_per_month} a month x 12 x {share} of the energy "
                    "that pays by the tariff, over the pool's GPUs"},
        },
    },
    {
        /* one of these, by the driver of the cost */
        "other", "F5",
        .needs = {"amount", "share", "gpus", "hours", "utilization", "kwh"},
        .step = {
            {"used_hours", "amount * share * gpus * hours * utilization",
             .how = "{amount} for each productive hour"},
            {"all_hours", "amount * share * gpus * hours",
             .how = "{amount} for each hour of the year"},
            {"months", "amount * share * 12",
             .how = "{amount} x 12 months, over the pool's GPUs"},
            {"year", "amount * share",
             .how = "{amount} a year, over the pool's GPUs"},
            {"energy", "amount * share * kwh",
             .how = "{amount} for each kWh, over the pool's GPUs"},
        },
    },
    {
        "hour", "F5",
        .needs = {"per_gpu_year", "hours", "utilization"},
        .step = {{"hour", "per_gpu_year / (hours * utilization)"}},
    },
    {
        /* a price with a term is billed for every hour of the year */
        "breakeven", "F6",
        .needs = {"per_gpu_year", "hours", "utilization", "price", "term",
                  "waste"},
        .step = {
            {"billed_hours", "hours * (term + (1 - term) * utilization)"},
            {"rent", "price * billed_hours"},
            {"breakeven", "per_gpu_year / (price * hours)"},
            {"work_hour", "price / (1 - waste)"},
        },
    },
    {
        "use", "F11",
        .needs = {"capacity", "allocated", "down", "active", "known"},
        .step = {
            {"used", "allocated / capacity", "allocated to jobs", PERCENT},
            {"unused", "down / capacity", "down or planned down", PERCENT},
            {"active", "active / known", "activity of the GPUs while allocated",
             PERCENT, .when = "known"},
            {"effective", "used * active", "both: effective", PERCENT,
             .when = "known"},
            {"known", "known / allocated", "allocated time whose activity is known",
             PERCENT, .when = "known"},
        },
    },
};

const formula_t *formula_at (size_t i)
{
    return i < GL_ARRAY_SIZE (table) ? &table[i] : NULL;
}

const formula_t *formula_named (const char *name)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (table); i++)
        if (strcmp (table[i].name, name) == 0)
            return &table[i];
    abort ();
}

bool formula_lists (const char *const *names, const char *name)
{
    while (*names && strcmp (*names, name) != 0)
        names++;
    return *names != NULL;
}

/* ---- solving ---- */

static bool is_given (const values_t *v, const char *name)
{
    size_t i = find (v, name);

    return i < v->count && v->given[i];
}

static bool applies (const step_t *step, const values_t *v)
{
    bool holds = true;
    mpq_t q;

    mpq_init (q);
    if (step->when)
        holds = values_compute (v, step->when, q) && mpq_sgn (q) != 0;
    mpq_clear (q);
    return holds && (!step->given || is_given (v, step->given))
           && (!step->absent || !is_given (v, step->absent));
}

/* Without a value there is none of an earlier step with the same name either. */
static void compute (const step_t *step, values_t *v)
{
    size_t i = find (v, step->id), last;
    mpq_t value;

    mpq_init (value);
    if (values_compute (v, step->value, value))
        values_set (v, step->id, value);
    else if (i < v->count) {
        last = --v->count;
        mpq_swap (v->number[i], v->number[last]);
        v->name[i].name = v->name[last].name;
        v->given[i] = v->given[last];
        mpq_clear (v->number[last]);
    }
    mpq_clear (value);
}

size_t formula_solve (const formula_t *formula, values_t *v,
                      const step_t *ret_made[FORMULA_STEPS])
{
    size_t made = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (formula->takes); i++) {
        if (!formula->takes[i] || values_get (v, formula->takes[i]))
            continue;
        values_set_i64 (v, formula->takes[i], 0);
        v->given[v->count - 1] = false;
    }
    for (size_t i = 0; i < FORMULA_STEPS && formula->step[i].id; i++) {
        if (!applies (&formula->step[i], v))
            continue;
        compute (&formula->step[i], v);
        if (ret_made)
            ret_made[made++] = &formula->step[i];
    }
    return made;
}
