# GL_WARNINGS, GL_SANITIZER, GL_COVERAGE: switches of the build.
AC_DEFUN([GL_WARNINGS],[
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror],[warnings are errors (CI)])],
    [],[enable_werror=no])
  GL_CFLAGS="-std=gnu11 -Wall -Wextra -Wformat=2 -Wmissing-prototypes \
-Wstrict-prototypes -Wshadow -Wwrite-strings -Wpointer-arith -Wundef"
  AS_IF([test "$enable_werror" = yes],[GL_CFLAGS="$GL_CFLAGS -Werror"])
  AC_SUBST([GL_CFLAGS])
])

AC_DEFUN([GL_SANITIZER],[
  AC_ARG_WITH([sanitizer],
    [AS_HELP_STRING([--with-sanitizer=LIST],
      [build with -fsanitize=LIST, e.g. address,undefined])],
    [],[with_sanitizer=no])
  AS_CASE([$with_sanitizer],
    [no],[],
    [yes],[GL_SANITIZER_FLAGS="-fsanitize=address,undefined"],
    [GL_SANITIZER_FLAGS="-fsanitize=$with_sanitizer"])
  AS_IF([test -n "$GL_SANITIZER_FLAGS"],[
    GL_SANITIZER_FLAGS="$GL_SANITIZER_FLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"])
  AC_SUBST([GL_SANITIZER_FLAGS])
  # Without relocations a program with sanitizers starts in two thirds of the time; the
  # tests start thousands.
  AS_IF([test -n "$GL_SANITIZER_FLAGS"],[GL_PROGRAM_FLAGS=-no-pie])
  AC_SUBST([GL_PROGRAM_FLAGS])
  AM_CONDITIONAL([SANITIZER],[test -n "$GL_SANITIZER_FLAGS"])
])

AC_DEFUN([GL_COVERAGE],[
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage],[instrument for gcov])],
    [],[enable_coverage=no])
  AS_IF([test "$enable_coverage" = yes],[GL_COVERAGE_FLAGS="--coverage -O0"])
  AC_SUBST([GL_COVERAGE_FLAGS])
])
