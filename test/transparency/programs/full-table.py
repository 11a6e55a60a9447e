"""With no number left for a descriptor, no open may change anything."""
import errno, os, resource

with open("file", "w") as file:
    file.write("precious\n")
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (32, hard))
held = []


def attempt(name, flags):
    try:
        held.append(os.open(name, flags, 0o600))
        return "opened"
    except OSError as error:
        return errno.errorcode[error.errno]


while attempt("/dev/null", os.O_RDONLY) == "opened":
    pass
results = [
    attempt("file", flags)
    for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREAT | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC)
]
results.append(attempt("new", os.O_WRONLY | os.O_CREAT))
results.append(attempt("new", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
os.close(held.pop())
results.append(attempt("new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
for fd in held:
    os.close(fd)
print(results, os.path.getsize("file"), sorted(os.listdir(".")))
for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC):
    with open("file", "w") as file:
        file.write("precious\n")
    os.close(os.open("file", flags))
    print(os.path.getsize("file"))
