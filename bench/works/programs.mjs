const PROGRAMS = { full: 2000, quick: 500 };

export const programs = {
  name: "programs",
  about: "a shell that starts true thousands of times",
  needs: ["sh"],
  argv: (_, size) => ["sh", "-c", `i=0; while [ $i -lt ${PROGRAMS[size]} ]; do /bin/true; i=$((i+1)); done`],
};
