/*
 * site.h: a small site for fault tests: munged, a store, collectors and nodes,
 * as processes of their own in one directory under TMPDIR, on loopback. All of
 * them die with the program that started them.
 */
#ifndef GL_TESTS_FAULT_SITE_H
#define GL_TESTS_FAULT_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define SITE_COLLECTORS 2
#define SITE_NODES_MAX 200

typedef enum {
    ROLE_MUNGED,
    ROLE_DATABASE,
    ROLE_COLLECTOR,
    ROLE_NODE,
    ROLES
} role_t;

typedef struct {
    role_t role;
    int index;
    pid_t pid; /* 0: it does not run */
    bool off;  /* and is not to be started again */
} part_t;

typedef struct {
    char dir[128];
    char munge_socket[192];
    char url[256]; /* of the store */
    bool mariadb;
    int port[SITE_COLLECTORS];
    int nodes;
    int agents; /* the first so many nodes run gpuledger-agent itself */
    part_t munged, database;
    part_t collector[SITE_COLLECTORS];
    part_t node[SITE_NODES_MAX];
    int unexpected; /* ends of processes that nobody killed */
} site_of_test_t;

/* Directory, key, munged, an empty store, collectors, spools, nodes: of these
 * so many as `agents` say run gpuledger-agent with a replay, the others its
 * shipper alone. `mariadb`: the store is a server of its own, else an SQLite
 * file. */
int site_start (site_of_test_t *site, int nodes, int agents, bool mariadb,
                gl_error_t *error);
/* Directory, key and munged alone. */
int site_start_munged (site_of_test_t *site, gl_error_t *error);
/* munged again, which has forgotten what it has seen. */
int site_restart_munged (site_of_test_t *site, gl_error_t *error);
/* Ask all to end, wait, and remove the directory unless `keep`. */
void site_stop (site_of_test_t *site, bool keep);

/* kill -9, and wait until it is gone. */
void part_kill (part_t *part);
/* Start again what does not run, as systemd does. */
int site_mend (site_of_test_t *site, gl_error_t *error);
/* End it by the signal that systemd sends. */
void part_end (part_t *part);
/* The database takes connections (an SQLite file always does). */
bool site_database_answers (const site_of_test_t *site);
/* Nodes, collectors and the like take up no more work. */
void site_end_nodes (site_of_test_t *site);

void site_spool (const site_of_test_t *site, int node, char path[192]);
/* Every whole record of a node's spool is acknowledged, as its state on disk
 * says. */
bool site_node_is_done (const site_of_test_t *site, int node);

#endif /* !GL_TESTS_FAULT_SITE_H */
