/* The broker's side of protocol/broker.h. */
#ifndef HERMES_REQUESTS_H
#define HERMES_REQUESTS_H

struct verdict_cache;

/* Serves the supervisor's requests until the supervisor closes its end. Returns only then. */
void broker_serve(int socket, int calls, struct verdict_cache *cache);

#endif
