#!/bin/bash
# A short soak, by a fixed schedule; by hand: tests/soak/soak.sh --help.
exec bash "${abs_top_srcdir:-.}/tests/soak/soak.sh" --minutes 1 --seed 17
