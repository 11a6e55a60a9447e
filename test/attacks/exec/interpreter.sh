# A program whose ELF interpreter (PT_INTERP) it is.
echo 'int main(void) { return 0; }' >p.c
gcc -o p p.c -Wl,--dynamic-linker="$A_FORBIDDEN" && ./p
