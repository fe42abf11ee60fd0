"""Runs a command on a terminal, for tests of its output."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def run_on_terminal(command, stream="stdout", columns=80, **more):
    """Runs the command with its `stream` on a terminal. Returns the terminal's text, the ended process, and the rest of
    stderr."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, stream: theirs}
    child = subprocess.Popen(command, **streams, **more)
    os.close(theirs)
    out = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    errors = child.stderr.read().decode() if child.stderr else ""
    child.wait()
    return out, child, errors
