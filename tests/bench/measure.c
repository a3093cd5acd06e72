/*
 * measure: runs a command and writes "SECONDS CPU-SECONDS PEAK-KIB" to FILE:
 * its wall time, its own and its children's processor time, its peak memory.
 *
 *     measure FILE COMMAND [ARGUMENT...]
 *
 * Exits as the command does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds (long s, long fraction, double unit)
{
    return (double)s + (double)fraction / unit;
}

static double clock_seconds (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return seconds (now.tv_sec, now.tv_nsec, 1e9);
}

static int write_result (const char *path, double wall,
                         const struct rusage *usage)
{
    FILE *file = fopen (path, "w");

    if (!file)
        return -1;
    fprintf (
        file, "%.3f %.3f %ld\n", wall,
        seconds (usage->ru_utime.tv_sec, usage->ru_utime.tv_usec, 1e6)
            + seconds (usage->ru_stime.tv_sec, usage->ru_stime.tv_usec, 1e6),
        usage->ru_maxrss);
    return fclose (file);
}

int main (int argc, char **argv)
{
    double began = clock_seconds ();
    struct rusage usage;
    int status;
    pid_t pid;

    if (argc < 3) {
        fprintf (stderr, "usage: measure FILE COMMAND [ARGUMENT...]\n");
        return 2;
    }
    pid = fork ();
    if (pid == 0) {
        execvp (argv[2], argv + 2);
        fprintf (stderr, "measure: %s: %s\n", argv[2], strerror (errno));
        _exit (127);
    }
    if (pid < 0 || wait4 (pid, &status, 0, &usage) < 0
        || write_result (argv[1], clock_seconds () - began, &usage) < 0) {
        fprintf (stderr, "measure: %s\n", strerror (errno));
        return 1;
    }
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
