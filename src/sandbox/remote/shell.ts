/** The shell side of what a remote provider does in a sandbox. It takes the programs of GNU, as Debian and Ubuntu have them. */

/** Held by every process that a command starts, so that all of them can be found: a daemon leaves its parent, not its environment. */
export const COOKIE = 'RL_SANDBOX_EXEC';

/** Where the provider keeps its notes inside; no part of what is reported as changed. */
export const NOTES = '/var/lib/rl-sandboxes';

/**
 * `sh -c WRAPPER sh NON CE FOLDER KILOBYTES COMMAND...`: runs a command, then says on both streams that it is over, with its exit code. The service
 * itself tells the end only when nothing holds the output any more, which a daemon may do without end. KILOBYTES may be empty: an address space. The nonce is given in two
 * parts, so that it is not in what is said by a command that prints the command lines of all.
 */
export const WRAPPER = `n=$1$2 d=$3 m=$4; shift 4
{ ([ -z "$m" ] || ulimit -v "$m"; [ -z "$d" ] || cd -- "$d" || exit 126; exec "$@") 2>&4 4>&-; c=$?; } 4>&2 2>/dev/null
echo "$n $c"
echo "$n $c" >&2`;

/** The same on a terminal, which ends with its command: `sh -c ON_TERMINAL sh FOLDER KILOBYTES COMMAND...` */
export const ON_TERMINAL = `d=$1 m=$2; shift 2
[ -z "$m" ] || ulimit -v "$m"
[ -z "$d" ] || cd -- "$d" || exit 126
exec "$@"`;

/** For each process but the shell itself, the wrapper that waits for it, kernel threads and zombies: `f` runs with its number in `p`, its start in `s`. */
const each = (f: string): string => `for f in /proc/[0-9]*/stat; do
{ read -r l <$f; } 2>/dev/null || continue
p=\${l%% *}; set -- \${l##*) }
[ "$p" != $$ ] && [ "$p" != $PPID ] && [ "$1" != Z ] && [ "$1" != X ] && [ $(($7 & 0x200000)) -eq 0 ] || continue
s=\${20}
${f}
done`;

/** What the sandbox is told when it is there, `sh -c ARRIVAL sh`: says its mark and the processes that belong to it, after what a copied memory still ran of ours is dead. */
export const ARRIVAL = `mkdir -p ${NOTES} && cd ${NOTES} || exit
mark=; [ ! -r mark ] || read -r mark <mark
: >since
while :; do
k=
for f in $(grep -lF ${COOKIE}= /proc/[0-9]*/environ 2>/dev/null); do
grep -qF "${COOKIE}=$${COOKIE}" $f 2>/dev/null
[ $? != 1 ] || { f=\${f#/proc/}; k="$k \${f%/environ}"; }
done
[ "$k" ] || break
kill -s KILL $k 2>/dev/null
done
b=
${each('b="$b $p:$s"')}
echo "$mark"
echo "$b"`;

/** Kills all processes but those that belong to the sandbox, `sh -c KILL_ALL sh ' PID:START PID:START '`, until there are no others. */
export const KILL_ALL = `keep=$1
while :; do
k=
${each('case "$keep" in *" $p:$s "*) ;; *) k="$k $p" ;; esac')}
[ "$k" ] || { echo done; exit; }
kill -s KILL $k 2>/dev/null
done`;

/** Kills what holds a cookie until nothing does: `sh -c KILL_BY_COOKIE sh COOKIE=VALUE`. */
export const KILL_BY_COOKIE = `while :; do
k=
for f in $(grep -lF -- "$1" /proc/[0-9]*/environ 2>/dev/null); do f=\${f#/proc/}; k="$k \${f%/environ}"; done
[ "$k" ] || { echo done; exit; }
kill -s KILL $k 2>/dev/null
done`;

/** What is no part of the disk, or not to be told of. */
const PRUNE = `\\( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path ${NOTES} \\) -prune -o`;

/** Before a snapshot, `sh -c MARK sh NONCE`: leaves a mark for those who are restored from it, and says how many bytes were written since the arrival. */
export const MARK = `echo "$1" >${NOTES}/mark || exit
find / ${PRUNE} -type f -cnewer ${NOTES}/since -printf '%b\\n' 2>/dev/null | { t=0; while read -r b; do t=$((t+b)); done; echo $((t*512)); }`;

/** Sums over all processes but kernel threads: ticks of processor time, pages of memory, number. */
export const USAGE = `t=0 m=0 c=0
${each('t=$((t+${12}+${13}+${14}+${15})); c=$((c+1)); { read -r x r y </proc/$p/statm && m=$((m+r)); } 2>/dev/null')}
echo "$t $m $c"`;

const DESCRIBE = `-printf '%y %m %U %G %s %T@ %l\\0%p\\0'`;

/** What was changed since the arrival, folders in which something was added or removed too: descriptions (type, mode, owner, size, time, target of a link) and paths in turn, each ended by NUL. */
export const CHANGED = `find / ${PRUNE} -cnewer ${NOTES}/since ${DESCRIBE} 2>/dev/null; :`;

/** The same of all paths that come on standard input, each ended by NUL, as far as they are there, and of what is in them: `sh -c LOOK sh DEPTH`. */
export const LOOK = `exec 2>/dev/null; xargs -0 -r sh -c 'd=$1; shift; find "$@" -maxdepth "$d" ${DESCRIBE.replaceAll("'", '"').replaceAll('\\', '\\\\')}' sh "$1"; :`;

/** Prints the kernel's tables of TCP sockets, then the files of all processes but those that belong to the sandbox, `sh -c SOCKETS sh ' PID:START PID:START '`. */
export const SOCKETS = `keep=$1
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
{ ${each('case "$keep" in *" $p:$s "*) ;; *) ls -l /proc/$p/fd 2>/dev/null ;; esac')}
} | grep -ao ' -> socket:\\[[0-9]*\\]$'
:`;
