/** A way to a port of a container: a command inside that passes on what comes, by whatever its image has for it. Nothing of the container's network is needed. */
import { PassThrough, type Duplex } from 'node:stream';
import { NothingListens, SandboxError, Unsupported } from './errors.js';
import type { ExecOptions, ExecProcess } from './provider.js';
import { Relayed } from './relayed.js';
import { RELAY_PROGRAM } from './relayProgram.js';
import { quote } from './quote.js';

/** Exit codes of the script. */
const REFUSED = 3;
const NO_PROGRAM = 4;

const PYTHON = `import os, socket, sys, threading
port = int(sys.argv[1])
peer = None
for host in ("127.0.0.1", "::1"):
    try:
        peer = socket.create_connection((host, port))
        break
    except OSError:
        pass
if peer is None:
    sys.exit(${REFUSED})
def send():
    while True:
        data = os.read(0, 65536)
        if not data:
            break
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while True:
    data = peer.recv(65536)
    if not data:
        break
    while data:
        data = data[os.write(1, data):]
os._exit(0)`;

/** Debian and Ubuntu have perl and bash, images of Python have that, busybox has nc, others have bash. */
const RELAY = `h=$(printf %04X "$1")
up=
for f in /proc/net/tcp /proc/net/tcp6; do
[ -r $f ] && while read -r a l b s r; do case "$l $s" in *":$h 0A") up=1 ;; esac; done <$f
done
[ "$up" ] || exit ${REFUSED}
has() { command -v "$1" >/dev/null 2>&1; }
if has perl; then exec perl -e ${quote(RELAY_PROGRAM)} -- "$1"; fi
if has python3; then printf + >&2; exec python3 -c ${quote(PYTHON)} "$1"; fi
if has nc; then printf + >&2; exec nc 127.0.0.1 "$1"; fi
if has bash; then printf + >&2; exec bash -c ${quote(`exec 3<>"/dev/tcp/127.0.0.1/$1" || exit ${REFUSED}
exec 4<&0
cat <&4 >&3 &
cat <&3
kill $!`)} bash "$1"; fi
exit ${NO_PROGRAM}`;

export async function connectInside(exec: (argv: readonly string[], options: ExecOptions) => ExecProcess, port: number, signal: AbortSignal): Promise<Duplex> {
  const stop = new AbortController();
  const cancel = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', cancel, { once: true });
  const input = new PassThrough();
  const child = exec(['sh', '-c', RELAY, 'sh', String(port)], { stdin: input, signal: stop.signal });
  try {
    let said = '';
    const connected = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(0, 500);
        if (said.startsWith('+')) resolve();
      });
    });
    await Promise.race([
      connected,
      child.exit.then(({ code }) => {
        if (code === REFUSED) throw new NothingListens(port);
        if (code === NO_PROGRAM) throw new Unsupported('a connection into the container needs perl, python3, nc or bash in its image');
        if (!said.startsWith('+')) throw new SandboxError(`no connection to port ${port}: ${said.trim() || `exit code ${code}`}`);
      }),
    ]);
  } catch (error) {
    child.stdout.resume();
    stop.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
  const connection = new Relayed(child.stdout, input);
  connection.once('close', () => stop.abort(new Error('the connection was closed')));
  return connection;
}
