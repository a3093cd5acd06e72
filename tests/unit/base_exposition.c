/* exposition.c: Prometheus' text exposition format. */
#include <config.h>

#include "base/exposition.h"

#include "support/test.h"

TEST_CASE (exposition__labels__escaped)
{
    buffer_t out = BUFFER_INIT;
    exposition_t e = {.out = &out};

    exposition_family (&e, "lab_jobs", EXPOSITION_GAUGE, "Jobs");
    exposition_label (&e, "user", "a\"b\\c\nd\x01\xff\xc3\xbc");
    exposition_label_number (&e, "id", -7);
    exposition_number (&e, 3, 1);
    exposition_number (&e, 4, 1);
    assert_string_equal (buffer_text (&out),
                         "# HELP lab_jobs Jobs\n"
                         "# TYPE lab_jobs gauge\n"
                         "lab_jobs{user=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xef\xbf"
                         "\xbd\xc3\xbc\",id=\"-7\"} 3\n"
                         "lab_jobs 4\n");
    buffer_done (&out);
}

TEST_CASE (exposition__common_label__first_of_each)
{
    buffer_t out = BUFFER_INIT;
    exposition_t e
        = {.out = &out, .common_name = "node", .common_value = "n\"1"};

    exposition_family (&e, "a_total", EXPOSITION_COUNTER, "A");
    exposition_number (&e, 1, 1);
    exposition_label (&e, "b", "");
    exposition_number (&e, 2, 1);
    assert_string_equal (buffer_text (&out), "# HELP a_total A\n"
                                             "# TYPE a_total counter\n"
                                             "a_total{node=\"n\\\"1\"} 1\n"
                                             "a_total{node=\"n\\\"1\",b=\"\"} "
                                             "2\n");
    buffer_done (&out);
}

TEST_CASE (exposition__no_sample__nothing)
{
    buffer_t out = BUFFER_INIT;
    exposition_t e = {.out = &out};

    exposition_family (&e, "a", EXPOSITION_GAUGE, "A");
    exposition_family (&e, "b", EXPOSITION_GAUGE, "B");
    exposition_end (&e);
    assert_string_equal (buffer_text (&out), "# EOF\n");
    buffer_done (&out);
}

TEST_CASE (exposition__numbers__exact)
{
    buffer_t out = BUFFER_INIT;
    exposition_t e = {.out = &out};
    mpq_t value;

    mpq_init (value);
    mpq_set_si (value, -1, 3);
    exposition_family (&e, "a", EXPOSITION_GAUGE, "A");
    exposition_number (&e, 1234567, 1000);
    exposition_number (&e, -5, 1000);
    exposition_number (&e, INT64_MIN, 1);
    exposition_exact (&e, value, 2);
    assert_string_equal (buffer_text (&out), "# HELP a A\n# TYPE a gauge\n"
                                             "a 1234.567\n"
                                             "a -0.005\n"
                                             "a -9223372036854775808\n"
                                             "a -0.33\n");
    mpq_clear (value);
    buffer_done (&out);
}

TEST_MAIN (NULL, NULL)
