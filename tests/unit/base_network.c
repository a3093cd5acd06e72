/* Networks and hosts, as people write them. */
#include "support/test.h"

#include "base/memory.h"
#include "base/network.h"

TEST_CASE (split_host__every_form__gives_host_and_port)
{
    static const struct {
        const char *text;
        const char *host;
        const char *port; /* NULL: none is told */
    } forms[] = {
        {"ledger1", "ledger1", NULL},
        {"ledger2.example.org:6828", "ledger2.example.org", "6828"},
        {"10.0.0.5:1", "10.0.0.5", "1"},
        {"*:6828", "*", "6828"},
        {"::1", "::1", NULL},
        {"fe80::1%eth0", "fe80::1%eth0", NULL},
        {"[::1]", "::1", NULL},
        {"[fe80::1%eth0]:6828", "fe80::1%eth0", "6828"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (forms); i++) {
        GL_AUTOFREE char *text = xstrdup (forms[i].text);
        const char *host, *port;
        network_split_host (text, &host, &port);
        assert_string_equal (host, forms[i].host);
        assert_int_equal (port != NULL, forms[i].port != NULL);
        if (port)
            assert_string_equal (port, forms[i].port);
    }
}

TEST_CASE (parse__bits_behind_the_prefix__are_refused)
{
    uint32_t network, mask;
    gl_error_t error;

    assert_int_equal (network_parse ("10.1.0.0/16", &network, &mask, &error), 0);
    assert_int_equal (network, 0x0a010000);
    assert_int_equal (mask, 0xffff0000);
    assert_int_equal (network_parse ("0.0.0.0/0", &network, &mask, &error), 0);
    assert_int_equal (mask, 0);
    assert_int_equal (network_parse ("10.1.2.3", &network, &mask, &error), 0);
    assert_int_equal (mask, 0xffffffff);
    assert_int_equal (network_parse ("10.1.2.0/16", &network, &mask, &error),
                      -1);
    assert_non_null (strstr (error.text, "behind its prefix of 16"));
    assert_int_equal (network_parse ("10.1.0.0/33", &network, &mask, &error),
                      -1);
}

TEST_MAIN (NULL, NULL)
