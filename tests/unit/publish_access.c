/* Access rules as text, and names that cannot be written. tests/publish/access.sh asks
 * real servers. */
#include "base/memory.h"
#include "publish/access.h"
#include "support/test.h"

struct rules {
    access_rules_t rules;
    access_team_t team[2];
};

static void rules_init (struct rules *r, const char *site, const char *reader)
{
    *r = (struct rules){.team
                        = {{.directory = "vision"}, {.directory = "a%2Fb~2"}}};
    r->rules.team = r->team;
    r->rules.team_count = 2;
    if (site)
        texts_add (&r->rules.readers, site);
    if (reader)
        texts_add (&r->team[0].readers, reader);
}

static void rules_done (struct rules *r)
{
    texts_clear (&r->rules.readers);
    texts_clear (&r->team[0].readers);
}

TEST_CASE (nginx__a_team_and_the_site__a_decision_each)
{
    BUFFER_AUTO out = BUFFER_INIT;
    struct rules r;

    rules_init (&r, "directors", "a \"$b\";\\");
    r.rules.team_count = 1;
    assert_int_equal (access_nginx (&r.rules, &out, NULL), 0);
    assert_string_equal (
        buffer_text (&out),
        "# Written by gpuledger publish.\n"
        "auth_request \"/_gpuledger/access/site\";\n"
        "location = \"/_gpuledger/access/site\" {\n"
        "    internal;\n"
        "    set $gpuledger_groups \"directors\";\n"
        "    proxy_pass $gpuledger_auth?allowed_groups=$gpuledger_groups;\n"
        "    proxy_pass_request_body off;\n"
        "    proxy_set_header Content-Length \"\";\n"
        "    proxy_set_header X-Original-URI $request_uri;\n"
        "}\n"
        "location ^~ \"/team/vision/\" {\n"
        "    auth_request \"/_gpuledger/access/team/vision\";\n"
        "}\n"
        "location = \"/team/vision\" {\n"
        "    auth_request \"/_gpuledger/access/team/vision\";\n"
        "}\n"
        "location = \"/_gpuledger/access/team/vision\" {\n"
        "    internal;\n"
        "    set $gpuledger_groups \"a%20%22%24b%22%3B%5C\";\n"
        "    set $gpuledger_groups \"$gpuledger_groups,directors\";\n"
        "    proxy_pass $gpuledger_auth?allowed_groups=$gpuledger_groups;\n"
        "    proxy_pass_request_body off;\n"
        "    proxy_set_header Content-Length \"\";\n"
        "    proxy_set_header X-Original-URI $request_uri;\n"
        "}\n");
    rules_done (&r);
}

/* An authenticator that is asked for no group would allow everybody. */
TEST_CASE (nginx__no_groups__never_asked)
{
    BUFFER_AUTO out = BUFFER_INIT;
    struct rules r;

    rules_init (&r, NULL, NULL);
    assert_int_equal (access_nginx (&r.rules, &out, NULL), 0);
    assert_null (strstr (buffer_text (&out), "proxy_pass"));
    assert_non_null (strstr (buffer_text (&out), "return 403"));
    rules_done (&r);
}

TEST_CASE (apache__a_team_and_the_site__a_section_each)
{
    BUFFER_AUTO out = BUFFER_INIT;
    struct rules r;

    rules_init (&r, NULL, "research 'staff'");
    assert_int_equal (access_apache (&r.rules, NULL, &out, NULL), 0);
    assert_string_equal (buffer_text (&out),
                         "# Written by gpuledger publish.\n"
                         "<Location \"/\">\n"
                         "    AuthMerging Off\n"
                         "    <RequireAny>\n"
                         "        Require all denied\n"
                         "    </RequireAny>\n"
                         "</Location>\n"
                         "<Location \"/team/vision\">\n"
                         "    AuthMerging Off\n"
                         "    <RequireAny>\n"
                         "        Require claim \"groups:research 'staff'\"\n"
                         "    </RequireAny>\n"
                         "</Location>\n"
                         "<Location \"/team/a%2Fb~2\">\n"
                         "    AuthMerging Off\n"
                         "    <RequireAny>\n"
                         "        Require all denied\n"
                         "    </RequireAny>\n"
                         "</Location>\n");
    rules_done (&r);
}

/* `require` "nginx": the other format. NULL `fault`: it is written. */
static void group (const char *require, const char *name, const char *fault)
{
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error = {""};
    struct rules r;
    int rc;

    for (int site = 0; site < 2; site++) {
        buffer_clear (&out);
        rules_init (&r, site ? name : "directors", site ? NULL : name);
        rc = require && !strcmp (require, "nginx")
                 ? access_nginx (&r.rules, &out, &error)
                 : access_apache (&r.rules, require, &out, &error);
        rules_done (&r);
        assert_int_equal (rc, fault ? -1 : 0);
        if (fault && !strstr (error.text, fault))
            fail_msg ("'%s' does not say '%s'", error.text, fault);
    }
}

TEST_CASE (groups__what_no_server_can_take__refused)
{
    static const char *const servers[]
        = {"nginx", NULL, "Require group %s", "Require ldap-group %s"};
    char name[1002] = "";

    memset (name, 'g', 1001);
    for (size_t i = 0; i < GL_ARRAY_SIZE (servers); i++) {
        group (servers[i], "staff\n    allow all;", "control character");
        group (servers[i], "staff\r", "control character");
        group (servers[i], "\x7f", "control character");
        group (servers[i], "", "it is empty");
        group (servers[i], name, "longer than 1000 bytes");
        group (servers[i], name + 1, NULL);
    }
}

TEST_CASE (groups__nginx__all_but_commas)
{
    group ("nginx", "a,b", "comma");
    group ("nginx",
           "R\xc3\xbc"
           "ckbau \"x\" $uri ; } { # \\",
           NULL);
}

TEST_CASE (groups__apache__what_it_would_interpret_refused)
{
    group (NULL, "a\" \"b", "Apache interprets");
    group (NULL, "a\\", "Apache interprets");
    group (NULL, "${PATH}", "Apache interprets");
    group (NULL, "$1", "Apache interprets");
    group (NULL, "%{REMOTE_USER}", "Apache interprets");
    group (NULL, "a b, c % # ' <x>", NULL);
    group ("Require group %s", "a b", "not in double quotes");
    group ("Require group %s", "'a'", "not in double quotes");
    group ("Require group \"%s\"", "a b", NULL);
    group ("Require ldap-group %s", "cn=a b, o=c", NULL);
    group ("Require ldap-group %s", "cn=a ", "blank");
    group ("require ldap-group %s", " cn=a", "blank");
}

TEST_CASE (require__no_such_line__refused)
{
    static const char *const lines[] = {"",
                                        "Require",
                                        "Require group staff",
                                        "Require group %s %s",
                                        "Allow from %s",
                                        "Require group %s\nRequire all granted",
                                        "Require group %s\\"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (lines); i++)
        group (lines[i], "staff", "is no line that allows a group");
}

TEST_CASE (directories__what_is_no_part_of_a_path__refused)
{
    static const char *const names[] = {
        "", ".", "..", ".x", "a/b", "a b", "a\"b", "a\nb", "*", "[a]", "a$b"};
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;
    struct rules r;

    rules_init (&r, "directors", NULL);
    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        r.team[1].directory = names[i];
        assert_int_equal (access_nginx (&r.rules, &out, &error), -1);
        assert_int_equal (access_apache (&r.rules, NULL, &out, &error), -1);
        assert_non_null (strstr (error.text, "cannot be the directory"));
    }
    r.team[1].directory = "vision";
    assert_int_equal (access_nginx (&r.rules, &out, &error), -1);
    assert_string_equal (error.text, "two teams have the directory 'vision'");
    rules_done (&r);
}

TEST_MAIN (NULL, NULL)
