# shellcheck shell=sh
# packages.sh: sourced by contrib/check and contrib/quickstart.
#
# install_packages FILE [KINDS]: install with apt-get what FILE (packages.debian)
# lists and this machine lacks; of some kinds alone: 'build|cluster'. Packages that bring services must not start them:
# that needs no systemd, disturbs nothing, and a sandbox has daemons of its
# own. policy-rc.d is Debian's switch for this; one that is there already is
# the administrator's and stays.
policy_rc_d=/usr/sbin/policy-rc.d

# What another package provides is not missing: some nodejs have npm in them.
missing_packages ()
{
    have=$(dpkg-query -W -f '${db:Status-Status}, ${Package}, ${Provides}\n' |
        sed -n 's/([^)]*)//g; s/^installed, //p' | tr -s ', ' '\n')
    sed -n -E "s/^(${2:-[a-z]+}) //p" "$1" | while read -r package; do
        echo "$have" | grep -qxF -e "$package" || echo "$package"
    done
}

guard_services ()
{
    [ -e "$policy_rc_d" ] && return
    printf '#!/bin/sh\nexit 101\n' >"$policy_rc_d" &&
        chmod 755 "$policy_rc_d" && guarded=yes
}

unguard_services ()
{
    [ "${guarded:-no}" = no ] || rm -f "$policy_rc_d"
    guarded=no
}

install_packages ()
{
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "no apt-get here; these packages are missing:" >&2
        echo "$missing" >&2
        return 1
    fi
    guarded=no
    guard_services || return 1
    trap unguard_services EXIT
    trap 'exit 1' INT TERM HUP
    # shellcheck disable=SC2086
    apt-get -q update &&
        DEBIAN_FRONTEND=noninteractive \
            apt-get -q -y --no-install-recommends install $missing
    installed=$?
    unguard_services
    trap - EXIT INT TERM HUP
    return $installed
}
