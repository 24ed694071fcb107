# What the scripts in this directory share. A script runs "$@", which is truebench; what else it starts ends with it.

# Crashes here are planted: no core files.
ulimit -c 0

# Standard input is a pipe that selftest holds: its end is the end of selftest, however it came about, and of all that is here. What was altered
# is put back on SIGTERM, which selftest may have sent before it ended; then $DIR is removed, because selftest can no longer do it.
exec 9<&0 </dev/null
(trap '' TERM; read -r _ <&9 || { trap '' USR1; kill -TERM 0; sleep 3; rm -rf "$DIR"; kill -KILL 0; }) >/dev/null 2>&1 &
watcher=$!
exec 9<&-

trap leave EXIT
trap 'exit 143' TERM

# What is running ends, and the control groups and files outside $DIR go that were made.
leave() {
    trap '' TERM
    # By a file: a substitution is a shell of its own, which in dash has no jobs. The watcher may be at work: it is not waited for.
    jobs -p >"$DIR/.jobs"
    helpers=$(grep -vx "$watcher" "$DIR/.jobs")
    if [ -n "$helpers" ]; then
        # They undo what they did, as this shell's end is theirs; but not for ever.
        kill $helpers
        (for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.1; done; kill -KILL $helpers) &
        wait $helpers
        kill -KILL $!
    fi
    while read -r file value; do echo "$value" >"$file"; done <"$DIR/.settings"
    [ ! -e "$DIR/swap" ] || swapoff "$DIR/swap"
    [ ! -e "/dev/shm/truebench-selftest-$$" ] || rm -rf "/dev/shm/truebench-selftest-$$"
    for group in /sys/fs/cgroup/truebench-selftest-$$ /sys/fs/cgroup/*/truebench-selftest-$$; do
        [ -d "$group" ] || continue
        kill -KILL $(cat "$group/cgroup.procs")
        for _ in 1 2 3 4 5; do rmdir "$group" && break || sleep 0.1; done
    done
    kill -USR1 $watcher
} 2>/dev/null

# This machine does not allow the defect: why. Within a pipe the script goes on, and what it says counts for nothing.
skip() { echo "$*" >"$DIR/.skip"; exit 77; }

needs() { for tool in "$@"; do command -v "$tool" >/dev/null || skip "needs $tool"; done; }

# Programs and libraries that are put into $DIR can be used.
needs_exec() {
    [ -x "$DIR/.runs" ] || { printf '#!/bin/sh\n' >"$DIR/.runs" && chmod 755 "$DIR/.runs"; }
    "$DIR/.runs" 2>/dev/null || skip "programs cannot be run from $(dirname "$DIR"), as if mounted noexec: set TMPDIR to another directory"
}

# Files in $DIR are on a disk, as far as truebench can tell.
needs_disk() { [ "$(stat -f -c %T "$DIR" 2>/dev/null)" != tmpfs ] || skip "$(dirname "$DIR") is in memory (tmpfs): set TMPDIR to a directory on a disk"; }

# glibc's own malloc is there to be measured: the first that is listed, which then has a version or a place.
needs_glibc() {
    "$TRUEBENCH" alloc list >"$DIR/.list" 2>/dev/null
    read -r _ version place <"$DIR/.list"
    case "$version $place" in [0-9]* | *own:*) ;; *) skip "the C library here is not glibc" ;; esac
}

# altered FILE VALUE: a setting of the kernel, put back at the end.
altered() {
    { [ "$(id -u)" = 0 ] && [ -w "$1" ]; } || skip "needs root, to set $1"
    value=$(sed 's/.*\[\(.*\)\].*/\1/' "$1")
    echo "$2" >"$1" 2>/dev/null || skip "$1 cannot be set to $2"
    echo "$1 $value" >>"$DIR/.settings"
}

# A swap file of 64 MiB, taken away at the end; none where the machine has swap.
with_swap() {
    [ "$(sed -n 's/^SwapTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)" = 0 ] || return 0
    [ "$(id -u)" = 0 ] || skip "this machine has no swap, and to give it some needs root"
    needs mkswap swapon
    needs_disk
    (umask 077; head -c 67108864 /dev/zero >"$DIR/swap")
    mkswap "$DIR/swap" >/dev/null 2>&1 && swapon "$DIR/swap" 2>/dev/null || { rm "$DIR/swap"; skip "no file can be swapped to here"; }
}

# Busy loops on these CPUs.
hog() {
    needs taskset
    for cpu in "$@"; do taskset -c "$cpu" sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & done
}

# in_group CONTROLLER FILE-OF-V1 FILE-OF-V2 LIMIT-OF-V1 LIMIT-OF-V2 COMMAND...: within the script's control group, with that limit.
in_group() {
    for place in "/sys/fs/cgroup/$1 $2 $4" "/sys/fs/cgroup $3 $5"; do
        set_up=$(new_group $place) && break
    done
    [ -n "$set_up" ] || skip "no control group with a limit for $1 can be made"
    shift 5
    # Not waited for by the shell itself, which on SIGTERM removes the group at once: within its limit the command may take long to end.
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$set_up" "$@" &
    wait $!
}

new_group() {
    group="$1/truebench-selftest-$$"
    file=$2
    [ -e "$1/cgroup.procs" ] || return 1
    shift 2
    [ -d "$group" ] || mkdir "$group" 2>/dev/null || return 1
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
    cover "$1" "$2"
    shift 2
    within "$@"
}

# cover FILE TEXT; grow FILE AWK-PROGRAM; lay SOURCE TARGET: the content that `within` shows in place of a file or a directory.
cover() {
    [ -e "$1" ] || skip "this machine has no $1"
    laid=$((${laid:-0} + 1))
    printf '%s\n' "$2" >"$DIR/cover$laid"
    lay "$DIR/cover$laid" "$1"
}

# What the program makes of the file, again and again; its `n` is the time since then, in hundredths of a second.
grow() {
    needs awk taskset
    [ -r "$1" ] || skip "this machine has no $1"
    laid=$((${laid:-0} + 1))
    since=$(awk '{ print int(100 * $1) }' /proc/uptime)
    now="BEGIN { getline < \"/proc/uptime\"; n = int(100 * \$1) - $since }"
    awk "$now $2" "$1" >"$DIR/cover$laid" || skip "awk cannot read $1"
    # Written in place, for the mount is of this file; numbers that grow leave no rest of the text before. Not on the first CPU.
    taskset -c "${CPU1:-$CPU0}" sh -c 'while sleep 0.05; do awk "$0" "$1" >"$2.new" && cat "$2.new" 1<>"$2"; done' \
        "$now $2" "$1" "$DIR/cover$laid" </dev/null >/dev/null 2>&1 &
    lay "$DIR/cover$laid" "$1"
}

lay() {
    needs unshare mount
    # Some systems let any user make a namespace, but not mount in it.
    unshare -rm mount --bind "$DIR" "$DIR" 2>/dev/null || skip "no mount namespace can be made, or nothing mounted in it"
    lays="${lays:-}mount --bind '$1' '$2' && "
}

# within COMMAND...: where all that was laid lies.
within() { unshare -rm sh -c "${lays:-}"'exec "$@"' sh "$@"; }

# system_files: a copy of what truebench reads of /sys/devices/system in $DIR/system, to be altered and laid over it. What that is stands in
# crates/machine/src/capture/files.rs; of hundreds of CPUs all there is would take long, and some files are slow to read.
system_files() {
    needs awk xargs
    mkdir "$DIR/system"
    (
        cd /sys/devices/system 2>/dev/null || exit
        for file in cpu/online cpu/offline cpu/possible cpu/present cpu/isolated cpu/nohz_full cpu/smt/* cpu/vulnerabilities/* \
            cpu/intel_pstate/* cpu/amd_pstate/* cpu/cpufreq/boost cpu/cpufreq/policy*/scaling_driver cpu/cpufreq/policy*/scaling_governor \
            cpu/cpufreq/policy*/energy_performance_preference edac/mc/mc*/ce_count \
            clocksource/clocksource0/current_clocksource clocksource/clocksource0/available_clocksource \
            node/online node/node[0-9]*/cpulist node/node[0-9]*/cpumap node/node[0-9]*/distance node/node[0-9]*/meminfo \
            node/node[0-9]*/hugepages/hugepages-*/nr_hugepages node/node[0-9]*/hugepages/hugepages-*/free_hugepages; do
            [ -f "$file" ] && echo "$file"
        done
        for cpu in cpu/cpu[0-9]*; do
            for file in $cpu/online $cpu/cpu_capacity $cpu/cpufreq/cpuinfo_max_freq $cpu/cpufreq/scaling_driver $cpu/cpufreq/scaling_governor \
                $cpu/topology/*_list $cpu/topology/*_id $cpu/topology/core_siblings $cpu/topology/thread_siblings \
                $cpu/cache/index*/level $cpu/cache/index*/type $cpu/cache/index*/size $cpu/cache/index*/coherency_line_size \
                $cpu/cache/index*/ways_of_associativity $cpu/cache/index*/shared_cpu_list $cpu/cache/index*/shared_cpu_map \
                $cpu/thermal_throttle/*_count; do
                [ -f "$file" ] && echo "$file"
            done
        done
    ) >"$DIR/.files"
    (cd "$DIR/system" && sed 's|/[^/]*$||' ../.files | sort -u | xargs mkdir -p) 2>/dev/null
    # One process for all of them. Not by tar or cpio: they use the sizes in /sys, which are a page each.
    awk '{
        from = "/sys/devices/system/" $0
        to = ENVIRON["DIR"] "/system/" $0
        if ((got = (getline line < from)) >= 0) {
            printf "" >to
            for (; got > 0; got = (getline line < from)) print line >to
            close(to)
        }
        close(from)
    }' "$DIR/.files" 2>/dev/null
    [ -s "$DIR/system/cpu/online" ] || skip "/sys/devices/system cannot be copied"
    lay "$DIR/system" /sys/devices/system
}

# caches LEVEL: KiB of the caches of that level that our CPUs have, each once; 0 where none is shown. `all`: of those that arrays must exceed, the
# last level, and the second where that is not the last (docs/checks/array-size.md).
caches() {
    needs awk
    for cpu in $(echo "$CPUS" | tr , " "); do
        for index in "/sys/devices/system/cpu/cpu$cpu"/cache/index*; do
            read -r level <"$index/level" && read -r kind <"$index/type" && read -r size <"$index/size" &&
                read -r cpus <"$index/shared_cpu_list" && [ "$kind" != Instruction ] && echo "$cpu $level ${size%K} $cpus"
        done
    done 2>/dev/null | awk -v asked="$1" '
        { cpu[NR] = $1; level[NR] = $2; size[NR] = $3; shared[NR] = $4; if ($2 > last[$1]) last[$1] = $2 }
        END {
            for (one = 1; one <= NR; one++) {
                is_meant = asked == "all" ? level[one] == last[cpu[one]] || level[one] == 2 : level[one] == asked
                if (is_meant && !seen[level[one] " " shared[one]]++) sum += size[one]
            }
            print sum + 0
        }'
}

# meanwhile SCRIPT COMMAND...: runs the command, and the script again and again until it ends; `$run` is the command's process.
meanwhile() {
    [ -e "/proc/$$/task/$$/children" ] || skip "this kernel does not list the children of a process"
    body=$1
    shift
    "$@" &
    run=$!
    (while sleep 0.05 && kill -0 $run; do eval "$body"; done) </dev/null >/dev/null 2>&1 &
    wait $run
}

# below PID: the processes that descend from it.
below() {
    for of_task in /proc/"$1"/task/*/children; do
        # By the shell itself: its CPU time counts as foreign load.
        children=
        read -r children <"$of_task"
        for child in $children; do echo "$child" && below "$child"; done
    done 2>/dev/null
}

# one_core: the first two CPUs as two hardware threads of one core.
one_core() {
    system_files
    for cpu in "$CPU0" "$CPU1"; do
        for list in core_cpus_list thread_siblings_list; do echo "$CPU0,$CPU1" >"$DIR/system/cpu/cpu$cpu/topology/$list"; done
    done
}

# count_up FILE RATE: a counter that grows by so much a second.
count_up() {
    echo 1000000 >"$1"
    (n=1000000; while sleep 0.05; do n=$((n + $2 / 20)); echo $n 1<>"$1"; done) </dev/null >/dev/null 2>&1 &
}

# in_place_of TOOL SCRIPT: a tool of that name in $DIR/bin that does what the script says, and then what the tool does.
in_place_of() {
    needs_exec
    mkdir -p "$DIR/bin"
    printf '#!/bin/sh\n%s\nexec %s "$@"\n' "$2" "$(command -v "$1")" >"$DIR/bin/$1"
    chmod +x "$DIR/bin/$1"
}

# program NAME [OPTION OF cc...]: builds $DIR/NAME from the C on stdin.
program() {
    needs cc
    needs_exec
    file=$DIR/$1
    shift
    cc -O1 -fno-builtin -I"$DIR" -o "$file" "$@" -x c - || skip "cc builds no such program"
}

# A program that maps a file and reads a byte of each page in random order, so many times over (to build: | program).
rereads() { cat <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main(int count, char **words)
{
    struct stat status;
    int file = open(words[1], O_RDONLY);
    if (count < 3 || file < 0 || fstat(file, &status)) return 1;
    volatile char *memory = mmap(0, status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || madvise((char *)memory, status.st_size, MADV_RANDOM)) return 1;
    for (int turn = 0; turn < atoi(words[2]); turn++)
        for (long at = 0; at < status.st_size; at += 4096) memory[at];
    return 0;
}
C
}

# A program that maps memory and, with READS, reads each page before it writes to it (to build: | program).
fresh() { cat <<'C'
#include <sys/mman.h>
int main(void)
{
    for (int turn = 0; turn < 300; turn++) {
        volatile char *block = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED || madvise((char *)block, 1 << 20, MADV_NOHUGEPAGE)) return 1;
        // Every second block is read by the kernel (MADV_POPULATE_READ, Linux 5.14), without a fault.
        if (READS && (turn % 2 == 0 || madvise((char *)block, 1 << 20, 22)))
            for (int at = 0; at < 1 << 20; at += 4096) block[at];
        for (int at = 0; at < 1 << 20; at += 4096) block[at] = 1;
    }
    return 0;
}
C
}

# library NAME [OPTION OF cc...]: builds $DIR/libNAME.so from the C on stdin. Its bump.h is an allocator in some thirty lines.
library() {
    file=lib$1.so
    shift
    program "$file" -fPIC -shared "$@"
}

# meddled STATEMENT COMMAND...: each worker does this, in C, to the middle of its arrays, which is `from` and so many `bytes`, again and again.
meddled() {
    statement=$1
    shift
    library meddle -pthread -DMEDDLE="$statement" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* Whole pages of each anonymous mapping of 3 MB and more, of which the arrays are; their ends may be slack. */
static void *meddles(void *none)
{
    unsigned long in_page = sysconf(_SC_PAGESIZE) - 1;
    for (;; usleep(10000)) {
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[512];
        unsigned long first, last;
        while (maps && fgets(line, sizeof line, maps)) {
            if (!strstr(line, " rw-p 00000000 00:00 0 \n") || sscanf(line, "%lx-%lx", &first, &last) != 2) continue;
            void *from = (void *)(first + ((last - first) / 4 & ~in_page));
            size_t bytes = (last - first) / 2 & ~in_page;
            if (last - first > 3000000) MEDDLE;
        }
        if (maps) fclose(maps);
    }
    return none;
}
/* Not in the process that we start, but in those that it starts. */
__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (getenv("MEDDLES")) pthread_create(&thread, 0, meddles, 0);
    else setenv("MEDDLES", "1", 1);
}
C
    LD_PRELOAD=$DIR/libmeddle.so "$@"
}

# apart COMMAND...: in a network namespace of its own, which has lo.
apart() {
    needs unshare ip
    unshare -rn ip link set lo up 2>/dev/null || skip "no network namespace can be made, or its lo not set up"
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

# few_ports COMMAND...: apart, with 64 local ports.
few_ports() {
    apart sh -c 'echo 40000 40063 >/proc/sys/net/ipv4/ip_local_port_range' 2>/dev/null || skip "the local ports cannot be set here"
    apart sh -c 'echo 40000 40063 >/proc/sys/net/ipv4/ip_local_port_range && exec "$@"' sh "$@"
}

# neighbour KIB: another process that walks through so much memory in every other second. Not on the first CPU.
neighbour() {
    needs taskset
    [ -n "${CPU1:-}" ] || skip "there is one CPU"
    program neighbour <<'C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int count, char **words)
{
    size_t bytes = count > 1 ? atol(words[1]) * 1024 : 0;
    volatile char *all = malloc(bytes);
    if (!all || !bytes) return 1;
    memset((char *)all, 1, bytes);
    for (;;) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec % 2) for (size_t at = 0; at < bytes; at += 64) all[at]++;
        else nanosleep(&(struct timespec){0, 10000000}, 0);
    }
}
C
    taskset -c "$CPU1" "$DIR/neighbour" "$1" </dev/null >/dev/null 2>&1 &
}

# The C of a program that takes, touches and gives back three blocks, again and again: so many times, of so many bytes, each second time of
# others; by default of 2 MiB, what glibc alone does worst.
churn() {
    cat <<'C'
#include <stdlib.h>
#include <string.h>
int main(int count, char **words)
{
    for (int turn = 0, turns = count > 1 ? atoi(words[1]) : 60; turn < turns; turn++) {
        char *blocks[3];
        size_t bytes = count > 2 ? atol(words[count > 3 ? 2 + turn % 2 : 2]) : 2 << 20;
        for (int i = 0; i < 3; i++) memset(blocks[i] = malloc(bytes), 1, bytes);
        for (int i = 0; i < 3; i++) free(blocks[i]);
    }
    return 0;
}
C
}

# The C of a program whose threads take 16 MB in small blocks, free nearly all and end; the others are freed after them.
heirs() { cat <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
enum { BLOCKS = 2000, BYTES = 8000 };
static char *blocks[BLOCKS];
static void *takes(void *none)
{
    for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = malloc(BYTES), 1, BYTES);
    for (int i = 0; i < BLOCKS; i++) if (i % 500) free(blocks[i]);
    return none;
}
int main(void)
{
    for (int turn = 0; turn < 100; turn++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, takes, 0) || pthread_join(thread, 0)) return 1;
        for (int i = 0; i < BLOCKS; i += 500) free(blocks[i]);
    }
    return 0;
}
C
}

# The C of a program that writes to the same memory again and again, beside children. With COPIES each has a picture of it; else each is another
# program, and the memory is given back.
spawns() { cat <<'C'
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
    enum { BYTES = 8 << 20 };
    char *block = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED || madvise(block, BYTES, MADV_NOHUGEPAGE)) return 1;
    for (int turn = 0; turn < 200; turn++) {
        pid_t child = 0;
        char *words[] = {"true", 0};
        if (COPIES && (child = fork()) < 0) return 1;
        // It ends, whatever becomes of its parent.
        if (COPIES && !child) for (alarm(60);;) pause();
        for (int at = 0; at < BYTES; at += 4096) block[at] = 1;
        if (COPIES) kill(child, SIGKILL);
        else if (posix_spawnp(&child, "true", 0, 0, words, environ)) return 1;
        if (waitpid(child, 0, 0) != child) return 1;
        if (!COPIES) madvise(block, BYTES, MADV_DONTNEED);
    }
    return 0;
}
C
}

# The kernel records the error codes of faults for us, and how processes begin.
needs_codes() {
    [ "$(id -u)" = 0 ] || skip "error codes of faults need root"
    [ "$(uname -m)" = x86_64 ] || skip "the error codes are those of x86"
    # Where none is mounted, truebench mounts one of its own.
    mkdir -p "$DIR/tracing"
    unshare -m sh -c '
        mount -t tracefs tracefs "$0" && cd "$0/events" && [ -r exceptions/page_fault_user/id ] && [ -r task/task_newtask/id ]
    ' "$DIR/tracing" 2>/dev/null || skip "no tracefs with the events of faults and tasks"
}

# Huge pages come only where a program asks for them.
needs_choice_of_pages() {
    grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || skip "huge pages are not left to programs here (madvise)"
}

# preloads ALLOCATOR: $library is its library.
preloads() {
    library=$(COLUMNS=500 "$TRUEBENCH" alloc list 2>/dev/null | sed -n "s/^$1 .* //p")
    [ -f "$library" ] || skip "$1 is not installed"
}

# $DIR/purges, of Go: it touches 16 MiB again and again, which its runtime gives back each time, or the program itself.
go_purges() {
    needs go
    needs_exec
    cat >"$DIR/purges.go" <<'GO'
package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

const size = 16 << 20

func touch(block []byte) {
	for at := 0; at < size; at += 4096 {
		block[at] = 1
	}
}

func main() {
	if os.Args[1] == "runtime" {
		for turn := 0; turn < 300; turn++ {
			touch(make([]byte, size))
			debug.FreeOSMemory()
		}
		return
	}
	block, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	for turn := 0; turn < 300 && err == nil; turn++ {
		touch(block)
		err = syscall.Madvise(block, syscall.MADV_DONTNEED)
	}
	if err != nil {
		panic(err)
	}
}
GO
    GOENV=off GO111MODULE=off GOFLAGS= CGO_ENABLED=0 GOCACHE="$DIR/cache" go build -o "$DIR/purges" "$DIR/purges.go" >/dev/null 2>&1 || skip "Go builds no program here"
}

# $DIR/Heap.class: 400 MB that come and go.
java_heap() {
    needs java javac
    cat >"$DIR/Heap.java" <<'JAVA'
public class Heap {
    public static void main(String[] words) throws Exception {
        for (int turn = 0; turn < 8; turn++) {
            byte[][] blocks = new byte[400][];
            for (int i = 0; i < blocks.length; i++) blocks[i] = new byte[1 << 20];
            blocks = null;
            System.gc();
            Thread.sleep(50);
        }
    }
}
JAVA
    javac -d "$DIR" "$DIR/Heap.java" >/dev/null 2>&1 || skip "javac compiles no such program"
}

# Python that makes and drops small objects.
small_objects='for turn in range(30): rows = [(i, str(i)) for i in range(100000)]; del rows'

# The C code of a program that faults in system calls: it reads a file into fresh memory, again and again.
reads() {
    cat <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    for (int turn = 0; turn < 100; turn++) {
        void *block = mmap(0, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (read(zero, block, 8 << 20) < 0) return 1;
        munmap(block, 8 << 20);
    }
    return 0;
}
C
}

# language: the locale that UnixBench asks for is there, and nothing asks for another.
language() {
    needs localedef
    localedef -i en_US -f UTF-8 "$DIR/en_US.utf8" >/dev/null 2>&1 || skip "localedef makes no en_US.utf8"
    unset LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
    export LOCPATH="$DIR"
}

# in_memory: $memory is a directory that is removed, on a tmpfs.
in_memory() {
    [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "no tmpfs at /dev/shm"
    memory=/dev/shm/truebench-selftest-$$
    mkdir "$memory" 2>/dev/null || skip "nothing may be written to /dev/shm"
}

# watched COMMAND-OF-TRUEBENCH... -- PROGRAM...: watches a program, drops its output, and prints the record.
watched() { "$@" >/dev/null; cat "$DIR/record.json"; }

needs_servers() {
    real=$("$TRUEBENCH" http list | sed -n 's/^program: //p')
    [ -x "$real" ] || skip "the Go servers are not there"
}

# servers COMMANDS: TRUEBENCH_LIB with a truebench-servers before which these commands are run; "$1" is what it is to do.
servers() {
    needs_servers
    needs_exec
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" "$real" >"$DIR/truebench-servers"
    chmod 755 "$DIR/truebench-servers"
    export TRUEBENCH_LIB="$DIR"
}

# glibc is named in the runs themselves, most of which have no script.
case "$2 $3 $4 " in "alloc glibc "* | "alloc try glibc "*) needs_glibc ;; esac
