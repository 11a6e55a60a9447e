# An interpreter's own idea of opening a file.
import os
print(open(os.environ["A_SECRET"]).read())
