/**
 * The programs of the relay, `... PORT MOST WINDOW`: run in a sandbox's network namespace, it listens on the port of 127.0.0.1, says `+` on standard error, and carries up to
 * MOST connections on standard input and output, as `channels.ts` has it. It ends with its input. Exit code 3: it cannot listen.
 */
import { MOST_CHANNELS, WINDOW } from './channels.js';

/** Where programs in a sandbox find the proxy: below the ports that systems hand out, and nobody's. */
export const PROXY_PORT = 15_380;
export const RELAY_ARGUMENTS: readonly string[] = [PROXY_PORT, MOST_CHANNELS, WINDOW].map(String);
/** Exit code when it cannot listen. */
export const NO_PORT = 3;

export const PERL_RELAY = String.raw`
use strict;
my ($port, $most, $WINDOW) = @ARGV;
my $PIECE = 32768;
$SIG{PIPE} = 'IGNORE';
my $server;
socket($server, 2, 1, 0) && setsockopt($server, 1, 2, pack('l', 1)) && bind($server, pack('S n a4 x8', 2, $port, "\x7f\0\0\1")) && listen($server, 128) or do { print STDERR "$!\n"; exit 3 };
sub loose { my ($file) = @_; fcntl($file, 4, fcntl($file, 3, 0) | 04000) }
loose($_) for (\*STDIN, \*STDOUT, $server);
syswrite STDERR, '+';
my ($in, $out, $next, %open) = ('', '', 0);
sub frame { my ($type, $id, $data) = @_; $out .= pack('a N n', $type, $id, length $data) . $data }
sub gone { my ($id) = @_; close $open{$id}{file}; delete $open{$id} }
sub busy { $! == 11 || $! == 4 }
while (1) {
  my ($read, $write) = ('', '');
  vec($read, 0, 1) = 1;
  vec($read, fileno $server, 1) = 1 if keys %open < $most;
  vec($write, 1, 1) = 1 if $out ne '';
  for my $each (values %open) {
    my $fd = fileno $each->{file};
    vec($read, $fd, 1) = 1 if !$each->{ended} && $each->{credit} > 0 && length $out < 2 * $WINDOW;
    vec($write, $fd, 1) = 1 if $each->{data} ne '';
  }
  next if select($read, $write, undef, undef) < 0;
  if (vec($read, 0, 1)) {
    my $got = sysread STDIN, $in, 65536, length $in;
    exit if defined $got ? !$got : !busy();
    while (length $in >= 7) {
      my ($type, $id, $length) = unpack 'a N n', $in;
      last if length $in < 7 + $length;
      my $data = substr $in, 7, $length;
      substr($in, 0, 7 + $length, '');
      frame('P', $id, '') if $type eq 'P';
      my $each = $open{$id} or next;
      if ($type eq 'D') { $each->{data} .= $data }
      elsif ($type eq 'W') { $each->{credit} += unpack 'N', $data }
      elsif ($type eq 'E') { $each->{last} = 1 }
      elsif ($type eq 'C') { gone($id) }
    }
  }
  if (vec($read, fileno $server, 1)) {
    my $file;
    if (accept $file, $server) {
      loose($file);
      $open{++$next} = { file => $file, data => '', credit => $WINDOW, ended => 0, last => 0, told => 0 };
      frame('O', $next, '');
    }
  }
  for my $id (keys %open) {
    my $each = $open{$id};
    my $fd = fileno $each->{file};
    if (vec($read, $fd, 1) && !$each->{ended}) {
      my $got = sysread $each->{file}, my $data, $each->{credit} < $PIECE ? $each->{credit} : $PIECE;
      if (!defined $got) { if (!busy()) { frame('C', $id, ''); gone($id); next } }
      elsif ($got) { $each->{credit} -= $got; frame('D', $id, $data) }
      else { $each->{ended} = 1; frame('E', $id, '') }
    }
    if ($each->{data} ne '') {
      my $sent = syswrite $each->{file}, $each->{data};
      if (defined $sent) { substr($each->{data}, 0, $sent, ''); frame('W', $id, pack 'N', $sent) }
      elsif (!busy()) { frame('C', $id, ''); gone($id); next }
    }
    if ($each->{last} && !$each->{told} && $each->{data} eq '') { shutdown($each->{file}, 1); $each->{told} = 1 }
    gone($id) if $each->{ended} && $each->{told};
  }
  if ($out ne '') {
    my $sent = syswrite STDOUT, $out, 65536;
    if (defined $sent) { substr($out, 0, $sent, '') } elsif (!busy()) { exit }
  }
}
`;

/** The same in Python, for images that have no Perl. */
export const PYTHON_RELAY = `import os, select, socket, struct, sys
port, most, window = map(int, sys.argv[1:4])
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    server.bind(("127.0.0.1", port))
except OSError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
server.listen(128)
for fd in (0, 1, server.fileno()):
    os.set_blocking(fd, False)
os.write(2, b"+")
class Connection:
    def __init__(self, file):
        self.file, self.data, self.credit, self.ended, self.last, self.told = file, bytearray(), window, False, False, False
got, out, number, opened = bytearray(), bytearray(), 0, {}
def frame(kind, id, data=b""):
    out.extend(struct.pack(">cIH", kind, id, len(data)) + data)
def gone(id):
    opened.pop(id).file.close()
def frames():
    while len(got) >= 7:
        kind, id, length = struct.unpack_from(">cIH", got)
        if len(got) < 7 + length:
            return
        data = bytes(got[7:7 + length])
        del got[:7 + length]
        if kind == b"P":
            frame(kind, id)
        each = opened.get(id)
        if each is None:
            continue
        if kind == b"D":
            each.data.extend(data)
        elif kind == b"W":
            each.credit += struct.unpack(">I", data)[0]
        elif kind == b"E":
            each.last = True
        elif kind == b"C":
            gone(id)
def carry(id, each, readable):
    global out
    if readable and not each.ended:
        try:
            data = each.file.recv(min(each.credit, 32768))
            each.credit -= len(data)
            each.ended = not data
            frame(b"D" if data else b"E", id, data)
        except BlockingIOError:
            pass
    if each.data:
        try:
            sent = each.file.send(each.data)
            del each.data[:sent]
            frame(b"W", id, struct.pack(">I", sent))
        except BlockingIOError:
            pass
    if each.last and not each.told and not each.data:
        each.told = True
        each.file.shutdown(socket.SHUT_WR)
    if each.ended and each.told:
        gone(id)
while True:
    room = len(out) < 2 * window
    reads = {each.file.fileno(): id for id, each in opened.items() if room and not each.ended and each.credit > 0}
    writes = [each.file.fileno() for each in opened.values() if each.data]
    readable, _, _ = select.select([0, *reads, *([server.fileno()] if len(opened) < most else [])], [*writes, *([1] if out else [])], [])
    if 0 in readable:
        data = os.read(0, 65536)
        if not data:
            sys.exit()
        got.extend(data)
    ready = {reads[fd] for fd in readable if fd in reads}
    frames()
    if server.fileno() in readable:
        try:
            file, _ = server.accept()
            file.setblocking(False)
            number += 1
            opened[number] = Connection(file)
            frame(b"O", number)
        except OSError:
            pass
    for id, each in list(opened.items()):
        try:
            carry(id, each, id in ready)
        except OSError:
            frame(b"C", id)
            gone(id)
    if out:
        try:
            del out[:os.write(1, out[:65536])]
        except BlockingIOError:
            pass
`;
