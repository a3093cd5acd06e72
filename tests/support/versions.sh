# shellcheck shell=bash disable=SC2154
# versions.sh: what a release of Slurm says of its accounting, and whether a
# store says the same. Sourced by tests/live/versions.sh, which lets real
# daemons make the data, and by tests/sync/versions.sh, which reads what was
# kept of them. The caller has ok, is and note (tests/live/lib.sh).
#
# A directory of recordings holds
#
#     sacct.txt sacct.json.gz     all segments, by sacct
#     events.txt                  by sacctmgr, also
#     reservations.txt accounts.txt tres.txt
#     rows.sql.gz                 the tables that are read: their definitions
#                                 and rows, without passwords, limits or names
#                                 of this machine
#     about                       the release, its server, as-of
#
# Texts have the byte 0x1f between fields, a line of names first, and instants
# as seconds.

versions_fields=JobIDRaw,Submit,Start,End,ElapsedRaw,State,Suspended,TimelimitRaw
versions_fields=$versions_fields,User,UID,Account,Partition,QOS,WCKey,Reservation
versions_fields=$versions_fields,NodeList,JobName,AdminComment,AllocTRES,ReqTRES
versions_fields=$versions_fields,JobID,DBIndex
us=$'\037'

# ------------------------------------------------------------------- recording

versions_sacct ()
{
    sacct -aDX -S 2000-01-01 -E 2035-01-01 "$@"
}

# versions_manager FILE ENTITY ARGUMENT...: sacctmgr's table, without the
# "|" that it ends lines with
versions_manager ()
{
    local file=$1
    shift
    SLURM_TIME_FORMAT=%s sacctmgr -P --noheader show "$@" | tr '|' "$us" >"$file"
}

# versions_record DIR: what the cluster that runs says now.
versions_record ()
{
    local dir=$1
    mkdir -p "$dir"
    SLURM_TIME_FORMAT=%s versions_sacct -P --delimiter="$us" --noconvert \
        -o "$versions_fields" >"$dir/sacct.txt" &&
        versions_manager "$dir/events.txt" event all_time \
            format=nodename,timestart,timeend,stateraw,state,reason,tres,clusternodes &&
        versions_manager "$dir/reservations.txt" reservation \
            start=2000-01-01 \
            format=id,name,start,end,flags,nodenames &&
        versions_manager "$dir/accounts.txt" association withdeleted \
            format=account,parentname,user,id &&
        versions_manager "$dir/tres.txt" tres format=id,type,name
}

# versions_record_json DIR: apart, because 20.11 has none.
versions_record_json ()
{
    versions_sacct --json | sed "s|${GL_SANDBOX_DIR//\//\\\\/}|\\\\/sandbox|g" |
        gzip -9n >"$1/sacct.json.gz"
}

# versions_record_rows DIR CLUSTER DATABASE COMMAND...: the tables, by this
# mariadb-dump; its definitions so that other servers take them.
versions_record_rows ()
{
    local dir=$1 cluster=$2 database=$3
    shift 3
    "$@" --skip-comments --skip-add-locks --skip-disable-keys --skip-set-charset \
        --skip-tz-utc --complete-insert --skip-extended-insert --hex-blob \
        --skip-add-drop-table "$database" cluster_table tres_table qos_table \
        "${cluster}_assoc_table" "${cluster}_job_table" "${cluster}_suspend_table" \
        "${cluster}_event_table" "${cluster}_resv_table" |
        sed -E -e '/^(\/\*|SET |$)/d' -e 's/ AUTO_INCREMENT=[0-9]+//' \
            -e 's/utf8mb4_uca1400_ai_ci/utf8mb4_general_ci/g' \
            -e 's/utf8mb3_uca1400_ai_ci/utf8mb3_general_ci/g' \
            -e "s|$GL_SANDBOX_DIR|/sandbox|g" | gzip -9n >"$dir/rows.sql.gz"
}

# ------------------------------------------------------------------- comparing

# versions_dump STORE KIND...
versions_dump () { "$abs_top_builddir/tests/store/dump" "$@"; }

# From lines NAME=VALUE to the values of these names, in this order, by "|".
versions_pick ()
{
    awk -F '\t' -v names="$*" '
        BEGIN { n = split (names, name, " ") }
        {
            delete value
            for (i = 2; i <= NF; i++) {
                at = index ($i, "=")
                value[substr ($i, 1, at - 1)] = substr ($i, at + 1)
            }
            line = ""
            for (i = 1; i <= n; i++)
                line = line (i > 1 ? "|" : "") value[name[i]]
            print line
        }'
}

# What awk programs below share: text as tests/store/dump writes it.
versions_awk='
function quoted(text) {
    if (text == "")
        return "-"
    gsub (/\\/, "\\x5c", text)
    gsub (/"/, "\\x22", text)
    return "\"" text "\""
}
function instant(text) { return text ~ /^[0-9]+$/ ? text : 0 }
function seconds(text,   part, n, day) {
    day = index (text, "-") ? substr (text, 1, index (text, "-") - 1) : 0
    n = split (substr (text, index (text, "-") + 1), part, ":")
    sub (/\..*/, "", part[n])
    return n == 3 ? ((day * 24 + part[1]) * 60 + part[2]) * 60 + part[3] \
                  : part[1] * 60 + part[2]
}
function before(a, b) {
    sub ("=.*", "", a)
    sub ("=.*", "", b)
    return a < b
}
# the devices of TRES by names, in bytewise order
function devices(tres,   item, i, n, list, k, t) {
    n = split (tres, item, ",")
    k = 0
    for (i = 1; i <= n; i++)
        if (item[i] ~ /^gres\/(gpu|shard|mps)[:=]/ && item[i] !~ /=0$/)
            list[++k] = substr (item[i], 6)
    for (i = 1; i <= k; i++)
        for (n = i + 1; n <= k; n++)
            if (before(list[n], list[i])) {
                t = list[i]; list[i] = list[n]; list[n] = t
            }
    t = ""
    for (i = 1; i <= k; i++)
        t = t (i > 1 ? "," : "") list[i]
    return "\"" t "\""
}
function amount(tres, name,   item, i, n, value) {
    n = split (tres, item, ",")
    for (i = 1; i <= n; i++)
        if (index (item[i], name "=") == 1) {
            value = substr (item[i], length (name) + 2)
            if (value ~ /G$/)
                return substr (value, 1, length (value) - 1) * 1024
            sub (/M$/, "", value)
            return value
        }
    return "-"
}
'

# The segments as sacct has them, a field a column. Where a job was resized, 22.05
# gives the part that follows the start of the first one: it began when it was
# submitted.
versions_segments_of_sacct ()
{
    LC_ALL=C awk -F "$us" "$versions_awk"'
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        function field(name) { return $column[name] }
        {
            state = field("State")
            cancelled = 0
            if (state ~ /^CANCELLED by /)
                cancelled = substr (state, 14) == field("UID") ? 1 : 2
            else if (state == "CANCELLED")
                cancelled = 3
            start = instant(field("Start"))
            if (start > 0 && start < field("Submit") + 0)
                start = field("Submit")
            sub (/ by .*/, "", state)
            # who never held anything has no start, whatever a release prints
            if (field("AllocTRES") == "")
                start = 0
            limit = field("TimelimitRaw")
            nodes = field("NodeList")
            array = "-"; task = "-"; het = "-"; offset = "-"
            if (match (field("JobID"), /_/)) {
                array = substr (field("JobID"), 1, RSTART - 1)
                task = substr (field("JobID"), RSTART + 1)
                if (task !~ /^[0-9]+$/)
                    task = "-"
            } else if (match (field("JobID"), /\+/)) {
                het = substr (field("JobID"), 1, RSTART - 1)
                offset = substr (field("JobID"), RSTART + 1)
            }
            print field("JobIDRaw") "|" field("Submit") "|" \
                start "|" instant(field("End")) "|" \
                quoted(state) "|" \
                (state == "SUSPENDED" ? "-" : seconds(field("Suspended"))) "|" \
                (limit ~ /^[0-9]+$/ ? limit * 60 : "-") "|" \
                quoted(field("User")) "|" field("UID") "|" \
                quoted(field("Account")) "|" quoted(field("Partition")) "|" \
                quoted(field("QOS")) "|" quoted(field("WCKey")) "|" \
                (nodes == "None assigned" ? "-" : quoted(nodes)) "|" \
                quoted(field("JobName")) "|" \
                quoted(field("AdminComment")) "|" \
                devices(field("AllocTRES")) "|" \
                devices(field("ReqTRES")) "|" \
                amount(field("AllocTRES"), "cpu") "|" \
                amount(field("AllocTRES"), "mem") "|" \
                amount(field("AllocTRES"), "node") "|" \
                array "|" task "|" het "|" offset "|" field("DBIndex") "|" \
                cancelled
        }' "$1/sacct.txt" | LC_ALL=C sort
}

versions_segments_of_store ()
{
    versions_dump "$1" segment | versions_pick id_job time_submit time_start \
        time_end state suspended time_limit user uid account partition qos wckey \
        nodelist job_name admin_comment gres gres_requested cpus \
        memory_mb nodes array_job array_task het_job het_offset job_db_inx \
        cancelled_by |
        awk -F '|' -v OFS='|' '$21 == "-" { $3 = 0 } 1' | LC_ALL=C sort
}

# sacct does not name a reservation that was removed.
versions_reserved_of_sacct ()
{
    LC_ALL=C awk -F "$us" "$versions_awk"'
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["Reservation"] != "" {
            print $column["JobIDRaw"] "|" quoted($column["Reservation"])
        }' "$1/sacct.txt" | LC_ALL=C sort -u
}
versions_reserved_of_store ()
{
    versions_dump "$1" segment | versions_pick id_job reservation |
        grep -v '|-$' | LC_ALL=C sort -u
}

# Nodes that were not to be had, and registrations of the cluster, without the
# times in which slurmctld was lost.
versions_events_of_sacctmgr ()
{
    LC_ALL=C awk -F "$us" "$versions_awk"'
        $1 == "" && $4 != 0 { next }
        {
            print quoted($1) "|" $2 "|" instant($3) "|" $4 "|" \
                quoted($6) "|" devices($7) "|" ($1 == "" ? quoted($8) : "-")
        }' "$1/events.txt" | LC_ALL=C sort
}
versions_events_of_store ()
{
    versions_dump "$1" event |
        versions_pick node start end state reason gres nodelist | LC_ALL=C sort
}

versions_reservations_of_sacctmgr ()
{
    LC_ALL=C awk -F "$us" "$versions_awk"'
        {
            print $1 "|" $3 "|" $4 "|" quoted($2) "|" quoted($6)
        }' "$1/reservations.txt" | LC_ALL=C sort
}
versions_reservations_of_store ()
{
    versions_dump "$1" reservation |
        versions_pick id start end name nodelist | LC_ALL=C sort
}

# The living row of an account comes last.
versions_accounts_of_sacctmgr ()
{
    LC_ALL=C awk -F "$us" "$versions_awk"'
        $3 == "" { print quoted($1) "|" quoted($2) }' "$1/accounts.txt" |
        LC_ALL=C sort -u
}
versions_accounts_of_store ()
{
    versions_dump "$1" account | versions_pick name parent | LC_ALL=C sort
}

# versions_same WHAT DIR STORE OTHER: as both sides say it; differences are
# shown.
versions_same ()
{
    local ours theirs
    theirs=$("versions_$1_of_$4" "$2")
    ours=$("versions_$1_of_store" "$3")
    [ -n "$theirs" ] && [ "$theirs" = "$ours" ]
    ok $? "$1: each field as $4 has it ($(wc -l <<<"$theirs") rows)"
    [ "$theirs" = "$ours" ] ||
        note "$(diff <(echo "$theirs") <(echo "$ours"))"
}

# versions_compare DIR STORE: what sync has read.
versions_compare ()
{
    versions_same segments "$1" "$2" sacct
    [ -z "$(comm -23 <(versions_reserved_of_sacct "$1") \
        <(versions_reserved_of_store "$2"))" ]
    ok $? "segments: each reservation that sacct names"
    versions_same events "$1" "$2" sacctmgr
    versions_same reservations "$1" "$2" sacctmgr
    versions_same accounts "$1" "$2" sacctmgr
}

# versions_ledger STORE VERB...
versions_ledger ()
{
    local store=$1
    shift
    "$abs_top_builddir/sacct-ext/gpuledger" --quiet --store "$store" "$@"
}

# What every source knows of a segment.
versions_common ()
{
    versions_dump "$1" segment | versions_pick id_job time_submit time_start \
        time_end observed_at state suspended time_limit user account partition qos \
        wckey nodelist job_name gres gpu_asked cpus memory_mb nodes \
        array_job array_task het_job het_offset cancelled_by
}

# versions_imports DIR CLUSTER STORE SCRATCH AS-OF: the same segments from
# sacct's text and JSON as from sync.
versions_imports ()
{
    local dir=$1 cluster=$2 store=$3 scratch=$4 as_of=$5 wanted got
    wanted=$(versions_common "$store")
    versions_ledger "sqlite:$scratch/text.db" init
    tr "$us" '|' <"$dir/sacct.txt" >"$scratch/sacct.txt"
    versions_ledger "sqlite:$scratch/text.db" import --trust-text \
        --cluster "$cluster" --as-of "@$as_of" "$scratch/sacct.txt" >"$scratch/import" 2>&1 ||
        note "$(cat "$scratch/import")"
    got=$(versions_common "sqlite:$scratch/text.db")
    [ -n "$got" ] && [ "$got" = "$wanted" ]
    ok $? "import of sacct's text gives the same segments"
    [ "$got" = "$wanted" ] || note "$(diff <(echo "$wanted") <(echo "$got"))"
    [ -e "$dir/sacct.json.gz" ] || return 0
    versions_ledger "sqlite:$scratch/json.db" init
    versions_ledger "sqlite:$scratch/json.db" import --cluster "$cluster" \
        --as-of "@$as_of" "$dir/sacct.json.gz" >"$scratch/import" 2>&1 ||
        note "$(cat "$scratch/import")"
    got=$(versions_common "sqlite:$scratch/json.db")
    [ -n "$got" ] && [ "$got" = "$wanted" ]
    ok $? "import of sacct's JSON gives the same segments"
    [ "$got" = "$wanted" ] || note "$(diff <(echo "$wanted") <(echo "$got"))"
}
