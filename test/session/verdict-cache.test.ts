import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "hermes-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { capture } from "../support/calls.js";

/** Answers that stand (src/session/verdict-cache.ts): programs that do the same again and again, in every way there is. */

let folder: string;
let policy: string;
const rules = (more = "") => `name: p
rules:
  - { id: secret, deny: [read, write], path: ["**/secret*", "!**/secret-not"], errno: EXDEV, reason: Not that. }
  - { id: made, deny: create, path: "${folder}/no/**", errno: EROFS, reason: Not there. }
${more}`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-settled-"));
  for (const name of ["in", "no", "secret-folder"]) mkdirSync(join(folder, name));
  for (const name of ["plain", "secret", "secret-not", "in/plain", "in/secret", "ünder", "secret-folder/x"])
    writeFileSync(join(folder, name), `content of ${name}\n`);
  symlinkSync("../secret", join(folder, "in/to-secret"));
  symlinkSync("../plain", join(folder, "in/to-plain"));
  symlinkSync("in", join(folder, "way"));
  policy = join(folder, "p.yaml");
  writeFileSync(policy, rules());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Python: `told(f)` is what f gives, or the name of its error. */
const PYTHON = `
import os, errno, stat, threading, sys
R = os.O_RDONLY
def told(f, *a, **k):
    try: r = f(*a, **k)
    except OSError as e: return errno.errorcode[e.errno]
    if isinstance(r, int):
        mode = os.fstat(r).st_mode
        text = os.read(r, 99).decode().strip() if stat.S_ISREG(mode) else 'folder' if stat.S_ISDIR(mode) else 'other'
        os.close(r)
        return text
    return 'ok'
`;

it("gives each open what it got the first time, by every way to the file", async () => {
  const program = `${PYTHON}
os.chdir('${folder}')
d = os.open('in', R)
p = os.open('in', os.O_PATH)
opens = {
  'plain': lambda: os.open('plain', R),
  'whole': lambda: os.open('${folder}/plain', R),
  'secret': lambda: os.open('secret', R),
  'whole secret': lambda: os.open('${folder}/secret', R),
  'not': lambda: os.open('secret-not', R),
  'beside': lambda: os.open('in/../plain', R),
  'secret beside': lambda: os.open('in/../secret', R),
  'dot': lambda: os.open('./in/./plain', R),
  'slashes': lambda: os.open('in//plain', R),
  'dots and slashes': lambda: os.open('.//in/.///plain', R),
  'secret behind dots': lambda: os.open('.//in/./secret', R),
  'dot behind': lambda: os.open('in/.', R),
  'folder': lambda: os.open('in', R),
  'as folder': lambda: os.open('in', R | os.O_DIRECTORY),
  'no folder': lambda: os.open('plain', R | os.O_DIRECTORY),
  'slash behind': lambda: os.open('plain/', R),
  'dirfd': lambda: os.open('plain', R, dir_fd=d),
  'dirfd secret': lambda: os.open('secret', R, dir_fd=d),
  'path dirfd': lambda: os.open('plain', R, dir_fd=p),
  'link': lambda: os.open('to-plain', R, dir_fd=d),
  'link to secret': lambda: os.open('to-secret', R, dir_fd=d),
  'link itself': lambda: os.open('to-plain', R | os.O_NOFOLLOW, dir_fd=d),
  'linked folder': lambda: os.open('way/plain', R),
  'linked folder secret': lambda: os.open('way/secret', R),
  'below secret': lambda: os.open('secret-folder/x', R),
  'missing': lambda: os.open('missing', R),
  'missing below': lambda: os.open('missing/x', R),
  'below a file': lambda: os.open('plain/x', R),
  'bad dirfd': lambda: os.open('plain', R, dir_fd=99),
  'empty': lambda: os.open('', R),
  'other letters': lambda: os.open('ünder', R),
  'device': lambda: os.open('/dev/null', R),
  'its own proc': lambda: os.open('/proc/self/comm', R),
  'make': lambda: os.open('new', os.O_CREAT | os.O_RDWR, 0o640),
  'make there': lambda: os.open('no/new', os.O_CREAT | os.O_RDWR),
  'make secret': lambda: os.open('secret-new', os.O_CREAT | os.O_RDWR),
}
first = {name: told(f) for name, f in opens.items()}
for i in range(60):
    for name, f in opens.items():
        now = told(f)
        if now != first[name]: print('changed', name, first[name], now)
print(first)
d = os.open('plain', R | os.O_NOFOLLOW)
import fcntl
print(hex(fcntl.fcntl(d, fcntl.F_GETFL)), os.get_inheritable(d), oct(os.stat('new').st_mode & 0o777))
`;
  const bare = await capture(["python3", "-c", program], {});
  rmSync(join(folder, "new"));
  rmSync(join(folder, "no/new"));
  rmSync(join(folder, "secret-new"));
  const { output, session } = await capture(["python3", "-c", program], { policy });
  const refused = { secret: "EXDEV", make: "EROFS" };
  const expected = bare.output
    .replaceAll("'content of secret'", `'${refused.secret}'`)
    .replaceAll("'content of in/secret'", `'${refused.secret}'`)
    .replace("'make there': ''", `'make there': '${refused.make}'`)
    .replace("'make secret': ''", `'make secret': '${refused.secret}'`);
  expect(output).toBe(expected);
  expect(output).not.toContain("changed");
  expect(output).toContain("'whole': 'content of plain'");
  const denied = session.summary.decisions.map(({ rule, count }) => [rule, count]);
  expect(denied).toEqual([
    ["secret", 61 * 8],
    ["made", 61],
  ]);
});

it("counts every call, also those that no policy was asked about", async () => {
  const opens = async (times: number) => {
    const program = `${PYTHON}\nfor i in range(${times}): told(os.open, '${folder}/plain', R)`;
    const { session } = await capture(["python3", "-c", program], { policy });
    return session.summary.byCall.openat!;
  };
  const few = await opens(7);
  expect((await opens(3007)) - few).toBe(3000);
});

it("forgets what stood as soon as the policy is another", async () => {
  const file = join(folder, "changing.yaml");
  writeFileSync(file, rules());
  const program = `${PYTHON}
import time
while not os.path.exists('${folder}/stop'):
    seen = {told(os.open, '${folder}/in/plain', R) for i in range(200)}
    open('${folder}/seen', 'w').write(','.join(sorted(seen)))
`;
  const seen = () => {
    try {
      return readFileSync(join(folder, "seen"), "utf8");
    } catch {
      return "";
    }
  };
  const session = await start({ command: ["python3", "-c", program], policy: file, reload: true });
  await expect.poll(seen).toBe("content of in/plain");
  writeFileSync(
    file,
    rules(`  - { id: now, deny: read, path: "${folder}/in/*", errno: EBUSY, reason: No. }\n`),
  );
  await expect.poll(seen).toBe("EBUSY");
  writeFileSync(file, rules());
  await expect.poll(seen).toBe("content of in/plain");
  writeFileSync(join(folder, "stop"), "");
  const { reloads } = await session.result;
  expect(reloads).toBe(2);
});

it("never opens a secret while names are exchanged under it", async () => {
  const program = `${PYTHON}
os.chdir('${folder}')
os.mkdir('turn'); os.mkdir('turn/a'); os.mkdir('turn/b')
open('turn/a/f', 'w').write('fine'); os.symlink('../../secret', 'turn/b/f')
os.symlink('../secret', 'turn/link'); open('turn/file', 'w').write('fine')
stop = False
def exchange():
    while not stop:
        for x, y in (('a', 'b'), ('link', 'file')):
            try:
                os.rename('turn/' + x, 'turn/t'); os.rename('turn/' + y, 'turn/' + x); os.rename('turn/t', 'turn/' + y)
            except OSError: pass
t = threading.Thread(target=exchange); t.start()
d = os.open('turn', R)
seen = set()
for i in range(3000):
    seen.add(told(os.open, 'turn/a/f', R)); seen.add(told(os.open, 'file', R, dir_fd=d)); seen.add(told(os.open, '${folder}/turn/link', R))
stop = True; t.join()
print(sorted(seen))
`;
  const { output } = await capture(["python3", "-c", program], { policy });
  expect(output).not.toContain("content of secret");
  expect(output).toContain("fine");
  expect(output).toContain("EXDEV");
});

it("lets a pipe wait for its other side, and no other caller", async () => {
  const program = `${PYTHON}
os.mkfifo('${folder}/pipe')
got = []
def reads():
    for i in range(20): got.append(open('${folder}/pipe').read())
t = threading.Thread(target=reads); t.start()
for i in range(20):
    for k in range(20): told(os.open, '${folder}/plain', R)
    open('${folder}/pipe', 'w').write(str(i))
    while len(got) <= i: pass
t.join()
print(','.join(got))
`;
  const { output } = await capture(["python3", "-c", program], { policy });
  expect(output.trim()).toBe(Array.from({ length: 20 }, (_, i) => i).join(","));
});

it("keeps no caller at the other door waiting while a thread opens without a pause", async () => {
  const program = `${PYTHON}
import subprocess
stop = False
def opens():
    while not stop: told(os.open, '${folder}/plain', R)
threads = [threading.Thread(target=opens) for i in range(3)]
for t in threads: t.start()
codes = [subprocess.run(['sh', '-c', 'exit %d' % i]).returncode for i in range(30)]
stop = True
for t in threads: t.join()
print(codes == list(range(30)))
`;
  const { output, session } = await capture(["python3", "-c", program], { policy, live: ["execve"] });
  expect(session.protections.doors).toEqual(["notify", "trace"]);
  expect(output.trim()).toBe("True");
});

it("does not hold for a program that has changed its user or its root", async () => {
  const program = `${PYTHON}
os.chdir('${folder}')
os.makedirs('root/in'); open('root/plain', 'w').write('another root')
open('mine', 'w').write('only mine'); os.chmod('mine', 0o600)
def opens(path): return {told(os.open, path, R) for i in range(300)}
def child(act):
    pid = os.fork()
    if pid == 0: act(); os._exit(0)
    os.waitpid(pid, 0)
def nobody(): os.setgroups([]); os.setgid(1234); os.setuid(1234); print(opens('${folder}/mine'), opens('${folder}/plain'), flush=True)
def rooted(): os.chroot('root'); print(opens('/plain'), flush=True)
print(opens('${folder}/mine'), opens('${folder}/plain'), flush=True)
os.chmod('${folder}', 0o755)
child(nobody); child(rooted)
print(opens('${folder}/mine'), flush=True)
`;
  const { output } = await capture(["/usr/bin/python3", "-c", program], { policy, fence: "none" });
  expect(output.split("\n")).toEqual([
    "{'only mine'} {'content of plain'}",
    "{'EACCES'} {'content of plain'}",
    "{'another root'}",
    "{'only mine'}",
    "",
  ]);
});

it("makes files as the program would make them itself", async () => {
  const program = `${PYTHON}
os.chdir('${folder}')
W = os.O_CREAT | os.O_WRONLY
def made(path, flags, mode):
    try: fd = os.open(path, flags, mode)
    except OSError as e: return errno.errorcode[e.errno]
    os.write(fd, b'x'); info = os.fstat(fd); os.close(fd)
    return (oct(info.st_mode), info.st_size)
def again(path, flags, mode, times=130):
    seen = []
    for i in range(times):
        got = made(path, flags, mode)
        if not seen or seen[-1] != got: seen.append(got)
    return seen
def anew(path, mode, times=130):
    seen = set()
    for i in range(times):
        seen.add(made(path, W, mode)); os.unlink(path)
    return seen
os.mkdir('made'); os.symlink('made', 'to-made'); os.symlink('made/behind', 'dangling'); os.symlink('secret-made', 'to-refused')
for mask in (0o022, 0o077, 0, 0o777, 0o002):
    os.umask(mask)
    print(anew('made/a', 0o666), anew('${folder}/made/b', 0o7777), anew('to-made/c', 0o600), os.umask(mask) == mask)
os.umask(0o027)
print(again('made/there', W, 0o666), again('made/there', W | os.O_TRUNC, 0o666), again('made/there', W | os.O_APPEND, 0, 5))
print(again('made/only', W | os.O_EXCL, 0o666), again('made', W, 0o666), again('nowhere/x', W, 0o666), again('made/there/x', W, 0o666))
print(again('dangling', W | os.O_TRUNC, 0o604), again('dangling', W | os.O_NOFOLLOW, 0o604), again('dangling', W | os.O_EXCL, 0o604))
print(again('secret-made', W, 0o666), again('to-refused', W, 0o666), again('no/made', W, 0o666), again('made/slash/', W, 0o666))
print(oct(os.umask(0)), sorted(os.listdir('made')), os.path.lexists('secret-made'))
`;
  const clean = () => {
    for (const name of ["made", "to-made", "dangling", "to-refused", "secret-made", "no/made"])
      rmSync(join(folder, name), { recursive: true, force: true });
  };
  const bare = await capture(["python3", "-c", program], {});
  clean();
  const { output } = await capture(["python3", "-c", program], { policy });
  clean();
  const lines = bare.output.split("\n");
  const refusedAt = lines.length - 3;
  lines[refusedAt] = "['EXDEV'] ['EXDEV'] ['EROFS'] ['EISDIR']";
  lines[refusedAt + 1] = lines[refusedAt + 1]!.replace("True", "False");
  expect(output.split("\n")).toEqual(lines);
});

it("says of a program that is not there what it said before, and finds it as soon as it is", async () => {
  const program = `${PYTHON}
def tries(path, *argv, times=150):
    seen = set()
    for i in range(times):
        try: os.execv(path, argv)
        except OSError as e: seen.add(errno.errorcode[e.errno])
    return seen
print(tries('${folder}/bin/late', 'late'), tries('${folder}/bin/nobody', 'nobody'), tries('${folder}/plain/x', 'x'), tries('${folder}/plain', 'x'), flush=True)
os.mkdir('${folder}/bin')
with open('${folder}/bin/late', 'w') as f: f.write('#!/bin/sh\\necho here\\n')
os.chmod('${folder}/bin/late', 0o755)
os.execv('${folder}/bin/late', ['late'])
`;
  const both = join(folder, "missing.yaml");
  writeFileSync(both, rules("  - { id: run, deny: exec, argv: [nobody], errno: EPERM, reason: No. }\n"));
  const { output, session } = await capture(["python3", "-c", program], { policy: both });
  expect(output).toBe("{'ENOENT'} {'EPERM'} {'ENOTDIR'} {'EACCES'}\nhere\n");
  expect(session.summary.decisions).toMatchObject([{ rule: "run", count: 150 }]);
  expect(session.summary.byCall.execve).toBeGreaterThanOrEqual(4 * 150);
});

it("makes calls on descriptors as the program would make them itself", async () => {
  const program = `${PYTHON}
import resource, signal
os.chdir('${folder}')
m = os.open('mine-too', os.O_RDWR | os.O_CREAT)
calls = {
  'mode': lambda fd: os.fchmod(fd, 0o640), 'owner': lambda fd: os.fchown(fd, 1, 2), 'size': lambda fd: os.ftruncate(fd, 5),
  'room': lambda fd: os.posix_fallocate(fd, 0, 9), 'times': lambda fd: os.utime(fd, (1, 2)),
  'attribute': lambda fd: os.setxattr(fd, 'user.a', b'b'), 'no attribute': lambda fd: os.removexattr(fd, 'user.a'),
}
def all_of(fd): return [told(lambda: call(fd)) for call in calls.values()]
first = all_of(m)
print(first, all(all_of(m) == first for i in range(150)))
i = os.stat('mine-too'); print(oct(i.st_mode), i.st_uid, i.st_gid, i.st_size, i.st_atime, os.listxattr('mine-too'))
print(all_of(os.open('mine-too', os.O_PATH)), all_of(os.pipe()[0]))
r = os.open('mine-too', R); print([told(lambda: calls[c](r)) for c in ('mode', 'size', 'room', 'times')])
gone = os.open('gone', os.O_RDWR | os.O_CREAT); os.unlink('gone'); print(all_of(gone))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
got = []
signal.signal(signal.SIGXFSZ, lambda n, f: got.append(n))
print([told(lambda: f()) for f in (lambda: os.ftruncate(m, 1001), lambda: os.truncate('mine-too', 1001), lambda: os.posix_fallocate(m, 0, 1001), lambda: os.ftruncate(m, 1000))], got)
`;
  const bare = await capture(["python3", "-c", program], {});
  rmSync(join(folder, "mine-too"));
  const { output } = await capture(["python3", "-c", program], { policy });
  expect(output).toBe(bare.output);
  expect(output).toContain("True");
});

it("makes and removes names as the program would make and remove them itself", async () => {
  const program = `${PYTHON}
os.chdir('${folder}'); os.umask(0o027)
d = os.open('in', R)
def touch(name): os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
def made(*a, **k):
    os.mkdir(*a, **k)
    return 'made %o' % os.stat(a[0], dir_fd=k.get('dir_fd')).st_mode
calls = {
  'new': lambda: made('new-folder'), 'there': lambda: os.mkdir('new-folder'), 'below': lambda: made('new-folder/x', 0o7777),
  'whole': lambda: made('${folder}/new-folder/y'), 'dots': lambda: made('./new-folder//./z'), 'beside': lambda: made('in/../new-folder/w'),
  'slash': lambda: made('new-folder/v/'), 'dirfd': lambda: made('made-in', dir_fd=d), 'by a link': lambda: made('way/made-by-link'),
  'over a file': lambda: os.mkdir('plain'), 'below a file': lambda: os.mkdir('plain/x'), 'below nothing': lambda: os.mkdir('nothing/x'),
  'the root': lambda: os.mkdir('/'), 'itself': lambda: os.mkdir('.'), 'empty': lambda: os.mkdir(''), 'secret': lambda: os.mkdir('secret-new'),
  'refused': lambda: os.mkdir('no/x'), 'full': lambda: os.rmdir('new-folder'), 'folder as file': lambda: os.unlink('new-folder/x'),
  'file': lambda: (touch('in/file'), os.unlink('in/file')), 'file as folder': lambda: (touch('in/f'), os.rmdir('in/f')),
  'link itself': lambda: (os.symlink('plain', 'a-link'), os.unlink('a-link')), 'not there': lambda: os.unlink('in/not-there'),
  'dirfd file': lambda: (touch('in/g'), os.unlink('g', dir_fd=d)), 'removes secret': lambda: os.unlink('secret'),
  'last': lambda: [os.rmdir(f) for f in ('new-folder/x', 'new-folder/y', './new-folder/z', 'new-folder/w', 'new-folder/v', 'new-folder', 'in/made-in', 'way/made-by-link')],
}
def told(f):
    try: r = f()
    except OSError as e: return errno.errorcode[e.errno]
    return r if isinstance(r, str) else 'ok'
rounds = [{name: told(f) for name, f in calls.items()} for i in range(40)]
print(all(one == rounds[0] for one in rounds), rounds[0])
`;
  const bare = await capture(["python3", "-c", program], {});
  writeFileSync(join(folder, "secret"), "content of secret\n");
  for (const name of ["secret-new", "no/x"]) rmSync(join(folder, name), { recursive: true });
  const { output } = await capture(["python3", "-c", program], { policy });
  // The policy refuses three of them, each time.
  const others = (text: string) =>
    text.replace(/'(secret|refused|removes secret)': '\w+'/g, "").slice(text.indexOf(" "));
  expect(others(output)).toBe(others(bare.output));
  for (const refused of ["'secret': 'EXDEV'", "'refused': 'EROFS'", "'removes secret': 'EXDEV'"])
    expect(output).toContain(refused);
  expect(output).toMatch(/^True/);
});

it("tells a call on a descriptor from one on a path", async () => {
  const program = `${PYTHON}
os.chdir('${folder}')
for name in ('free', 'kept'): os.close(os.open(name, os.O_CREAT | os.O_RDWR))
def touch(f): return lambda: os.utime(f, (1, 2))
ways = {way + name: touch(f) for name in ('free', 'kept') for way, f in (('fd ', os.open(name, R)), ('path ', name))}
print({way: {told(f) for i in range(150)} for way, f in ways.items()})
print({way: {told(f) for i in range(3)} for way, f in ways.items()})
`;
  const kept = join(folder, "kept.yaml");
  writeFileSync(kept, rules("  - { id: kept, deny: touch, path: '**/kept', errno: EPERM, reason: No. }\n"));
  const { output, session } = await capture(["python3", "-c", program], { policy: kept });
  const told = "{'fd free': {'ok'}, 'path free': {'ok'}, 'fd kept': {'EPERM'}, 'path kept': {'EPERM'}}";
  expect(output).toBe(`${told}\n${told}\n`);
  expect(session.summary.byCall.utimensat).toBe(4 * 153);
  expect(session.summary.decisions).toMatchObject([{ rule: "kept", count: 2 * 153 }]);
});
