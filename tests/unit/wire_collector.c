/* The parts of the collector that no network is needed for. */
#include "support/test.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <stdbool.h>

#include "base/network.h"
#include "collector/collector.h"
#include "record/record.h"

/* rates */

TEST_CASE (rate__bucket__is_emptied_and_fills)
{
    static const rate_t rate = {2, 5};
    rates_t *rates = rates_new (10);

    for (int i = 0; i < 5; i++)
        assert_true (rates_take (rates, "a", &rate, 1, 1000));
    assert_false (rates_take (rates, "a", &rate, 1, 1000));
    assert_true (rates_take (rates, "b", &rate, 1, 1000));
    assert_false (rates_take (rates, "a", &rate, 1, 1400));
    assert_true (rates_take (rates, "a", &rate, 1, 1500));
    assert_false (rates_take (rates, "a", &rate, 1, 1500));
    /* no more than the burst, however long it takes */
    for (int i = 0; i < 5; i++)
        assert_true (rates_take (rates, "a", &rate, 1, 1000000));
    assert_false (rates_take (rates, "a", &rate, 1, 1000000));
    /* a clock that went back gives nothing */
    assert_false (rates_take (rates, "a", &rate, 1, 5));
    rates_free (rates);
}

TEST_CASE (rate__more_names_than_room__forgets_the_oldest)
{
    static const rate_t rate = {0, 1};
    rates_t *rates = rates_new (2);

    assert_true (rates_take (rates, "a", &rate, 1, 0));
    assert_true (rates_take (rates, "b", &rate, 1, 0));
    assert_false (rates_take (rates, "a", &rate, 1, 0));
    assert_true (rates_take (rates, "c", &rate, 1, 0)); /* b goes */
    assert_false (rates_take (rates, "a", &rate, 1, 0));
    assert_true (rates_take (rates, "b", &rate, 1, 0)); /* c goes */
    assert_false (rates_take (rates, "a", &rate, 1, 0));
    rates_free (rates);
}

/* networks */

TEST_CASE (network__texts__are_read_or_refused)
{
    static const struct {
        const char *text;
        int rc;
        uint32_t network, mask;
    } cases[] = {
        {"10.1.0.0/16", 0, 0x0a010000, 0xffff0000},
        {"10.1.2.3", 0, 0x0a010203, 0xffffffff},
        {"10.1.2.3/32", 0, 0x0a010203, 0xffffffff},
        {"0.0.0.0/0", 0, 0, 0},
        {"10.1.2.3/16", -1, 0, 0},
        {"10.1.0.0/33", -1, 0, 0},
        {"10.1.0.0/", -1, 0, 0},
        {"10.1.0.0/-1", -1, 0, 0},
        {"10.1.0", -1, 0, 0},
        {"fe80::1", -1, 0, 0},
        {"", -1, 0, 0},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        gl_error_t error = {""};
        uint32_t network = 0, mask = 0;

        assert_int_equal (
            network_parse (cases[i].text, &network, &mask, &error),
            cases[i].rc);
        if (cases[i].rc == 0) {
            assert_int_equal (network, cases[i].network);
            assert_int_equal (mask, cases[i].mask);
        } else {
            assert_true (error.text[0] != '\0');
        }
    }
}

struct answer {
    int count;
    origin_t last;
    struct event_base *base;
};

static void on_answer (void *arg, origin_t answer)
{
    struct answer *a = arg;

    a->count++;
    a->last = answer;
    event_base_loopbreak (a->base);
}

static origin_t ask_of (origins_t *origins, struct event_base *base,
                        const char *cluster, const char *node,
                        const char *origin)
{
    struct answer answer = {.base = base};
    struct in_addr address;

    inet_pton (AF_INET, origin, &address);
    origins_ask (origins, cluster, node, address, on_answer, &answer);
    if (answer.count == 0)
        event_base_dispatch (base);
    assert_int_equal (answer.count, 1);
    return answer.last;
}

static origin_t ask (origins_t *origins, struct event_base *base,
                     const char *node, const char *origin)
{
    return ask_of (origins, base, "lab", node, origin);
}

TEST_CASE (origin__networks_and_names__bind_a_node)
{
    static char wide[] = "g[1-4]", one[] = "g4,h1", inner[] = "10.1.0.0/16",
                outer[] = "192.168.7.7";
    site_network_t networks[]
        = {{.nodes = wide, .network = inner}, {.nodes = one, .network = outer}};
    struct event_base *base = event_base_new ();
    site_t *site = site_default ();
    gl_error_t error;
    origins_t *o;

    site->networks = networks;
    site->network_count = 2;
    o = origins_new (base, site, &error);
    site->networks = NULL;
    site->network_count = 0;
    assert_non_null (o);
    assert_int_equal (ask (o, base, "g1", "10.1.255.9"), ORIGIN_ITS_OWN);
    assert_int_equal (ask (o, base, "g1", "10.2.0.1"), ORIGIN_ANOTHER);
    assert_int_equal (ask (o, base, "g1", "192.168.7.7"), ORIGIN_ANOTHER);
    /* a node in two entries may speak from both */
    assert_int_equal (ask (o, base, "g4", "192.168.7.7"), ORIGIN_ITS_OWN);
    assert_int_equal (ask (o, base, "g4", "10.1.0.1"), ORIGIN_ITS_OWN);
    assert_int_equal (ask (o, base, "h1", "10.1.0.1"), ORIGIN_ANOTHER);
    /* an address is a name that needs no look-up */
    assert_int_equal (ask (o, base, "10.9.9.9", "10.9.9.9"), ORIGIN_ITS_OWN);
    assert_int_equal (ask (o, base, "10.9.9.9", "10.9.9.8"), ORIGIN_ANOTHER);
    origins_free (o);
    event_base_free (base);
    site_free (site);
}

static struct in_addr address_of (const char *text)
{
    struct in_addr address;

    inet_pton (AF_INET, text, &address);
    return address;
}

TEST_CASE (origin__networks_of_clusters__bind_a_cluster)
{
    static char g[] = "g[1-4]", h[] = "10.2.0.9", lab_net[] = "10.1.0.0/16",
                hall_net[] = "10.2.0.0/16", shared[] = "10.3.0.1",
                lab[] = "lab", hall[] = "hall";
    site_network_t networks[] = {
        {.nodes = g, .network = lab_net, .cluster = lab},
        {.nodes = g, .network = hall_net, .cluster = hall},
        {.nodes = g, .network = shared},
        {.nodes = h, .network = hall_net, .cluster = lab},
    };
    static const struct {
        const char *cluster, *node, *origin;
        origin_t said;
    } cases[] = {
        /* nodes of the same name in two clusters */
        {"lab", "g1", "10.1.0.1", ORIGIN_ITS_OWN},
        {"hall", "g1", "10.2.0.1", ORIGIN_ITS_OWN},
        {"hall", "g1", "10.1.0.1", ORIGIN_OTHER_CLUSTER},
        {"lab", "g1", "10.9.0.1", ORIGIN_ANOTHER},
        /* an entry without a cluster speaks for any */
        {"lab", "g1", "10.3.0.1", ORIGIN_ITS_OWN},
        {"elsewhere", "g1", "10.3.0.1", ORIGIN_ITS_OWN},
        /* no cluster is told: the network's */
        {"", "g1", "10.1.0.1", ORIGIN_ITS_OWN},
        {"", "g1", "10.9.0.1", ORIGIN_ANOTHER},
        /* a name that resolves is no way around */
        {"hall", "10.1.0.8", "10.1.0.8", ORIGIN_OTHER_CLUSTER},
        {"lab", "10.1.0.8", "10.1.0.8", ORIGIN_ITS_OWN},
        /* two clusters in one network: what an entry says of the node */
        {"lab", "10.2.0.9", "10.2.0.9", ORIGIN_ITS_OWN},
    };
    struct event_base *base = event_base_new ();
    site_t *site = site_default ();
    gl_error_t error;
    origins_t *o;

    site->networks = networks;
    site->network_count = 4;
    o = origins_new (base, site, &error);
    assert_non_null (o);
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        origin_t said = ask_of (o, base, cases[i].cluster, cases[i].node,
                                cases[i].origin);
        if (said != cases[i].said)
            fail_msg ("%s of '%s' at %s: %d", cases[i].node, cases[i].cluster,
                      cases[i].origin, said);
    }
    assert_true (origins_allow_cluster (o, "lab", "g1", address_of ("10.1.0.1")));
    assert_false (
        origins_allow_cluster (o, "hall", "g1", address_of ("10.1.0.1")));
    assert_true (
        origins_allow_cluster (o, "hall", "g1", address_of ("10.3.0.1")));
    assert_string_equal (origins_cluster (o, "g1", address_of ("10.2.0.1")),
                         "hall");
    assert_null (origins_cluster (o, "g1", address_of ("10.3.0.1")));
    assert_null (origins_cluster (o, "g9", address_of ("10.1.0.1")));
    site->networks = NULL;
    site->network_count = 0;
    origins_free (o);
    event_base_free (base);
    site_free (site);
}

TEST_CASE (origin__bad_entry__is_refused)
{
    static char nodes[] = "g[1-4]", bad[] = "10.1.2.3/16";
    site_network_t networks[] = {{.nodes = nodes, .network = bad}};
    struct event_base *base = event_base_new ();
    gl_error_t error = {""};
    site_t site = {.networks = networks, .network_count = 1};

    assert_null (origins_new (base, &site, &error));
    assert_non_null (strstr (error.text, "networks"));
    event_base_free (base);
}

/* clocks */

#define SECOND INT64_C (1000000000)
#define NOW (INT64_C (1790000000) * SECOND)

static size_t note (struct skews *skews, const char *node, int64_t at,
                    int64_t skew, unsigned char *bytes)
{
    batch_t batch = {.sent_ns = at + skew, .cluster = "lab"};

    snprintf (batch.node, sizeof (batch.node), "%s", node);
    return skews_note (skews, &batch, at, SECOND / 100, bytes);
}

TEST_CASE (skew__record__is_due_at_first_on_change_and_daily)
{
    struct skews *skews = skews_new ();
    unsigned char bytes[RECORD_MAX];
    int64_t day = 24 * 3600 * SECOND, minute = 60 * SECOND;
    record_t r;
    size_t size = note (skews, "g1", NOW, -3 * SECOND, bytes);

    assert_true (size > 0);
    assert_int_equal (record_decode (bytes, size, &r, NULL), 0);
    assert_int_equal (r.kind, RECORD_SKEW);
    assert_string_equal (r.node, "g1");
    assert_string_equal (r.cluster, "lab");
    assert_true (r.skew_ns == -3 * SECOND);
    assert_true (r.skew_bound_ns == SECOND / 100);
    /* another node is another clock */
    assert_true (note (skews, "g2", NOW, 0, bytes) > 0);
    assert_int_equal (
        note (skews, "g1", NOW + minute, -3 * SECOND + SECOND / 2, bytes), 0);
    /* a clock that jumps about gets one record a minute */
    assert_int_equal (note (skews, "g1", NOW + minute - 1, 0, bytes), 0);
    assert_true (note (skews, "g1", NOW + minute, 0, bytes) > 0);
    assert_int_equal (note (skews, "g1", NOW + day, 0, bytes), 0);
    assert_true (note (skews, "g1", NOW + minute + day, 0, bytes) > 0);
    skews_free (skews);
}

TEST_CASE (skew__undone__is_due_again)
{
    struct skews *skews = skews_new ();
    unsigned char bytes[RECORD_MAX];
    batch_t batch = {.cluster = "lab", .node = "g1"};

    assert_true (note (skews, "g1", NOW, 0, bytes) > 0);
    skews_undo (skews, &batch);
    assert_true (note (skews, "g1", NOW + SECOND, 0, bytes) > 0);
    skews_free (skews);
}

TEST_CASE (skew__absurd_clocks__do_not_overflow)
{
    struct skews *skews = skews_new ();
    unsigned char bytes[RECORD_MAX];
    batch_t batch = {.sent_ns = INT64_MIN, .cluster = "lab", .node = "g1"};

    assert_true (skews_note (skews, &batch, NOW, 0, bytes) > 0);
    batch.sent_ns = INT64_MAX;
    assert_true (skews_note (skews, &batch, NOW + 61 * SECOND, 0, bytes) > 0);
    batch.cluster[0] = '\0';
    assert_int_equal (skews_note (skews, &batch, NOW, 0, bytes), 0);
    skews_free (skews);
}

TEST_MAIN (NULL, NULL)
