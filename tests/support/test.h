/* test.h: cmocka in its required include order, for every unit test. */
#ifndef GL_TESTS_SUPPORT_TEST_H
#define GL_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif /* !GL_TESTS_SUPPORT_TEST_H */
