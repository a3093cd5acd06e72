#include <stdlib.h>
#include <string.h>

#include "generate.h"

/* --- names -------------------------------------------------------------- */

void user_name (unsigned user, char name[32])
{
    if (user == 0)
        strcpy (name, "(none)");
    else if (user <= USERS)
        snprintf (name, 32, "user%03u", user);
    else
        snprintf (name, 32, "alone%04u", user - USERS);
}

void account_name (unsigned account, char name[32])
{
    snprintf (name, 32, "acct%02u", account);
}

static bool is_deleted (unsigned user, unsigned account)
{
    return account >= 25 || (user && user % 7 == 0);
}

/* 0 where nobody knows the user */
unsigned association (unsigned user, unsigned account)
{
    return user ? 100 + user * ACCOUNTS + account : 0;
}

/* Accounting keeps associations of deleted accounts; acct03 has been renamed
 * since, which rows of jobs do not follow. */
static void write_association (month_t *m, unsigned user, unsigned account,
                               const char *separator)
{
    char user_text[32] = "", account_text[32];

    if (user)
        user_name (user, user_text);
    account_name (account, account_text);
    fprintf (m->table_file, "%s(1, %d, %u, '%s', '%s%s', '%s')\n", separator,
             is_deleted (user, account),
             user ? association (user, account) : 10 + account, user_text,
             account_text, account == 3 ? "new" : "", user ? "" : "root");
}

void write_tables (month_t *m)
{
    fprintf (m->table_file,
             "-- as-of %d\n"
             "SET sql_mode = '';\n"
             "INSERT INTO tres_table (creation_time, deleted, id, type, name)"
             " VALUES\n"
             "(1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100'),\n"
             "(1, 0, 1003, 'gres', 'gpu:a100-sxm4_80'),\n"
             "(1, 1, 1004, 'gres', 'gpu:1g.10gb+me'),\n"
             "(1, 0, 1005, 'gres', 'shard'), (1, 0, 1006, 'license', 'x');\n"
             "INSERT INTO qos_table (creation_time, deleted, id, name) VALUES\n"
             "(1, 0, 20, 'high'), (1, 1, 21, 'gone');\n"
             "INSERT INTO lab_assoc_table (creation_time, deleted, id_assoc,"
             " user, acct, parent_acct) VALUES\n",
             AS_OF);
    for (unsigned a = 0; a < ACCOUNTS; a++)
        write_association (m, 0, a, a ? "," : "");
    for (unsigned u = 1; u < m->users; u++) {
        for (unsigned a = 0; a < ACCOUNTS; a++) {
            if (u <= USERS || a == u % ACCOUNTS)
                write_association (m, u, a, ",");
        }
    }
    fprintf (m->table_file, ";\n");
}

/* --- nodes -------------------------------------------------------------- */

/* 0: open */
static int64_t end_of_row (int64_t to)
{
    return to < AS_OF ? to : 0;
}

static void write_event (month_t *m, unsigned node, unsigned state, span_t span,
                         const char *nodes)
{
    char name[16] = "";

    if (node)
        snprintf (name, sizeof (name), "g%u", node);
    fprintf (m->table_file,
             "INSERT INTO lab_event_table (time_start, time_end, node_name,"
             " cluster_nodes, reason, state, tres) VALUES (%" PRId64
             ", %" PRId64 ", '%s', '%s', '%s', %u, '%s');\n",
             span.from, end_of_row (span.to), name, nodes,
             node ? "Not responding" : "Cluster Registered TRES", state,
             node ? "1=64,1001=8" : "1=999,1001=792");
}

static void register_nodes (month_t *m, unsigned last, span_t span)
{
    char nodes[32];

    snprintf (nodes, sizeof (nodes), "g[1-%u]", last);
    write_event (m, 0, 0, span, nodes);
    for (unsigned n = 1; n <= last; n++)
        truth_add_state (m->truth, n, KNOWN, span);
}

/* The cluster comes, grows, is not heard of for half an hour, and comes back;
 * while slurmctld cannot be reached nobody speaks of any node. */
void write_registrations (month_t *m)
{
    const int64_t from = BEGIN + 2 * HOUR + 17, more = BEGIN + 5 * DAY + 5,
                  gone = BEGIN + 20 * DAY, back = gone + HOUR / 2;
    const span_t away = {BEGIN + 10 * DAY, BEGIN + 10 * DAY + 2 * HOUR + 3};

    register_nodes (m, 90, (span_t){from, more});
    register_nodes (m, 99, (span_t){more, gone});
    register_nodes (m, 99, (span_t){back, AS_OF});
    write_event (m, 0, 1, away, "");
    for (unsigned n = 1; n < NODES; n++)
        truth_add_state (m->truth, n, AWAY, away);
}

/* False: there is such a row already, the key of which is node and start. */
static bool new_outage (month_t *m, unsigned node, int64_t from)
{
    for (unsigned i = 0; i < m->outages; i++)
        if (m->outage[i].node == node && m->outage[i].from == from)
            return false;
    if (m->outages == OUTAGES_MAX || from >= AS_OF)
        return false;
    m->outage[m->outages].node = node;
    m->outage[m->outages++].from = from;
    return true;
}

int64_t put_outage (month_t *m, unsigned node, int64_t from)
{
    static const struct {
        unsigned state;
        node_state_t is;
    } states[] = {
        {1, DOWN},         {0x201, DOWN},     {0x202, DRAINED},
        {0x2001, DOWN},    {0x8201, PLANNED}, {0x1001, PLANNED},
        {0x1081, PLANNED}, {0x8002, PLANNED}, {6, PLANNED},
        {0x200, DRAINED},
    };
    size_t kind = pick (m, sizeof (states) / sizeof (states[0]));
    int64_t to = chance (m, 4) ? AS_OF : moment (m, from + 1, from + 2 * DAY);
    span_t span = {from, to > AS_OF ? AS_OF : to};

    if (!new_outage (m, node, from))
        return AS_OF;
    write_event (m, node, states[kind].state, span, "");
    truth_add_state (m->truth, node, states[kind].is, span);
    return span.to;
}

/* Rows that follow one another: the state has changed, or the cluster's TRES
 * have, which closes all rows. Jobs may go on all the while. */
void write_outages (month_t *m)
{
    for (unsigned i = 0; i < 60; i++) {
        unsigned node = 1 + (unsigned)pick (m, 99),
                 more = 1 + (unsigned)pick (m, 3);
        int64_t at = moment (m, BEGIN, AS_OF);
        while (more-- > 0 && at < AS_OF)
            at = put_outage (m, node, at);
    }
}

static void put_reservation (month_t *m, unsigned first, unsigned last,
                             unsigned flags, bool deleted, span_t span)
{
    fprintf (m->table_file,
             "INSERT INTO lab_resv_table (id_resv, deleted, assoclist, flags,"
             " nodelist, node_inx, resv_name, time_start, time_end, tres)"
             " VALUES (%" PRIu64
             ", %d, ',10,11,', %u, 'g[%u-%u]', '', 'r%" PRIu64 "', %" PRId64
             ", %" PRId64 ", '1001=8');\n",
             m->reservations, deleted, flags, first, last, m->reservations,
             span.from, span.to);
    for (unsigned n = first; n <= last && span.from < AS_OF; n++)
        truth_add_state (m->truth, n, flags & 1 ? MAINTENANCE : RESERVED, span);
}

/* One that is changed goes on as another row of the same id; one that is
 * removed is marked as deleted and ended; one may not have begun. */
void write_reservations (month_t *m)
{
    static const unsigned flags[] = {0, 1, 0x40, 0x41, 0, 0x8000};

    for (m->reservations = 1; m->reservations <= 24; m->reservations++) {
        unsigned first = 1 + (unsigned)pick (m, 90);
        unsigned kind = flags[pick (m, 6)], more = 1 + (unsigned)pick (m, 3);
        int64_t at = moment (m, BEGIN - DAY, AS_OF);
        while (more-- > 0) {
            int64_t to = moment (m, at + 1, at + 3 * DAY);
            put_reservation (m, first, first + (unsigned)pick (m, 9), kind,
                             chance (m, 30), (span_t){at, to});
            at = to;
        }
    }
    put_reservation (m, 1, 99, 0, false, (span_t){AS_OF + 60, AS_OF + DAY});
}
