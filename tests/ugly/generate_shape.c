#include <string.h>

#include "generate.h"

/* --- what is held ------------------------------------------------------- */

/* Accounting has what is held. */
static void hold (job_t *job, type_t type, int devices)
{
    job->devices[type] = (uint64_t)devices;
    job->told = true;
}

static void shape_total_and_type (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, H100, n);
    sprintf (job->alloc,
             "1=8,2=64000,3=18446744073709551614,4=1,5=8,1001=%d,"
             "1002=%d",
             n, n);
}

static void shape_types_alone (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 4);

    hold (job, H100, n);
    hold (job, A100, more);
    sprintf (job->alloc, "1=8,4=1,1002=%d,1003=%d", n, more);
}

/* The total is wrong: somebody wrote down each of the types. */
static void shape_types_above_total (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 4);

    hold (job, H100, n);
    hold (job, A100, more);
    sprintf (job->alloc, "1=8,1001=%d,4=1,1002=%d,1003=%d", n, n, more);
}

static void shape_untyped (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, n);
    sprintf (job->alloc, "1=8,2=64000,4=1,5=9,1001=%d", n);
}

static void shape_partly_typed (month_t *m, job_t *job, int n)
{
    hold (job, H100, n);
    hold (job, UNTYPED, 1);
    sprintf (job->alloc, "1002=%d,1001=%d,4=1,1=%d", n, n + 1,
             1 + (int)pick (m, 64));
}

static void shape_deleted_type (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 2);

    hold (job, H100, n);
    hold (job, SLICE, more);
    if (chance (m, 50))
        sprintf (job->alloc, "1=8,4=1,1001=%d,1002=%d,1004=%d", n + more, n,
                 more);
    else
        sprintf (job->alloc, "1=8,4=1,1002=%d,1004=%d", n, more);
}

static void shape_slices (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, SLICE, n);
    sprintf (job->alloc, "1=8,4=1,1001=%d,1004=%d", n, n);
}

static void shape_unknown_id (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, n);
    sprintf (job->alloc, "1=8,4=1,1001=%d,1999=7,1006=2", n);
}

/* Parts of a GPU, which are devices of their own. */
static void shape_shard (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, SHARD, n);
    sprintf (job->alloc, "1=2,4=1,1005=%d", n);
}

/* The shards are parts of what is counted already. */
static void shape_shard_and_gpu (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, A100, n);
    sprintf (job->alloc, "1=2,4=1,1005=4,1001=%d,1003=%d", n, n);
}

static void shape_only_requested (month_t *m, job_t *job, int n)
{
    sprintf (job->alloc, "1=8,2=64000,4=1");
    if (chance (m, 50))
        sprintf (job->request, "1=8,4=1,1001=%d", n);
    else {
        /* the cluster tracks gres/gpu, so its absence means none */
        hold (job, UNTYPED, 0);
        job->submit_line = "sbatch --gpus-per-node=h100:2 run.sh";
    }
}

static void shape_no_value (month_t *m, job_t *job, int n)
{
    (void)m, (void)n;
    sprintf (job->alloc, "1=8,1001=18446744073709551614,4=1");
}

static void shape_no_gpu (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, 0);
    sprintf (job->alloc, "1=%d,2=4000,4=1,5=8,1006=1", n);
}

/* Some nodes have so few jobs that they are idle at times, however many jobs
 * there are. */
static void choose_nodes (month_t *m, job_t *job)
{
    job->nodes = 1 + (unsigned)pick (m, 2);
    job->node = 1 + (unsigned)pick (m, 98);
    if (m->issued > 3000)
        job->node = 1 + (unsigned)pick (m, 10) * 10 + (unsigned)pick (m, 5);
}

static bool holds_any (const job_t *job)
{
    for (type_t t = 0; t < TYPES; t++)
        if (job->devices[t])
            return true;
    return false;
}

void choose_shape (month_t *m, job_t *job)
{
    static const struct {
        unsigned up_to; /* of 100 */
        void (*shape) (month_t *m, job_t *job, int n);
    } shapes[] = {
        {31, shape_total_and_type},
        {40, shape_types_alone},
        {43, shape_types_above_total},
        {54, shape_untyped},
        {61, shape_partly_typed},
        {67, shape_deleted_type},
        {71, shape_slices},
        {74, shape_unknown_id},
        {77, shape_shard},
        {80, shape_shard_and_gpu},
        {84, shape_only_requested},
        {86, shape_no_value},
        {100, shape_no_gpu},
    };
    unsigned kind = (unsigned)pick (m, 100);
    int n = 1 << pick (m, 5);
    size_t i = 0;

    job->request[0] = '\0';
    job->submit_line = "sbatch run.sh";
    job->told = false;
    memset (job->devices, 0, sizeof (job->devices));
    choose_nodes (m, job);
    while (kind >= shapes[i].up_to)
        i++;
    shapes[i].shape (m, job, n);
    if (!job->request[0] && holds_any (job))
        sprintf (job->request, "1=8,1001=%d", n);
}
