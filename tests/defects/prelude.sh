# What the scripts in this directory share. A script runs "$@", which is truebench; what it starts besides ends with it.

trap 'kill $(jobs -p) 2>/dev/null' EXIT
trap 'exit 143' TERM

# This machine does not allow the defect: why.
skip() { echo "$*" >&2; exit 77; }

needs() { for tool in "$@"; do command -v "$tool" >/dev/null || skip "needs $tool"; done; }

# Busy loops on these CPUs.
hog() {
    needs taskset
    for cpu in "$@"; do taskset -c "$cpu" sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & done
}

# in_group CONTROLLER FILE-OF-V1 FILE-OF-V2 LIMIT-OF-V1 LIMIT-OF-V2 COMMAND...: within a new control group with that limit.
in_group() {
    for place in "/sys/fs/cgroup/$1 $2 $4" "/sys/fs/cgroup $3 $5"; do
        set_up=$(new_group $place) && break
    done
    [ -n "$set_up" ] || skip "no control group with a limit for $1 can be made"
    shift 5
    code=0
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$set_up" "$@" || code=$?
    rmdir "$set_up" 2>/dev/null || :
    return $code
}

new_group() {
    group="$1/truebench-selftest-$$"
    file=$2
    shift 2
    mkdir "$group" 2>/dev/null || return 1
    { echo "$*" >"$group/$file"; } 2>/dev/null || { rmdir "$group"; return 1; }
    echo "$group"
}

# with_quota PERCENT COMMAND...: with this share of one CPU.
with_quota() {
    share=$1
    shift
    in_group cpu cpu.cfs_quota_us cpu.max "${share}000" "${share}000 100000" "$@"
}

# with_memory BYTES COMMAND...
with_memory() {
    most=$1
    shift
    in_group memory memory.limit_in_bytes memory.max "$most" "$most" "$@"
}

# covered FILE TEXT COMMAND...: in a mount namespace where FILE, of /proc or /sys, holds TEXT.
covered() {
    file=$1
    printf '%s\n' "$2" >"$DIR/cover"
    shift 2
    under_cover "$file" "$@"
}

# under_cover FILE COMMAND...: in a mount namespace where FILE is $DIR/cover.
under_cover() {
    needs unshare mount
    [ -e "$1" ] || skip "this machine has no $1"
    unshare -rm true 2>/dev/null || skip "no mount namespace can be made"
    unshare -rm sh -c 'mount --bind "$DIR/cover" "$0" && exec "$@"' "$@"
}

# program NAME [OPTION OF cc...]: builds $DIR/NAME from the C on stdin.
program() {
    needs cc
    file=$DIR/$1
    shift
    cc -O1 -fno-builtin -I"$DIR" -o "$file" "$@" -x c - || skip "cc builds no such program"
}

# library NAME [OPTION OF cc...]: builds $DIR/libNAME.so from the C on stdin. Its bump.h is an allocator in some thirty lines.
library() {
    file=lib$1.so
    shift
    program "$file" -fPIC -shared "$@"
}

# apart COMMAND...: in a network namespace of its own, which has lo.
apart() {
    needs unshare ip
    unshare -rn true 2>/dev/null || skip "no network namespace can be made"
    unshare -rn sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

# shaped "QDISC..." COMMAND...: apart, where lo does this to packets (tc(8)).
shaped() {
    needs tc
    apart sh -c 'tc qdisc add dev lo root $0' "$1" 2>/dev/null || skip "this kernel has no such queue: $1"
    qdisc=$1
    shift
    apart sh -c 'tc qdisc add dev lo root $0 && exec "$@"' "$qdisc" "$@"
}

# stolen PERCENT COMMAND...: in a mount namespace whose /proc/stat tells of a hypervisor that takes so much of each CPU.
stolen() {
    needs awk dd
    share=$1
    shift
    since=$(cut -d ' ' -f 1 /proc/uptime)
    tell_of_steal
    while sleep 0.1; do tell_of_steal; done &
    under_cover /proc/stat "$@"
}

# One write of always the same length, so that nobody reads a half of it.
tell_of_steal() {
    awk -v share="$share" -v since="$since" '
        FILENAME == "/proc/uptime" { ticks = int(($1 - since) * share); next }
        FNR == 1 { pass++ }
        pass == 1 { cpus += /^cpu[0-9]/; next }
        $1 == "cpu" { $9 += cpus * ticks }
        /^cpu[0-9]/ { $9 += ticks }
        $1 == "intr" { $0 = $1 " " $2 }
        { text = text $0 "\n" }
        END { printf "%-16384s", text }
    ' /proc/uptime /proc/stat /proc/stat | dd of="$DIR/cover" bs=16384 iflag=fullblock conv=notrunc 2>/dev/null
}

# The C of a program that takes and gives back a hundred thousand blocks.
blocks() {
    cat <<'C'
#include <stdlib.h>
#include <string.h>
int main(void)
{
    static char *slots[1000];
    for (int step = 0; step < 100000; step++) {
        char **slot = &slots[(step * 7919) % 1000];
        free(*slot);
        *slot = malloc(100 + step % 500);
        memset(*slot, 1, 100);
    }
    return 0;
}
C
}

# The C of a program that takes, touches and gives back three blocks of 2 MiB, again and again: what glibc alone does worst.
churn() {
    cat <<'C'
#include <stdlib.h>
#include <string.h>
int main(int count, char **words)
{
    for (int turn = 0, turns = count > 1 ? atoi(words[1]) : 60; turn < turns; turn++) {
        char *blocks[3];
        for (int i = 0; i < 3; i++) memset(blocks[i] = malloc(2 << 20), 1, 2 << 20);
        for (int i = 0; i < 3; i++) free(blocks[i]);
    }
    return 0;
}
C
}

# watched COMMAND-OF-TRUEBENCH... -- PROGRAM...: the record of a program that is watched, whose output is its own.
watched() {
    "$@" >/dev/null
    # What is watched for seconds is told second by second, and the record is the last line.
    case $(head -c 9 "$DIR/record.json") in
        '{"second"') tail -n 1 "$DIR/record.json" ;;
        *) cat "$DIR/record.json" ;;
    esac
}

# servers COMMANDS: TRUEBENCH_LIB with a truebench-servers before which these commands are run; "$1" is what it is to do.
servers() {
    real=$("$TRUEBENCH" http list | sed -n 's/^program: //p')
    [ -x "$real" ] || skip "the Go servers are not there"
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" "$real" >"$DIR/truebench-servers"
    chmod 755 "$DIR/truebench-servers"
    export TRUEBENCH_LIB="$DIR"
}

# below PROCESS: all that it started, and what these started.
below() {
    for process in $(pgrep -P "$1"); do
        echo "$process"
        below "$process"
    done
}
