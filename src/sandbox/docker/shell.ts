/**
 * The shell side of running commands in a container. Values of the environment may be secrets, so they never stand in an argument vector, a
 * label or a container's configuration: they are lines of shell that go in on standard input. Written for any POSIX shell.
 */
import { Unsupported } from '../errors.js';
import { quote } from '../quote.js';

/** Held by every process that a command starts, so that all of them can be found: a daemon leaves its parent, not its environment. */
export const COOKIE = 'RL_SANDBOX_EXEC';

/** Reads lines of shell up to a line that repeats the first one, from the descriptor `from`. `n` is that line, `p` the text. */
const read = (from: string): string => `IFS= read -r n ${from} || exit
p=
while IFS= read -r l ${from} && [ "$l" != "$n" ]; do p="$p$l
"; done`;

/**
 * Says on both streams that the command is over: `n`, its exit code, and how many processes the memory limit has killed so far. The shell's own
 * remarks on killed children ("Killed") go nowhere.
 */
const REPORT = `o=
[ "$c" = 137 ] && for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
[ -r $f ] && while read -r k v; do [ "$k" = oom_kill ] && o=$v; done <$f
done
echo "$n $c $o"
echo "$n $c $o" >&2`;

const runs = (job: string): string => `{ (${job}) 2>&4 4>&-; c=$?; } 4>&2 2>/dev/null`;

/**
 * The sandbox's first process, `sh -c GATE sh SECONDS`. It runs the first command that is sent on its standard input, which spares that
 * command an exec, and then only waits, so that nothing that is written to its input later can make it do anything but set its timer anew.
 *
 * - Standard input ends when the owner is gone (StdinOnce): then everything ends, also while the command runs.
 * - SECONDS after the start everything ends, or so many seconds after a line with a number: a copy of the sandbox has a life of its own.
 * - USR1 kills every process but this one, at once (`kill -1` spares process 1), and says so by printing `n`. It is understood from the moment
 *   the first command's end has been reported.
 * - Where the engine has made no /etc/hosts, it does: programs that talk to themselves ask for `localhost`.
 * - The timer and the watcher of the input are processes like others: when they were killed, they are started again.
 */
export const GATE = `HOSTS='127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
127.0.1.1 sandbox'
exec 3<&0 </dev/null
trap '' XFSZ
trap 'exit 0' TERM
end() { kill -s TERM 1; kill -s KILL -- -1; }
timer() { (trap 'kill -s KILL $s; exit' TERM; sleep "$1" & s=$!; wait $s; end) >/dev/null 2>&1 3<&- & t=$!; }
watch() { (while read -r l; do case $l in '' | *[!0-9]*) ;; *) kill -s TERM $t; timer "$l" ;; esac; done; end) <&3 >/dev/null 2>&1 3<&- & w=$!; }
timer "$1"
{ [ -s /etc/hosts ] || echo "$HOSTS" >/etc/hosts; } 2>/dev/null
${read('<&3')}
watch
${runs('eval "$p" 3<&-')}
trap 'kill -s KILL -- -1 2>/dev/null; echo "$n"' USR1
${REPORT}
exec 2>/dev/null
while :; do wait $w; timer "$1"; watch; done`;

/** Runs its arguments after the lines of shell that come first on its standard input; what follows them is the command's input. */
export const WRAPPER = `trap '' XFSZ
${read('')}
${runs('eval "$p"; exec "$@"')}
${REPORT}`;

/**
 * The same for a command that belongs to the sandbox more than to whoever started it: it and all of its surroundings are children of process 1, which takes them
 * over when their parent kills itself. Only the shell that waits for them is from outside. When it has gone, as in a copy of the sandbox, what the command
 * writes goes nowhere, and no write fails. (Started with \`&\` it would ignore interrupts.)
 */
export const LASTING_WRAPPER = `trap '' XFSZ
${read('')}
pass() { trap '' PIPE; cat; exec cat >/dev/null; }
exec 3>&1 4>&2 2>/dev/null
: "$(exec 7>&1
{
c=$({ { { (exec 2>&6 3>&- 4>&- 5>&- 6>&- 7>&-; eval "$p"; exec "$@"); echo $? >&5; } | pass >&3 6>&-; } 6>&1 | pass >&4; } 5>&1)
trap '' PIPE
{ ${REPORT}; } >&3 2>&4
} | sh -c 'kill -s KILL "$PPID"' 7>&-)"`;

/**
 * The same on a terminal, `sh -c TERMINAL_WRAPPER sh NONCE`, but that the lines end with what becomes the command: while they are read the
 * terminal neither shows nor changes them. It says `NONCE ready` when it listens, or `NONCE none` where it cannot make the terminal do that, and `NONCE go` when the terminal
 * is the command's: what is typed before would be taken as it is.
 */
export const TERMINAL_WRAPPER = `s=$(stty -g 2>/dev/null) && stty raw -echo 2>/dev/null || { echo "$1 none"; exit 127; }
echo "$1 ready"
${read('')}
stty "$s"
echo "$n go"
eval "$p"`;

/** Kills what holds a cookie until nothing does: `sh -c KILL_BY_COOKIE sh COOKIE=VALUE`. */
export const KILL_BY_COOKIE = `while :; do
k=
for f in $(grep -lF -- "$1" /proc/[0-9]*/environ 2>/dev/null); do f=\${f#/proc/}; k="$k \${f%/environ}"; done
[ "$k" ] || { echo done; exit; }
kill -s KILL $k 2>/dev/null
done`;

/** Command lines of processes under those that were started from outside, like each exec but the one that asks: their parent is none of the sandbox's. */
export const FROM_OUTSIDE = `of() { while read -r k v _; do [ "$k" = PPid: ] && { echo "$v"; return; }; done <"$1/status"; }
for f in /proc/[0-9]*; do
q=$(of $f) 2>/dev/null
case $q in '' | 0 | 1 | $$) continue ;; esac
[ "$(of /proc/$q)" = 0 ] || continue
tr '\\0\\n' '  ' <$f/cmdline
echo
done 2>/dev/null`;

/**
 * The same in gVisor's kernel, which saves processes from outside too but cannot give them back what they have of the machine: `host:[4]` and so on, after the three of the
 * first process.
 */
export const HOLDING_OUTSIDE = `for f in /proc/[0-9]*/fd/*; do
case $(readlink $f) in host:\\[[123]\\]) ;; host:*)
p=\${f#/proc/}; p=\${p%%/*}
[ $p = $$ ] || [ $p = "$o" ] || { tr '\\0\\n' '  ' </proc/$p/cmdline; echo; o=$p; }
esac
done 2>/dev/null`;

export const KILL_ALL = 'kill -s KILL -- -1 2>/dev/null; echo done';

export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether the command reads the standard input that it is started with. */
  readonly stdin: boolean;
  /** Whether it belongs to the sandbox more than to whoever started it. */
  readonly lasting?: boolean;
  readonly cookie: string;
}

/** Lines of shell that put a command's surroundings in place. */
export function preparation({ env, cwd, stdin, cookie }: Command): string {
  const exports = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Unsupported(`"${name}" is no name of an environment variable`);
    return `export ${name}=${quote(value)}\n`;
  });
  return `${stdin ? '' : 'exec </dev/null\n'}${exports.join('')}export ${COOKIE}=${cookie}\n${cwd === undefined ? '' : `cd -- ${quote(cwd)} || exit 126\n`}`;
}

/** Lines of shell that turn into the command. */
export const becoming = ({ argv }: Command): string => `exec ${argv.map(quote).join(' ')}\n`;

/** The same text between two lines of `nonce`, as the readers above expect it. */
export const framed = (text: string, nonce: string): string => `${nonce}\n${text}${nonce}\n`;

/** Exit codes of the scripts below. */
export const MISSING = 120;
export const IN_THE_WAY = 122;

/** Sets `c` to what `stat` has to be told: some kernels in user space do not know what it asks of the kernel by itself. */
export const HOW_TO_STAT = 'c=; stat / >/dev/null 2>&1 || c=--cached=never';

/**
 * What is in a folder: `sh -c LIST_FOLDER sh NONCE FOLDER`. For each name `NONCE MODE SIZE TIME/./NAME`, the mode in hexadecimal as stat(2) has it,
 * and for links once more with what they lead to; at last `NONCE end NUMBER`. The nonce is what no name can hold.
 */
export const LIST_FOLDER = `n=$1
[ -d "$2" ] && cd -- "$2" || exit ${MISSING}
${HOW_TO_STAT}
f="$n %f %s %Y/%n"
set --
i=0
for e in * .[!.]* ..?*; do
[ -e "$e" ] || [ -L "$e" ] || continue
i=$((i+1))
set -- "$@" "./$e"
[ $# -lt 200 ] || { stat $c -c "$f" -- "$@"; set --; }
done
[ $# -eq 0 ] || stat $c -c "$f" -- "$@"
for e in * .[!.]* ..?*; do
[ -L "$e" ] && [ -e "$e" ] && stat $c -L -c "$f" -- "./$e"
done
echo "$n end $i"`;

/** Moves: `sh -c MOVE sh FROM TO OVERWRITE`, the last of which is `1` or empty. */
export const MOVE = `[ -e "$1" ] || [ -L "$1" ] || exit ${MISSING}
if [ -e "$2" ] || [ -L "$2" ]; then
[ "$3" ] || exit ${IN_THE_WAY}
if [ -d "$2" ] && [ ! -L "$2" ]; then rmdir -- "$2" 2>/dev/null || exit ${IN_THE_WAY}; fi
[ -L "$2" ] && rm -f -- "$2"
fi
exec mv -f -- "$1" "$2"`;

/** A part of a file: `sh -c PART sh PATH FIRST LENGTH`, the first byte counted from 1, no length for all the rest. */
export const PART = `[ -f "$1" ] || exit ${MISSING}
if [ "$3" ]; then tail -c "+$2" -- "$1" | head -c "$3"; else exec tail -c "+$2" -- "$1"; fi`;

/** Prints the kernel's tables of TCP sockets. */
export const SOCKETS = 'for f in /proc/net/tcp /proc/net/tcp6; do [ -r $f ] && while read -r l; do echo "$l"; done <$f; done; :';

/** Lists what lies below a folder, each path ended by NUL: `sh -c LIST sh FOLDER DEPTH`, the root as an empty text, no depth as -1. */
export const LIST = `d=$2
list() {
for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do
[ -e "$f" ] || [ -L "$f" ] || continue
case $f in /proc | /sys) continue ;; esac
printf '%s\\0' "$f"
if [ -d "$f" ] && [ ! -L "$f" ] && [ $d -ne 1 ]; then d=$((d-1)); list "$f"; d=$((d+1)); fi
done
}
list "$1"`;
