#include "collector/collector_origin.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/network.h"
#include "gres/nodelist.h"

/* A node has one address, or a few. */
#define ADDRESSES_MAX 16

struct network {
    nodelist_t *nodes;
    const char *cluster; /* the site's; NULL: any */
    uint32_t network, mask;
};

struct waiter {
    struct in_addr origin;
    origin_f answer;
    void *arg;
    struct waiter *next;
};

struct name {
    char *name;
    bool asking;
    time_t until;
    struct in_addr addresses[ADDRESSES_MAX];
    size_t count;
    struct waiter *waiters;
    UT_hash_handle hh; /* in the order of finding */
};

struct origins {
    struct event_base *base;
    struct network *networks;
    size_t count;
    struct evdns_base *dns;
    struct name *names;
};

/* Networks */

static int read_network (const site_network_t *entry, struct network *network,
                         gl_error_t *error)
{
    if (network_parse (entry->network, &network->network, &network->mask,
                        error)
        < 0)
        return -1;
    network->cluster = entry->cluster;
    network->nodes = nodelist_open (entry->nodes, error);
    return network->nodes ? 0 : -1;
}

static int read_networks (origins_t *origins, const site_t *site,
                          gl_error_t *error)
{
    origins->networks
        = xcalloc (site->network_count + 1, sizeof (*origins->networks));
    for (; origins->count < site->network_count; origins->count++) {
        const site_network_t *entry = &site->networks[origins->count];

        if (read_network (entry, &origins->networks[origins->count], error) < 0)
            return gl_error_prefix (error, "networks");
    }
    return 0;
}

static bool speaks_for (const struct network *n, const char *cluster)
{
    return !cluster[0] || !n->cluster || !strcmp (n->cluster, cluster);
}

/* What the networks say of an address. */
struct verdict {
    bool own;     /* the node speaks from here, for this cluster */
    bool away;    /* it speaks from elsewhere */
    bool foreign; /* the address is another cluster's */
    bool native;  /* it is this cluster's */
};

static struct verdict judge (const origins_t *origins, const char *cluster,
                             const char *node, struct in_addr origin)
{
    uint32_t address = ntohl (origin.s_addr);
    struct verdict v = {false, false, false, false};

    for (size_t i = 0; i < origins->count; i++) {
        const struct network *n = &origins->networks[i];
        bool inside = (address & n->mask) == n->network;
        bool fits = speaks_for (n, cluster);

        v.foreign |= inside && !fits;
        v.native |= inside && fits && n->cluster;
        if (!fits || !nodelist_contains (n->nodes, node))
            continue;
        v.own |= inside;
        v.away |= !inside;
    }
    return v;
}

/* ORIGIN_UNRESOLVED: no entry speaks of the node. */
static origin_t by_network (const origins_t *origins, const char *cluster,
                            const char *node, struct in_addr origin)
{
    struct verdict v = judge (origins, cluster, node, origin);

    if (v.own)
        return ORIGIN_ITS_OWN;
    if (v.foreign && !v.native)
        return ORIGIN_OTHER_CLUSTER;
    return v.away ? ORIGIN_ANOTHER : ORIGIN_UNRESOLVED;
}

bool origins_allow_cluster (const origins_t *origins, const char *cluster,
                            const char *node, struct in_addr origin)
{
    struct verdict v = judge (origins, cluster, node, origin);

    return v.own || v.native || !v.foreign;
}

const char *origins_cluster (const origins_t *origins, const char *node,
                             struct in_addr origin)
{
    uint32_t address = ntohl (origin.s_addr);
    const char *only = NULL;

    for (size_t i = 0; i < origins->count; i++) {
        const struct network *n = &origins->networks[i];

        if ((address & n->mask) != n->network
            || !nodelist_contains (n->nodes, node))
            continue;
        if (!n->cluster || (only && strcmp (only, n->cluster)))
            return NULL;
        only = n->cluster;
    }
    return only;
}


/* Names */

static origin_t by_name (const struct name *name, struct in_addr origin)
{
    for (size_t i = 0; i < name->count; i++)
        if (name->addresses[i].s_addr == origin.s_addr)
            return ORIGIN_ITS_OWN;
    return name->count ? ORIGIN_ANOTHER : ORIGIN_UNRESOLVED;
}

static void forget (origins_t *origins, struct name *name)
{
    HASH_DEL (origins->names, name);
    free (name->name);
    free (name);
}

static void make_room (origins_t *origins)
{
    struct name *name, *next;

    HASH_ITER (hh, origins->names, name, next)
    {
        if (HASH_COUNT (origins->names) < ORIGIN_NAMES_MAX)
            return;
        if (!name->asking)
            forget (origins, name);
    }
}

static time_t now (void)
{
    struct timespec t;

    clock_gettime (CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void keep_addresses (struct name *name,
                            const struct evutil_addrinfo *found)
{
    name->count = 0;
    for (; found && name->count < ADDRESSES_MAX; found = found->ai_next)
        if (found->ai_family == AF_INET)
            name->addresses[name->count++]
                = ((const struct sockaddr_in *)(const void *)found->ai_addr)
                      ->sin_addr;
}

static void on_found (int rc, struct evutil_addrinfo *found, void *arg)
{
    struct name *name = arg;
    struct waiter *waiter = GL_TAKE (name->waiters);

    keep_addresses (name, rc == 0 ? found : NULL);
    if (rc == 0 && found)
        evutil_freeaddrinfo (found);
    name->asking = false;
    name->until
        = now ()
          + (name->count ? ORIGIN_KEEP_SECONDS : ORIGIN_KEEP_FAILURE_SECONDS);
    while (waiter) {
        struct waiter *next = waiter->next;

        waiter->answer (waiter->arg, by_name (name, waiter->origin));
        free (waiter);
        waiter = next;
    }
}

static struct name *find_name (origins_t *origins, const char *node)
{
    struct name *name;

    HASH_FIND_STR (origins->names, node, name);
    if (name)
        return name;
    make_room (origins);
    name = xcalloc (1, sizeof (*name));
    name->name = xstrdup (node);
    HASH_ADD_KEYPTR (hh, origins->names, name->name, strlen (name->name), name);
    return name;
}

static void look_up (origins_t *origins, struct name *name)
{
    const struct evutil_addrinfo hints
        = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};

    name->asking = true;
    /* on_found() may run now: a hosts file has it at once */
    if (origins->dns)
        evdns_getaddrinfo (origins->dns, name->name, NULL, &hints, on_found,
                           name);
    else
        on_found (EVUTIL_EAI_FAIL, NULL, name);
}

static void ask_by_name (origins_t *origins, const char *node,
                         struct in_addr origin, origin_f answer, void *arg)
{
    struct name *name = find_name (origins, node);
    struct waiter *waiter;

    if (!name->asking && now () < name->until) {
        answer (arg, by_name (name, origin));
        return;
    }
    waiter = xcalloc (1, sizeof (*waiter));
    *waiter = (struct waiter){origin, answer, arg, name->waiters};
    name->waiters = waiter;
    if (!name->asking)
        look_up (origins, name);
}

void origins_ask (origins_t *origins, const char *cluster, const char *node,
                  struct in_addr origin, origin_f answer, void *arg)
{
    origin_t said = by_network (origins, cluster, node, origin);

    if (said != ORIGIN_UNRESOLVED)
        answer (arg, said);
    else
        ask_by_name (origins, node, origin, answer, arg);
}


origins_t *origins_new (struct event_base *base, const site_t *site,
                        gl_error_t *error)
{
    origins_t *origins = xcalloc (1, sizeof (*origins));

    origins->base = base;
    if (read_networks (origins, site, error) < 0) {
        origins_free (origins);
        return NULL;
    }
    /* a host without resolv.conf still has its hosts file */
    origins->dns = evdns_base_new (base, 0);
    if (origins->dns) {
        evdns_base_resolv_conf_parse (origins->dns, DNS_OPTIONS_ALL,
                                      "/etc/resolv.conf");
        evdns_base_set_option (origins->dns, "timeout:", "3");
        evdns_base_set_option (origins->dns, "attempts:", "2");
        evdns_base_set_option (origins->dns, "randomize-case:", "0");
    }
    return origins;
}

void origins_free (origins_t *origins)
{
    struct name *name, *next;

    if (!origins)
        return;
    if (origins->dns) {
        evdns_base_free (origins->dns, 1);
        event_base_loop (origins->base, EVLOOP_NONBLOCK);
    }
    HASH_ITER (hh, origins->names, name, next)
    forget (origins, name);
    GL_FREE_EACH (origins->networks, origins->count, it,
                  nodelist_close (it->nodes));
    free (origins);
}
