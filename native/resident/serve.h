/* The resident process of a user. */
#ifndef HERMES_RESIDENT_SERVE_H
#define HERMES_RESIDENT_SERVE_H

/* Listens, keeps stand-ins, and ends after so many idle seconds. Returns an exit status. */
int serve_main(const char *node, const char *stand_in, int idle_seconds);

#endif
