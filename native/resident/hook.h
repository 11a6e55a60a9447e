/* A hook call, answered by the resident process or by Node. */
#ifndef HERMES_RESIDENT_HOOK_H
#define HERMES_RESIDENT_HOOK_H

/* `words` are those of `hermes`, "hook" first; `main` is what Node runs without a resident process. Returns an exit status. */
int hook_main(const char *main, char **words);

#endif
