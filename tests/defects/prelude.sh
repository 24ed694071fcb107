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
    needs unshare mount
    [ -e "$1" ] || skip "this machine has no $1"
    file=$1
    printf '%s\n' "$2" >"$DIR/cover"
    shift 2
    unshare -rm true 2>/dev/null || skip "no mount namespace can be made"
    unshare -rm sh -c 'mount --bind "$DIR/cover" "$0" && exec "$@"' "$file" "$@"
}
