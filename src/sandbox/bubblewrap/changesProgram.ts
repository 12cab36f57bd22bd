/**
 * The program that finds what a sandbox has changed, in Perl: run beside a sandbox, with what it was restored from mounted a second time,
 * `perl -e ... -- FOLDER MOST (TREE MERGED BELOW UPPER)...`. It prints a letter (`A`, `M`, `R`) and a path, ended by NUL, for each change, and
 * ends with exit code 3 after MOST of them.
 *
 * What it walks is written to by the sandbox meanwhile, which may put a link in place of any folder. So FOLDER, which holds nothing but the
 * sandbox's own file systems, becomes the root first: no link leads further. What it opens to compare may have become a pipe: it waits for none.
 */
export const CHANGES_PROGRAM = String.raw`use strict;
use Fcntl qw(O_RDONLY O_NONBLOCK O_NOFOLLOW);
my ($folder, $most, @trees) = @ARGV;
chroot $folder and chdir '/' or do { print STDERR "chroot: $!\n"; exit 125 };
my %foreign = map { $_ => 1 } qw(/proc /sys /dev /.rl);
my $count = 0;
sub report { my ($kind, $path) = @_; exit 3 if ++$count > $most; print "$kind$path\0" }
sub names { my ($folder) = @_; opendir(my $handle, $folder) or return; grep { $_ ne '.' && $_ ne '..' } readdir $handle }
sub is_folder { ($_[0][2] & 0170000) == 0040000 }
sub added { my ($path, $file) = @_; report('A', $path); my @is = lstat $file; return unless @is && is_folder(\@is); added("$path/$_", "$file/$_") for sort(names($file)) }
sub differs {
  my ($now, $then, $here, $there) = @_;
  return 1 if grep { $now->[$_] != $then->[$_] } 2, 4, 5, 6, 7, 9;
  my $type = $now->[2] & 0170000;
  return readlink($here) ne readlink($there) if $type == 0120000;
  $type == 0100000 && content_differs($here, $there);
}
sub content_differs {
  my @handles = map { my $handle; sysopen($handle, $_, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) && -f $handle or return 1; $handle } @_;
  while (1) {
    my ($one, $other);
    return 1 unless defined sysread($handles[0], $one, 1 << 18) && defined sysread($handles[1], $other, 1 << 18) && $one eq $other;
    return 0 if $one eq '';
  }
}
sub compare {
  my ($path, $merged, $below, $upper) = @_;
  my %all = map { $_ => 1 } names($merged), names($below);
  for my $name (sort keys %all) {
    my ($at, $here, $there, $mark) = map { "$_/$name" } $path, $merged, $below, $upper;
    next if $foreign{$at};
    my @now = lstat $here;
    my @then = lstat $there;
    if (!@then) { added($at, $here) if @now }
    elsif (!@now) { report('R', $at) }
    elsif (!lstat $mark) { next }
    elsif (is_folder(\@now) && is_folder(\@then)) { compare($at, $here, $there, $mark) }
    elsif (is_folder(\@now) || is_folder(\@then)) { report('R', $at); added($at, $here) }
    elsif (differs(\@now, \@then, $here, $there)) { report('M', $at) }
  }
}
while (my ($tree, @roots) = splice @trees, 0, 4) { compare($tree eq '/' ? '' : $tree, @roots) }
`;
