#include "cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What is over within a second needs no line; five changes a second are enough to see
 * that it moves. */
#define FIRST_MS 1000
#define NEXT_MS 200
#define LINE_SIZE 160

#define WIPE "\r\033[K"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs;       /* the thread; only the verb's thread writes it */
    bool over;       /* it is to end */
    unsigned paused; /* how often */
    struct timespec began;
    const char *verb;
    char said[LINE_SIZE];  /* "": nothing */
    char shown[LINE_SIZE]; /* what is on the terminal; "": nothing */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec later (const struct timespec *then, long ms)
{
    struct timespec at
        = {then->tv_sec + ms / 1000, then->tv_nsec + ms % 1000 * 1000000L};

    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

static void wipe (void)
{
    if (!line.shown[0])
        return;
    fputs (WIPE, stderr);
    fflush (stderr);
    line.shown[0] = '\0';
}

/* Only what has changed is written. */
static void show (const struct timespec *now)
{
    char text[LINE_SIZE + 64];

    if (line.said[0])
        snprintf (text, sizeof (text), "%s: %s", line.verb, line.said);
    else
        snprintf (text, sizeof (text), "%s: working, %lld s", line.verb,
                  (long long)(now->tv_sec - line.began.tv_sec));
    text[LINE_SIZE - 1] = '\0';
    if (!strcmp (text, line.shown))
        return;
    fprintf (stderr, "\r%s\033[K", text);
    fflush (stderr);
    strcpy (line.shown, text);
}

static void *work (void *arg)
{
    struct timespec at = later (&line.began, FIRST_MS), now;

    (void)arg;
    pthread_mutex_lock (&line.lock);
    while (!line.over) {
        pthread_cond_timedwait (&line.changed, &line.lock, &at);
        clock_gettime (CLOCK_MONOTONIC, &now);
        if (now.tv_sec < at.tv_sec
            || (now.tv_sec == at.tv_sec && now.tv_nsec < at.tv_nsec))
            continue;
        if (!line.paused && !line.over)
            show (&now);
        at = later (&now, NEXT_MS);
    }
    pthread_mutex_unlock (&line.lock);
    return NULL;
}

/* Signals are the verb's. */
static void start (void)
{
    pthread_condattr_t attributes;
    sigset_t all, before;

    pthread_condattr_init (&attributes);
    pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
    pthread_cond_init (&line.changed, &attributes);
    pthread_condattr_destroy (&attributes);
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    line.runs = pthread_create (&line.thread, NULL, work, NULL) == 0;
    pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (!line.runs)
        pthread_cond_destroy (&line.changed);
}

void progress_begin (const cli_t *cli)
{
    if (line.runs || cli->quiet || !isatty (STDERR_FILENO))
        return;
    clock_gettime (CLOCK_MONOTONIC, &line.began);
    line.verb = cli->verb ? cli->verb->name : "gpuledger";
    line.over = false;
    line.paused = 0;
    line.said[0] = '\0';
    start ();
}

bool progress_is_shown (void)
{
    return line.runs;
}

void progress_say (const char *fmt, ...)
{
    va_list ap;

    if (!line.runs)
        return;
    va_start (ap, fmt);
    pthread_mutex_lock (&line.lock);
    vsnprintf (line.said, sizeof (line.said), fmt, ap);
    pthread_mutex_unlock (&line.lock);
    va_end (ap);
}

void progress_clear (void)
{
    progress_say ("%s", "");
}

void progress_pause (void)
{
    if (!line.runs)
        return;
    pthread_mutex_lock (&line.lock);
    line.paused++;
    wipe ();
    pthread_mutex_unlock (&line.lock);
}

void progress_resume (void)
{
    if (!line.runs)
        return;
    pthread_mutex_lock (&line.lock);
    if (line.paused > 0)
        line.paused--;
    pthread_mutex_unlock (&line.lock);
}

void progress_end (void)
{
    if (!line.runs)
        return;
    pthread_mutex_lock (&line.lock);
    line.over = true;
    pthread_cond_signal (&line.changed);
    pthread_mutex_unlock (&line.lock);
    pthread_join (line.thread, NULL);
    pthread_cond_destroy (&line.changed);
    line.runs = false;
    wipe ();
}
