#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "report/detail.h"

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

static void text_and_back__every_field__same_bytes (void **state)
{
    GL_AUTOFREE char *text = xstrdup (full_text);
    BUFFER_AUTO out = BUFFER_INIT;
    detail_row_t row;
    gl_error_t error;

    (void)state;
    detail_row_init (&row);
    if (detail_row_parse (text, &row, &error) < 0)
        fail_msg ("%s", error.text);
    assert_int_equal (row.kind, DETAIL_JOB);
    assert_string_equal (row.team, "a\tb");
    assert_string_equal (row.job_name, "two\nlines");
    assert_string_equal (row.labels, "k=v");
    assert_true (row.job_db_inx == UINT64_MAX);
    assert_int_equal (mpq_cmp_si (row.gpu_seconds, 7, 3), 0);
    detail_row_text (&row, &out);
    assert_string_equal (buffer_text (&out), full_text);
    detail_row_clear (&row);
}

static void parse__not_what_is_written__refused (void **state)
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

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (wrong); i++) {
        GL_AUTOFREE char *text = xstrdup (wrong[i]);
        gl_error_t error = {{0}};
        detail_row_t row;
        detail_row_init (&row);
        if (detail_row_parse (text, &row, &error) == 0)
            fail_msg ("accepted: %s", wrong[i]);
        assert_true (error.text[0] != '\0');
        detail_row_clear (&row);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (text_and_back__every_field__same_bytes),
        cmocka_unit_test (parse__not_what_is_written__refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
