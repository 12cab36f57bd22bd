/**
 * The program of the process that starts sandboxes, in Perl, which Linux systems have and which can make system calls by number.
 * A shell would need a program for each step (`unshare`, `mount`, `mkdir`, `mount`), and they would cost as much as the sandbox itself.
 *
 * It reads records from standard input: fields that end in NUL, and a newline after the last. The first five fields are a name and the files to
 * become descriptors 0 to 3 (none if empty), the last of which is also 4; then come steps with their arguments, the last of which is `exec`. Each record is done by a
 * child of its own, which says `up PID` on descriptor 3 when it has its files. With `once` it does one record itself.
 */

/** Numbers of system calls, by Node's names of architectures (the kernel's `unistd.h`). */
const SYSTEM_CALLS: Readonly<Partial<Record<string, { readonly unshare: number; readonly mount: number; readonly prctl: number; readonly prlimit: number }>>> = {
  x64: { unshare: 272, mount: 165, prctl: 157, prlimit: 302 },
  arm64: { unshare: 97, mount: 40, prctl: 167, prlimit: 261 },
  riscv64: { unshare: 97, mount: 40, prctl: 167, prlimit: 261 },
};

/** Arguments of `perl`, or undefined where the numbers of system calls are not known. */
export function starterArguments(mode: 'serve' | 'once'): string[] | undefined {
  const calls = SYSTEM_CALLS[process.arch];
  return calls && ['-e', PROGRAM, '--', mode, String(calls.unshare), String(calls.mount), String(calls.prctl), String(calls.prlimit)];
}

/** A step and its arguments. Paths are relative to the folder that `chdir` went to. */
export type Step =
  | readonly ['chdir', folder: string]
  /** Joins a control group. */
  | readonly ['group', file: string]
  /** Limits the address space (bytes) or the number of processes. */
  | readonly ['limit', 'as' | 'nproc', value: number]
  /** Mounts of its own; the second kind within a user namespace that maps this user to root. */
  | readonly ['unshare']
  | readonly ['unshare-user', uid: number, gid: number]
  /** Within a user namespace that has the machine's numbers of users, and that allows no other below it. */
  | readonly ['unshare-users']
  /** Finds the numbers of a user, `NAME` or `NAME:GROUP`, in the files of a root, and says `user UID GID` on descriptor 3. */
  | readonly ['user', root: string, user: string]
  | readonly ['mkdir', path: string, mode: number]
  /** Makes a folder below a root where it is missing, and refuses one that is reached by a link: outside it would lead elsewhere. */
  | readonly ['folder', root: string, path: string]
  | readonly ['tmpfs', target: string, options: string]
  | readonly ['bind', source: string, target: string]
  | readonly ['overlay', target: string, options: string]
  /** Seconds until it is killed, whoever watches it. */
  | readonly ['alarm', seconds: number]
  | readonly ['exec', ...argv: string[]];

/** What is sent for one start. */
export const record = (name: string, files: readonly string[], steps: readonly Step[]): string => `${[name, ...files, ...steps.flat()].join('\0')}\0\n`;

const PROGRAM = String.raw`
use strict;
my ($mode, $unshare, $mount, $prctl, $prlimit) = @ARGV;
$^F = 4;
$/ = "\0\n";
umask 0;
# Descriptors that were left open to us are no business of a sandbox.
for my $fd (map { m{(\d+)$} } glob '/proc/self/fd/*') { my $file; close $file if $fd > 2 and open($file, '<&=', $fd) }
my $parent = $$;
# Nobody asks how they ended.
$SIG{CHLD} = 'IGNORE';

sub check { my ($done, $what) = @_; $done or do { print STDERR "$what: $!\n"; exit 125 } }
sub put { my ($file, $text) = @_; my $to; check(open($to, '>', $file) && defined(syswrite($to, $text)) && close($to), $file) }
sub mounted { my ($what, $source, $target, $type, $flags, $data) = @_; check(syscall($mount, "$source", "$target", "$type", $flags, "$data") == 0, $what) }
sub separate { my ($flags) = @_; check(syscall($unshare, $flags) == 0, 'unshare') }
# A line of a table of users or groups, below a root. A link is not followed: here it would lead out of it; nor is a pipe waited for.
sub named {
  my ($root, $file, $name, $number) = @_;
  return if -l "$root/etc" || -l "$root/etc/$file" || !-f _ || !open(my $table, '<', "$root/etc/$file");
  local $/ = "\n";
  while (<$table>) { chomp; my @fields = split /:/; return @fields if $fields[0] eq $name || $fields[$number] eq $name }
  return;
}
sub private { mounted('private mounts', 'none', '/', '', 0x44000, '') }

my %steps = (
  chdir => sub { my $to = shift @{$_[0]}; check(chdir $to, $to) },
  group => sub { put(shift @{$_[0]}, $$) },
  limit => sub { my ($what, $value) = splice @{$_[0]}, 0, 2; my $pair = pack 'QQ', $value, $value; check(syscall($prlimit, 0, $what eq 'as' ? 9 : 6, $pair, 0) == 0, "limit of $what") },
  unshare => sub { separate(0x20000); private() },
  'unshare-user' => sub {
    my ($uid, $gid) = splice @{$_[0]}, 0, 2;
    separate(0x10020000);
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "0 $uid 1");
    put('/proc/self/gid_map', "0 $gid 1");
    private();
  },
  'unshare-users' => sub {
    my $self = $$;
    pipe(my $go, my $ready);
    my $mapper = fork;
    check(defined $mapper, 'fork');
    if (!$mapper) {
      close $ready;
      exit 125 unless sysread $go, my $word, 1;
      put("/proc/$self/$_", '0 0 4294967295') for qw(uid_map gid_map);
      exit 0;
    }
    separate(0x10020000);
    syswrite $ready, '.';
    check(waitpid($mapper, 0) == $mapper && $? == 0, 'users of the namespace');
    private();
    put('/proc/sys/user/max_user_namespaces', '0');
  },
  user => sub {
    my ($root, $user) = splice @{$_[0]}, 0, 2;
    my ($name, $group) = split /:/, $user;
    my @found = named($root, 'passwd', $name, 2);
    my $uid = @found ? $found[2] : $name;
    my $gid = @found ? $found[3] : 0;
    if (defined $group) { @found = named($root, 'group', $group, 2); $gid = @found ? $found[2] : $group }
    $! = 2;
    check(!grep({ !/^\d+$/ } $uid, $gid), "no user $user");
    my $report;
    check(open($report, '>&', 3) && syswrite($report, "user $uid $gid\n"), 'report');
  },
  folder => sub {
    my ($root, $path) = splice @{$_[0]}, 0, 2;
    for my $part (grep { $_ ne '' } split m{/}, $path) {
      $root .= "/$part";
      $! = 20;
      check(!-l $root && (!-e $root || -d $root), "the folder $path to write to is reached by a link or is none");
      check(-d $root || mkdir($root, 0755), $path);
    }
  },
  mkdir => sub { my ($path, $bits) = splice @{$_[0]}, 0, 2; check(mkdir($path, $bits), $path) },
  tmpfs => sub { my ($to, $options) = splice @{$_[0]}, 0, 2; mounted('tmpfs', 'tmpfs', $to, 'tmpfs', 6, $options) },
  bind => sub { my ($from, $to) = splice @{$_[0]}, 0, 2; mounted('bind', $from, $to, '', 4096, '') },
  overlay => sub { my ($to, $options) = splice @{$_[0]}, 0, 2; mounted('overlay', 'overlay', $to, 'overlay', 6, $options) },
  alarm => sub { alarm shift @{$_[0]} },
  exec => sub { my @words = @{$_[0]}; umask 022; exec { $words[0] } @words; check(0, $words[0]) },
);

sub work {
  my (undef, $in, $out, $error, $report, @rest) = split /\0/, shift, -1;
  # Files that have lost their names mean that nobody wants this any more.
  exit 125 if $in ne '' && !open(STDIN, '<', $in) or $error ne '' && !open(STDERR, '>', $error) or $out ne '' && !open(STDOUT, '>', $out);
  my ($to, $copy);
  if ($report ne '') {
    exit 125 unless open($to, '>', $report) && fileno($to) == 3 && open($copy, '>&', $to) && fileno($copy) == 4;
    syswrite $to, "up $$\n";
  }
  $steps{shift @rest}->(\@rest) while @rest;
}

while (defined(my $record = <STDIN>)) {
  chomp $record;
  if ($mode eq 'once') { work($record); exit 125 }
  my $child = fork;
  if (!defined $child) { my ($name) = split /\0/, $record; syswrite STDOUT, "failed $name $!\n"; next }
  if (!$child) {
    $SIG{CHLD} = 'DEFAULT';
    # It ends with us, also if that has been already.
    syscall($prctl, 1, 9, 0, 0, 0);
    exit 125 if getppid() != $parent;
    work($record);
    exit 125;
  }
}
`;
