# Programs that run a program for somebody.
"$A_FORBIDDEN"; sh -c "$A_FORBIDDEN"; env "$A_FORBIDDEN"; nice "$A_FORBIDDEN"; timeout 5 "$A_FORBIDDEN"; find "$A_FORBIDDEN" -exec {} \;; echo x | xargs "$A_FORBIDDEN"; python3 -c "import os; os.system(os.environ['A_FORBIDDEN'])"; perl -e 'exec $ENV{A_FORBIDDEN}'; (exec -a ls "$A_FORBIDDEN"); git -c alias.x="!$A_FORBIDDEN" x
true
