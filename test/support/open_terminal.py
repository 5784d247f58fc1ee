"""Runs a command in a terminal of its own: open_terminal.py COLUMNS ROWS COMMAND...

What comes on stdin is typed, what the terminal gets goes to stdout. A line "COLUMNS ROWS" on descriptor 3 resizes it.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios


def resize(master, columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    pid, master = pty.fork()
    if pid == 0:
        # the size has to be there before the command looks at it
        resize(0, columns, rows)
        os.execvp(sys.argv[3], sys.argv[3:])
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    open_ends = [0, 3, master]
    while master in open_ends:
        for end in select.select(open_ends, [], [])[0]:
            try:
                data = os.read(end, 65536)
            except OSError:
                data = b""
            if not data:
                open_ends.remove(end)
            elif end == master:
                os.write(1, data)
            elif end == 0:
                os.write(master, data)
            else:
                resize(master, *map(int, data.split()[:2]))
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
