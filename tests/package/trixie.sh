#!/bin/sh
# smoke.sh with packages of Debian 13 and its Slurm 24.11.
exec "${abs_top_srcdir:?}/tests/package/smoke.sh" trixie
