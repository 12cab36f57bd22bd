/**
 * The shell side of commands whose output is fetched by polling. What a command writes is kept inside as numbered pieces until it is known to have arrived:
 * a poll that is asked for twice gives the same twice. A command that nobody reads for is made to wait, as it would be by a pipe.
 */
import { COOKIE, NOTES } from '../remote/shell.js';

/** Where pieces of files and of input arrive, and where commands have their folders. */
export const ARRIVALS = `${NOTES}/in`;
const SPOOL = `${NOTES}/x`;
/** Bytes of a piece, and how many pieces wait for their reader; in one answer there are fewer than the gateway can carry (4 MB). */
const PIECE = 65_536;
const PIECES = 32;
const MOST_BYTES = 16 * PIECE;
/**
 * Of a command whose output is a transfer, pieces are as large as is held here without need for much memory (the gateway would give 4 MB), wait until they are full, and are downloaded as files. So many wait at most, and so
 * many are told of at once; one that is no larger than what is left goes along with the answer.
 */
const LARGE = 'bs=256K count=6 iflag=fullblock';
const LARGE_PIECES = 8;
const MOST_FETCHED = 3;
const SMALL_REST = 512 << 10;

/** Names here begin with `_`, since all that a command is given is in the environment already. Sets _s to when a process was started, or to nothing if it has ended. */
const STARTED = `st() { _s=; { read -r _l </proc/$1/stat; } 2>/dev/null || return 0; set -- \${_l##*) }; case $1 in Z|X) ;; *) _s=\${20} ;; esac; }`;

/**
 * `sh -c RUNNER sh COOKIE INPUT COMMAND...` in the command's folder: runs it between two pumps, and a feeder if INPUT is 1. The pumps have no cookie, so that
 * what a killed command has said still arrives. A pump whose folder is gone, as that of a copied memory is, drinks what is still written.
 */
const RUNNER = `_v=$1 _t=$2; shift 2
${STARTED}
pump() {
_z='bs=${PIECE} count=1' _y=${PIECES} n=0
[ $1 = e ] || [ ! -e bulk ] || _z='${LARGE}' _y=${LARGE_PIECES}
while dd $_z of=$1.t status=none 2>/dev/null || exec cat >/dev/null; [ -s $1.t ]; do
mv $1.t $1.$n 2>/dev/null || exec cat >/dev/null
n=$((n+1))
while [ -e $1.$((n-_y)) ]; do sleep 0.02; done
done
: >$1.z
}
feed() {
n=0
while [ -e i ] && [ ! -e code ]; do
if [ -e i.$n ]; then cat i.$n || break; rm -f i.$n; n=$((n+1)); echo $n >c.t; mv c.t c
elif [ -e end ]; then break
else sleep 0.02; fi
done
}
pump o <o 9>&- & _a=$!
pump e <e 9>&- & _b=$!
_i=/dev/null
[ $_t = 0 ] || { _i=i; feed >i 9>&- & }
st $_a; echo "$_a $_s" >pumps; st $_b; echo "$_b $_s" >>pumps
st $$; echo "$$ $_s" >runner
${COOKIE}=$_v "$@" <$_i >o 2>e 9>&-; echo $? >code; echo >&9`;

/**
 * What comes fast is gathered for a moment. Says on a first line: which pieces come next, w(aiting) or d(one), the exit code if there is one, m(ore) if there is more already, and the sizes and digests of the pieces that are to be downloaded. Then the other pieces of both streams, each
 * in a line of base64, then a line "Z"; neither stream can keep the other out. A runner that was killed has no exit code.
 */
const POLL = `${STARTED}
text() {
case $# in 0) ;; 1) base64 -w 0 "$1" ;; *) cat "$@" | base64 -w 0 ;; esac
echo
}
poll() {
t=$6 u=0 a=12 b=15
[ ! -e bulk ] || a=1 b=${MOST_FETCHED - 1}
while :; do
s=w y=0
{ read -r c <code && y=1; } 2>/dev/null || c=-
if { read -r p q <runner; } 2>/dev/null; then
st $p
if [ $y = 1 ] || [ "$_s" != "$q" ]; then
s=d y=1
{ read -r c <code; } 2>/dev/null || c=-
{ read -r p q; [ -e o.z ] || { st $p; [ "$_s" != "$q" ] || s=w; }; read -r p q; [ -e e.z ] || { st $p; [ "$_s" != "$q" ] || s=w; }; } <pumps
fi
fi
[ $s = w ] || break
[ $t -lt $4 ] || break
if { [ $5 = 0 ] || [ -e o.$(($1+a)) ]; } && { [ -e o.$1 ] || [ -e e.$2 ]; }; then
{ [ -e o.$(($1+1)) ] || [ -e e.$(($2+1)) ]; } && [ ! -e o.$(($1+b)) ] && [ $u -lt 12 ] || break
u=$((u+1)); sleep 0.01; continue
fi
t=$((t+1))
[ $y = 0 ] || [ $t -lt $(($4-4)) ] || break
if [ $t -lt 12 ] || [ $y = 1 ]; then sleep 0.01; else sleep 0.05; fi
done
g= j=$2 z=0 m=-
while [ -e e.$j ] && [ $z -lt $(($3/2)) ]; do g="$g e.$j" j=$((j+1)) z=$((z+${PIECE})); done
f= h= k=$1
if [ -e bulk ]; then
while [ -e o.$k ] && [ -z "$f" ] && [ $((k-$1)) -lt ${MOST_FETCHED} ]; do
w=$(wc -c <o.$k)
if [ $w -gt ${SMALL_REST} ]; then q=$(sha256sum <o.$k); h="$h $w:\${q%% *}"; else f=o.$k; fi
k=$((k+1))
done
else while [ -e o.$k ] && [ $z -lt $3 ]; do f="$f o.$k" k=$((k+1)) z=$((z+${PIECE})); done; fi
[ ! -e o.$k ] && [ ! -e e.$j ] || m=m
echo "$k $j $s $c $m$h"
text $f
text $g
echo Z
}`;

/** Turns of a poll's wait: about half a second, which is less than the gateway waits itself. */
export const TURNS = 18;

/** How long the end of a command that has just begun is waited for without looking: a shell that looks often, by programs, is what many at once wait for most. */
const FIRST_WAIT_S = 0.4;

/** `sh -c START sh OVER NONCE COOKIE INPUT TURNS BULK COMMAND...`: starts a command unless that was done, and polls it. OVER: folders of those that are over. BULK is 1 for a transfer. */
export const START = `${POLL}
for _g in $1; do rm -rf ${SPOOL}/$_g; done
_n=$2 _v=$3 _t=$4 _w=$5 _l=$6 _o=0; shift 6
unset BETA9_TOKEN
if mkdir ${SPOOL}/$_n 2>/dev/null; then
cd ${SPOOL}/$_n && mkfifo o e i w || exit
[ $_l = 0 ] || : >bulk
exec 9<>w
setsid -f sh -c '${RUNNER.replaceAll("'", `'\\''`)}' sh $_v $_t "$@" </dev/null >/dev/null 2>&1
[ $_w = 0 ] || { timeout ${FIRST_WAIT_S} head -c 1 <&9 >/dev/null; _o=$((_w-2)); }
exec 9>&-
[ ! -e code ] || _o=6
fi
cd ${SPOOL}/$_n || exit
poll 0 0 ${MOST_BYTES} $_w 1 $_o`;

/** `sh -c NEXT sh NONCE OUT ERR`: what follows after these pieces, which are given up for those before. */
export const NEXT = `${POLL}
cd ${SPOOL}/$1 || exit
k=$(($2-1)); while [ $k -ge 0 ] && [ -e o.$k ]; do rm -f o.$k; k=$((k-1)); done
k=$(($3-1)); while [ $k -ge 0 ] && [ -e e.$k ]; do rm -f e.$k; k=$((k-1)); done
poll $2 $3 ${MOST_BYTES} ${TURNS} 0 0`;

/** How many pieces of input wait for the command. */
const WAITING = 4;

/** `sh -c INPUT sh NONCE NUMBER BASE64 END`: a piece of input, its bytes or none if they were uploaded; NUMBER may be empty. Says how many were taken once there is room for more. */
export const INPUT = `cd ${SPOOL}/$1 || exit
c=0; { read -r c <c; } 2>/dev/null
if [ "$2" ] && [ ! -e i.$2 ] && [ $c -le $2 ]; then
if [ "$3" ]; then printf %s "$3" | base64 -d >i.t$$ && mv i.t$$ i.$2 || exit; else mv ${ARRIVALS}/$1.$2 i.$2 || exit; fi
fi
[ -z "$4" ] || : >end
t=0
while [ "$2" ] && [ ! -e code ] && [ $t -lt ${TURNS} ] && [ $c -le $(($2-${WAITING})) ]; do sleep 0.03; { read -r c <c; } 2>/dev/null; t=$((t+1)); done
[ ! -e code ] || c=999999999
echo "$c"`;

/** Of a terminal: changes its size. `sh -c RESIZE sh NONCE COLUMNS ROWS` */
export const RESIZE = `cd ${SPOOL}/$1 && read -r t <tty && stty -F "$t" cols $2 rows $3`;
export const piecePath = (nonce: string, number: number): string => `${SPOOL}/${nonce}/o.${number}`;
export const ttyNote = (nonce: string): string => `${SPOOL}/${nonce}/tty`;

/** Before the first command: what a snapshot has brought along of other commands is removed. `life` is the sandbox's own, so that it is done once if it is asked for twice. */
export const prepare = (life: string): string => `[ -d ${SPOOL}/${life} ] || { rm -rf ${SPOOL} ${ARRIVALS}; mkdir -p ${ARRIVALS} ${SPOOL}/${life} || exit; }
`;
