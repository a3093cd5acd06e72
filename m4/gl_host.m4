# GL_HOST
#
# The accounting host's part (store, reports, the command, the collector) wants
# libraries that the system of an older node does not have new enough. A node
# needs none of it: --without-host builds plugin and agent alone.
AC_DEFUN([GL_HOST],[
  AC_ARG_WITH([host],
    [AS_HELP_STRING([--without-host],
      [build what nodes and submit hosts need: plugin and agent])],
    [],[with_host=yes])
  AM_CONDITIONAL([HOST],[test "$with_host" != no])
])
