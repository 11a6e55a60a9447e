# Everything a shell script would try.
cd "$A_OUTSIDE"; echo x >file; echo x >>file; echo x >new; rm -f file; mv file "$A_ALLOWED"; ln -s x y; touch file; chmod 600 file; mkdir d; truncate -s0 file; cp /etc/hostname here; dd if=/dev/null of=file 2>/dev/null; install -m 600 /dev/null i; tee file </dev/null; sed -i s/a/b/ file
