#include "base/memory.h"
#include "ledger/line_items.h"
#include "support/test.h"

static const char full_text[]
    = "kind=job\tmonth=2026-10\tstatement=a\\tb\tteam=a\\tb\tcost_center=CC-1\t"
      "pool=h100\tgpu=H100\tprofile=1g.10gb\taccount=x\\\\y\tcluster=lab\t"
      "user=u\tproject=p\tqos=q\tpartition=r\tgres_type=h100\twhat=late\t"
      "reference=lab/1/2\tjob_name=two\\nlines\tstate=COMPLETED\tlabels=k=v\t"
      "reservation=maint\treservation_id=7\tid_job=4242\tsubmit=1790000000\t"
      "array_job=4240\tarray_task_1=3\thet_job=4200\thet_offset_1=1\t"
      "job_db_inx=18446744073709551615\tsluid=9\tstart=1\tend=2\t"
      "slice_start=3\tslice_end=4\tdevices=8\tgpu_seconds=7/3\t"
      "price_seconds=-2\tdevice_hours=1\tgpu_hours=2\tprice_hours=3\t"
      "list_rate=4\trate=5\tbilled=-6\tfull_cost=70000000000000000000000\t"
      "energy_mj=1\tenergy_ms=2\tutilization_sum=3\tutilization_ms=4\t"
      "rate_card=2026-01-01\torigin=charge\treason=a b";

/* The row of the line, whose texts are in it; NULL: refused. */
static const line_item_t *read_all (line_item_reader_t **ret_reader, char *text,
                                    gl_error_t *error)
{
    const line_item_t *row = NULL;
    int rc;

    *ret_reader = line_item_reader_new (NULL);
    rc = line_item_reader_read (*ret_reader, text, NULL, &row, error);
    assert_int_equal (rc, rc < 0 ? -1 : 1);
    return rc < 0 ? NULL : row;
}

TEST_CASE (text_and_back__every_field__same_bytes)
{
    GL_AUTOFREE char *text = xstrdup (full_text);
    BUFFER_AUTO out = BUFFER_INIT;
    line_item_reader_t *reader;
    const line_item_t *row;
    gl_error_t error;

    row = read_all (&reader, text, &error);
    if (!row)
        fail_msg ("%s", error.text);
    assert_int_equal (row->kind, LINE_ITEM_JOB);
    assert_string_equal (row->team, "a\tb");
    assert_string_equal (row->job_name, "two\nlines");
    assert_string_equal (row->labels, "k=v");
    assert_true (row->job_db_inx == UINT64_MAX);
    assert_int_equal (mpq_cmp_si (row->gpu_seconds, 7, 3), 0);
    assert_int_equal (mpq_cmp_si (row->price_seconds, -2, 1), 0);
    line_item_text (row, &out);
    assert_string_equal (buffer_text (&out), full_text);
    line_item_reader_free (reader);
}

TEST_CASE (parse__not_what_is_written__refused)
{
    static const char *const wrong[] = {
        "",
        "month=2026-10",
        "kind=bribe",
        "kind=job\tpool=a\tteam=b",
        "kind=job\tpool=a\tpool=b",
        "kind=job\tcolour=red",
        "kind=job\tdevices=08",
        "kind=job\tdevices=0",
        "kind=job\tdevices=-1",
        "kind=job\tdevices= 1",
        "kind=job\tdevices=18446744073709551616",
        "kind=job\tbilled=+1",
        "kind=job\tbilled=0",
        "kind=job\tbilled=1.5",
        "kind=job\tgpu_seconds=2/4",
        "kind=job\tgpu_seconds=2/1",
        "kind=job\tgpu_seconds=1/0",
        "kind=job\tgpu_seconds=1/-2",
        "kind=job\tpool=a\\x",
        "kind=job\tpool=a\\",
        "kind=job\t",
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (wrong); i++) {
        GL_AUTOFREE char *text = xstrdup (wrong[i]);
        gl_error_t error = {{0}};
        line_item_reader_t *reader;
        if (read_all (&reader, text, &error))
            fail_msg ("accepted: %s", wrong[i]);
        assert_true (error.text[0] != '\0');
        line_item_reader_free (reader);
    }
}

/* --- some of it -------------------------------------------------------- */

/* Of the team of `arg`, in a pool or without one. */
static bool is_of_team (const line_item_t *row, void *arg)
{
    const char *team = arg;

    return row->kind == LINE_ITEM_JOB
           && (row->team ? !strcmp (row->team, team) : !*team);
}

static const size_t team_and_pool[]
    = {LINE_ITEM_FIELD (pool), LINE_ITEM_FIELD (team), 0};
static const size_t user_and_money[]
    = {LINE_ITEM_FIELD (billed), LINE_ITEM_FIELD (user),
       LINE_ITEM_FIELD (full_cost), 0};

static int read_some (line_item_reader_t *reader, const char *line,
                      const char *team, char **ret_text,
                      const line_item_t **ret_row)
{
    gl_error_t error;
    int rc;

    free (*ret_text);
    *ret_text = xstrdup (line);
    rc = line_item_reader_read (reader, *ret_text, (void *)team, ret_row,
                                &error);
    if (rc < 0)
        fail_msg ("%s: %s", line, error.text);
    return rc;
}

TEST_CASE (some_fields__the_others_are_absent)
{
    const line_item_want_t want
        = {team_and_pool, is_of_team, user_and_money, .jobs = false};
    line_item_reader_t *reader = line_item_reader_new (&want);
    GL_AUTOFREE char *text = NULL;
    const line_item_t *row;

    assert_int_equal (read_some (reader, full_text, "a\tb", &text, &row), 1);
    assert_string_equal (row->team, "a\tb");
    assert_string_equal (row->pool, "h100");
    assert_string_equal (row->user, "u");
    assert_int_equal (mpz_cmp_si (row->billed, -6), 0);
    assert_int_equal (mpz_sizeinbase (row->full_cost, 10), 23);
    assert_null (row->account);
    assert_null (row->month);
    assert_true (row->id_job == 0);
    assert_int_equal (mpq_sgn (row->gpu_seconds), 0);
    /* nothing is left of it in the next */
    assert_int_equal (
        read_some (reader, "kind=job\tteam=x\tlabels=user=v", "x", &text, &row),
        1);
    assert_null (row->pool);
    assert_null (row->user);
    assert_int_equal (mpz_sgn (row->billed), 0);
    line_item_reader_free (reader);
}

TEST_CASE (some_rows__by_their_keys)
{
    static const struct {
        const char *line, *team;
        int wanted;
    } cases[] = {
        {"kind=job\tteam=a\tpool=p\tuser=u\tbilled=1", "a", 1},
        {"kind=job\tteam=b\tpool=p\tuser=u\tbilled=1", "a", 0},
        {"kind=tax\tteam=a\tpool=p\tuser=u\tbilled=1", "a", 0},
        {"kind=job\tpool=p\tuser=u\tbilled=1", "a", 0},
        {"kind=job\tpool=p\tuser=u\tbilled=1", "", 1},
        {"kind=job\tteam=a", "a", 1},
        {"kind=job\tteam=b", "a", 0},
        {"kind=job\taccount=x", "", 1},
        {"kind=job", "", 1},
        {"kind=job", "a", 0},
        {"kind=job\tstatement=a\tteam=ab\tuser=team=a", "a", 0},
        {"kind=job\tteam=a\\tb\tpool=p", "a\tb", 1},
    };
    const line_item_want_t want
        = {team_and_pool, is_of_team, user_and_money, .jobs = false};
    line_item_reader_t *reader = line_item_reader_new (&want);
    GL_AUTOFREE char *text = NULL;
    const line_item_t *row;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++)
        if (read_some (reader, cases[i].line, cases[i].team, &text, &row)
            != cases[i].wanted)
            fail_msg ("%s: is %s", cases[i].line,
                      cases[i].wanted ? "wanted" : "not wanted");
    line_item_reader_free (reader);
}

TEST_MAIN (NULL, NULL)
