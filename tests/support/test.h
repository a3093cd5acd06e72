/*
 * test.h: cmocka in its required include order, for every unit test.
 *
 *     TEST_CASE (subject__condition__outcome)
 *     {
 *         ...
 *     }
 *
 *     TEST_MAIN (setup, teardown)
 *
 * A test is defined and known by that; `state` is its parameter. TEST_MAIN runs
 * all tests of the file in their order, between `setup` and `teardown` (NULL:
 * none); TEST_MAIN_EACH has them around each test.
 */
#ifndef GL_TESTS_SUPPORT_TEST_H
#define GL_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct CMUnitTest test_list[128] __attribute__ ((unused));
static size_t test_count __attribute__ ((unused));

#define TEST_CASE(name)                                                       \
    static void name (void **state);                                          \
    __attribute__ ((constructor)) static void name##_is_a_test (void)         \
    {                                                                         \
        test_list[test_count++] = (struct CMUnitTest)cmocka_unit_test (name); \
    }                                                                         \
    static void name (void **state __attribute__ ((unused)))

#define TEST_MAIN(setup, teardown)                                             \
    int main (void)                                                            \
    {                                                                          \
        return _cmocka_run_group_tests ("tests", test_list, test_count, setup, \
                                        teardown);                             \
    }

#define TEST_MAIN_EACH(setup, teardown)                                       \
    int main (void)                                                           \
    {                                                                         \
        for (size_t i = 0; i < test_count; i++) {                             \
            test_list[i].setup_func = setup;                                  \
            test_list[i].teardown_func = teardown;                            \
        }                                                                     \
        return _cmocka_run_group_tests ("tests", test_list, test_count, NULL, \
                                        NULL);                                \
    }

#endif /* !GL_TESTS_SUPPORT_TEST_H */
