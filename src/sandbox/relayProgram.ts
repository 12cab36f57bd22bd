/**
 * The program that carries one connection, in Perl: run in a sandbox's network namespace, it connects to `perl -e ... -- PORT` of the loopback
 * interface, says `+` on standard error, and passes on what comes on standard input and what the other side sends. Exit code 3: refused.
 */
export const RELAY_PROGRAM = String.raw`
use strict;
my ($port) = @ARGV;
my ($AF_INET, $AF_INET6, $STREAM) = (2, 10, 1);
my $PIECE = 65536;
$SIG{PIPE} = 'IGNORE';
my $peer;
sub attempt { my ($family, $address) = @_; socket($peer, $family, $STREAM, 0) && connect($peer, $address) }
attempt($AF_INET, pack('S n a4 x8', $AF_INET, $port, "\x7f\0\0\1")) or attempt($AF_INET6, pack('S n N a16 L', $AF_INET6, $port, 0, "\0" x 15 . "\1", 0)) or exit 3;
syswrite STDERR, '+';
for my $file (\*STDIN, \*STDOUT, $peer) { fcntl($file, 4, fcntl($file, 3, 0) | 04000) }
my ($there, $here) = ('', '');
my ($more, $reply, $told) = (1, 1, 0);
sub take { my ($file, $into) = @_; my $got = sysread $file, $$into, $PIECE, length $$into; defined $got ? $got : $! == 11 || $! == 4 ? undef : 0 }
sub give { my ($file, $from) = @_; my $sent = syswrite $file, $$from; substr($$from, 0, $sent, '') if defined $sent; defined $sent || $! == 11 || $! == 4 }
while ($reply || $here ne '') {
  my ($read, $write) = ('', '');
  vec($read, fileno STDIN, 1) = 1 if $more && length $there < $PIECE;
  vec($read, fileno $peer, 1) = 1 if $reply && length $here < $PIECE;
  vec($write, fileno $peer, 1) = 1 if $there ne '';
  vec($write, fileno STDOUT, 1) = 1 if $here ne '';
  next if select($read, $write, undef, undef) < 0;
  if (vec($read, fileno STDIN, 1)) { my $got = take(\*STDIN, \$there); $more = 0 if defined $got && !$got }
  if (vec($read, fileno $peer, 1)) { my $got = take($peer, \$here); $reply = 0 if defined $got && !$got }
  if ($there ne '' && vec($write, fileno $peer, 1)) { give($peer, \$there) or exit }
  if ($here ne '' && vec($write, fileno STDOUT, 1)) { give(\*STDOUT, \$here) or exit }
  if (!$more && !$told && $there eq '') { shutdown($peer, 1); $told = 1 }
}
`;
