#include "support/test.h"

#include <stdio.h>

#include "gres/tres.h"

#define NONE TRES_UNKNOWN

TEST_CASE (tres_parse__names__canonical_gpu_part_and_amounts)
{
    static const struct {
        const char *text;
        const char *gres;
        uint64_t cpus, memory_mb, nodes;
    } cases[] = {
        {"billing=78,cpu=48,gres/gpu:a100_80=4,gres/gpu=4,mem=384G,node=1",
         "gpu=4,gpu:a100_80=4", 48, 384 * 1024, 1},
        {"gres/gpu:nvidia_h200_nvl_4g.71gb=1,gres/gpu:1g.10gb+me=2,gres/gpu=3",
         "gpu=3,gpu:1g.10gb+me=2,gpu:nvidia_h200_nvl_4g.71gb=1", NONE, NONE,
         NONE},
        {"cpu=76,mem=166072M,gres/gpu:a100=2,gres/nvme=100,gres/gpumem=9",
         "gpu:a100=2", 76, 166072, NONE},
        {"gres/shard:nvidia_gb10=40,gres/shard=40,gres/mps=50", /* no gpu */
         "mps=50,shard=40,shard:nvidia_gb10=40", NONE, NONE, NONE},
        {"gres/gpu=2,gres/gpu=3", "gpu=5", NONE, NONE, NONE},
        {"gres/gpu=0,gres/gpu:x=0,cpu=0", "", 0, NONE, NONE},
        {"mem=1.50G", "", NONE, 1536, NONE},
        {"mem=.50G", "", NONE, 512, NONE},
        {"mem=2048K", "", NONE, 2, NONE},
        {"mem=1T,cpu=2K", "", 2048, 1024 * 1024, NONE},
        {"mem=7", "", NONE, 7, NONE},
        {"", "", NONE, NONE, NONE},
        {NULL, "", NONE, NONE, NONE},
        /* NO_VAL64, INFINITE64 and their neighbour are no counts */
        {"gres/gpu=18446744073709551614,mem=18446744073709551615,"
         "cpu=18446744073709551613,node=1",
         "", NONE, NONE, 1},
        /* as sacct prints INFINITE64 */
        {"cpu=8,gres/gpu:h100=NONE,mem=NONE", "", 8, NONE, NONE},
    };
    tres_t tres = TRES_INIT;
    gl_error_t error;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        assert_int_equal (tres_parse (&tres, cases[i].text, NULL, NULL, &error),
                          0);
        assert_string_equal (tres.gres, cases[i].gres);
        assert_true (tres.cpus == cases[i].cpus);
        assert_true (tres.memory_mb == cases[i].memory_mb);
        assert_true (tres.nodes == cases[i].nodes);
    }
    tres_done (&tres);
}

TEST_CASE (tres_parse__a_gpu_without_count__is_told)
{
    static const struct {
        const char *text;
        bool told;
    } cases[] = {
        {"cpu=8,gres/gpu=18446744073709551614", true},
        {"cpu=8,gres/gpu:h100=NONE", true},
        {"cpu=8,gres/gpu=4", false},
        {"cpu=NONE,gres/nvme=18446744073709551614", false},
    };
    tres_t tres = TRES_INIT;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        assert_int_equal (tres_parse (&tres, cases[i].text, NULL, NULL, NULL),
                          0);
        assert_int_equal (tres.gpu_without_count, cases[i].told);
    }
    tres_done (&tres);
}

static bool resolve (uint64_t id, const char **ret_type, const char **ret_name,
                     void *arg)
{
    *(int *)arg += 1;
    if (id < 1001 || id > 1002)
        return false;
    *ret_type = "gres";
    *ret_name = id == 1001 ? "gpu" : "gpu:a100_3g.20gb";
    return true;
}

TEST_CASE (tres_parse__ids__the_same_as_names)
{
    tres_t tres = TRES_INIT;
    gl_error_t error;
    int asked = 0;

    assert_int_equal (
        tres_parse (&tres,
                    ",1=8,2=16384,3=18446744073709551614,4=1,5=8,1002=2,1001=2",
                    resolve, &asked, &error),
        0);
    assert_string_equal (tres.gres, "gpu=2,gpu:a100_3g.20gb=2");
    assert_true (tres.cpus == 8 && tres.memory_mb == 16384 && tres.nodes == 1);
    assert_int_equal (tres.unresolved, 0);
    assert_int_equal (asked, 2);
    assert_int_equal (tres_parse (&tres, "1=8,1003=1", resolve, &asked, &error),
                      0);
    assert_int_equal (tres.unresolved, 1);
    tres_done (&tres);
}

TEST_CASE (tres_parse__junk_or_overflow__an_error_with_the_text)
{
    static const char *const cases[] = {
        "gpu",
        "=4",
        "gres/gpu=",
        "gres/gpu=x",
        "gres/gpu=-1",
        "gres/gpu= 1",
        "gres/gpu=4,",
        "gres/gpu=4,,cpu=1",
        "gres/gpu=18446744073709551616",
        "gres/gpu=1000000001",
        "gres/gpu=600000000,gres/gpu=600000000",
        "mem=99999999999999999P",
        "mem=1.5",
        "mem=1.1234567G",
        "cpu=18446744073709551612,cpu=9",
        "gres/gpu:=1",
        "gres/gpu:a\tb=1",
        "gres/gpu:a b=1",
        "1=8,1001=2K",
        "1=,2=3",
    };
    tres_t tres = TRES_INIT;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        gl_error_t error = {""};
        assert_int_equal (
            tres_parse (&tres, cases[i], resolve, &(int){0}, &error), -1);
        assert_non_null (strstr (error.text, cases[i]));
    }
    tres_done (&tres);
}

static void collect (const char *type, size_t length, uint64_t count, void *arg)
{
    char *text = arg;
    size_t used = strlen (text);

    snprintf (text + used, 256 - used, "%.*s*%llu ", (int)(type ? length : 1),
              type ? type : "?", (unsigned long long)count);
}

TEST_CASE (gres_devices__forms_of_accounting__counted_once)
{
    static const struct {
        const char *gres;
        const char *devices;
        uint64_t count;
        bool contradiction;
    } cases[] = {
        {"gpu=4,gpu:a100=4", "a100*4 ", 4, false},
        {"gpu=1", "?*1 ", 1, false},
        {"gpu=5,gpu:a100=2,gpu:v100=1", "a100*2 v100*1 ?*2 ", 5, false},
        {"gpu:a100=2,gpu:a100_1g.5gb=2", "a100*2 a100_1g.5gb*2 ", 4, false},
        {"gpu=1,gpu:a=2", "a*2 ", 2, true},
        {"shard=40,shard:gb10=40", "", 0, false},
        {"", "", 0, false},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        char text[256] = "";
        bool contradiction = !cases[i].contradiction;
        assert_true (gres_devices (cases[i].gres, collect, text, &contradiction)
                     == cases[i].count);
        assert_string_equal (text, cases[i].devices);
        assert_int_equal (contradiction, cases[i].contradiction);
        assert_int_equal (gres_any (cases[i].gres), cases[i].gres[0] != '\0');
    }
}

TEST_CASE (gres_parts__beside_gpus__are_not_counted)
{
    static const struct {
        const char *gres;
        const char *name;
        const char *parts;
        uint64_t count;
    } cases[] = {
        {"shard=40,shard:gb10=40", "shard", "gb10*40 ", 40},
        {"mps=50,shard=3", "shard", "?*3 ", 3},
        {"mps=50,shard=3", "mps", "?*50 ", 50},
        {"gpu=1,shard=3", "shard", "", 0},
        {"gpu:a100=1,shard=3", "shard", "", 0},
        {"gpu=2", "shard", "", 0},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        char text[256] = "";
        assert_true (gres_parts (cases[i].gres, cases[i].name, collect, text)
                     == cases[i].count);
        assert_string_equal (text, cases[i].parts);
    }
}

TEST_CASE (gres_in_submit_line__lines_of_slurm__what_they_ask)
{
    enum {
        ZERO = 0,
        GPU = GRES_ASKED_GPU,
        SHARD = GRES_ASKED_SHARD,
        MPS = GRES_ASKED_MPS
    };
    static const struct {
        const char *line;
        unsigned asked;
    } cases[] = {
        /* options with their value attached, or as the next word */
        {"sbatch --gres=gpu:2 job.sh", GPU},
        {"sbatch --gres gpu job.sh", GPU},
        {"sbatch --gres=nvme:1,gpu:a100:4", GPU},
        {"/usr/bin/sbatch --gpus-per-node 2 job.sh", GPU},
        {"srun -G4 x", GPU},
        {"srun -G 4 x", GPU},
        {"srun --gpus=h100:1 x", GPU},
        {"srun --tres-per-task=cpu=1,gres/gpu=2 x", GPU},
        {"srun --tres-per-task=gres/gpu:a100:2 x", GPU},
        {"srun --tres-per-node=gres:gpu:2 x", GPU},
        {"salloc --gres=shard:10", SHARD},
        {"salloc --gres=mps:50,shard", MPS | SHARD},
        {"salloc --gpus-per-soc=1", GPU}, /* as getopt_long() abbreviates */
        /* the words of the script or program are not options */
        {"sbatch -p cpu train.sh --gpus 4", ZERO},
        {"srun -p cpu x.sh --gpus=2", ZERO},
        {"srun -pcpu x.sh -G 2", ZERO},
        {"srun --partition cpu x.sh --gres=gpu:1", ZERO},
        {"sbatch -- train.sh --gpus 4", ZERO},
        {"sbatch -p cpu -- --gres=gpu:1", ZERO},
        {"salloc -n 4 bash -c --gpus=2", ZERO},
        {"sbatch - --gpus=2", ZERO},
        {"srun --exclusive x.sh --gpus=2", ZERO},
        {"sbatch --exclusive=user --gpus=2 x.sh", GPU},
        {"sbatch --exclusive --gpus=2 x.sh", GPU},
        {"sbatch --nice x.sh --gpus=2", ZERO},
        {"srun --overlap --bcast x --gpus=2", ZERO},
        {"srun --mpi pmix x --gpus=2", ZERO},
        {"srun --oom-kill-step x --gpus=2", ZERO},
        {"sbatch --segment 4 --gpus=2 x.sh", GPU},
        /* clusters of letters; -W is a flag of sbatch and has a value in srun
         */
        {"sbatch -QvN2 --gpus=2 x.sh", GPU},
        {"sbatch -QvN 2 x.sh --gpus=2", ZERO},
        {"srun -vvG2 x", GPU},
        {"srun -lun 4 x -G2", ZERO},
        {"salloc -I60 -k --gpus=1", GPU},
        {"salloc -I bash --gpus=1", ZERO},
        {"sbatch -W x.sh --gpus=2", ZERO},
        {"sbatch --wait x.sh --gpus=2", ZERO},
        {"srun -W 30 --gpus=2 x", GPU},
        {"srun --wait 30 --gpus=2 x", GPU},
        /* a value that looks like an option is the value */
        {"sbatch -J --gpus=2 x.sh", ZERO},
        {"sbatch --comment --gres=gpu:2 x.sh", ZERO},
        {"sbatch --comment  --gres=gpu:2 x.sh", GPU}, /* --comment "" */
        {"sbatch --partition gpu --account gpu", ZERO},
        {"sbatch --gpu-project=x job.sh", ZERO},
        {"sbatch --gpu-project x job.sh --gpus=2", ZERO},
        /* an option of a SPANK plugin: rather unknown than none */
        {"sbatch --site-option x --gpus=2 job.sh", GPU},
        {"sbatch --site-option=x job.sh --gpus=2", ZERO},
        /* --wrap: a command */
        {"sbatch --wrap=python x.py --gres=gpu:2", ZERO},
        {"sbatch -p cpu --wrap srun --gpus=2 x", ZERO},
        {"sbatch --gres=gpu:1 --wrap=srun x", GPU},
        {"sbatch --wrap=sleep 1 -p gpu --gpus=2", ZERO},
        /* ... and options behind it, as 25.11 recorded them */
        {"sbatch --time 1 --wrap sleep 30 && true --partition gpu "
         "--gpus-per-node h100:1",
         GPU},
        {"sbatch --wrap sleep 30 --gpus=2 : -N1", ZERO},
        {"sbatch --wrap srun --gpus=2 x -n 1", ZERO},
        {"sbatch --wrap true --wrap true --gpus=2", GPU},
        /* 0 is none; a later option replaces an earlier one */
        {"sbatch --gres=gpu:0 job.sh", ZERO},
        {"sbatch --gres=gpu:a100:0 job.sh", ZERO},
        {"sbatch --gres=none job.sh", ZERO},
        {"sbatch --gres=gpu:a100:0,gpu:h100:1 job.sh", GPU},
        {"salloc --gpus 0", ZERO},
        {"salloc --gpus=a100:0", ZERO},
        {"salloc --gpus=a100:0,h100:2", GPU},
        {"salloc --gpus=10", GPU},
        {"salloc -G0", ZERO},
        {"srun --tres-per-task=gres/gpu=0 x", ZERO},
        {"sbatch --gpus=4 --gpus=0 x.sh", ZERO},
        {"sbatch -G4 --gpus=0 x.sh", ZERO},
        {"sbatch --gres=gpu:0 --gpus=1 x.sh", GPU},
        /* components of a het job */
        {"sbatch -N1 : --gpus=1 x.sh", GPU},
        {"sbatch --gpus=1 : -N1 x.sh", GPU},
        {"sbatch -N1 x.sh : --gpus=1", ZERO},
        {"srun -N1 a -x : --gpus=1 b", GPU},
        {"srun -N1 a --gpus=1 : -N1 b --gpus=2", ZERO},
        /* other words */
        {"salloc --gres=gpumem:10", ZERO},
        {"salloc --gres=nvme:1", ZERO},
        {"sbatch --gpus-per-nodes", ZERO},
        {"sbatch --gres", ZERO},
        {"--gpus=1", ZERO},
        {"", ZERO},
        {NULL, ZERO},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        unsigned asked = gres_in_submit_line (cases[i].line);
        if (asked != cases[i].asked)
            fail_msg ("'%s': %u, not %u", cases[i].line, asked, cases[i].asked);
    }
}

#define WORDS(text)         \
    {                       \
        text, sizeof (text) \
    }

TEST_CASE (gres_in_words__components__each_with_its_defaults)
{
    enum { ZERO = 0, GPU = GRES_ASKED_GPU, SHARD = GRES_ASKED_SHARD };
    static const struct {
        gres_words_t command;
        size_t component;
        gres_words_t before;
        unsigned asked;
    } cases[] = {
        {WORDS ("sbatch\0--gres=gpu:1\0x.sh"), 0, {0}, GPU},
        {WORDS ("sbatch\0--gres\0gpu\0x.sh"), 0, {0}, GPU},
        {WORDS ("sbatch\0x.sh\0--gres=gpu:1"), 0, {0}, ZERO},
        {WORDS ("sbatch\0-G1"), 0, {0}, GPU},
        {WORDS ("sbatch\0-G"), 0, {0}, ZERO},
        {WORDS ("sbatch\0--gres=gpu:0"), 0, {0}, ZERO},
        {WORDS ("sbatch"), 0, {0}, ZERO},
        {WORDS (""), 0, {0}, ZERO},
        {{NULL, 0}, 0, {NULL, 0}, ZERO},
        {{NULL, 0}, 3, {NULL, 0}, ZERO},
        /* words are exact */
        {WORDS ("sbatch\0--wrap=srun --gpus=2 x"), 0, {0}, ZERO},
        {WORDS ("sbatch\0--wrap=srun x\0--gpus=2"), 0, {0}, GPU},
        {WORDS ("sbatch\0--wrap\0srun x -n\0--gpus=2"), 0, {0}, GPU},
        {WORDS ("sbatch\0--comment\0\0--gpus=2"), 0, {0}, GPU},
        {WORDS ("sbatch\0--comment=a --gpus=2\0x"), 0, {0}, ZERO},
        {WORDS ("sbatch\0--comment\0--gpus=2\0x"), 0, {0}, ZERO},
        /* components */
        {WORDS ("sbatch\0-n1\0:\0-G1\0x"), 0, {0}, ZERO},
        {WORDS ("sbatch\0-n1\0:\0-G1\0x"), 1, {0}, GPU},
        {WORDS ("sbatch\0-n1\0:\0-G1\0x"), 2, {0}, ZERO},
        {WORDS ("/bin/srun\0-G1\0a\0:\0-n1\0b\0-G1"), 0, {0}, GPU},
        {WORDS ("/bin/srun\0-G1\0a\0:\0-n1\0b\0-G1"), 1, {0}, ZERO},
        {WORDS ("srun\0-n1\0a\0:\0b\0:\0--gres=shard:1\0c"), 2, {0}, SHARD},
        /* what the command line replaces */
        {WORDS ("sbatch\0x.sh"), 0, WORDS ("d\0--gres=gpu:1"), GPU},
        {WORDS ("sbatch\0--gres=none\0x.sh"), 0, WORDS ("d\0--gres=gpu:1"),
         ZERO},
        {WORDS ("sbatch\0-G0\0x.sh"), 0, WORDS ("d\0--gres=gpu:1"), GPU},
        {WORDS ("sbatch\0x.sh"), 0, WORDS ("d\0--gpus=1\0--gpus=0"), ZERO},
        {WORDS ("sbatch\0x.sh"), 1, WORDS ("d\0--gpus=1"), GPU},
        {WORDS ("sbatch\0-G1\0x.sh"), 1, WORDS ("d\0-n1"), ZERO},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        unsigned asked = gres_in_words (cases[i].command, cases[i].component,
                                        cases[i].before);
        if (asked != cases[i].asked)
            fail_msg ("case %zu: %u, not %u", i, asked, cases[i].asked);
    }
}

TEST_CASE (gres_script_of_words__command_lines__script_and_place)
{
    static const struct {
        gres_words_t command;
        const char *script, *directory;
    } cases[] = {
        {WORDS ("sbatch\0x.sh\0-D\0y"), "x.sh", NULL},
        {WORDS ("sbatch\0-n1\0x.sh"), "x.sh", NULL},
        {WORDS ("sbatch\0-D\0/d\0x.sh"), "x.sh", "/d"},
        {WORDS ("sbatch\0--chdir=d e\0--\0-x.sh"), "-x.sh", "d e"},
        {WORDS ("sbatch\0-n1\0:\0-n1\0x.sh\0:"), "x.sh", NULL},
        {WORDS ("sbatch\0--wrap=x y"), NULL, NULL},
        {WORDS ("sbatch\0--"), NULL, NULL},
        {WORDS ("sbatch"), NULL, NULL},
        {{NULL, 0}, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        const char *directory = NULL;
        const char *script
            = gres_script_of_words (cases[i].command, &directory);
        assert_int_equal (script == NULL, cases[i].script == NULL);
        if (script)
            assert_string_equal (script, cases[i].script);
        assert_int_equal (directory == NULL, cases[i].directory == NULL);
        if (directory)
            assert_string_equal (directory, cases[i].directory);
    }
}

TEST_CASE (tres_add_gres__notation_of_scontrol__counts)
{
    static const struct {
        const char *text;
        const char *gres; /* NULL: refused */
    } cases[] = {
        {"gpu:h100:4(IDX:0-3)", "gpu=4,gpu:h100=4"},
        {"gpu:h100:2(IDX:0-1),gpu:h200:4(IDX:2-5)",
         "gpu=6,gpu:h100=2,gpu:h200=4"},
        {"gpu:h100:1(IDX:0),gpu:h200:0(IDX:)", "gpu=1,gpu:h100=1"},
        {"gpu:1g.10gb:2(IDX:0,3),gpu:3g.40gb:1(IDX:4)",
         "gpu=3,gpu:1g.10gb=2,gpu:3g.40gb=1"},
        {"gres/gpu:h100:1", "gpu=1,gpu:h100=1"},
        {"gres/gpu=3", "gpu=3"},
        {"gres:gpu:4", "gpu=4"},
        {"gpu", "gpu=1"},
        {"gpu:a100", "gpu=1,gpu:a100=1"},
        {"gpu:8(S:0-1),nvme:100", "gpu=8"},
        {"shard:1K", "shard=1024"},
        {"", ""},
        {"(null)", ""},
        {"gpu:1(IDX:0", NULL},
        {"gpu:a100=", NULL},
        {"gpu:a=b:2", NULL},
        {":4", NULL},
        {"gpu:x:99999999999999999999", NULL},
        {"gpu:9999999999", NULL},
    };
    tres_t tres = TRES_INIT;
    gl_error_t error;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        int rc;
        tres_begin (&tres);
        rc = tres_add_gres (&tres, cases[i].text, &error);
        tres_end (&tres);
        assert_int_equal (rc, cases[i].gres ? 0 : -1);
        if (cases[i].gres)
            assert_string_equal (tres.gres, cases[i].gres);
    }
    tres_done (&tres);
}

TEST_MAIN (NULL, NULL)
