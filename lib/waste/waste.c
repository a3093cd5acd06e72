#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "waste/waste.h"

#define MILLISECONDS 1000

/* --- the list of causes ------------------------------------------------------- */

static const waste_info_t idle_as_one
    = {"idle_in_jobs", "Idle GPUs in jobs", WASTE_OF_JOBS,
       "Ask for fewer GPUs, feed data faster, end jobs with their work."};
static const waste_info_t idle_causes[IDLE_CAUSES] = {
    [IDLE_SPARE]
    = {"idle_spare", "GPUs never busy", WASTE_OF_JOBS, "Ask for fewer GPUs."},
    [IDLE_AFTER] = {"idle_after", "GPUs after last work", WASTE_OF_JOBS,
                    "End the job or session when its work is done."},
    [IDLE_NO_PROCESS]
    = {"idle_no_process", "GPUs without a process", WASTE_OF_JOBS,
       "Ask for GPUs when the work that needs them begins."},
    [IDLE_OTHER] = {"idle_other", "GPUs otherwise idle", WASTE_OF_JOBS,
                    "Feed data faster, or run several jobs on one GPU."},
};
static const waste_info_t losses[LOSS_COUNT] = {
    [LOSS_FAILED] = {"failed", "Jobs that failed", WASTE_OF_JOBS,
                     "Test with a short job first; write checkpoints."},
    [LOSS_TIMEOUT] = {"timeout", "Jobs out of time", WASTE_OF_JOBS,
                      "Ask for enough time; write checkpoints."},
    [LOSS_OUT_OF_MEMORY] = {"out_of_memory", "Jobs out of memory",
                            WASTE_OF_JOBS, "Ask for more memory."},
    [LOSS_NODE_FAIL] = {"node_fail", "Jobs on failed nodes", WASTE_OF_JOBS,
                        "Repair or drain the node; write checkpoints."},
    [LOSS_REQUEUED]
    = {"requeued", "Jobs requeued", WASTE_OF_JOBS, "Write checkpoints."},
    [LOSS_CANCELLED_BY_USER]
    = {"cancelled_by_user", "Jobs cancelled by their users", WASTE_NOT_COUNTED,
       "Perhaps nothing: interactive sessions end so."},
    [LOSS_CANCELLED_BY_OTHER]
    = {"cancelled_by_operator", "Jobs cancelled by an operator", WASTE_OF_JOBS,
       "Warn users before their jobs are cancelled; write checkpoints."},
    [LOSS_CANCELLED_BY_NOBODY]
    = {"cancelled_by_slurm", "Jobs cancelled by Slurm", WASTE_OF_JOBS,
       "Keep the state of slurmctld when it restarts; write checkpoints."},
    [LOSS_CANCELLED]
    = {"cancelled", "Jobs cancelled, unknown by whom", WASTE_NOT_COUNTED,
       "Perhaps nothing. slurmdbd knows by whom: gpuledger sync."},
};
/* The classes of time of money/charge.h: their words. */
static const waste_info_t capacity[] = {
    {"idle", "Capacity: idle", WASTE_OF_CAPACITY,
     "Bring more work to these GPUs, or own fewer."},
    {"stranded", "Capacity: idle, stranded by MIG or shards", WASTE_OF_CAPACITY,
     "Change the MIG layout."},
    {"cpu_stranded", "Capacity: idle, CPUs or memory allocated",
     WASTE_OF_CAPACITY, "Limit the CPUs and memory per GPU of jobs."},
    {"reserved_unused", "Capacity: reserved, not used", WASTE_OF_CAPACITY,
     "Release reservations that no job uses."},
    {"planned_down", "Capacity: planned down", WASTE_OF_CAPACITY,
     "Shorten maintenance."},
    {"down", "Capacity: down", WASTE_OF_CAPACITY, "Repair nodes sooner."},
    {"unknown", "Capacity: not known whether up", WASTE_UNKNOWN,
     "Read node events from slurmdbd's database: gpuledger sync, with "
     "clusters[].slurmdb. What slurmdbd never recorded, or purged "
     "(PurgeEventAfter), stays unknown."},
    {"suspended", "Capacity: suspended jobs", WASTE_OF_CAPACITY,
     "Suspend fewer jobs."},
    {"unbilled", "Capacity: allocated, not billed", WASTE_OF_CAPACITY,
     "Give each device of the pool a weight."},
    {"excess", "Capacity: allocated beyond the pool's capacity",
     WASTE_OF_CAPACITY, "Check the nodes of the pool."},
    {"no_capacity", "Capacity: pool without GPUs", WASTE_OF_CAPACITY,
     "End the cost of a pool when its last GPU goes."},
};

static const struct {
    const waste_info_t *info;
    size_t count;
} lists[] = {
    {&idle_as_one, 1},
    {idle_causes, IDLE_CAUSES},
    {losses, LOSS_COUNT},
    {capacity, GL_ARRAY_SIZE (capacity)},
};

const waste_info_t *waste_of_loss (segment_loss_t loss)
{
    return losses[loss].word ? &losses[loss] : NULL;
}

const waste_info_t *waste_of_state (const char *state)
{
    segment_t segment = {.id_job = 0};

    return segment_state_parse (state, strlen (state), &segment.state) == 0
               ? waste_of_loss (segment_loss (&segment))
               : NULL;
}

const waste_info_t *waste_named (const char *text, size_t length)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (lists); i++)
        for (size_t k = 0; k < lists[i].count; k++) {
            const char *word = lists[i].info[k].word;
            if (word && !strncmp (word, text, length) && !word[length])
                return &lists[i].info[k];
        }
    return NULL;
}

const waste_info_t *waste_info (const char *word)
{
    const waste_info_t *info = waste_named (word, strlen (word));

    if (!info)
        abort ();
    return info;
}

/* --- rows ----------------------------------------------------------------------- */

static const field_t fields[] = {
    FIELD ("what", NAME, waste_t, what),
    SLICE_KEY_FIELDS (waste_t),
    FIELD ("profile", NAME, waste_t, profile),
    FIELD ("seconds", EXACT, waste_t, seconds),
    FIELD ("known", EXACT, waste_t, known),
    FIELD ("priced", EXACT, waste_t, priced),
    FIELD ("units", UNITS, waste_t, units),
};
const fields_t waste_rows = FIELDS ("waste", waste_t, fields);

const waste_info_t *waste_cause (size_t cause)
{
    return cause < IDLE_CAUSES ? &idle_causes[cause]
                               : &losses[cause - IDLE_CAUSES];
}

bool waste_counts (const usage_part_t *part)
{
    return part->kind && !part->kind->cpu && part->kind->weight_known;
}

void waste_ms (const usage_part_t *part, uint64_t ret_ms[WASTE_CAUSES])
{
    const measured_t *m = usage_part_measured (part);

    for (size_t i = 0; i < IDLE_CAUSES; i++)
        ret_ms[i] = measured_idle_ms (m, (idle_cause_t)i);
    ret_ms[IDLE_CAUSES + LOSS_NONE] = 0;
    for (size_t i = LOSS_NONE + 1; i < LOSS_COUNT; i++) {
        uint64_t ms = part->lost_gres_seconds[i] * MILLISECONDS;
        ret_ms[IDLE_CAUSES + i]
            = ms > m->idle_lost_ms[i] ? ms - m->idle_lost_ms[i] : 0;
    }
}

static void add_ms (cube_t *waste, waste_t *row, const usage_part_t *part,
                    const waste_info_t *info, uint64_t ms)
{
    if (ms == 0)
        return;
    row->what = info->word;
    exact_weighted (row->seconds, part->kind->weight, ms, MILLISECONDS);
    cube_add (waste, row);
}

void waste_take_part (cube_t *waste, const waste_t *keys,
                      const usage_part_t *part, waste_idle_t idle)
{
    uint64_t ms[WASTE_CAUSES];
    waste_t row;

    if (!waste_counts (part))
        return;
    fields_init (&waste_rows, &row);
    row.keys = keys->keys;
    row.profile = part->kind->profile;
    waste_ms (part, ms);
    if (idle == WASTE_IDLE_AS_ONE)
        add_ms (waste, &row, part, &idle_as_one,
                usage_part_measured (part)->idle_ms);
    for (size_t i = idle == WASTE_IDLE_AS_ONE ? IDLE_CAUSES : 0;
         i < WASTE_CAUSES; i++)
        add_ms (waste, &row, part, waste_cause (i), ms[i]);
    fields_clear (&waste_rows, &row);
}

void waste_take_allocated (cube_t *allocated, const waste_t *keys,
                           const usage_part_t *part)
{
    waste_t row;

    if (!waste_counts (part) || part->gres_seconds == 0)
        return;
    fields_init (&waste_rows, &row);
    fields_copy (&waste_rows, &row, keys);
    exact_weighted (row.seconds, part->kind->weight, part->gres_seconds, 1);
    exact_weighted (row.known, part->kind->weight,
                    usage_part_measured (part)->idle_known_ms, MILLISECONDS);
    cube_add (allocated, &row);
    fields_clear (&waste_rows, &row);
}

bool waste_comparable (const waste_t *allocated, const waste_t *before)
{
    mpq_t points, then, most;
    bool same;

    if (mpq_sgn (allocated->seconds) == 0 || mpq_sgn (before->seconds) == 0)
        return true;
    mpq_inits (points, then, most, NULL);
    mpq_div (points, allocated->known, allocated->seconds);
    mpq_div (then, before->known, before->seconds);
    mpq_sub (points, points, then);
    mpq_abs (points, points);
    mpq_set_ui (most, WASTE_POINTS, 100);
    mpq_canonicalize (most);
    same = mpq_cmp (points, most) <= 0;
    mpq_clears (points, then, most, NULL);
    return same;
}

bool waste_measured (const waste_t *allocated)
{
    return mpq_cmp (allocated->known, allocated->seconds) >= 0;
}

bill_time_t waste_time (const waste_t *row)
{
    return (bill_time_t){row->keys.pool, row->keys.qos, row->profile};
}

/* The groups [first, end), of one cause and price, which may be 0: their part of its amount. False:
 * they have no price. */
static bool share (cube_t *seconds, size_t first, size_t end, cube_t *prices,
                   mpz_t *ret_units)
{
    size_t count = end - first;
    GL_AUTOFREE mpq_t *part = xcalloc (count, sizeof (*part));
    const bill_time_t of = waste_time (cube_row (seconds, first));
    gl_error_t error;
    mpq_t price, sum;
    mpz_t total;
    bool is_priced;

    mpz_init (total);
    mpq_inits (price, sum, NULL);
    mpq_set_ui (sum, 1, 1);
    is_priced = of.pool && bill_time_exact (prices, &of, sum, price);
    mpq_set_ui (sum, 0, 1);
    for (size_t i = 0; i < count; i++) {
        const waste_t *row = cube_row (seconds, first + i);
        mpq_init (part[i]);
        mpq_mul (part[i], price, row->seconds);
        exact_add (sum, part[i]);
    }
    exact_round (total, sum, 0);
    if (exact_share (total, part, count, ret_units, &error) < 0)
        abort (); /* the total is their sum, rounded */
    for (size_t i = 0; i < count; i++)
        mpq_clear (part[i]);
    mpq_clears (price, sum, NULL);
    mpz_clear (total);
    return is_priced;
}

static void add_shared (cube_t *waste, cube_t *seconds, size_t first,
                        size_t end, cube_t *prices)
{
    GL_AUTOFREE mpz_t *units = xcalloc (end - first, sizeof (*units));
    bool is_priced;
    waste_t row;

    fields_init (&waste_rows, &row);
    for (size_t i = first; i < end; i++)
        mpz_init (units[i - first]);
    is_priced = share (seconds, first, end, prices, units);
    for (size_t i = first; i < end; i++) {
        fields_reset (&waste_rows, &row);
        fields_copy (&waste_rows, &row, cube_row (seconds, i));
        mpz_swap (row.units, units[i - first]);
        if (is_priced)
            mpq_set (row.priced, row.seconds);
        cube_add (waste, &row);
        mpz_clear (units[i - first]);
    }
    fields_clear (&waste_rows, &row);
}

void waste_add_priced (cube_t *waste, cube_t *seconds, cube_t *prices)
{
    for (size_t i = 0, end; i < cube_count (seconds); i = end) {
        end = cube_same (seconds, i, WASTE_PRICED_KEYS);
        add_shared (waste, seconds, i, end, prices);
    }
}

/* --- capacity --------------------------------------------------------------------- */

/* NULL: the remainder is of prices, not of time. */
static const remainder_info_t *class_of (const posting_t *row)
{
    const remainder_info_t *info
        = row->what ? remainder_named (row->what) : NULL;

    return info && info->unallocated ? info : NULL;
}

/* Its cost, whoever pays for it. What nobody pays is rounded apart from it (charge.h), so
 * that the two may differ by the smallest unit: pages have one amount for both. */
static void capacity_units (const posting_t *row, mpz_t ret_units)
{
    mpz_sub (ret_units, row->charge_units, row->cost_units);
    if (mpz_cmpabs_ui (ret_units, 1) <= 0)
        mpz_set (ret_units, row->charge_units);
    else
        mpz_set (ret_units, row->cost_units);
}

void waste_take_capacity (cube_t *waste, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    waste_t row;

    fields_init (&waste_rows, &row);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != BILL_REMAINDER || !class_of (&rows[i]))
            continue;
        fields_reset (&waste_rows, &row);
        row.what = class_of (&rows[i])->word;
        row.keys.month = rows[i].month;
        row.keys.pool = rows[i].pool;
        mpq_set (row.seconds, rows[i].gpu_seconds);
        if (posting_has_cost (bill, &rows[i]))
            mpq_set (row.priced, row.seconds);
        capacity_units (&rows[i], row.units);
        cube_add (waste, &row);
    }
    fields_clear (&waste_rows, &row);
}

bool waste_is_priced (const waste_t *row)
{
    return !row || mpq_sgn (row->priced) != 0 || mpq_sgn (row->seconds) == 0;
}
