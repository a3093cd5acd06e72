# GL_LIBRARY(PREFIX, PKG-CONFIG MODULE, DEBIAN PACKAGE, EL PACKAGE)
# GL_HEADER_LIBRARY(PREFIX, HEADER, LIBRARY, FUNCTION, DEBIAN, EL)
# GL_HEADER_ONLY(PREFIX, HEADER, DEBIAN, EL)
# GL_REPORT_MISSING
#
# Look for everything first and complain once, with the packages to install,
# so that nobody has to run configure as often as there are libraries.
AC_DEFUN([GL_MISSING],[
  gl_missing="${gl_missing}
    $1: Debian package $2, EL package $3"
  gl_missing_deb="$gl_missing_deb $2"
  gl_missing_el="$gl_missing_el $3"
])

AC_DEFUN([GL_LIBRARY],[
  PKG_CHECK_MODULES([$1],[$2],[:],[GL_MISSING([$2],[$3],[$4])])
])

AC_DEFUN([GL_HEADER_LIBRARY],[
  gl_found=yes
  AC_CHECK_HEADER([$2],[:],[gl_found=no])
  AC_CHECK_LIB([$3],[$4],[$1_LIBS="-l$3"],[gl_found=no])
  AC_SUBST([$1_LIBS])
  AS_IF([test "$gl_found" = no],[GL_MISSING([$3],[$5],[$6])])
])

AC_DEFUN([GL_HEADER_ONLY],[
  AC_CHECK_HEADER([$2],[:],[GL_MISSING([$2],[$3],[$4])])
])

AC_DEFUN([GL_REPORT_MISSING],[
  AS_IF([test -n "$gl_missing"],[
    AC_MSG_ERROR([these are missing:$gl_missing
  On Debian: apt-get install$gl_missing_deb
  On EL:     dnf install$gl_missing_el])
  ])
])
