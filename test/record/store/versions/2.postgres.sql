-- A store as version 2 of the schema made it, with something in everything. It is never changed.
CREATE SCHEMA hermes;
SET search_path = hermes;
CREATE TABLE migration (version INTEGER PRIMARY KEY, time BIGINT NOT NULL, program TEXT NOT NULL);
INSERT INTO migration VALUES (1, 1700000000000, '0.1.0'), (2, 1700000000001, '0.1.0');

CREATE TABLE session (
  n BIGSERIAL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  started BIGINT NOT NULL,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  pid_started BIGINT NOT NULL,
  workspace TEXT NOT NULL,
  agent TEXT NOT NULL,
  ended BIGINT);
CREATE TABLE tool_call (
  n BIGSERIAL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  tool TEXT NOT NULL,
  input TEXT NOT NULL,
  digest TEXT NOT NULL,
  created BIGINT NOT NULL,
  status TEXT NOT NULL,
  started BIGINT,
  ended BIGINT,
  output TEXT);
CREATE INDEX tool_call_session ON tool_call (session, created);
CREATE INDEX tool_call_status ON tool_call (status);
CREATE TABLE approval (
  n BIGSERIAL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  session TEXT NOT NULL,
  tool_call TEXT,
  created BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  digest TEXT NOT NULL,
  keys TEXT NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL,
  state TEXT NOT NULL,
  scope TEXT,
  answered BIGINT,
  answered_by TEXT,
  note TEXT,
  spent BIGINT);
CREATE INDEX approval_state ON approval (state, created);
CREATE INDEX approval_digest ON approval (digest);
CREATE TABLE allowance (
  n BIGSERIAL PRIMARY KEY,
  key TEXT NOT NULL,
  given BIGINT NOT NULL,
  given_by TEXT NOT NULL,
  time BIGINT NOT NULL);
CREATE TABLE policy (
  version TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  time BIGINT NOT NULL);
CREATE TABLE audit (
  chain TEXT NOT NULL,
  seq BIGINT NOT NULL,
  time BIGINT NOT NULL,
  session TEXT,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (chain, seq));

INSERT INTO session (id, started, host, pid, pid_started, workspace, agent, ended)
  VALUES ('s1', 1700000000000, 'old', 1, 2, '/work', 'agent', 1700000000009);
INSERT INTO tool_call (id, session, tool, input, digest, created, status, started, ended, output)
  VALUES ('c1', 's1', 'terminal_exec', '{}', 'd', 1700000000001, 'BLOCKED', NULL, NULL, NULL);
INSERT INTO approval (id, kind, session, tool_call, created, expires, digest, keys, what, detail, state)
  VALUES ('a1', 'TOOL_CALL', 's1', 'c1', 1700000000002, 9000000000000, 'd', '["recursive delete"]', 'rm -r x', '{}', 'pending');
INSERT INTO allowance (key, given, given_by, time) VALUES ('recursive delete', 1, 'cli:root', 1700000000003);
INSERT INTO policy VALUES ('v1', 'p', 'default: deny', 1700000000004);
INSERT INTO audit VALUES ('old-1a2b3c4d', 1, 1700000000000, 's1', 'session', '{"what":"opened"}', '0000000000000000000000000000000000000000000000000000000000000000', 'fe4a89e10ebc5350c6be606cdfd63a839b25713b97afaae1cf250825b42a8f46');
INSERT INTO audit VALUES ('old-1a2b3c4d', 2, 1700000000001, 's1', 'session', '{"what":"closed"}', 'fe4a89e10ebc5350c6be606cdfd63a839b25713b97afaae1cf250825b42a8f46', 'c7adbd543c67c2f0a7a99ff6239a5d96e3748624eee36c877c5864855cd7cd93');

ALTER TABLE audit ADD COLUMN signature TEXT;
CREATE INDEX audit_session ON audit (session, chain, seq);
CREATE INDEX approval_tool_call ON approval (tool_call);
