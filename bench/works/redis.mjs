const REQUESTS = { full: 100_000, quick: 20_000 };

export const redis = {
  name: "redis",
  about: "redis-benchmark of set and get, 20 clients, against a server under the system",
  needs: ["redis-server", "redis-benchmark"],
  server: ({ port }) => [
    ...["redis-server", "--port", String(port), "--save", "", "--appendonly", "no"],
    ...["--loglevel", "warning"],
  ],
  load: ({ port }, size) => [
    ...["redis-benchmark", "-p", String(port), "-t", "set,get", "-n", String(REQUESTS[size])],
    ...["-c", "20", "-q"],
  ],
};
