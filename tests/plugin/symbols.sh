#!/bin/sh
# The plugin exports what Slurm looks up and nothing else, imports nothing but
# libc and the listed functions of Slurm, and needs libc alone.
plugin=$abs_top_builddir/plugin/.libs/gpuledger.so
count=0
failed=0

# compare TEXT EXPECTED FOUND (words in any order)
compare () {
    count=$((count + 1))
    expected=$(printf '%s\n' $2 | sort)
    found=$(printf '%s\n' $3 | sort)
    if test "$expected" = "$found"; then
        echo "ok $count - $1"
    else
        failed=1
        echo "not ok $count - $1"
        printf '%s\n' "expected:" "$expected" "found:" "$found" | sed 's/^/# /'
    fi
}

# Slurm 20.11 has one symbol less.
case $({ /usr/sbin/slurmctld -V || sbatch -V; } 2>/dev/null) in
    *' '20.*) also= ;;
    *) also=spank_plugin_version ;;
esac
compare "exported are the symbols that Slurm looks up, all of them" "
    plugin_name plugin_type plugin_version $also
    slurm_spank_init slurm_spank_init_failure_mode slurm_spank_init_post_opt
    slurm_spank_job_epilog slurm_spank_job_prolog
" "$(nm -D --defined-only "$plugin" | awk '{ print $NF }')"

# A versioned name (getenv@GLIBC_2.2.5) is libc's; weak ones need nobody.
compare "imported beside libc are the listed functions of Slurm" "
    slurm_debug slurm_error slurm_spank_log
    spank_context spank_get_item spank_getenv spank_job_control_setenv
    spank_option_getopt spank_option_register spank_setenv spank_unsetenv
" "$(nm -D --undefined-only "$plugin" |
    awk '$1 != "w" && $NF !~ /@GLIBC_/ { print $NF }')"

compare "no function that starts a process, a thread or a connection" "" \
    "$(nm -D --undefined-only "$plugin" |
    awk '{ sub(/@.*/, "", $NF); print $NF }' |
    grep -E -x 'fork|vfork|clone|exec.*|posix_spawn.*|system|popen|socket|connect|pthread_.*|dlopen|dlsym|f?sync|fdatasync|flock|lockf|sleep|usleep|nanosleep|abort|printf|puts|putchar')"

compare "needed is libc alone" "libc.so.6" \
    "$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')"

compare "calls inside the plugin stay inside" "SYMBOLIC" \
    "$(readelf -d "$plugin" | grep -o -w -m 1 SYMBOLIC)"

echo "1..$count"
test $failed = 0
