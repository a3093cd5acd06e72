#include "support/acct_site.h"

#include "base/memory.h"
#include "site/project.h"

#define T0 INT64_C (1790000000)

static evidence_t record (int64_t stamp, const char *project)
{
    return (evidence_t){.cluster = "lab",
                        .id_job = 7,
                        .uid = 1000,
                        .node = "g1",
                        .stamp = stamp,
                        .project = project,
                        .source = TAG_OPTION};
}

static char *bob[] = {(char *)"bob"};
static char *vision[] = {(char *)"vision"};

TEST_CASE (project_resolve__each_rule__in_its_order)
{
    site_project_t projects[] = {
        {.name = (char *)"alpha", .valid = always},
        {.name = (char *)"beta", .users = {bob, 1}, .valid = always},
        {.name = (char *)"house", .default_for = {vision, 1}, .valid = always},
        {.name = (char *)"old", .valid = {0, 100}},
    };
    static const struct {
        const char *retag, *comment, *tag, *wckey;
        int wckey_is_project;
        const char *account, *want, *refused;
        project_rule_t rule;
    } cases[] = {
        {"fix", "gpuledger: project=beta", "alpha", "w", 1, "vision", "fix", "",
         PROJECT_RETAG},
        {NULL, "gpuledger: project=beta source=option labels=k=v", "alpha", "w",
         1, "vision", "beta", "", PROJECT_ADMIN_COMMENT},
        {NULL, "gpuledger: project=beta; note labels=k=v", "alpha", NULL, 0,
         "vision", "beta", "", PROJECT_ADMIN_COMMENT},
        {NULL, "by hand: xgpuledger: project=beta", "alpha", "w", 1, "vision",
         "alpha", "", PROJECT_RECORD},
        {NULL, "gpuledger: project==cmd", "alpha", NULL, 1, "vision", "alpha",
         "", PROJECT_RECORD},
        {NULL, NULL, "beta", "w", 1, "vision", "w", "beta", PROJECT_WCKEY},
        {NULL, NULL, "beta", "w", 0, "vision", "house", "beta",
         PROJECT_ACCOUNT_DEFAULT},
        {NULL, NULL, "old", NULL, 0, "nlp", "", "old", PROJECT_NONE},
        {NULL, NULL, NULL, NULL, 0, "nlp", "", "", PROJECT_NONE},
    };
    site_t site;

    test_site (&site, "UTC");
    site.projects = projects;
    site.project_count = GL_ARRAY_SIZE (projects);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = test_segment (7, T0, T0 + 10, "gpu=1", "g1");
        evidence_t e = record (T0, cases[i].tag);
        retag_t retag = {.project = cases[i].retag};
        project_t p;
        s.admin_comment = cases[i].comment;
        s.wckey = cases[i].wckey;
        s.account = cases[i].account;
        site.policy.wckey_is_project = cases[i].wckey_is_project;
        project_resolve (&site, &s, &e, cases[i].retag ? &retag : NULL, &p);
        assert_string_equal (p.project, cases[i].want);
        assert_string_equal (p.refused, cases[i].refused);
        assert_int_equal (p.rule, cases[i].rule);
        if (p.rule == PROJECT_ADMIN_COMMENT)
            assert_string_equal (p.labels,
                                 strstr (cases[i].comment, ";") ? "" : "k=v");
    }
    zone_close (site.zone);
}

TEST_CASE (team_of_account__leaf_and_subtree__nearest_wins)
{
    char *science[] = {(char *)"subtree:root"}, *cv[] = {(char *)"subtree:cv"};
    char *faces[] = {(char *)"faces"};
    site_team_t teams[] = {
        {.name = (char *)"science", .accounts = {science, 1}, .valid = always},
        {.name = (char *)"vision", .accounts = {cv, 1}, .valid = always},
        {.name = (char *)"faces", .accounts = {faces, 1}, .valid = {T0, T0 + 9}},
    };
    accounts_t *tree = accounts_new ();
    site_t site;

    test_site (&site, "UTC");
    site.teams = teams;
    site.team_count = 3;
    accounts_add (tree, "lab", "root", NULL);
    accounts_add (tree, "lab", "cv", "root");
    accounts_add (tree, "lab", "robots", "cv");
    accounts_add (tree, "lab", "faces", "cv");
    accounts_add (tree, "other", "alien", "root");
    assert_string_equal (
        team_of_account (&site, tree, "lab", "robots", T0)->name, "vision");
    assert_string_equal (
        team_of_account (&site, tree, "lab", "faces", T0)->name, "faces");
    assert_string_equal (
        team_of_account (&site, tree, "lab", "faces", T0 + 9)->name,
        "vision");
    assert_string_equal (
        team_of_account (&site, tree, "lab", "root", T0)->name, "science");
    assert_null (team_of_account (&site, tree, "lab", "alien", T0));
    assert_null (team_of_account (&site, NULL, "lab", "robots", T0));
    accounts_free (tree);
    zone_close (site.zone);
}

TEST_CASE (team_within__two_entries__the_last_of_the_period)
{
    site_team_t teams[] = {
        {.name = (char *)"vision", .valid = {T0 + 9, T0 + 20}},
        {.name = (char *)"vision", .valid = {T0, T0 + 9}},
        {.name = (char *)"nlp", .valid = always},
    };
    site_t site = {.teams = teams, .team_count = 3};

    assert_ptr_equal (team_within (&site, "vision", (period_t){T0, T0 + 20}),
                      &teams[0]);
    assert_ptr_equal (team_within (&site, "vision", (period_t){T0, T0 + 9}),
                      &teams[1]);
    assert_null (team_within (&site, "vision", (period_t){T0 + 20, T0 + 30}));
    assert_null (team_within (&site, NULL, (period_t){T0, T0 + 9}));
}

TEST_MAIN (NULL, NULL)
