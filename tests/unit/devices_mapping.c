#include "support/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "devices/device.h"
#include "devices/gres_table.h"
#include "devices/mapping.h"
#include "devices/replay.h"

/* Two whole GPUs, and one that is cut into two slices and a third one that
 * shares a GPU instance with the second. */
static const char node[]
    = "replay 1\n"
      "gpu g0 uuid=GPU-0a11 minor=0\n"
      "gpu g1 uuid=GPU-0b22 minor=1\n"
      "gpu g2 uuid=GPU-0c33 minor=2\n"
      "slice s0 uuid=MIG-aaaa gi=1 ci=0 gi_minor=30 ci_minor=31\n"
      "slice s1 uuid=MIG-abcd gi=2 ci=0 gi_minor=39 ci_minor=40\n"
      "slice s2 uuid=MIG-abff gi=2 ci=1 gi_minor=39 ci_minor=41\n";
enum { G0, G1, G2, S0, S1, S2 };

static void scan_text (const char *text, inventory_t *inventory)
{
    gl_error_t error = {""};
    replay_t *replay = replay_parse (text, strlen (text), "test", &error);
    source_t *source;

    if (!replay)
        fail_msg ("%s", error.text);
    source = source_open_replay_parsed (replay, 0, NULL);
    source->ops->scan (source, 0, inventory, NULL);
    source_close (source);
}

static void parse (const char *text, gres_table_t *table)
{
    gl_error_t error = {""};

    if (gres_table_parse (text, strlen (text), table, &error) < 0)
        fail_msg ("%s", error.text);
}

/* Fill the inventory of `node` by what slurmd would print. */
static size_t fill (inventory_t *inventory, const char *slurmd,
                    gl_error_t *error)
{
    gres_table_t table = {0};
    size_t missing;

    scan_text (node, inventory);
    parse (slurmd, &table);
    missing = mapping_fill (inventory, &table, error);
    gres_table_clear (&table);
    return missing;
}

#define LINE(type, count, file)                        \
    "slurmd: Gres Name=gpu Type=" type " Count=" count \
    " Index=0 ID=7696487 File=" file " (null)\n"
#define CAPS "/dev/nvidia-caps/nvidia-cap"

/* --------------------------------------------------------------- the table */

TEST_CASE (table__output_of_22_05__counts_positions)
{
    /* as printed by Debian's 22.05.8, types in this order in slurm.conf */
    gres_table_t table = {0};

    parse ("slurmd-x2: Gres Name=gpu Type=s Count=1 Index=1 ID=7696487 "
           "File=/d/nvidia3,/d/mig0,/d/mig1 (null)\n"
           "slurmd-x2: Gres Name=gpu Type=s Count=1 Index=0 ID=7696487 "
           "File=/d/nvidia2,/d/mig[2-3] (null)\n"
           "slurmd-x2: Gres Name=mps Type=s Count=0 Index=0 ID=7565421 "
           "File=/d/nvidia2 (null)\n"
           "slurmd-x2: Gres Name=gpu Type=w Count=4 Index=0 ID=7696487 "
           "File=/d/nvidia[10-11,2,0] (null)\n",
           &table);
    assert_string_equal (table.problem, "");
    assert_int_equal (table.count, 6);
    assert_string_equal (table.device[1].type, "s");
    assert_int_equal (table.device[1].file_count, 3);
    assert_string_equal (table.device[1].file[2], "/d/mig3");
    assert_string_equal (table.device[2].file[0], "/d/nvidia10");
    assert_string_equal (table.device[4].file[0], "/d/nvidia2");
    assert_string_equal (table.device[5].type, "w");
    gres_table_clear (&table);
}

TEST_CASE (table__later_versions__read_the_same)
{
#define FLAGS "ENV_NVML,ENV_RSMI,ENV_ONEAPI,ENV_OPENCL,ENV_DEFAULT"
    /* as printed by Debian's 24.11.5, and by its 26.05.5 behind a time */
    gres_table_t table = {0};

    parse ("hwloc/linux: failed to find sysfs cpu topology directory\n"
           "slurmd-x4: Gres Name=gpu Type=(null) Count=2 Index=0 ID=7696487 "
           "File=/d/nvidia[10,2] Links=(null) Flags=HAS_FILE," FLAGS "\n"
           "[2026-11-20T22:55:21.779] Gres Name=gpu Type=s Count=1 Index=1 "
           "ID=7696487 File=/d/nvidia1,/d/cap0,/d/cap1 Links=(null) "
           "Flags=HAS_FILE,HAS_TYPE," FLAGS "\n"
           "slurmd: Gres Name=gpu Type=a Count=1 Index=0 ID=7696487 "
           "File=/d/nvidia0 Cores=0-15 CoreCnt=16 Links=-1,0 Flags=\n"
           "slurmd: Gres Name=shard Type=h100 Count=4 ID=9 Links=(null) "
           "Flags=\n",
           &table);
    assert_int_equal (table.count, 4);
    assert_string_equal (table.device[0].type, "");
    assert_string_equal (table.device[1].file[0], "/d/nvidia2");
    assert_int_equal (table.device[2].file_count, 3);
    assert_string_equal (table.device[3].type, "a");
    assert_int_equal (table.device[3].shards, 0);
    gres_table_clear (&table);
#undef FLAGS
}

/* As 22.05.8 prints them, a line for each GPU; and lines without a file. */
TEST_CASE (table__shards__belong_to_their_gpus)
{
#define SHARD(type, count, rest)                                               \
    "slurmd: Gres Name=shard Type=" type " Count=" count " ID=1918986455" rest \
    "\n"
    gres_table_t table = {0};

    parse (SHARD ("(null)", "4", " File=/d/nvidia0 (null)")
               SHARD ("(null)", "5", " File=/d/nvidia1 (null)")
                   LINE ("(null)", "1", "/d/nvidia0")
                       LINE ("(null)", "1", "/d/nvidia1"),
           &table);
    assert_int_equal (table.device[0].shards, 4);
    assert_int_equal (table.device[1].shards, 5);
    gres_table_clear (&table);
    parse (LINE ("a", "3", "/d/nvidia[0-2]") LINE ("b", "1", "/d/nvidia3")
               SHARD ("a", "8", "") SHARD ("c", "9", ""),
           &table);
    assert_int_equal (table.device[0].shards, 3);
    assert_int_equal (table.device[1].shards, 3);
    assert_int_equal (table.device[2].shards, 2);
    assert_int_equal (table.device[3].shards, 0);
    gres_table_clear (&table);
#undef SHARD
}

TEST_CASE (table__what_has_no_positions__is_a_problem)
{
    gres_table_t table = {0};

    parse ("slurmd: Gres Name=gpu Type=a Count=3 ID=7 (null)\n", &table);
    assert_int_equal (table.count, 0);
    assert_non_null (strstr (table.problem, "no File="));
    parse (LINE ("a", "2", "/dev/nvidia[0-2]"), &table);
    assert_int_equal (table.count, 0);
    assert_non_null (strstr (table.problem, "does not say how many"));
    parse ("slurmd: error: gres.conf\n", &table);
    assert_int_equal (table.count, 0);
    assert_string_equal (table.problem, "");
}

TEST_CASE (table__hostile_output__is_an_error_or_a_table)
{
    static const char *const texts[] = {LINE ("a", "x", "/dev/nvidia0"),
                                        LINE ("a", "600", "/d/n[0-599]"),
                                        LINE ("a", "1", "/d/n[0-8]"),
                                        LINE ("a", "2", "/d/n[0-"),
                                        "Gres Name=gpu",
                                        "Gres Name=gpu Count=1 File=",
                                        "Gres Name="};
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        gres_table_t table = {0};

        error.text[0] = '\0';
        if (gres_table_parse (texts[i], strlen (texts[i]), &table, &error) == 0)
            assert_int_equal (table.count, 0);
        else
            assert_true (*error.text);
        gres_table_clear (&table);
    }
}

TEST_CASE (table__saved__is_loaded)
{
    slurmd_t slurmd = {.pid = 4711, .birth = 99, .boot_id = "b-1"}, again;
    gres_table_t table = {0}, copy = {0};
    char path[] = "/tmp/gl-gres-XXXXXX";
    gl_error_t error = {""};
    FILE *file;

    close (mkstemp (path));
    parse (
        LINE ("a", "1", "/d/x,/d/y") LINE (
            "(null)", "1",
            "/d/z") "slurmd: Gres Name=shard Type=a Count=7 ID=9 File=/d/x\n",
        &table);
    assert_int_equal (gres_table_save (path, &slurmd, &table, &error), 0);
    assert_int_equal (gres_table_load (path, &again, &copy, &error), 1);
    assert_true (slurmd_same (&slurmd, &again));
    assert_int_equal (copy.count, 2);
    assert_string_equal (copy.device[0].file[1], "/d/y");
    assert_int_equal (copy.device[0].shards, 7);
    assert_int_equal (copy.device[1].shards, 0);
    assert_string_equal (copy.device[1].type, "");
    gres_table_clear (&table);
    gres_table_clear (&copy);

    file = fopen (path, "w");
    fputs ("gpuledger-gres 1\ndevice a 0 /x\nnonsense\n", file);
    fclose (file);
    assert_int_equal (gres_table_load (path, &again, &copy, &error), -1);
    unlink (path);
    assert_int_equal (gres_table_load (path, &again, &copy, &error), 0);
}

/* -------------------------------------------------------------------- fill */

TEST_CASE (fill__whole_gpus__go_by_file_not_by_order)
{
    inventory_t inventory = {0};
    gl_error_t error = {""};

    assert_int_equal (fill (&inventory,
                            LINE ("a", "1", "/dev/nvidia1")
                                LINE ("b", "1", "/dev/nvidia0"),
                            &error),
                      0);
    assert_int_equal (inventory.device[G1].gres_index, 0);
    assert_int_equal (inventory.device[G0].gres_index, 1);
    assert_string_equal (inventory.device[G0].gres_type, "b");
    assert_string_equal (inventory.device[G0].problem, "");
    /* a GPU that is cut is nothing that Slurm could give out */
    assert_string_equal (inventory.device[G2].problem, "");
    assert_true (inventory.device[G2].gres_index == DEVICE_UNKNOWN);
    assert_string_equal (inventory.device[S0].problem,
                         "slurmd's list of devices does not have it");
    inventory_clear (&inventory);
}

TEST_CASE (fill__slices__go_by_their_capabilities)
{
    inventory_t inventory = {0};
    gl_error_t error = {""};

    assert_int_equal (
        fill (&inventory,
              LINE ("1g", "1", "/dev/nvidia2," CAPS "39," CAPS "41")
                  LINE ("1g", "1", "/dev/nvidia2," CAPS "30," CAPS "31")
                      LINE ("1g", "1", "/dev/nvidia2," CAPS "39," CAPS "40"),
              &error),
        0);
    assert_int_equal (inventory.device[S2].gres_index, 0);
    assert_int_equal (inventory.device[S0].gres_index, 1);
    assert_int_equal (inventory.device[S1].gres_index, 2);
    inventory_clear (&inventory);
}

TEST_CASE (fill__ambiguity__is_unknown_with_a_reason)
{
    inventory_t inventory = {0};
    gl_error_t error = {""};

    /* the whole of a GPU in MIG mode */
    fill (&inventory, LINE ("a", "1", "/dev/nvidia2"), &error);
    assert_true (inventory.device[G2].gres_index == DEVICE_UNKNOWN);
    assert_non_null (strstr (inventory.device[G2].problem, "cut into slices"));
    inventory_clear (&inventory);
    /* a GPU instance that two compute instances share */
    fill (&inventory, LINE ("a", "1", "/dev/nvidia2," CAPS "39"), &error);
    assert_true (inventory.device[S1].gres_index == DEVICE_UNKNOWN);
    assert_non_null (strstr (inventory.device[S2].problem, "MultipleFiles"));
    inventory_clear (&inventory);
    /* one file twice */
    fill (&inventory,
          LINE ("a", "1", "/dev/nvidia0") LINE ("b", "1", "/dev/nvidia0"),
          &error);
    assert_true (inventory.device[G0].gres_index == DEVICE_UNKNOWN);
    assert_string_equal (inventory.device[G0].gres_type, "");
    assert_non_null (strstr (inventory.device[G0].problem, "twice"));
    inventory_clear (&inventory);
    /* a slice that is gone: never the GPU that is left */
    assert_int_equal (
        fill (&inventory, LINE ("a", "1", "/dev/nvidia0," CAPS "90"), &error),
        1);
    assert_true (inventory.device[G0].gres_index == DEVICE_UNKNOWN);
    assert_non_null (strstr (error.text, "none of the node's 6 devices"));
    inventory_clear (&inventory);
}

TEST_CASE (fill__no_table__says_so)
{
    inventory_t inventory = {0};

    scan_text (node, &inventory);
    mapping_fill (&inventory, NULL, NULL);
    assert_non_null (strstr (inventory.device[G0].problem, "unknown"));
    assert_string_equal (inventory.device[G2].problem, "");
    inventory_clear (&inventory);
}

/* -------------------------------------------------------------------- find */

TEST_CASE (find__each_form__gives_the_device)
{
    static const struct {
        const char *word;
        size_t device;
    } cases[] = {
        {"0", G1},
        {"1", S1},
        {"2", DEVICE_NONE},
        {"-1", DEVICE_NONE},
        {"18446744073709551616", DEVICE_NONE},
        {"GPU-0a11", G0},
        {"GPU-0a", G0},
        {"gpu-0A11", G0},
        {"GPU-0", DEVICE_NONE}, /* several */
        {"GPU-", DEVICE_NONE},
        {"GPU-0a11x", DEVICE_NONE},
        {"MIG-aaaa", S0},
        {"MIG-abc", S1},
        {"MIG-ab", DEVICE_NONE},
        {"MIG-GPU-0c33/2/1", S2},
        {"MIG-GPU-0c33/2/2", DEVICE_NONE},
        {"/dev/nvidia0", G0},
        {"/dev/nvidia2", DEVICE_NONE}, /* its slices share it */
        {CAPS "41", S2},
        {"/dev/nvidia9", DEVICE_NONE},
        {"", DEVICE_NONE},
        {"x", DEVICE_NONE},
    };
    inventory_t inventory = {0};
    gl_error_t error = {""};

    fill (&inventory,
          LINE ("a", "1", "/dev/nvidia1")
              LINE ("m", "1", "/dev/nvidia2," CAPS "39," CAPS "40"),
          &error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        size_t found;

        error.text[0] = '\0';
        found = mapping_find (&inventory, cases[i].word, strlen (cases[i].word),
                              &error);
        if (found != cases[i].device)
            fail_msg ("'%s' is %zd", cases[i].word, (ssize_t)found);
        assert_true ((found == DEVICE_NONE) == (*error.text != '\0'));
    }
    inventory_clear (&inventory);
}

TEST_CASE (find_list__words_and_ranges__once_each)
{
    inventory_t inventory = {0};
    size_t devices[DEVICES_MAX], unknown;
    gl_error_t error = {""};

    fill (&inventory, LINE ("a", "2", "/dev/nvidia[0-1]"), &error);
    assert_int_equal (mapping_find_list (&inventory, " 1, 0-1 ,GPU-0b22,,",
                                         devices, &unknown, &error),
                      2);
    assert_int_equal (devices[0], G1);
    assert_int_equal (devices[1], G0);
    assert_int_equal (unknown, 0);
    assert_int_equal (
        mapping_find_list (&inventory, "7,0,8", devices, &unknown, &error), 1);
    assert_int_equal (unknown, 2);
    assert_non_null (strstr (error.text, "'7'"));
    assert_int_equal (mapping_find_list (&inventory, "0-99999999999", devices,
                                         &unknown, NULL),
                      0);
    assert_int_equal (unknown, 1);
    assert_int_equal (
        mapping_find_list (&inventory, "", devices, &unknown, NULL), 0);
    assert_int_equal (unknown, 0);
    inventory_clear (&inventory);
}

TEST_CASE (find_job__uuids__come_before_indices)
{
    inventory_t inventory = {0};
    size_t d[DEVICES_MAX], unknown;
    gl_error_t error = {""};

    fill (&inventory, LINE ("a", "2", "/dev/nvidia[0-1]"), &error);
    assert_int_equal (
        mapping_find_job (&inventory, "0", "MIG-aaaa", d, &unknown, NULL), 1);
    assert_int_equal (d[0], S0);
    /* within the job it is device 0, for Slurm 1 */
    assert_int_equal (mapping_find_job (&inventory, "1", "0", d, NULL, NULL),
                      1);
    assert_int_equal (d[0], G1);
    /* a mixture: by place */
    assert_int_equal (
        mapping_find_job (&inventory, "5,1", "MIG-aaaa,0", d, &unknown, NULL),
        2);
    assert_true (d[0] == S0 && d[1] == G1 && unknown == 0);
    assert_int_equal (
        mapping_find_job (&inventory, "", "MIG-aaaa,0", d, &unknown, NULL), 1);
    assert_int_equal (unknown, 1);
    assert_int_equal (mapping_find_job (&inventory, "", "", d, &unknown, NULL),
                      0);
    inventory_clear (&inventory);
}

/* ------------------------------------------------------------------ slurmd */

#define PROC "./devices-proc.tmp"

static void write_proc (int pid, const char *name, const char *text,
                        size_t length)
{
    char path[96];
    FILE *file;

    mkdir (PROC, 0755);
    snprintf (path, sizeof (path), PROC "/%d", pid);
    mkdir (path, 0755);
    snprintf (path, sizeof (path), PROC "/%d/%s", pid, name);
    file = fopen (path, "w");
    assert_non_null (file);
    assert_int_equal (fwrite (text, 1, length, file), length);
    assert_int_equal (fclose (file), 0);
}

/* A process that calls itself slurmd and was started for node n1. */
static void make_process (int pid, unsigned real, unsigned effective)
{
    static const char comm[] = "slurmd\n", line[] = "slurmd\0-N\0n1";
    char text[256];

    write_proc (pid, "comm", comm, sizeof (comm) - 1);
    write_proc (pid, "cmdline", line, sizeof (line));
    write_proc (pid, "environ", "", 0);
    snprintf (text, sizeof (text),
              "%d (slurmd) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 77", pid);
    write_proc (pid, "stat", text, strlen (text));
    snprintf (text, sizeof (text),
              "Name:\tslurmd\nUmask:\t0022\nUid:\t%u\t%u\t%u\t%u\n", real,
              effective, effective, effective);
    write_proc (pid, "status", text, strlen (text));
}

static int find_slurmd (slurmd_t *slurmd)
{
    gl_error_t error;
    int found = slurmd_find (PROC, "n1", slurmd, &error);

    assert_int_equal (system ("rm -r " PROC), 0);
    return found;
}

TEST_CASE (slurmd_find__run_by_root_or_us__found)
{
    slurmd_t slurmd;

    make_process (71, 0, 0);
    assert_int_equal (find_slurmd (&slurmd), 1);
    assert_int_equal (slurmd.pid, 71);
    make_process (72, geteuid (), geteuid ());
    assert_int_equal (find_slurmd (&slurmd), 1);
}

/* Its program would run with the rights of the agent. */
TEST_CASE (slurmd_find__run_by_a_user__not_taken)
{
    slurmd_t slurmd;

    make_process (71, geteuid () + 1, geteuid () + 1);
    assert_int_equal (find_slurmd (&slurmd), 0);
    make_process (71, geteuid () + 1, geteuid ());
    assert_int_equal (find_slurmd (&slurmd), 0);
}

/* Its table names the devices of another cluster, and once taken it is followed
 * as long as that slurmd lives. */
TEST_CASE (slurmd_find__of_another_cluster__not_taken)
{
    static const char ours[] = "SLURM_CONF=/etc/slurm/./slurm.conf";
    static const char theirs[] = "A=1\0SLURM_CONF=/other/slurm.conf";
    slurmd_t slurmd;
    gl_error_t error = {""};

    setenv ("SLURM_CONF", "/etc/slurm/./slurm.conf", 1);
    make_process (71, 0, 0);
    write_proc (71, "environ", theirs, sizeof (theirs));
    assert_int_equal (slurmd_find (PROC, "n1", &slurmd, &error), -1);
    assert_non_null (strstr (error.text, "process 71"));
    assert_non_null (strstr (error.text, "/other/slurm.conf"));
    make_process (72, 0, 0);
    write_proc (72, "environ", ours, sizeof (ours));
    assert_int_equal (find_slurmd (&slurmd), 1);
    assert_int_equal (slurmd.pid, 72);
    make_process (73, 0, 0); /* whose configuration is not known */
    assert_int_equal (find_slurmd (&slurmd), 1);
    unsetenv ("SLURM_CONF");
}

/* A link to the agent's file is that file. */
TEST_CASE (slurmd_find__same_file_by_another_name__taken)
{
    static const char theirs[] = "SLURM_CONF=./devices-link.tmp";
    slurmd_t slurmd;

    setenv ("SLURM_CONF", "/dev/null", 1);
    assert_int_equal (symlink ("/dev/null", "devices-link.tmp"), 0);
    make_process (71, 0, 0);
    write_proc (71, "environ", theirs, sizeof (theirs));
    assert_int_equal (find_slurmd (&slurmd), 1);
    assert_int_equal (unlink ("devices-link.tmp"), 0);
    unsetenv ("SLURM_CONF");
}

TEST_CASE (follow__no_slurmd__changes_nothing)
{
    slurmd_t slurmd;
    gl_error_t error = {""};

    assert_int_equal (slurmd_find ("/nonexistent", "", &slurmd, &error), -1);
    assert_false (slurmd_alive (&(slurmd_t){0}));
}

/* A program that prints, that fails, that never ends, that prints without
 * end. */
static int run_program (const char *script, int timeout_ms, gres_table_t *table,
                        gl_error_t *error)
{
    slurmd_t slurmd = {.node = "n1"};
    int result;
    FILE *file;

    strcpy (slurmd.program, "./devices-slurmd.tmp");
    file = fopen (slurmd.program, "w");
    fprintf (file, "#!/bin/sh\n%s\n", script);
    fclose (file);
    chmod (slurmd.program, 0755);
    result = gres_table_run (&slurmd, timeout_ms, table, error);
    unlink (slurmd.program);
    return result;
}

TEST_CASE (run__programs_good_and_bad__are_bounded)
{
    gres_table_t table = {0};
    gl_error_t error = {""};

    assert_int_equal (
        run_program ("[ \"$*\" = '-G -N n1' ] && [ -z \"$HOME\" ] && echo "
                     "'slurmd: Gres Name=gpu Type=a Count=1 File=/d/x' >&2",
                     20000, &table, &error),
        0);
    assert_int_equal (table.count, 1);
    gres_table_clear (&table);
    assert_int_equal (run_program ("echo 'slurmd: fatal: no' >&2; exit 1",
                                   20000, &table, &error),
                      -1);
    assert_non_null (strstr (error.text, "exit code 1: slurmd: fatal: no"));
    assert_int_equal (
        run_program ("sleep 100 & sleep 100", 200, &table, &error), -1);
    assert_non_null (strstr (error.text, "did not end"));
    assert_int_equal (run_program ("exec yes", 20000, &table, &error), -1);
    assert_non_null (strstr (error.text, "did not end"));
}

TEST_MAIN (NULL, NULL)
