# A shell would run it.
cp "$A_FORBIDDEN" x; ./x; PATH=.:$PATH x; sh -c ./x; true
