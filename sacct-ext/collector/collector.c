/* gpuledger-collector: takes the records of nodes in, and answers users. */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <grp.h>
#include <locale.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "collector/collector.h"
#include "config/config.h"
#include "store/store.h"

/* Names whose rate is remembered: nodes, and users who asked lately. */
#define RATES_MAX 65536
/* At the end, answers have this long to go out. */
#define END_SECONDS 3

enum { OPTION_PATIENCE = 256, OPTION_VERSION, OPTION_HELP };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"store", required_argument, NULL, 's'},
    {"listen", required_argument, NULL, 'l'},
    {"user", required_argument, NULL, 'u'},
    {"patience", required_argument, NULL, OPTION_PATIENCE},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char help[]
    = "Usage: gpuledger-collector [OPTION]...\nStore the records of agents on "
      "GPU nodes, and answer users' questions.\nStays in the foreground and "
      "logs to standard error.\n\n  -c, --config FILE       configuration; "
      "default $GPULEDGER_CONF, then\n                          " SYSCONFDIR
      "/gpuledger/gpuledger.yaml\n"
      "  -s, --store URL         the store; default SQLite files in\n"
      "                          " LOCALSTATEDIR "/lib/gpuledger\n  -l, "
      "--listen ADDRESS    ADDRESS "
      "or ADDRESS:PORT instead "
      "of\n                          "
      "collector.listen; may be "
      "repeated\n  -u, --user "
      "NAME         run as this "
      "user when started as "
      "root\n      --patience "
      "SECONDS  time limit of a "
      "client for one "
      "request;\n                          "
      "default 20\n      "
      "--version           show "
      "the version\n      "
      "--help              show "
      "this help\n";

struct options {
    const char *config;
    bool config_given;
    const char *store;
    const char *user;
    text_list_t listen;
    uint64_t patience;
};

static int fail (const char *text)
{
    collector_log (3, "%s", text);
    return 1;
}

/* Options */

__attribute__ ((format (printf, 1, 2))) static int usage (const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    fputs ("gpuledger-collector: ", stderr);
    vfprintf (stderr, fmt, ap);
    va_end (ap);
    fputs ("\nTry 'gpuledger-collector --help'.\n", stderr);
    return 2;
}

/* getopt's own message would not be like ours. */
static int wrong_option (int option, const char *word)
{
    if (option == ':')
        return usage ("option '%s' needs an argument", word);
    if (optopt >= OPTION_PATIENCE)
        return usage ("option '%s' takes no argument", word);
    if (optopt)
        return usage ("unknown option '-%c'", optopt);
    return usage ("unknown option '%s'", word);
}

/* -1: go on; else exit with that. */
static int read_option (struct options *o, int option, const char *word)
{
    switch (option) {
    case 'c':
        o->config = optarg;
        o->config_given = true;
        return -1;
    case 's':
        o->store = optarg;
        return -1;
    case 'l':
        texts_add (&o->listen, optarg);
        return -1;
    case 'u':
        o->user = optarg;
        return -1;
    case OPTION_PATIENCE:
        if (number_u64_text (optarg, &o->patience) < 0 || o->patience < 1
            || o->patience > 3600)
            return usage ("--patience is 1 to 3600 seconds, not '%s'", optarg);
        return -1;
    case OPTION_VERSION:
        puts ("gpuledger-collector " PACKAGE_VERSION);
        return 0;
    case OPTION_HELP:
        fputs (help, stdout);
        return 0;
    default:
        return wrong_option (option, word);
    }
}

static int read_options (struct options *o, int argc, char **argv)
{
    const char *config = getenv ("GPULEDGER_CONF");
    int option, rc;

    o->config_given = config && *config;
    o->config
        = o->config_given ? config : SYSCONFDIR "/gpuledger/gpuledger.yaml";
    opterr = 0;
    while ((option = getopt_long (argc, argv, ":c:s:l:u:", long_options, NULL))
           != -1) {
        rc = read_option (o, option, argv[optind - 1]);
        if (rc >= 0)
            return rc;
    }
    return optind == argc ? -1
                          : usage ("unexpected argument '%s'", argv[optind]);
}

/* Start */

static int read_site (collector_t *c, struct options *o, gl_error_t *error)
{
    if (!o->config_given && access (o->config, F_OK) < 0 && errno == ENOENT) {
        c->site = site_default ();
    } else {
        if (config_load (o->config, &c->site, error) < 0)
            return -1;
        c->config = o->config;
    }
    if (o->listen.count) {
        texts_clear (&c->site->collector.listen);
        c->site->collector.listen = o->listen;
        o->listen = (text_list_t){NULL, 0};
    }
    if (c->site->collector.clients == 0)
        c->site->collector.clients = 4096;
    return 0;
}

static int find_user (const char *name, uid_t *ret_uid, gl_error_t *error)
{
    struct passwd *entry = getpwnam (name);
    uint64_t number;

    if (entry) {
        *ret_uid = entry->pw_uid;
        return 0;
    }
    if (number_u64_text (name, &number) == 0 && number < (uid_t)-1) {
        *ret_uid = (uid_t)number;
        return 0;
    }
    return gl_error (error, "collector.node_users: there is no user '%s'",
                     name);
}

static int read_node_users (collector_t *c, gl_error_t *error)
{
    const text_list_t *names = &c->site->collector.node_users;

    c->node_users = xcalloc (names->count + 1, sizeof (*c->node_users));
    if (names->count == 0)
        c->node_users[c->node_user_count++] = 0;
    for (size_t i = 0; i < names->count; i++)
        if (find_user (names->item[i], &c->node_users[c->node_user_count++],
                       error)
            < 0)
            return -1;
    return 0;
}

static int become (const char *user, gl_error_t *error)
{
    struct passwd *entry;

    if (!user || getuid () != 0)
        return 0;
    entry = getpwnam (user);
    if (!entry)
        return gl_error (error, "there is no user '%s'", user);
    if (initgroups (user, entry->pw_gid) < 0 || setgid (entry->pw_gid) < 0
        || setuid (entry->pw_uid) < 0)
        return gl_error (error, "cannot become user '%s': %s", user,
                         strerror (errno));
    return 0;
}

/* Nodes believe no other user's answers. */
static void check_own_user (const collector_t *c)
{
    const char *name = c->site->collector.user;
    struct passwd *entry = getpwnam (name ? name : "root");

    if (!entry || entry->pw_uid != geteuid ())
        collector_log (4,
                       "this runs as user %u, but collector.user is %s: nodes "
                       "with this setting do not accept its answers",
                       (unsigned)geteuid (), name ? name : "root");
}

static int start (collector_t *c, struct options *o, gl_error_t *error)
{
    if (read_site (c, o, error) < 0 || read_node_users (c, error) < 0)
        return -1;
    c->store_url = o->store         ? o->store
                   : c->site->store ? c->site->store
                                    : STORE_DEFAULT_URL;
    if (store_check_url (c->store_url, error) < 0)
        return -1;
    c->patience_seconds = (int)o->patience;
    c->base = event_base_new ();
    if (!c->base || event_base_priority_init (c->base, 3) < 0)
        return gl_error (error, "libevent cannot start");
    if (!server_new (c, error) || become (o->user, error) < 0)
        return -1;
    c->credential = credential_new (c->site->collector.munge_socket, error);
    c->origins = c->credential ? origins_new (c->base, c->site, error) : NULL;
    if (!c->origins)
        return -1;
    c->rates = rates_new (RATES_MAX);
    c->skews = skews_new ();
    c->group = group_new (c);
    c->children = children_new (c);
    check_own_user (c);
    return 0;
}

/* End */

static void on_end (evutil_socket_t number, short what, void *arg)
{
    collector_t *c = arg;

    (void)what;
    collector_log (6, "signal %d: finishing", (int)number);
    event_base_loopbreak (c->base);
}

/* For systemd an end by this signal would be a wanted one, after which it does
 * not start again. */
static void on_hangup (evutil_socket_t number, short what, void *arg)
{
    (void)what;
    (void)arg;
    collector_log (5,
                   "signal %d: nothing to do; the configuration is read at the "
                   "start",
                   (int)number);
}

/* What waits is committed and answered; nothing new is taken. */
static void end (collector_t *c)
{
    static const struct timeval patience = {END_SECONDS, 0};
    int64_t until = collector_now_ms () + END_SECONDS * 1000;

    server_stop (c->server);
    children_free (GL_TAKE (c->children));
    group_flush (c->group);
    event_base_loopexit (c->base, &patience); /* so that no wait is longer */
    while (!server_quiet (c->server) && collector_now_ms () < until)
        event_base_loop (c->base, EVLOOP_ONCE);
}

static void collector_free (collector_t *c)
{
    children_free (c->children);
    origins_free (c->origins);
    group_free (c->group);
    server_free (c->server);
    rates_free (c->rates);
    skews_free (c->skews);
    credential_free (c->credential);
    if (c->base)
        event_base_free (c->base);
    free (c->node_users);
    site_free (c->site);
}

/* A server that does not answer yet may come back, and rights be mended. */
static void say_ready (const collector_t *c)
{
    gl_error_t error = {""};
    store_t *store = store_open (c->store_url, STORE_READ_ONLY, &error);

    if (store)
        collector_log (6, "ready: %s", c->store_url);
    else
        collector_log (4,
                       "not ready: %s; the nodes keep their records until the "
                       "store can be opened",
                       error.text);
    store_close (store);
}

static void run (collector_t *c)
{
    static const struct {
        int number;
        event_callback_fn answer;
    } signals[] = {{SIGTERM, on_end}, {SIGINT, on_end}, {SIGHUP, on_hangup}};
    struct event *events[GL_ARRAY_SIZE (signals)];

    for (size_t i = 0; i < GL_ARRAY_SIZE (signals); i++) {
        events[i]
            = evsignal_new (c->base, signals[i].number, signals[i].answer, c);
        event_add (events[i], NULL);
    }
    say_ready (c);
    event_base_dispatch (c->base);
    end (c);
    for (size_t i = 0; i < GL_ARRAY_SIZE (signals); i++)
        event_free (events[i]);
}

int main (int argc, char **argv)
{
    struct options o = {.patience = COLLECTOR_PATIENCE_SECONDS};
    collector_t c = {0};
    gl_error_t error = {""};
    int rc;

    setlocale (LC_CTYPE, "C.UTF-8");
    signal (SIGPIPE, SIG_IGN);
    rc = read_options (&o, argc, argv);
    if (rc < 0) {
        rc = start (&c, &o, &error) < 0 ? fail (error.text) : 0;
        if (rc == 0)
            run (&c);
        collector_free (&c);
    }
    texts_clear (&o.listen);
    return rc;
}
