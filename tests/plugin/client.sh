#!/bin/sh
# srun, sbatch and salloc as packaged, up to the point where they would look for
# a controller: status 255 is refused by the option, 1 with our message is
# refused by the policy; whoever gets through meets the probe, which shows what
# was handed on and ends the client with 3.
. "$abs_top_srcdir/tests/plugin/harness.sh"

probe=$abs_top_builddir/tests/plugin/.libs/probe.so
user=$(id -un)
projects=$dir/projects
cat >"$projects" <<END
# name users
alpha $user somebody
beta somebody    # not ours
gamma	$user
open
shared account:vision
END
printf '#!/bin/sh\ntrue\n' >"$dir/true.sh"
chmod +x "$dir/true.sh"
esc=$(printf '\033')

setup () {
    plugstack "$@"
    echo "required $probe stop" >>"$dir/plugstack.conf"
}
got_through () {
    test $rc = 3 && log_has "^probe:"
}
in_silence () {
    got_through && ! log_has gpuledger
}
refused () {
    test $rc = 1 && ! log_has "^probe:" && log_has "$1"
}
handed_on () {
    got_through && log_has "probe: $1 mark\\[\\]\$"
}
batch () {
    client sbatch --parsable "$@" --wrap=true
}
# script LINE...: sbatch of a file with these directives
script () {
    { echo '#!/bin/sh'; printf '#SBATCH %s\n' "$@"; echo true; } >"$dir/job.sh"
    client sbatch $arguments "$dir/job.sh"
}
arguments=

setup optional "spool=$spool"
client sbatch --help
check "sbatch --help lists --gpu-project" log_has '--gpu-project=NAME'
check "sbatch --help lists --gpu-label" log_has '--gpu-label=KEY=VALUE'

# where the tag comes from
batch
check "no tag, policy off: through in silence" in_silence
check "no tag: nothing handed on" handed_on '\[\] \[\] \[\] \[\]'
batch --gpu-project=alpha --gpu-label=run=7,size=7b
check "command line" handed_on '\[alpha\] \[option\] \[run=7,size=7b\] \[option\]'
script --gpu-project=alpha --gpu-label=a=b
check "directive" handed_on '\[alpha\] \[option\] \[a=b\] \[option\]'
arguments=--gpu-project=gamma
script --gpu-project=alpha
check "command line beats directive" handed_on '\[gamma\] \[option\] \[\] \[\]'
arguments=
environment='GPULEDGER_PROJECT=alpha GPULEDGER_LABELS=a=b'
batch
check "environment" handed_on '\[alpha\] \[environment\] \[a=b\] \[environment\]'
script --gpu-project=beta
check "directive beats environment" handed_on '\[beta\] \[option\] \[a=b\] \[environment\]'
environment='SLURM_SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project=parent
    SLURM_SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_label=p=q
    SLURM_SPANK_GPULEDGER_SOURCE=option SLURM_JOB_ID=7'
client_inside () { # as client, but inside a job: SLURM_JOB_ID stays
    env SLURM_CONF="$dir/slurm.conf" $environment "$@" </dev/null \
        >"$dir/log" 2>&1
    rc=$?
}
client_inside sbatch --wrap=true
check "inside a job: the parent's tag" handed_on '\[parent\] \[inherited\] \[p=q\] \[inherited\]'
client_inside sbatch "$dir/job.sh"
check "inside a job: the directive beats the parent's tag" handed_on \
    '\[beta\] \[option\] \[p=q\] \[inherited\]'
client_inside sbatch --gpu-project=cli "$dir/job.sh"
check "inside a job: the command line beats all" handed_on \
    '\[cli\] \[option\] \[p=q\] \[inherited\]'
environment="$environment GPULEDGER_PROJECT=env"
client_inside sbatch --wrap=true
check "inside a job: the environment beats the parent's tag" handed_on \
    '\[env\] \[environment\] \[p=q\] \[inherited\]'
client_inside salloc true
check "inside a job: salloc likewise" handed_on \
    '\[env\] \[environment\] \[p=q\] \[inherited\]'
# what the plugin told the step of the parent is no default of the user
told='SLURM_JOB_ID=7 GPULEDGER_PROJECT=parent GPULEDGER_PROJECT_JOB=parent'
environment="$told SLURM_SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project=parent"
client_inside sbatch --wrap=true
check "inside a job: the tag that the step was told is inherited" handed_on \
    '\[parent\] \[inherited\] \[\] \[\]'
client_inside sbatch "$dir/job.sh"
check "inside a job: the directive beats it" handed_on \
    '\[beta\] \[option\] \[\] \[\]'
environment="$environment GPULEDGER_PROJECT_USER=own"
client_inside sbatch --wrap=true
check "inside a job: the user's own default still beats the parent's tag" \
    handed_on '\[own\] \[environment\] \[\] \[\]'
environment=$told
client_inside sbatch --wrap=true
check "inside a job: told without Slurm's copy (--export=NONE): inherited" \
    handed_on '\[parent\] \[inherited\] \[\] \[\]'
environment="$told GPULEDGER_PROJECT=changed"
client_inside sbatch --wrap=true
check "inside a job: what the script sets anew is a default" handed_on \
    '\[changed\] \[environment\] \[\] \[\]'
environment="SLURM_SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project=$esc[31m"
batch
check "a hostile inherited value is none" handed_on '\[\] \[\] \[\] \[\]'
environment='GPULEDGER_PROJECT=../x GPULEDGER_LABELS=a'
batch
check "a malformed default is told and none" handed_on '\[\] \[\] \[\] \[\]'
check "by its name" log_has 'GPULEDGER_PROJECT holds no valid value; ignored'
check "labels likewise" log_has 'GPULEDGER_LABELS holds no valid value; ignored'
environment=
for program in salloc srun; do
    client $program --gpu-project=alpha --gpu-label=a=b "$dir/true.sh"
    check "$program: command line" handed_on '\[alpha\] \[option\] \[a=b\] \[option\]'
    environment=GPULEDGER_PROJECT=alpha
    client $program "$dir/true.sh"
    check "$program: environment" handed_on '\[alpha\] \[environment\] \[\] \[\]'
    environment=
done
plugstack optional "spool=$spool" policy=require
echo "required $probe" >>"$dir/plugstack.conf"
for program in sbatch salloc srun; do
    client $program --gpu-project=alpha "$dir/true.sh"
    check "$program without the probe's stop: looks for the controller" \
        sh -c "test $rc = 1 && grep -q 'Unable to contact' '$dir/log'"
done
client srun --gpu-project=alpha -n1 true : --gpu-project=gamma -n1 true
check "srun, het job: each component its own tag" sh -c \
    "grep -q 'probe: .alpha' '$dir/log' && grep -q 'probe: .gamma' '$dir/log'"
client sbatch --gpu-project=alpha : -n1 --wrap=true
check "sbatch, het job: both components have the tag" \
    test "$(grep -c 'probe: .alpha' "$dir/log")" = 2
setup optional "spool=$spool"

# malformed values: 255 from every program, whatever mark and policy
long=$(head -c 100000 /dev/zero | tr '\0' a)
newline='
'
for mark in optional required; do
    setup $mark "spool=$spool"
    for program in sbatch salloc srun; do
        n=0
        for tag in 'a b' "a'b" 'a"b' '=cmd' '../x' "${esc}[31m" "a${newline}b" \
            '' '-x' "$long"; do
            client $program --gpu-project="$tag" "$dir/true.sh"
            if ! { test $rc = 255 && log_has 'gpuledger: --gpu-project: the value is refused'; }; then
                n=$((n + 1))
                not_ok "$mark $program: malformed tag is refused"
            fi
        done
        check "$mark $program: 10 malformed tags are refused with 255" test $n = 0
        client $program --gpu-label=a "$dir/true.sh"
        check "$mark $program: malformed labels are refused with 255" test $rc = 255
    done
done
{ printf '#!/bin/sh\n#SBATCH --gpu-project='; head -c 1048576 /dev/zero | tr '\0' a
    printf '\ntrue\n'; } >"$dir/job.sh"
client sbatch "$dir/job.sh"
check "a directive with a tag of 1 MiB never gets through" \
    sh -c "test $rc != 0 && ! grep -q "^probe:" '$dir/log'"

# policy
setup optional "spool=$spool" "projects=$projects" policy=require
for program in sbatch salloc srun; do
    client $program --gres=gpu:1 --gpu-project=alpha "$dir/true.sh"
    check "require, $program: own project passes in silence" in_silence
    client $program --gres=gpu:1 --gpu-project=open "$dir/true.sh"
    check "require, $program: a project open to all passes" in_silence
    client $program --gres=gpu:1 --gpu-project=shared "$dir/true.sh"
    check "require, $program: a project of an account is left to job_submit" in_silence
    client $program --gres=gpu:1 --gpu-project=beta "$dir/true.sh"
    check "require, $program: somebody else's project is refused" refused \
        "unknown project 'beta'; yours are: alpha, gamma, open, shared\$"
    client $program --gres=gpu:1 --gpu-project=nosuch "$dir/true.sh"
    check "require, $program: an unknown project is refused" refused \
        "unknown project 'nosuch'; yours are: alpha, gamma, open, shared\$"
    client $program --gres=gpu:1 "$dir/true.sh"
    check "require, $program: a missing project is refused" refused \
        'no project given: use --gpu-project=NAME or set GPULEDGER_PROJECT; yours are: alpha, gamma, open, shared$'
    environment=GPULEDGER_PROJECT=../x
    client $program --gres=gpu:1 "$dir/true.sh"
    check "require, $program: a malformed default is refused as missing" refused \
        'no project given'
    environment=GPULEDGER_PROJECT=beta
    client $program --gres=gpu:1 "$dir/true.sh"
    check "require, $program: a default that is not ours is refused" refused \
        "unknown project 'beta'"
    environment=GPULEDGER_PROJECT=gamma
    client $program --gres=gpu:1 "$dir/true.sh"
    check "require, $program: a default of ours passes" in_silence
    environment=
done
client srun --jobid=7 --gres=gpu:1 true
check "require: srun --jobid is no new allocation" test -z "$(grep gpuledger "$dir/log")"
client srun -G 1 --jobid 7 true
check "require: srun --jobid 7 likewise" test -z "$(grep gpuledger "$dir/log")"
environment=SLURM_JOB_ID=7
client_inside srun --gres=gpu:1 true
check "require: srun inside a job is no new allocation" test -z "$(grep gpuledger "$dir/log")"
client_inside sbatch --gres=gpu:1 --wrap=true
check "require: sbatch inside a job is one" refused 'no project given'
environment=
client sbatch --gpus=1 : --gpus=1 --wrap=true
check "require: a het job is refused once" \
    test "$(grep -c 'no project given' "$dir/log")" = 1
setup required "spool=$spool" "projects=$projects" policy=require
batch -G1 --gpu-project=beta
check "require under required: refused too" refused "unknown project 'beta'"

setup optional "spool=$spool" "projects=$projects" policy=warn
batch -G1 --gpu-project=beta
check "warn: unknown project gets through" got_through
check "warn: with a word" log_has "unknown project 'beta'; yours are:"
batch -G1
check "warn: missing project gets through with a word" \
    sh -c "grep -q "^probe:" '$dir/log' && grep -q 'no project given' '$dir/log'"
setup optional "spool=$spool" "projects=$projects" policy=off
batch -G1 --gpu-project=beta
check "off: through in silence" in_silence
setup optional "spool=$spool" policy=require
batch -G1 --gpu-project=anything
check "require without a list: any well-formed project passes" in_silence
batch -G1
check "require without a list: a missing project is refused" refused 'no project given'

# lists that cannot be used: never the user's fault
echo 'nobodys somebody' >"$dir/other"
setup optional "projects=$dir/other" policy=require
batch -G1 --gpu-project=nobodys
check "a user without projects is told so" refused "unknown project 'nobodys'; you have none"
setup optional "projects=$dir/missing" policy=require
batch -G1 --gpu-project=any
check "list missing: told and passed" \
    sh -c "grep -q "^probe:" '$dir/log' && grep -q 'projects are not checked: .*/missing: No such file' '$dir/log'"
printf 'alpha\n\n  bad/name x\n' >"$dir/bad"
setup optional "projects=$dir/bad" policy=require
batch -G1 --gpu-project=alpha
check "list broken: told with its line and passed" \
    sh -c "grep -q "^probe:" '$dir/log' && grep -q '/bad:3: the first word is not a project name' '$dir/log'"
mkfifo "$dir/pipe"
setup optional "projects=$dir/pipe" policy=require
batch -G1 --gpu-project=alpha
check "list is a pipe: passed without waiting" got_through
awk 'BEGIN { for (i = 0; i < 400; i++) print "project-" i }' >"$dir/many"
setup optional "projects=$dir/many" policy=require
batch -G1 --gpu-project=nosuch
check "a long list is cut in the message" refused 'project-9, .*, \.\.\.$'

# policy=require applies to requests for GPUs
setup optional "spool=$spool" "projects=$projects" policy=require
unasked () { # TEXT COMMAND...
    text=$1
    shift
    client "$@"
    check "require passes $text" in_silence
}
asked () {
    text=$1
    shift
    client "$@"
    check "require refuses $text" refused 'no project given'
}
for program in sbatch salloc srun; do
    unasked "$program for CPUs" $program -n2 "$dir/true.sh"
    unasked "$program with words of the program" $program "$dir/true.sh" --gres=gpu:1
    asked "$program -G1" $program -G1 "$dir/true.sh"
    asked "$program --gpus-per-node" $program -n 1 --gpus-per-node 2 "$dir/true.sh"
    asked "$program --gres" $program --gres=nic,gpu:h100:2 "$dir/true.sh"
    asked "$program for shards" $program --gres shard:2 "$dir/true.sh"
    unasked "$program --gres=gpu:0" $program --gres=gpu:0 "$dir/true.sh"
    client $program --gpu-project=nosuch "$dir/true.sh"
    check "require, $program for CPUs: an unknown project passes with a word" \
        eval "got_through && log_has \"unknown project 'nosuch'\""
done
unasked "another GRES" sbatch --gres=nic:1 --wrap=true
unasked "a wrapped command with such words" sbatch --wrap='srun --gres=gpu:1 true'
asked "options behind a wrapped command" sbatch --wrap='srun true' --gpus=1
unasked "a comment with such words" sbatch --comment='a --gres=gpu:1' --wrap=true
unasked "a comment that looks like an option" sbatch --comment --gres=gpu:1 --wrap=true

# defaults of the environment, which the command line replaces
environment=SBATCH_GRES=gpu:1
asked "SBATCH_GRES" sbatch --wrap=true
unasked "SBATCH_GRES replaced by --gres=none" sbatch --gres=none --wrap=true
unasked "SBATCH_GRES in salloc" salloc true
environment=SALLOC_GPUS=2
asked "SALLOC_GPUS" salloc true
environment=SLURM_GPUS_PER_TASK=1
asked "SLURM_GPUS_PER_TASK" srun -n1 true
unasked "SLURM_GPUS_PER_TASK in sbatch" sbatch --wrap=true
environment=

# the directives of a script that is a file
script '--gres=gpu:2'
check "require refuses a directive" refused 'no project given'
script '-J "a b" --comment=it\'"'"'s --gpus 2 # comment'
check "require refuses one behind quotes" refused 'no project given'
script '-n1 # --gpus 2'
check "require passes a comment behind a directive" in_silence
script '--comment="x --gpus 2"'
check "require passes a value with such words" in_silence
script '--gres=gpu:1' '--gpu-project=alpha'
check "require passes a project in a directive" in_silence
arguments=--gres=gpu:0
script '--gres=gpu:2'
check "require passes a directive that the command line replaces" in_silence
arguments=
environment=SBATCH_GPUS=0
script '--gpus=2'
check "require passes one that the environment replaces" in_silence
environment=
printf '#!/bin/sh\n\n# text\n#SBATCH -n1\ntrue\n#SBATCH --gres=gpu:1\n' >"$dir/late.sh"
unasked "a directive behind a command" sbatch "$dir/late.sh"
mkdir "$dir/there"
printf '#!/bin/sh\n#SBATCH -G1\ntrue\n' >"$dir/there/gpu.sh"
cp "$dir/true.sh" "$dir/gpu.sh"
cd "$dir" || exit 1
unasked "the script of the working directory" sbatch gpu.sh
asked "the script of --chdir" sbatch -D there gpu.sh
rm gpu.sh
environment=PATH=$PATH:$dir/there
asked "the script of PATH" sbatch gpu.sh
environment=
cd / || exit 1
client_input () {
    env -u SLURM_JOB_ID SLURM_CONF="$dir/slurm.conf" "$@" >"$dir/log" 2>&1
    rc=$?
}
client_input sbatch <"$dir/there/gpu.sh"
check "require leaves a script from standard input to job_submit" in_silence
client_input sbatch /dev/stdin <"$dir/there/gpu.sh"
check "require: /dev/stdin, a file, does not hang" test $rc != 124
mkfifo "$dir/fifo"
cat "$dir/there/gpu.sh" >"$dir/fifo" &
client sbatch "$dir/fifo"
wait
check "require leaves a script from a pipe to job_submit" in_silence
unasked "--exclusive, which job_submit looks at" sbatch --exclusive --wrap=true
{ printf '#!/bin/sh\n#SBATCH --gres=gpu:1\n'; head -c 1048576 /dev/zero | tr '\0' '#'; } >"$dir/big.sh"
asked "a script of 1 MiB" sbatch "$dir/big.sh"
unasked "a script of a long line without end" sbatch \
    --comment="$(head -c 100000 /dev/zero | tr '\0' a)" --wrap=true

# het jobs: each component on its own; the probe must not stop at the first one
plugstack optional "spool=$spool" "projects=$projects" policy=require
echo "required $probe" >>"$dir/plugstack.conf"
het_refused () { # TEXT PATTERN COMMAND...
    text=$1 pattern=$2
    shift 2
    client "$@"
    check "require refuses $text" \
        eval "test $rc = 1 && log_has '$pattern' && ! log_has 'Unable to contact'"
}
het_passes () {
    text=$1
    shift
    client "$@"
    check "require passes $text" eval "log_has 'Unable to contact' && ! log_has gpuledger:"
}
none='no project given'
het_refused "srun, the first of two components" "$none" srun -G1 true : -n1 true
het_refused "srun, the second" "$none" srun -n1 true : -G1 true
het_passes "srun, components for CPUs" srun -n1 true : -n1 true
het_refused "sbatch, the first of two components" "$none" sbatch -G1 : -n1 --wrap=true
het_refused "sbatch, the second" "$none" sbatch -n1 : -G1 --wrap=true
het_passes "sbatch, components for CPUs" sbatch -n1 : -n1 --wrap=true
het_refused "salloc, the second of two components" "$none" salloc -n1 : --gpus=1 true
het_refused "the project of the second component" "unknown project .beta" \
    srun --gpu-project=alpha -G1 true : --gpu-project=beta -G1 true
het_passes "a second component for CPUs" srun --gpu-project=alpha -G1 true : -n1 true
het_script () { # FUNCTION TEXT [PATTERN] -- LINE...
    function=$1 text=$2
    shift 2
    case $1 in --) set -- "" "$@" ;; esac
    pattern=$1
    shift 2
    { echo '#!/bin/sh'; printf '#SBATCH %s\n' "$@"; echo true; } >"$dir/het.sh"
    "$function" "$text" ${pattern:+"$pattern"} sbatch "$dir/het.sh"
}
het_script het_refused "the first component of a script" "$none" -- -G1 hetjob -n1
het_script het_refused "the second component of a script" "$none" -- \
    -n1 hetjob --gres=gpu:1
het_script het_refused "the project of the second one" "unknown project .beta" -- \
    -n1 hetjob '--gres=gpu:1 --gpu-project=beta'
het_script het_passes "a script whose first component has a project" -- \
    '-G1 --gpu-project=alpha' hetjob -n1
plugstack optional "spool=$spool" policy=warn
client srun -G1 true : -G1 true
check "warn: a het job is told once" test "$(grep -c 'no project given' "$dir/log")" = 1

# arguments and listings
setup optional "spool=$spool" policy=requre nonsense=1
batch
check "wrong arguments are told" \
    sh -c "grep -q \"'policy=requre': off, warn or require expected; ignored\" '$dir/log' && grep -q \"'nonsense=1' is not an argument\" '$dir/log'"
check "and ignored" got_through
cp "$plugin" "$dir/copy.so"
cat >"$dir/plugstack.conf" <<END
optional $plugin projects=$projects policy=require
optional $plugin projects=$projects policy=require
optional $dir/copy.so projects=$projects policy=require
required $probe stop
END
batch --gpu-project=alpha
check "listed three times: works, in silence" in_silence
check "listed three times: handed on" handed_on '\[alpha\] \[option\] \[\] \[\]'
batch -G1
check "listed three times: refused once" \
    test "$(grep -c 'no project given' "$dir/log")" = 1
client sbatch -G1 --gpu-project=alpha : -G1 --wrap=true
check "listed three times, het job: works" in_silence
sed -i 's/ stop$//' "$dir/plugstack.conf"
het_refused "listed three times: the second component" "$none" sbatch -n1 : -G1 --wrap=true

finish
