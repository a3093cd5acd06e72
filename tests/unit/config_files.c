#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "support/config_site.h"

#include "base/memory.h"

static int make_directory (void **state)
{
    char *dir = xstrdup ("/tmp/gpuledger-config.XXXXXX");

    *state = mkdtemp (dir);
    return *state ? 0 : -1;
}

static void remove_tree (const char *path)
{
    struct dirent *entry;
    DIR *dir = opendir (path);

    while (dir && (entry = readdir (dir))) {
        if (entry->d_name[0] != '.' || strlen (entry->d_name) > 2) {
            char *name = xasprintf ("%s/%s", path, entry->d_name);
            if (unlink (name) < 0)
                remove_tree (name);
            free (name);
        }
    }
    if (dir)
        closedir (dir);
    rmdir (path);
}

static int remove_directory (void **state)
{
    remove_tree (*state);
    free (*state);
    return 0;
}

static void write_file (const char *dir, const char *name, const char *text)
{
    char *path = xasprintf ("%s/%s", dir, name);
    FILE *fp = fopen (path, "w");

    assert_non_null (fp);
    fputs (text, fp);
    fclose (fp);
    free (path);
}

static int load_file (const char *dir, site_t **ret_site, gl_error_t *error)
{
    char *path = xasprintf ("%s/gpuledger.yaml", dir);
    int rc = config_load (path, ret_site, error);

    free (path);
    return rc;
}

static void make_conf_d (const char *dir)
{
    char *path = xasprintf ("%s/conf.d", dir);

    assert_int_equal (mkdir (path, 0700), 0);
    free (path);
}

TEST_CASE (config_load__conf_d__is_read_in_order)
{
    const char *dir = *state;
    gl_error_t error = {""};
    site_t *site;

    write_file (dir, "gpuledger.yaml", "tariffs: [{name: a, per_kwh: 1}]\n");
    make_conf_d (dir);
    write_file (dir, "conf.d/20-b.yaml", "tariffs: [{name: c, per_kwh: 3}]\n");
    write_file (dir, "conf.d/10-a.yaml",
                "tariffs: [{name: b, per_kwh: 2}]\nledger: {currency: EUR}\n");
    write_file (dir, "conf.d/.hidden.yaml", "nonsense");
    write_file (dir, "conf.d/notes.txt", "nonsense");
    if (load_file (dir, &site, &error) < 0)
        fail_msg ("%s", error.text);
    assert_string_equal (site->currency, "EUR");
    assert_int_equal (site->tariff_count, 3);
    assert_string_equal (site->tariffs[1].name, "b");
    assert_string_equal (site->tariffs[2].name, "c");
    assert_non_null (strstr (site->tariffs[2].place.file, "20-b.yaml"));
    site_free (site);
}

TEST_CASE (config_load__two_files_in_conflict__both_are_named)
{
    const char *dir = *state;
    gl_error_t error;
    site_t *site;

    write_file (dir, "gpuledger.yaml",
                "ledger: {currency: EUR}\ntariffs: [{name: a, per_kwh: 1}]\n");
    make_conf_d (dir);
    write_file (dir, "conf.d/x.yaml", "\nledger: {currency: EUR}\n");
    assert_int_equal (load_file (dir, &site, &error), -1);
    assert_non_null (strstr (error.text, "conf.d/x.yaml:2"));
    assert_non_null (strstr (error.text, "/gpuledger.yaml:1"));
    write_file (dir, "conf.d/x.yaml", "\n\ntariffs: [{name: a, per_kwh: 1}]\n");
    assert_int_equal (load_file (dir, &site, &error), -1);
    assert_non_null (strstr (error.text, "conf.d/x.yaml:3"));
    assert_non_null (strstr (error.text, "/gpuledger.yaml:2"));
}

TEST_CASE (config_load__another_suffix__is_not_left_out)
{
    const char *dir = *state;
    gl_error_t error;
    site_t *site;

    write_file (dir, "gpuledger.yaml", "ledger: {currency: EUR}\n");
    make_conf_d (dir);
    write_file (dir, "conf.d/rates.yml", "ledger: {timezone: UTC}\n");
    assert_int_equal (load_file (dir, &site, &error), -1);
    assert_non_null (strstr (error.text, "conf.d/rates.yml: files of conf.d"));
    assert_non_null (strstr (error.text, "'.yaml'"));
}

TEST_CASE (config_load__unreadable__says_which_file)
{
    gl_error_t error;
    site_t *site;

    assert_int_equal (load_file (*state, &site, &error), -1);
    assert_non_null (strstr (error.text, "gpuledger.yaml: No such file"));
    assert_int_equal (config_load (*state, &site, &error), -1);
    assert_non_null (strstr (error.text, "Is a directory"));
}

TEST_MAIN_EACH (make_directory, remove_directory)
