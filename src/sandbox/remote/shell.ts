/** The shell side of what a remote provider does in a sandbox. It takes the programs of GNU, as Debian and Ubuntu have them. */

/** Held by every process that a command starts, so that all of them can be found: a daemon leaves its parent, not its environment. A service may run on an engine whose commands have one, too. */
export const COOKIE = 'RL_SANDBOX_COMMAND';

/** Held by a process that only waits, while the service copies memory: where it is not found afterwards, what ran has not come along. */
export const CANARY = 'RL_SANDBOX_CANARY';

/** Where the provider keeps its notes inside; no part of what is reported as changed. */
export const NOTES = '/var/lib/rl-sandboxes';

/**
 * `sh -c WRAPPER sh NON CE FOLDER KILOBYTES COMMAND...`: runs a command, then says on both streams that it is over, with its exit code. The service
 * itself tells the end only when nothing holds the output any more, which a daemon may do without end. KILOBYTES may be empty: an address space. The nonce is given in two
 * parts, so that it is not in what is said by a command that prints the command lines of all. Names here begin with `_`, since the command's environment is this one.
 */
export const WRAPPER = `_n=$1$2 _d=$3 _m=$4; shift 4
{ ([ -z "$_m" ] || ulimit -v "$_m"; [ -z "$_d" ] || cd -- "$_d" || exit 126; exec "$@") 2>&4 4>&-; _c=$?; } 4>&2 2>/dev/null
echo "$_n $_c"
echo "$_n $_c" >&2`;

/** The same on a terminal, which ends with its command: `sh -c ON_TERMINAL sh FOLDER KILOBYTES COMMAND...` */
export const ON_TERMINAL = `_d=$1 _m=$2; shift 2
[ -z "$_m" ] || ulimit -v "$_m"
[ -z "$_d" ] || cd -- "$_d" || exit 126
exec "$@"`;

/** For each process but the shell itself, kernel threads, zombies and the shell that waits for it: `f` runs with its number in `_p`, its start in `_s`. Takes the arguments. */
const each = (f: string, waiting = '$PPID'): string => `for _f in /proc/[0-9]*/stat; do
{ read -r _l <$_f; } 2>/dev/null || continue
_p=\${_l%% *}; set -- \${_l##*) }
[ "$_p" != $$ ] && [ "$_p" != "${waiting}" ] && [ "$1" != Z ] && [ "$1" != X ] && [ $(($7 & 0x200000)) -eq 0 ] || continue
_s=\${20}
${f}
done`;

/** Kills what a copied memory still runs of ours. A shell is spared that has this sandbox's own value, and so is what looks for it, which has none. */
const KILL_COPIED = `while :; do
_k=
for _f in $(${COOKIE}= grep -l '${COOKIE}=[0-9a-f]' /proc/[0-9]*/environ 2>/dev/null); do
case $_f in /proc/$$/environ|/proc/$PPID/environ) continue ;; esac
grep -qF "${COOKIE}=$${COOKIE}" $_f 2>/dev/null
[ $? != 1 ] || { _f=\${_f#/proc/}; _k="$_k \${_f%/environ}"; }
done
[ "$_k" ] || break
kill -s KILL $_k 2>/dev/null
done`;

/** Sets `_c` if the canary of the name `_m` is there, which has had its time then. */
const CATCH = `_c=
for _f in $(grep -lF "${CANARY}=$_m" /proc/[0-9]*/environ 2>/dev/null); do _f=\${_f#/proc/}; kill -s KILL \${_f%/environ} 2>/dev/null && _c=alive; done`;

/** Sets `_h` to the processes that a command has started, as files. One whose environment was emptied is none of them, and counts as the sandbox's own. */
const STARTED = `_h=" $(grep -lF ${COOKIE}= /proc/[0-9]*/environ 2>/dev/null | tr '\\n' ' ')"`;

/** Sets `_b` to the processes that belong to the sandbox itself. */
const own = (waiting?: string, more = ''): string => `_b=
${each(`${more}case $_h in *" /proc/$_p/environ "*) ;; *) _b="$_b $_p:$_s" ;; esac`, waiting)}`;

/**
 * Before the first command, `sh -c arrival()WRAPPER sh MARK ...`: says the mark that the sandbox has brought along, `-` for none, and the processes that belong to it, after what
 * a copied memory still ran of ours is dead. No shell of ours waits for this one, only what the sandbox has for it. Where MARK is another one, the command is not run; an empty one stands for any. No program is started for it without need: it is a
 * part of every episode.
 */
export const arrival = (copied: 'kept' | 'killed' | false): string => `_own() {
_o=
${own('', '[ $_p = 1 ] || _o=1; ')}
}
_a() {
[ -d ${NOTES} ] || mkdir -p ${NOTES} || exit
_m=; for _f in ${NOTES}/mark.*; do [ ! -e $_f ] || _m=$_m\${_f##*.}; done
[ -z "$1" ] || [ "$1" = "$_m" ] || { echo "\${_m:--}"; exit 1; }
: >${NOTES}/since
${copied === 'kept' ? `${CATCH}\n[ "$_c" ] || { echo -; exit 1; }\n${STARTED}` : '_h='}
_own
${copied === 'killed' ? `[ -z "$_o" ] || { ${KILL_COPIED}
_own; }` : ''}
echo "\${_m:--}$_b"
}
_a "$1"; shift
`;

/** Before memory is copied, `sh -c SING sh NONCE`: starts the canary. It holds nothing of the command that starts it. */
export const SING = `${CANARY}=$1 sleep 2147483647 </dev/null >/dev/null 2>&1 &`;

/** Afterwards, `sh -c LISTEN sh NONCE`: says whether the canary is there, which is killed, and the processes that belong to the sandbox, whose numbers may be others. */
export const LISTEN = `_m=$1
${CATCH}
${STARTED}
${own()}
echo "$_c"
echo "$_b"`;

/**
 * Kills all processes but those that belong to the sandbox, `sh -c KILL_ALL sh ' PID:START PID:START '`, until there are no others. What a service has started around this very command is spared:
 * its session, which nothing else can join, if that has begun since the arrival.
 */
export const KILL_ALL = `keep=$1
read -r l </proc/$$/stat; set -- \${l##*) }; own=$4
[ "$own" != 0 ] || own=
case "$keep" in *" $own:"*) own= ;; esac
while :; do
k=
${each('[ "$4" = "$own" ] || case "$keep" in *" $_p:$_s "*) ;; *) k="$k $_p" ;; esac')}
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

/** Sets `t` to the time of the arrival, less two hundredths of a second: the first command may write in the same tick of the clock that files have their times from. */
const SINCE = `t=$(find ${NOTES}/since -printf %C@) || exit
t=\${t%????????}; t=$((\${t%.*}\${t#*.}-2)); t=@\${t%??}.\${t#\${t%??}}`;

/** Before a snapshot, `sh -c MARK sh NONCE`: leaves a mark for those who are restored from it, and says how many bytes were written since the arrival. The mark is a name: an engine's copy of memory may lack what was only written anew. */
export const MARK = `${SINCE}
rm -f ${NOTES}/mark.*; : >${NOTES}/mark.$1 || exit
find / ${PRUNE} -type f -newerct "$t" -printf '%b\\n' 2>/dev/null | { t=0; while read -r b; do t=$((t+b)); done; echo $((t*512)); }`;

/** Sums over all processes but kernel threads: ticks of processor time, pages of memory, number. */
export const USAGE = `t=0 m=0 c=0
${each('t=$((t+${12}+${13}+${14}+${15})); c=$((c+1)); { read -r x r y </proc/$_p/statm && m=$((m+r)); } 2>/dev/null')}
echo "$t $m $c"`;

const DESCRIBE = `-printf '%y %m %U %G %s %T@ %l\\0%p\\0'`;

/** What was changed since the arrival, folders in which something was added or removed too: descriptions (type, mode, owner, size, time, target of a link) and paths in turn, each ended by NUL. */
export const CHANGED = `${SINCE}
find / ${PRUNE} -newerct "$t" ${DESCRIBE} 2>/dev/null; :`;

/** The same of all paths that come on standard input, each ended by NUL, as far as they are there, and of what is in them: `sh -c LOOK sh DEPTH`. */
export const LOOK = `exec 2>/dev/null; xargs -0 -r sh -c 'd=$1; shift; find "$@" -maxdepth "$d" ${DESCRIBE.replaceAll("'", '"').replaceAll('\\', '\\\\')}' sh "$1"; :`;

/** Prints the kernel's tables of TCP sockets, then the files of all processes but those that belong to the sandbox, `sh -c SOCKETS sh ' PID:START PID:START '`. */
export const SOCKETS = `keep=$1
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
{ ${each('case "$keep" in *" $_p:$_s "*) ;; *) ls -l /proc/$_p/fd 2>/dev/null ;; esac')}
} | grep -ao ' -> socket:\\[[0-9]*\\]$'
:`;
