/**
 * The program that holds a command's terminal, in Perl, which every machine with bubblewrap here has, and which can ask the kernel for a
 * terminal by itself. It runs outside the sandbox, the command inside, with the terminal as its input and output.
 *
 * `perl -e ... -- PTMX COLUMNS ROWS COMMAND...`: what comes on standard input is typed, what the terminal shows goes to standard output, lines
 * `COLUMNS ROWS` on descriptor 3 change its size, and the end of those hangs up. Descriptor 4 is the command's. Its exit code is the command's.
 *
 * The numbers of requests are those of `asm-generic/ioctls.h`, which x86-64, ARM64 and RISC-V share.
 */
export const TERMINAL_PROGRAM = String.raw`
use strict;
my ($ptmx, $columns, $rows, @command) = @ARGV;
my ($O_RDWR, $O_NOCTTY, $O_NONBLOCK, $F_GETFL, $F_SETFL) = (2, 0400, 04000, 3, 4);
my ($TIOCSPTLCK, $TIOCGPTPEER, $TIOCSWINSZ) = (0x40045431, 0x5441, 0x5414);
my ($EINTR, $EAGAIN) = (4, 11);
# What is opened from here on is closed for the command, but for its own.
$^F = 4;
my $PIECE = 65536;

sub fail { print STDERR "$_[0]: $!\n"; exit 125 }
# One of the sandbox's own, so that programs find it by its name; else one of the machine's.
my $master;
sysopen($master, $ptmx, $O_RDWR | $O_NOCTTY) or sysopen($master, '/dev/ptmx', $O_RDWR | $O_NOCTTY) or fail('ptmx');
my $unlocked = pack('i', 0);
ioctl($master, $TIOCSPTLCK, $unlocked) or fail('unlocking the terminal');
my $number = ioctl($master, $TIOCGPTPEER, $O_RDWR | $O_NOCTTY) or fail('opening the terminal');
open(my $slave, '+<&=', $number) or fail('the terminal');
sub resize { my $shape = pack('S4', $_[1], $_[0], 0, 0); ioctl($master, $TIOCSWINSZ, $shape) }
resize($columns, $rows);
open(my $orders, '<&=', 3) or fail('orders');
open(my $theirs, '+<&=', 4) or fail('descriptor 4');

my ($heard, $alarm);
pipe($heard, $alarm) or fail('pipe');
$SIG{CHLD} = sub { syswrite $alarm, '.' };
$SIG{PIPE} = 'IGNORE';
my $child = fork;
fail('fork') unless defined $child;
if (!$child) {
  $SIG{$_} = 'DEFAULT' for qw(CHLD PIPE);
  close $orders;
  open(STDIN, '<&', $slave) && open(STDOUT, '>&', $slave) && open(STDERR, '>&', $slave) or exit 125;
  exec { $command[0] } @command;
  exit 127;
}
close $_ for $slave, $theirs;
for my $file ($master, \*STDIN, \*STDOUT, $orders) { fcntl($file, $F_SETFL, fcntl($file, $F_GETFL, 0) | $O_NONBLOCK) }

my ($typed, $shown, $order) = ('', '', '');
my ($typing, $showing) = (1, 1);
my ($code, $patience);
# Gives the number of bytes, 0 at the end, undef if there is nothing for now.
sub take { my ($file, $into) = @_; my $got = sysread $file, $$into, $PIECE, length $$into; defined $got ? $got : $! == $EAGAIN || $! == $EINTR ? undef : 0 }
sub give { my ($file, $from) = @_; my $sent = syswrite $file, $$from; substr($$from, 0, $sent, '') if defined $sent; defined $sent || $! == $EAGAIN || $! == $EINTR }
until (defined $code && !$showing && $shown eq '') {
  my ($read, $write) = ('', '');
  vec($read, fileno $_, 1) = 1 for $heard, $orders;
  vec($read, fileno STDIN, 1) = 1 if $typing && length $typed < 4096;
  vec($read, fileno $master, 1) = 1 if $showing && length $shown < $PIECE;
  vec($write, fileno $master, 1) = 1 if $typed ne '' && $showing;
  vec($write, fileno STDOUT, 1) = 1 if $shown ne '';
  my $ready = select($read, $write, undef, defined $code ? 0.1 : 1);
  ($read, $write) = ('', '') if $ready <= 0;
  sysread $heard, my $ignored, 64 if vec($read, fileno $heard, 1);
  if (!defined $code && waitpid($child, 1) == $child) { $code = $? & 127 ? 128 + ($? & 127) : $? >> 8; $patience = 3 }
  if (vec($read, fileno $orders, 1)) {
    my $got = take($orders, \$order);
    if (defined $got && !$got) { kill 'KILL', $child unless defined $code; exit 129 }
    resize($1, $2) while $order =~ s/^(\d+) (\d+)\n//;
  }
  if (vec($read, fileno STDIN, 1)) { my $got = take(\*STDIN, \$typed); $typing = 0 if defined $got && !$got }
  my $came = 0;
  if (vec($read, fileno $master, 1)) { my $got = take($master, \$shown); $showing = 0 if defined $got && !$got; $came = $got }
  # Others that the command has left may hold the terminal open; what they write later is not waited for.
  $showing = 0 if defined $code && !$came && length $shown < $PIECE && $patience-- <= 0;
  give($master, \$typed) if $typed ne '' && vec($write, fileno $master, 1);
  if ($shown ne '' && vec($write, fileno STDOUT, 1)) { give(\*STDOUT, \$shown) or $shown = '' }
}
exit $code;
`;
