# Interpreters have their own ways.
import os, shutil
os.chdir(os.environ["A_OUTSIDE"])
for act in (lambda: open("file", "a").write("x"), lambda: os.replace(os.environ["A_ALLOWED"], "y"), lambda: shutil.copy("/etc/hostname", "z"), lambda: os.symlink("x", "l")):
    try:
        act()
    except OSError:
        pass
