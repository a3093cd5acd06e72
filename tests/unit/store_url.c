#include <stdio.h>

#include "support/test.h"

#include "store/db_url.h"

TEST_CASE (parse__good_urls__parts_decoded)
{
    /* user, hosts with ports, database socket ssl-ca option-file group */
    static const struct {
        const char *url;
        const char *parts;
    } cases[] = {
        {"mysql://u@h/d", "u|h 0|d|-|-|-|-"},
        {"mysql://u@h:3307/d", "u|h 3307|d|-|-|-|-"},
        {"mysql://u@[::1]/d", "u|::1 0|d|-|-|-|-"},
        {"mysql://u@[fe80::1%25eth0]:1/d", "u|fe80::1%eth0 1|d|-|-|-|-"},
        {"mysql://a%40b%2fc%3A@h/d%3f", "a@b/c:|h 0|d?|-|-|-|-"},
        {"mysql://u@h/d?", "u|h 0|d|-|-|-|-"},
        {"mysql://u@h/d?socket=/run/my%26sql.sock&ssl-ca=/ca.pem&"
         "option-file=/etc/my%20file&group=ledger",
         "u|h 0|d|/run/my&sql.sock|/ca.pem|/etc/my file|ledger"},
        {"mysql://u@h/d?group=a&group=b", "u|h 0|d|-|-|-|b"},
        {"mysql://u@h1,h2:3307,[::1],[::2]:1/d?group=a",
         "u|h1 0,h2 3307,::1 0,::2 1|d|-|-|-|a"},
        {"mysql://u@a%2cb,h/d", "u|a,b 0,h 0|d|-|-|-|-"},
        {"mysql://u@h,h/d", "u|h 0,h 0|d|-|-|-|-"},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        gl_error_t error = {""};
        char parts[512], hosts[256];
        db_url_t url;

        if (db_url_parse (cases[i].url, &url, &error) < 0)
            fail_msg ("%s: %s", cases[i].url, error.text);
#define OR_DASH(text) ((text) ? (text) : "-")
        hosts[0] = '\0';
        for (size_t at = 0; at < url.host_count; at++) {
            size_t length = strlen (hosts);
            snprintf (hosts + length, sizeof (hosts) - length, "%s%s %u",
                      at ? "," : "", url.hosts[at].name, url.hosts[at].port);
        }
        snprintf (parts, sizeof (parts), "%s|%s|%s|%s|%s|%s|%s", url.user,
                  hosts, url.database, OR_DASH (url.socket),
                  OR_DASH (url.ssl_ca), OR_DASH (url.option_file),
                  OR_DASH (url.group));
        assert_string_equal (parts, cases[i].parts);
        db_url_done (&url);
    }
}

TEST_CASE (parse__bad_urls__refused_without_repeating_a_password)
{
    static const char *const urls[] = {
        "mysql:/u@h/d",       "mysql://",           "mysql://h/d",
        "mysql://@h/d",       "mysql://u@/d",       "mysql://u@h",
        "mysql://u@h/",       "mysql://u@h?socket=s", "mysql://u:hunter2@h/d",
        "mysql://u@h:/d",     "mysql://u@h:0/d",    "mysql://u@h:65536/d",
        "mysql://u@h:3306x/d", "mysql://u@[::1/d",  "mysql://u@[::1]x/d",
        "mysql://u%/@h/d",    "mysql://u%4@h/d",    "mysql://u%zz@h/d",
        "mysql://u%00x@h/d",  "mysql://u@h/d%",     "mysql://u@h/d%4",
        "mysql://u@h/d?x=1",  "mysql://u@h/d?socket", "mysql://u@h/d?socket=",
        "mysql://u@h/d?password=hunter2", "mysql://u@h/d?&group=a",
        "mysql://u@h,/d",     "mysql://u@,h/d",     "mysql://u@h,,i/d",
        "mysql://u@h:1,i:/d", "mysql://u@h,[::1/d", "mysql://u:hunter2@h,i/d",
        "mysql://u@a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/d",
    };

    for (size_t i = 0; i < sizeof (urls) / sizeof (urls[0]); i++) {
        gl_error_t error = {""};
        db_url_t url;

        if (db_url_parse (urls[i], &url, &error) == 0)
            fail_msg ("%s is no good", urls[i]);
        assert_true (error.text[0] != '\0');
        assert_null (strstr (error.text, "hunter2"));
    }
}

TEST_MAIN (NULL, NULL)
