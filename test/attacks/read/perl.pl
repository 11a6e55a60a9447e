# Another interpreter's.
open(my $f, "<", $ENV{A_SECRET}) or exit 1; print <$f>;
