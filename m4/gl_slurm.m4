# GL_SLURM
#
# The plugin is compiled against the headers of one Slurm major release (the
# loader refuses any other). --with-slurm=PREFIX names an installation outside
# the compiler's search path; SLURM_CPPFLAGS, SLURM_PLUGINDIR come out.
AC_DEFUN([GL_SLURM],[
  AC_ARG_WITH([slurm],
    [AS_HELP_STRING([--with-slurm=PREFIX],
      [Slurm's installation prefix (headers in PREFIX/include/slurm)])],
    [],[with_slurm=yes])
  AS_CASE([$with_slurm],
    [no], [AC_MSG_ERROR([the plugin cannot be built without Slurm's headers])],
    [yes],[],
    [SLURM_CPPFLAGS="-I$with_slurm/include"])
  AC_SUBST([SLURM_CPPFLAGS])

  gl_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
  gl_slurm=yes
  # spank.h of 22.05 uses uint32_t and uid_t without including their headers
  AC_CHECK_HEADERS([slurm/spank.h],[],[gl_slurm=no],
    [#include <stdint.h>
     #include <sys/types.h>])
  AC_CHECK_DECLS([ESPANK_JOB_FAILURE],[],[],[#include <slurm/slurm_errno.h>])
  CPPFLAGS=$gl_save_CPPFLAGS
  AS_IF([test "$gl_slurm" = no],
    [GL_MISSING([slurm/spank.h],[libslurm-dev],[slurm-devel])])

  AC_ARG_VAR([SLURM_PLUGINDIR],
    [directory for gpuledger.so @<:@LIBDIR/gpuledger@:>@])
  AS_IF([test -z "$SLURM_PLUGINDIR"],[SLURM_PLUGINDIR='${libdir}/gpuledger'])
])
