#!/bin/sh
# Our declarations of Level Zero against its own headers, where those are
# installed: sizes, places of members and numbers.
# shellcheck disable=SC2154
set -u
skip () { echo "1..0 # SKIP because $*"; exit 0; }
command -v cc >/dev/null || skip "there is no C compiler"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$dir/there.c" <<'END'
#include <level_zero/zes_api.h>
END
cc -fsyntax-only "$dir/there.c" 2>/dev/null ||
    skip "the headers of Level Zero (libze-dev) are not installed"

plan=0
# holds TEXT CONDITION...: of a program that includes both
holds ()
{
    plan=$((plan + 1))
    {
        echo '#include <stddef.h>'
        echo '#include <level_zero/ze_api.h>'
        echo '#include <level_zero/zes_api.h>'
        echo '#include "devices/level_zero.h"'
        shift_text=$1
        shift
        for condition; do
            echo "_Static_assert (($condition), \"$(echo "$condition" | tr -d '"')\");"
        done
    } >"$dir/test.c"
    if cc -std=gnu11 -I"$abs_top_srcdir/plugin/agent" -fsyntax-only \
        "$dir/test.c" 2>"$dir/err"; then
        echo "ok $plan - $shift_text"
    else
        echo "not ok $plan - $shift_text"
        sed 's/^/# /' "$dir/err"
    fi
}

# same THEIRS OURS MEMBER=MEMBER...: a struct
same ()
{
    theirs=$1 ours=$2
    shift 2
    set -- "$@" end
    conditions="sizeof ($theirs) == sizeof ($ours)"
    while [ "$1" != end ]; do
        conditions="$conditions && offsetof ($theirs, ${1%%=*}) == offsetof ($ours, ${1#*=})"
        shift
    done
    holds "$theirs" "$conditions"
}

same ze_device_properties_t lz_core_t type=type vendorId=vendor_id \
    flags=flags uuid=uuid name=name
same zes_device_properties_t lz_properties_t core=core \
    numSubdevices=subdevices modelName=model driverVersion=driver
same zes_pci_properties_t lz_pci_t address.domain=domain \
    address.bus=bus address.device=device address.function=function
same zes_power_properties_t lz_power_properties_t onSubdevice=on_subdevice \
    defaultLimit=default_limit maxLimit=max_limit
same zes_power_energy_counter_t lz_energy_t energy=energy timestamp=timestamp
same zes_power_sustained_limit_t lz_sustained_limit_t enabled=enabled power=power
same zes_engine_properties_t lz_engine_properties_t type=type \
    onSubdevice=on_subdevice
same zes_engine_stats_t lz_activity_t activeTime=active timestamp=timestamp
same zes_mem_properties_t lz_memory_properties_t location=location
same zes_mem_state_t lz_memory_state_t free=free size=size
same zes_freq_properties_t lz_frequency_properties_t type=type \
    onSubdevice=on_subdevice
same zes_freq_state_t lz_frequency_state_t actual=actual \
    throttleReasons=throttle
same zes_process_state_t lz_process_t processId=pid memSize=memory

holds "types of structs" \
    "ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES == LZ_TYPE_CORE_DEVICE_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES == LZ_TYPE_DEVICE_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_PCI_PROPERTIES == LZ_TYPE_PCI_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES == LZ_TYPE_ENGINE_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_FREQ_PROPERTIES == LZ_TYPE_FREQUENCY_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_MEM_PROPERTIES == LZ_TYPE_MEMORY_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_POWER_PROPERTIES == LZ_TYPE_POWER_PROPERTIES" \
    "ZES_STRUCTURE_TYPE_PROCESS_STATE == LZ_TYPE_PROCESS_STATE" \
    "ZES_STRUCTURE_TYPE_FREQ_STATE == LZ_TYPE_FREQUENCY_STATE" \
    "ZES_STRUCTURE_TYPE_MEM_STATE == LZ_TYPE_MEMORY_STATE"
holds "results" \
    "ZE_RESULT_ERROR_DEVICE_LOST == LZ_ERROR_DEVICE_LOST" \
    "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET == LZ_ERROR_DEVICE_REQUIRES_RESET" \
    "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE == LZ_ERROR_DEPENDENCY_UNAVAILABLE" \
    "ZE_RESULT_ERROR_UNINITIALIZED == LZ_ERROR_UNINITIALIZED"
holds "kinds and bits" \
    "ZE_DEVICE_TYPE_GPU == LZ_DEVICE_GPU" \
    "ZE_DEVICE_PROPERTY_FLAG_INTEGRATED == LZ_DEVICE_INTEGRATED" \
    "ZES_ENGINE_GROUP_ALL == LZ_ENGINE_ALL" \
    "ZES_ENGINE_GROUP_COMPUTE_ALL == LZ_ENGINE_COMPUTE" \
    "ZES_ENGINE_GROUP_3D_RENDER_COMPUTE_ALL == LZ_ENGINE_RENDER_COMPUTE" \
    "ZES_MEM_LOC_DEVICE == LZ_MEMORY_ON_DEVICE" \
    "ZES_FREQ_DOMAIN_GPU == LZ_FREQUENCY_GPU" \
    "(ZES_FREQ_THROTTLE_REASON_FLAG_AVE_PWR_CAP | ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP | ZES_FREQ_THROTTLE_REASON_FLAG_CURRENT_LIMIT) == LZ_THROTTLE_POWER" \
    "ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT == LZ_THROTTLE_THERMAL" \
    "ZES_FREQ_THROTTLE_REASON_FLAG_SW_RANGE == LZ_THROTTLE_SETTINGS"
echo "1..$plan"
