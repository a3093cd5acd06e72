#include "support/acct_site.h"

#include "base/memory.h"
#include "evidence/reconcile.h"

#define T0 INT64_C (1790002800) /* a full hour */
#define HOUR INT64_C (3600)
#define AS_OF (T0 + 6 * HOUR)

static const reconcile_cluster_t lab = {.cluster = "lab",
                                        .period = {T0, AS_OF},
                                        .as_of = AS_OF,
                                        .clock = AS_OF + 1000,
                                        .synced = AS_OF,
                                        .oldest_end = T0 + 500};

static segment_t closed (void)
{
    segment_t s = test_segment (7, T0 + 600, T0 + 4200, "gpu=2", "g1");

    s.observed_at = AS_OF;
    s.source = SOURCE_SLURMDBD;
    s.state = SEGMENT_COMPLETED;
    s.account = "vision";
    s.user = "anna";
    return s;
}

static job_row_t row_of (segment_t segment)
{
    return (job_row_t){.segment = segment,
                       .time_eligible = segment.time_submit,
                       .mod_time = segment.time_end,
                       .gpu_total = 2,
                       .association = 60,
                       .association_account = "vision",
                       .association_user = "anna"};
}

/* --- records ----------------------------------------------------------- */

/* A node shows the GPU of which a job holds shards: accounting's 8 shards on
 * two nodes are two GPUs for 3600 s. Each: the GPUs that they are, the nodes
 * that show theirs, and the GPU seconds on both sides. */
TEST_CASE (reconcile_evidence__shards__by_the_gpus_they_are)
{
    static const struct {
        const char *gres;
        fraction_t shared;
        size_t nodes;
        uint64_t ours, theirs;
    } cases[] = {
        {"shard=8", {2, 1}, 2, 7200, 7200},
        {"shard=8", {2, 1}, 1, 7200, 3600},
        {"shard=1", {1, 4}, 2, 900, 900},
        {"mps=47", {47, 100}, 2, 1692, 1692},
        {"gpu=2", {0, 1}, 2, 7200, 7200},
        {"gpu=2", {0, 1}, 1, 7200, 3600},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        char *device[] = {(char *)"0"};
        node_devices_t nodes[] = {{"g1", device, 1, DEVICES_COMPLETE},
                                  {"g2", device, 1, DEVICES_COMPLETE}};
        segment_evidence_t e = {.recorded = true,
                                .node = nodes,
                                .node_count = cases[i].nodes,
                                .device_count = cases[i].nodes};
        segment_t s = closed ();
        reconcile_t *r = reconcile_new (NULL);
        const reconcile_total_t *total;
        size_t count;

        s.gres = cases[i].gres;
        s.nodelist = "g[1-2]";
        e.segment = &s;
        reconcile_side (r, SIDE_EVIDENCE);
        reconcile_evidence (r, &lab, &s, NULL, 0, &e, true, cases[i].shared, 0);
        total = reconcile_totals (r, SIDE_EVIDENCE, &count);
        assert_int_equal (count, 1);
        if (total->ours != cases[i].ours || total->theirs != cases[i].theirs)
            fail_msg ("case %zu: %llu and %llu", i,
                      (unsigned long long)total->ours,
                      (unsigned long long)total->theirs);
        reconcile_free (r);
    }
}

/* --- causes ------------------------------------------------------------ */

TEST_CASE (reconcile_judge__same__is_no_difference)
{
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_COUNT);
}

/* What is not proven is unexplained, however likely a cause may be. */
TEST_CASE (reconcile_judge__changed__needs_proof)
{
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    row.segment.time_end += 60;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_UNEXPLAINED);
    row.mod_time = AS_OF + 1;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_EDITED);
    row.mod_time = 0;
    row.deleted = true;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_DELETED_MARK);
    row.deleted = false;
    ours.source = SOURCE_JSON;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_UNEXPLAINED);
    ours.observed_at = AS_OF + 1;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_OTHER_SOURCE);
    ours.observed_at = lab.clock + 1;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_DATABASE_OLDER);
}

/* Slurm's fault, whatever else is told of the row; no edit. */
TEST_CASE (reconcile_judge__no_gres_any_more__lost)
{
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    row.segment.gres = "";
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_GRES_LOST);
    row.mod_time = AS_OF + 1;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_GRES_LOST);
    row.segment.gres = "gpu=1";
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_EDITED);
    row.segment.gres = "";
    row.segment.time_start = 0; /* an older copy, from before it began */
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_EDITED);
    row = row_of (ours);
    ours.gres = "";
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_UNEXPLAINED);
}

TEST_CASE (reconcile_judge__open__by_when_it_ended)
{
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    ours.time_end = 0;
    ours.state = SEGMENT_RUNNING;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_UNEXPLAINED);
    row.segment.time_end = AS_OF;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_OPEN_SINCE);
    row.segment.time_end = AS_OF - 1;
    row.mod_time = AS_OF + 1;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0), CAUSE_ENDED_LATE);
    row.mod_time = T0;
    row.segment.time_end = row.segment.time_start;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_RUNAWAY_FIXED);
    row.segment.state = SEGMENT_CANCELLED;
    assert_int_equal (reconcile_judge (&lab, &ours, &row, 0),
                      CAUSE_UNEXPLAINED);
}

TEST_CASE (reconcile_judge__missing__by_what_is_known)
{
    segment_t ours = closed ();
    job_row_t row = row_of (ours);
    reconcile_cluster_t cluster = lab;

    assert_int_equal (reconcile_judge (&lab, &ours, NULL, 0),
                      CAUSE_UNEXPLAINED);
    assert_int_equal (reconcile_judge (&lab, &ours, NULL, REVISED_GONE),
                      CAUSE_GONE);
    cluster.oldest_end = ours.time_end + 1;
    assert_int_equal (reconcile_judge (&cluster, &ours, NULL, 0), CAUSE_GONE);
    assert_int_equal (reconcile_judge (&lab, NULL, &row, 0), CAUSE_UNEXPLAINED);
    row.mod_time = AS_OF + 1;
    assert_int_equal (reconcile_judge (&lab, NULL, &row, 0),
                      CAUSE_ARRIVED_LATE);
    cluster.synced = 0;
    assert_int_equal (reconcile_judge (&cluster, NULL, &row, 0),
                      CAUSE_NEVER_SYNCED);
}

TEST_CASE (reconcile_causes__each__has_words)
{
    for (reconcile_cause_t c = 0; c < CAUSE_COUNT; c++) {
        const reconcile_cause_text_t *text = reconcile_cause (c);
        assert_non_null (text->word);
        assert_non_null (text->sentence);
        assert_non_null (text->advice);
        assert_int_equal (text->explained,
                          c != CAUSE_UNEXPLAINED && c != CAUSE_OVERLAP
                              && c != CAUSE_GRES_LOST
                              && c != CAUSE_ENERGY_REFUSED);
        for (reconcile_cause_t other = 0; other < c; other++)
            assert_string_not_equal (text->word, reconcile_cause (other)->word);
    }
}

/* --- rows -------------------------------------------------------------- */

TEST_CASE (reconcile_number__all_sizes__are_written)
{
    char text[RECONCILE_NUMBER];

    assert_string_equal (reconcile_number (0, text), "0");
    assert_string_equal (reconcile_number (-17, text), "-17");
    assert_string_equal (reconcile_number ((__int128)1 << 126, text),
                         "85070591730234615865843651857942052864");
}

TEST_CASE (reconcile_rows__too_many__largest_stay)
{
    zone_t *zone = zone_open ("UTC", NULL);
    reconcile_t *r = reconcile_new (zone);
    const reconcile_row_t *rows;
    uint64_t all;
    size_t count;

    for (uint64_t i = 1; i <= RECONCILE_KEPT + 1000; i++) {
        /* an order that is neither up nor down */
        uint64_t n = i * 7919 % (RECONCILE_KEPT + 1001);
        reconcile_row_t row
            = {.side = SIDE_ACCOUNTING,
               .cluster = "lab",
               .id_job = n,
               .what = "end",
               .difference = n % 2 ? (__int128)n : -(__int128)n,
               .cause = n == 5 ? CAUSE_UNEXPLAINED : CAUSE_EDITED};
        reconcile_add (r, &row);
    }
    rows = reconcile_rows (r, &count, &all);
    assert_int_equal (all, RECONCILE_KEPT + 1000);
    assert_int_equal (count, RECONCILE_KEPT);
    assert_int_equal (rows[0].id_job, 5); /* unexplained comes first */
    assert_int_equal (rows[1].id_job, RECONCILE_KEPT + 1000);
    assert_int_equal (rows[count - 1].id_job, 1002);
    for (size_t i = 2; i < count; i++)
        assert_int_equal (rows[i].id_job, rows[i - 1].id_job - 1);
    assert_int_equal (reconcile_unexplained (r), 1);
    reconcile_free (r);
    zone_close (zone);
}

TEST_CASE (reconcile_segment__fields__difference_stands_once)
{
    zone_t *zone = zone_open ("UTC", NULL);
    reconcile_t *r = reconcile_new (zone);
    segment_t ours = closed ();
    job_row_t row = row_of (ours);
    const reconcile_row_t *rows;
    const reconcile_total_t *totals;
    uint64_t all;
    size_t count;

    row.segment.gres = "gpu=3,gpu:h100=1";
    row.segment.time_end += 100;
    row.mod_time = AS_OF + 1;
    reconcile_segment (r, &lab, &ours, &row, 0);
    rows = reconcile_rows (r, &count, &all);
    assert_int_equal (count, 2);
    assert_string_equal (rows[0].what, "gres");
    assert_true (rows[0].difference == 2 * 3600 - 3 * 3700);
    assert_string_equal (rows[1].what, "end");
    assert_true (rows[1].difference == 0);
    totals = reconcile_totals (r, SIDE_ACCOUNTING, &count);
    assert_int_equal (count, 2);
    assert_string_equal (totals[0].kind, "");
    assert_true (totals[0].ours == 7200 && totals[0].theirs == 7400);
    assert_string_equal (totals[1].kind, "h100");
    assert_true (totals[1].ours == 0 && totals[1].theirs == 3700);
    reconcile_free (r);
    zone_close (zone);
}

TEST_CASE (reconcile_segment__outside_the_period__is_left_out)
{
    zone_t *zone = zone_open ("UTC", NULL);
    reconcile_t *r = reconcile_new (zone);
    segment_t ours = closed ();

    ours.time_start -= 10 * HOUR;
    ours.time_end -= 10 * HOUR;
    reconcile_segment (r, &lab, &ours, NULL, 0);
    assert_int_equal (reconcile_summary (r, SIDE_ACCOUNTING)->compared, 0);
    reconcile_free (r);
    zone_close (zone);
}

/* --- usage ------------------------------------------------------------- */

struct world {
    zone_t *zone;
    reconcile_t *reconcile;
    rolled_t *rolled;
};

static struct world world_new (void)
{
    struct world w;

    w.zone = zone_open ("UTC", NULL);
    w.reconcile = reconcile_new (w.zone);
    w.rolled = rolled_new (&lab);
    for (int64_t hour = T0; hour < AS_OF; hour += HOUR)
        rolled_hour (w.rolled, hour, AS_OF);
    return w;
}

static void world_free (struct world *w)
{
    rolled_free (w->rolled);
    reconcile_free (w->reconcile);
    zone_close (w->zone);
}

static __int128 moved (const struct world *w, reconcile_cause_t cause)
{
    return reconcile_summary (w->reconcile, SIDE_USAGE)->difference[cause];
}

TEST_CASE (rolled__equal__is_no_difference)
{
    struct world w = world_new ();
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    rolled_usage (w.rolled, 60, "vision", "anna", T0, 6000, AS_OF);
    rolled_usage (w.rolled, 60, "vision", "anna", T0 + HOUR, 1200, AS_OF);
    rolled_segment (w.rolled, &ours, &row, 0, NULL);
    rolled_finish (w.rolled, w.reconcile);
    assert_int_equal (reconcile_summary (w.reconcile, SIDE_USAGE)->equal, 1);
    assert_int_equal (reconcile_summary (w.reconcile, SIDE_USAGE)->compared, 1);
    world_free (&w);
}

/* A change before the hour of its end was rolled explains nothing. */
TEST_CASE (rolled__row_written_later__only_then_explains)
{
    for (int later = 0; later < 2; later++) {
        struct world w = world_new ();
        segment_t ours = closed ();
        job_row_t row = row_of (ours);
        row.mod_time = later ? AS_OF + 1 : AS_OF;
        rolled_usage (w.rolled, 60, "vision", "anna", T0, 7000, AS_OF);
        rolled_segment (w.rolled, &ours, &row, 0, NULL);
        rolled_finish (w.rolled, w.reconcile);
        assert_true (
            moved (&w, later ? CAUSE_ROLLED_BEFORE_CHANGE : CAUSE_UNEXPLAINED)
            == 200);
        world_free (&w);
    }
}

TEST_CASE (rolled__hours_left_alone__are_what_vanished)
{
    struct world w = world_new ();

    rolled_usage (w.rolled, 60, "vision", "anna", T0, 500, AS_OF - 1);
    rolled_usage (w.rolled, 60, "vision", "anna", T0 + HOUR, 7, AS_OF);
    rolled_finish (w.rolled, w.reconcile);
    assert_true (moved (&w, CAUSE_VANISHED) == -500);
    assert_true (moved (&w, CAUSE_UNEXPLAINED) == -7);
    world_free (&w);
}

/* Two hours of 4 GPUs for three associations; a job of 1 GPU uses up all 4 of
 * them, as slurmdbd reckons, and when the CPUs are gone nothing is shared. */
TEST_CASE (rolled__reservation__idle_is_shared_as_slurmdbd_does)
{
    struct world w = world_new ();
    resv_row_t resv = {.id = 9,
                       .start = T0,
                       .end = T0 + 2 * HOUR,
                       .associations = ",60,61,62,",
                       .tres = "1=8,4=1,1001=4"};
    segment_t ours = test_segment (8, T0, T0 + 1000, "gpu=1", "g1");
    job_row_t row;

    ours.account = "vision";
    ours.user = "anna";
    ours.observed_at = AS_OF;
    ours.source = SOURCE_SLURMDBD;
    row = row_of (ours);
    row.gpu_total = 1;
    row.id_resv = 9;
    rolled_association (w.rolled, 60, "vision", "anna");
    rolled_association (w.rolled, 61, "vision", "bert");
    rolled_association (w.rolled, 62, "vision", "cara");
    rolled_gpu (w.rolled, 1001);
    rolled_reservation (w.rolled, &resv);
    rolled_segment (w.rolled, &ours, &row, 0, "1=8,4=1,1001=1");
    /* (4 x 3600 - 4 x 1000) / 3 and 4 x 3600 / 3 */
    rolled_usage (w.rolled, 60, "vision", "anna", T0, 1000 + 3466, AS_OF);
    rolled_usage (w.rolled, 60, "vision", "anna", T0 + HOUR, 4800, AS_OF);
    rolled_usage (w.rolled, 61, "vision", "bert", T0, 3466 + 4800, AS_OF);
    rolled_usage (w.rolled, 62, "vision", "cara", T0, 3466 + 4800, AS_OF);
    rolled_finish (w.rolled, w.reconcile);
    assert_int_equal (reconcile_unexplained (w.reconcile), 0);
    assert_true (moved (&w, CAUSE_RESERVED_IDLE) == -3 * (3466 + 4800));
    world_free (&w);
}

TEST_CASE (rolled__no_hours__all_of_ours_is_not_rolled)
{
    zone_t *zone = zone_open ("UTC", NULL);
    struct world w = {zone, reconcile_new (zone), rolled_new (&lab)};
    segment_t ours = closed ();
    job_row_t row = row_of (ours);

    assert_true (rolled_is_empty (w.rolled));
    rolled_segment (w.rolled, &ours, &row, 0, NULL);
    rolled_finish (w.rolled, w.reconcile);
    assert_true (moved (&w, CAUSE_NOT_ROLLED) == 7200);
    assert_int_equal (reconcile_unexplained (w.reconcile), 0);
    world_free (&w);
}

TEST_MAIN (NULL, NULL)
