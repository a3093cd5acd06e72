/* syslog(3) into the file $FAKE_SYSLOG, a line "FACILITY PRIORITY IDENT TEXT"
 * each: loaded before libc's, since a test host need not have a logger. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

static const char *name = "?";
static int facility;

void openlog (const char *ident, int option, int which)
{
    (void)option;
    name = ident;
    facility = which;
}

void closelog (void)
{
}

static void put (int priority, const char *fmt, va_list ap)
{
    const char *path = getenv ("FAKE_SYSLOG");
    FILE *file = path ? fopen (path, "ae") : NULL;

    if (!file)
        return;
    fprintf (file, "%d %d %s ", facility >> 3, priority, name);
    vfprintf (file, fmt, ap);
    fputc ('\n', file);
    fclose (file);
}

void syslog (int priority, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    put (priority, fmt, ap);
    va_end (ap);
}

/* what _FORTIFY_SOURCE makes of it */
void __syslog_chk (int priority, int flag, const char *fmt, ...);
void __syslog_chk (int priority, int flag, const char *fmt, ...)
{
    va_list ap;

    (void)flag;
    va_start (ap, fmt);
    put (priority, fmt, ap);
    va_end (ap);
}
