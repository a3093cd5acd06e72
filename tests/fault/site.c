#include "fault/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/spool_cursor.h"
#include "ship.h"

#define WAIT_MS 60000
#define ARGS_MAX 24

/* --- processes --- */

/* Of the built tree: the program lies in TREE/tests/fault. */
static void built (const char *name, char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink ("/proc/self/exe", self, sizeof (self) - 1);

    self[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 3 && strrchr (self, '/'); i++)
        *strrchr (self, '/') = '\0';
    snprintf (path, PATH_MAX, "%.3000s/%s", self, name);
}

/* Whatever this process opens later is not the child's; its output goes to a
 * file in the directory. */
static void become_child (const site_of_test_t *site, const char *log)
{
    char path[192];
    int fd;

    prctl (PR_SET_PDEATHSIG, SIGKILL);
    snprintf (path, sizeof (path), "%s/%s.log", site->dir, log);
    fd = open (path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2 (fd, STDOUT_FILENO);
    dup2 (fd, STDERR_FILENO);
    close (fd);
}

static pid_t start (const site_of_test_t *site, const char *log,
                    const char *const *argv)
{
    pid_t pid = fork ();

    if (pid != 0)
        return pid;
    become_child (site, log);
    execvp (argv[0], (char **)argv);
    perror (argv[0]);
    _exit (127);
}

static int run (const site_of_test_t *site, const char *log,
                const char *const *argv, gl_error_t *error)
{
    pid_t pid = start (site, log, argv);
    int status = -1;

    waitpid (pid, &status, 0);
    if (status == 0)
        return 0;
    return gl_error (error, "%s failed, see %s/%s.log", argv[0], site->dir,
                     log);
}

static void forget (part_t *part)
{
    if (part->pid > 0)
        waitpid (part->pid, NULL, 0);
    part->pid = 0;
}

void part_kill (part_t *part)
{
    if (part->pid > 0)
        kill (part->pid, SIGKILL);
    forget (part);
}

static void ask_to_end (const part_t *part)
{
    if (part->pid > 0)
        kill (part->pid, SIGTERM);
}

void part_end (part_t *part)
{
    ask_to_end (part);
    forget (part);
}

static bool connects (int domain, const struct sockaddr *address,
                      socklen_t size)
{
    int fd = socket (domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && connect (fd, address, size) == 0;

    if (fd >= 0)
        close (fd);
    return ok;
}

static bool unix_answers (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf (address.sun_path, sizeof (address.sun_path), "%s", path);
    return connects (AF_UNIX, (struct sockaddr *)&address, sizeof (address));
}

static bool port_answers (int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons (port),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};

    return connects (AF_INET, (struct sockaddr *)&address, sizeof (address));
}

static void pause_ms (int ms)
{
    poll (NULL, 0, ms);
}

static bool munged_answers (const site_of_test_t *site)
{
    return unix_answers (site->munge_socket);
}

static bool collectors_answer (const site_of_test_t *site)
{
    for (int i = 0; i < SITE_COLLECTORS; i++)
        if (!port_answers (site->port[i]))
            return false;
    return true;
}

static int wait_until (const site_of_test_t *site, const char *what,
                       bool (*answers) (const site_of_test_t *site),
                       gl_error_t *error)
{
    for (int i = 0; i < WAIT_MS / 20; i++) {
        if (answers (site))
            return 0;
        pause_ms (20);
    }
    return gl_error (error, "%s does not answer, see %s", what, site->dir);
}

/* --- munged --- */

static int write_text (const site_of_test_t *site, const char *name,
                       const void *text, size_t size, gl_error_t *error)
{
    char path[192];
    int fd;

    snprintf (path, sizeof (path), "%s/%s", site->dir, name);
    fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write (fd, text, size) != (ssize_t)size)
        return gl_error (error, "%s: %s", path, strerror (errno));
    close (fd);
    return 0;
}

static pid_t spawn_munged (const site_of_test_t *site)
{
    static const struct {
        const char *option, *file;
    } files[] = {
        {"key-file", "key"},        {"pid-file", "munged.pid"},
        {"log-file", "munged.log"}, {"seed-file", "munged.seed"},
        {"socket", "munge.socket"},
    };
    char text[5][192];
    const char *argv[] = {"munged",
                          "--foreground",
                          "--force",
                          text[0],
                          text[1],
                          text[2],
                          text[3],
                          text[4],
                          "--origin=127.0.0.1",
                          "--num-threads=4",
                          NULL};

    for (int i = 0; i < 5; i++)
        snprintf (text[i], sizeof (text[i]), "--%s=%.150s/%s", files[i].option,
                  site->dir, files[i].file);
    return start (site, "munged", argv);
}

static int start_munged (site_of_test_t *site, gl_error_t *error)
{
    site->munged.pid = spawn_munged (site);
    return wait_until (site, "munged", munged_answers, error);
}

static int make_key (site_of_test_t *site, gl_error_t *error)
{
    unsigned char key[128];

    if (getrandom (key, sizeof (key), 0) != sizeof (key))
        return gl_error (error, "no random numbers");
    return write_text (site, "key", key, sizeof (key), error);
}

/* --- the store --- */

static void database_socket (const site_of_test_t *site, char path[192])
{
    snprintf (path, 192, "%s/mysql.socket", site->dir);
}

bool site_database_answers (const site_of_test_t *site)
{
    char path[192];

    database_socket (site, path);
    return !site->mariadb || unix_answers (path);
}

static pid_t start_database (const site_of_test_t *site)
{
    char socket[256], data[256], pid[256];
    const char *argv[] = {"mariadbd",
                          "--no-defaults",
                          "--user=root",
                          "--skip-networking",
                          "--skip-log-bin",
                          "--innodb-buffer-pool-size=64M",
                          "--innodb-log-file-size=32M",
                          socket,
                          data,
                          pid,
                          NULL};

    snprintf (socket, sizeof (socket), "--socket=%s/mysql.socket", site->dir);
    snprintf (data, sizeof (data), "--datadir=%s/mysql", site->dir);
    snprintf (pid, sizeof (pid), "--pid-file=%s/mysql.pid", site->dir);
    return start (site, "mariadbd", argv);
}

static int make_database (site_of_test_t *site, gl_error_t *error)
{
    char data[256], socket[256];
    const char *install[] = {"mariadb-install-db",
                             "--no-defaults",
                             "--force",
                             "--user=root",
                             "--skip-test-db",
                             "--auth-root-authentication-method=normal",
                             data,
                             NULL};
    const char *create[]
        = {"mariadb-admin", "--no-defaults", "--user=root", socket,
           "create",        "ledger",        NULL};

    snprintf (data, sizeof (data), "--datadir=%s/mysql", site->dir);
    snprintf (socket, sizeof (socket), "--socket=%s/mysql.socket", site->dir);
    if (run (site, "install", install, error) < 0)
        return -1;
    site->database.pid = start_database (site);
    if (wait_until (site, "mariadbd", site_database_answers, error) < 0)
        return -1;
    return run (site, "install", create, error);
}

static int make_store (site_of_test_t *site, gl_error_t *error)
{
    char program[PATH_MAX];
    const char *init[] = {program, "init", "--store", site->url, NULL};

    built ("sacct-ext/gpuledger", program);
    if (!site->mariadb)
        snprintf (site->url, sizeof (site->url), "sqlite:%s/ledger.db",
                  site->dir);
    else {
        snprintf (site->url, sizeof (site->url),
                  "mysql://root@localhost/ledger?socket=%s/mysql.socket",
                  site->dir);
        if (make_database (site, error) < 0)
            return -1;
    }
    return run (site, "init", init, error);
}

/* --- collectors --- */

static int free_port (void)
{
    struct sockaddr_in address
        = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof (address);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    bind (fd, (struct sockaddr *)&address, size);
    getsockname (fd, (struct sockaddr *)&address, &size);
    close (fd);
    return ntohs (address.sin_port);
}

static int configure_collector (site_of_test_t *site, int index,
                                gl_error_t *error)
{
    const struct passwd *self = getpwuid (geteuid ());
    char text[1024], name[32];

    snprintf (text, sizeof (text),
              "clusters: [{name: lab}]\n"
              "collector:\n"
              "    hosts: [\"127.0.0.1:%d\", \"127.0.0.1:%d\"]\n"
              "    listen: [\"127.0.0.1:%d\"]\n"
              "    user: %s\n"
              "    node_users: [%s]\n"
              "    munge_socket: %s\n"
              "networks: [{nodes: \"n[1-%d]\", network: 127.0.0.1/32}]\n",
              site->port[index], site->port[(index + 1) % SITE_COLLECTORS],
              site->port[index], self->pw_name, self->pw_name,
              site->munge_socket, SITE_NODES_MAX);
    snprintf (name, sizeof (name), "collector%d.yaml", index);
    return write_text (site, name, text, strlen (text), error);
}

static pid_t start_collector (const site_of_test_t *site, int index)
{
    char program[PATH_MAX], config[192], log[32];
    const char *argv[]
        = {program, "--config", config, "--store", site->url, NULL};

    built ("sacct-ext/gpuledger-collector", program);
    snprintf (config, sizeof (config), "%s/collector%d.yaml", site->dir, index);
    snprintf (log, sizeof (log), "collector%d", index);
    return start (site, log, argv);
}

/* --- nodes --- */

void site_spool (const site_of_test_t *site, int node, char path[192])
{
    snprintf (path, 192, "%.120s/n%d", site->dir, node + 1);
}

/* The node's agent, as far as it ships: half of them know the collectors in
 * the other order. */
static int be_node (const site_of_test_t *site, int index)
{
    char spool[192], name[16], host[SITE_COLLECTORS][32];
    const char *hosts[SITE_COLLECTORS];
    const ship_config_t config = {.spool = spool,
                                  .cluster = "lab",
                                  .node = name,
                                  .hosts = hosts,
                                  .host_count = SITE_COLLECTORS,
                                  .collector = geteuid (),
                                  .munge_socket = site->munge_socket,
                                  .connect_ms = 2000,
                                  .reply_ms = 20000,
                                  .retry_ms = 50,
                                  .retry_max_ms = 1000,
                                  .spread_ms = 50,
                                  .look_ms = 50,
                                  .prices_ms = -1};
    gl_error_t error;
    sigset_t term;
    ship_t *ship;
    int got;

    site_spool (site, index, spool);
    snprintf (name, sizeof (name), "n%d", index + 1);
    for (int i = 0; i < SITE_COLLECTORS; i++) {
        snprintf (host[i], sizeof (host[i]), "127.0.0.1:%d", site->port[i]);
        hosts[(i + index) % SITE_COLLECTORS] = host[i];
    }
    sigemptyset (&term);
    sigaddset (&term, SIGTERM);
    sigprocmask (SIG_BLOCK, &term, NULL);
    ship = ship_new (&config, &error);
    if (!ship || ship_start (ship, &error) < 0) {
        fprintf (stderr, "%s: %s\n", name, error.text);
        return 1;
    }
    sigwait (&term, &got);
    ship_stop (ship, 1000);
    ship_free (ship);
    return 0;
}

static pid_t start_agent (const site_of_test_t *site, int index)
{
    char program[PATH_MAX], config[192], replay[192], spool[192], name[16];
    const char *argv[]
        = {program,  "--config",   config,      "--spool", spool,
           "--node", name,         "--cluster", "lab",     "--replay",
           replay,   "--interval", "1",         NULL};

    built ("plugin/agent/gpuledger-agent", program);
    snprintf (config, sizeof (config), "%s/collector%d.yaml", site->dir,
              index % SITE_COLLECTORS);
    snprintf (replay, sizeof (replay), "%s/replay", site->dir);
    site_spool (site, index, spool);
    snprintf (name, sizeof (name), "n%d", index + 1);
    return start (site, name, argv);
}

static int write_replay (const site_of_test_t *site, gl_error_t *error)
{
    static const char text[]
        = "replay 1\n"
          "boot b\n"
          "gpu g0 uuid=GPU-x model=\"NVIDIA H100 80GB HBM3\" minor=0 "
          "memory=81559 power_limit=700000\n"
          "at 2026-01-01T00:00:00Z\n"
          "g0 utilization=50 memory=1000 power=400000 processes=1\n";

    return write_text (site, "replay", text, sizeof (text) - 1, error);
}

static pid_t start_node (const site_of_test_t *site, int index)
{
    pid_t pid;

    if (index < site->agents)
        return start_agent (site, index);
    pid = fork ();
    if (pid != 0)
        return pid;
    become_child (site, "nodes");
    _exit (be_node (site, index));
}

static int make_spools (site_of_test_t *site, gl_error_t *error)
{
    char path[192];

    for (int i = 0; i < site->nodes; i++) {
        site_spool (site, i, path);
        if (mkdir (path, 0700) < 0)
            return gl_error (error, "%s: %s", path, strerror (errno));
    }
    return 0;
}

static int stop_at_once (const spool_entry_t *entry, void *arg,
                         gl_error_t *error)
{
    (void)entry;
    (void)error;
    *(bool *)arg = true;
    return 1;
}

bool site_node_is_done (const site_of_test_t *site, int node)
{
    bool found = false;
    spool_cursor_t *cursor;
    spool_mark_t mark;
    char path[192];
    int rc;

    site_spool (site, node, path);
    cursor = spool_cursor_new (path, NULL);
    rc = spool_cursor_load (cursor, "shipped", NULL);
    if (rc == 0)
        rc = spool_cursor_next (cursor, stop_at_once, &found, &mark, NULL);
    spool_cursor_free (cursor);
    return rc == 0 && !found;
}

/* --- all of it --- */

static pid_t start_part (const site_of_test_t *site, const part_t *part)
{
    switch (part->role) {
    case ROLE_MUNGED:
        return spawn_munged (site);
    case ROLE_DATABASE:
        return start_database (site);
    case ROLE_COLLECTOR:
        return start_collector (site, part->index);
    case ROLE_NODE:
        return start_node (site, part->index);
    default:
        return 0;
    }
}

static int mend (site_of_test_t *site, part_t *part)
{
    if (part->pid > 0 && waitpid (part->pid, NULL, WNOHANG) == part->pid) {
        part->pid = 0;
        site->unexpected++;
    }
    if (part->pid == 0 && !part->off)
        part->pid = start_part (site, part);
    return part->pid < 0 ? -1 : 0;
}

int site_mend (site_of_test_t *site, gl_error_t *error)
{
    int rc = mend (site, &site->munged);

    if (site->mariadb)
        rc |= mend (site, &site->database);
    for (int i = 0; i < SITE_COLLECTORS; i++)
        rc |= mend (site, &site->collector[i]);
    for (int i = 0; i < site->nodes; i++)
        rc |= mend (site, &site->node[i]);
    return rc == 0 ? 0 : gl_error (error, "fork: %s", strerror (errno));
}

static int make_directory (site_of_test_t *site, gl_error_t *error)
{
    const char *tmp = getenv ("TMPDIR");

    snprintf (site->dir, sizeof (site->dir), "%.80s/gpuledger-fault.XXXXXX",
              tmp ? tmp : "/tmp");
    if (!mkdtemp (site->dir) || chmod (site->dir, 0711) < 0)
        return gl_error (error, "%s: %s", site->dir, strerror (errno));
    snprintf (site->munge_socket, sizeof (site->munge_socket),
              "%.150s/munge.socket", site->dir);
    return 0;
}

static void set_roles (site_of_test_t *site)
{
    site->munged.role = ROLE_MUNGED;
    site->database.role = ROLE_DATABASE;
    for (int i = 0; i < SITE_COLLECTORS; i++)
        site->collector[i] = (part_t){.role = ROLE_COLLECTOR, .index = i};
    for (int i = 0; i < site->nodes; i++)
        site->node[i] = (part_t){.role = ROLE_NODE, .index = i};
}

int site_start_munged (site_of_test_t *site, gl_error_t *error)
{
    if (make_directory (site, error) < 0 || make_key (site, error) < 0)
        return -1;
    return start_munged (site, error);
}

int site_restart_munged (site_of_test_t *site, gl_error_t *error)
{
    part_kill (&site->munged);
    return start_munged (site, error);
}

int site_start (site_of_test_t *site, int nodes, int agents, bool mariadb,
                gl_error_t *error)
{
    *site = (site_of_test_t){
        .nodes = nodes, .agents = agents, .mariadb = mariadb};
    set_roles (site);
    if (site_start_munged (site, error) < 0 || make_store (site, error) < 0
        || make_spools (site, error) < 0)
        return -1;
    for (int i = 0; i < SITE_COLLECTORS; i++)
        site->port[i] = free_port ();
    for (int i = 0; i < SITE_COLLECTORS; i++)
        if (configure_collector (site, i, error) < 0)
            return -1;
    if (write_replay (site, error) < 0 || site_mend (site, error) < 0)
        return -1;
    return wait_until (site, "gpuledger-collector", collectors_answer, error);
}

void site_end_nodes (site_of_test_t *site)
{
    for (int i = 0; i < site->nodes; i++)
        ask_to_end (&site->node[i]);
    for (int i = 0; i < site->nodes; i++)
        forget (&site->node[i]);
    for (int i = 0; i < SITE_COLLECTORS; i++)
        ask_to_end (&site->collector[i]);
    for (int i = 0; i < SITE_COLLECTORS; i++)
        forget (&site->collector[i]);
}

void site_stop (site_of_test_t *site, bool keep)
{
    const char *argv[] = {"rm", "-rf", site->dir, NULL};
    pid_t pid;

    site_end_nodes (site);
    ask_to_end (&site->database);
    forget (&site->database);
    ask_to_end (&site->munged);
    forget (&site->munged);
    if (keep || !*site->dir)
        return;
    pid = fork ();
    if (pid == 0) {
        execvp (argv[0], (char **)argv);
        _exit (127);
    }
    waitpid (pid, NULL, 0);
}
