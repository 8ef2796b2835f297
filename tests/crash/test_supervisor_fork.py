"""A fork happens from a clean process or not at all, and the child is a new life."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.crash

ROOT = Path(__file__).parents[2]
HEAD = """
import os, sys, threading, atexit, signal
from appliance.clock import SYSTEM
from appliance.errors import ForkRefusedError
from appliance.log import Log
from appliance.runtime.supervision.fork import fork
log = Log(wall_ms=SYSTEM.wall_ms)
def child(main, keep=()):
    pid = fork(main, settle=lambda: None, keep=keep, log=log)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def refused():
    try:
        child(lambda: 0)
    except ForkRefusedError as error:
        return str(error)
"""


def run(body: str) -> str:
    """What a fresh process prints that does this."""
    done = subprocess.run([sys.executable, "-c", HEAD + body], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_a_process_with_a_second_thread_does_not_fork() -> None:
    """The child would have its locks, and not the thread that holds them."""
    assert "2 threads" in run(
        "e = threading.Event(); threading.Thread(target=e.wait, daemon=True).start(); print(refused()); e.set()"
    )


def test_a_process_with_a_thread_that_python_does_not_know_does_not_fork() -> None:
    """Libraries start threads of their own; the kernel knows them."""
    start = "import _thread; e = threading.Lock(); e.acquire(); _thread.start_new_thread(e.acquire, ()); "
    assert "2 threads" in run(start + "\nwhile len(os.listdir('/proc/self/task')) < 2: pass\nprint(refused())")


def test_a_process_with_an_open_connection_does_not_fork() -> None:
    """A connection carried across a fork loses commits that both sides were told are done."""
    assert "1 database connections" in run("import apsw; c = apsw.Connection(':memory:'); print(refused())")
    assert run("import apsw; c = apsw.Connection(':memory:'); c.close(); print(refused())") == "None\n"


@pytest.mark.parametrize(
    ("main", "code"),
    [
        ("lambda: 7", 7),
        ("lambda: None", 70),
        ("lambda: 1 / 0", 70),
        ("lambda: sys.exit(5)", 5),
        ("lambda: sys.exit('words')", 70),
        ("lambda: os.kill(os.getpid(), 9)", -9),
    ],
)
def test_a_child_never_returns_into_its_parents_life(main: str, code: int) -> None:
    """Whatever its main does, the parent's clean-up happens once, in the parent."""
    assert run(f"atexit.register(print, 'cleaned up'); print('code', child({main}))") == f"code {code}\ncleaned up\n"


def test_a_child_has_only_the_descriptors_it_was_given() -> None:
    """Neither files nor the pipes of its siblings; its input is empty."""
    body = """
secret, (reader, writer) = open('/etc/hostname'), os.pipe()
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
def main():
    found = [number for number in range(3, 1024) if is_open(number)]
    os.write(writer, repr((found == [writer], os.read(0, 9))).encode())
    return 0
child(main, [writer])
print(os.read(reader, 999).decode())
"""
    assert run(body) == "(True, b'')\n"


def test_a_child_leads_a_group_of_its_own_and_has_the_default_signals() -> None:
    """A key on the terminal is the supervisor's; what the child starts can be killed with it."""
    body = """
signal.signal(signal.SIGTERM, lambda *_: None)
reader, writer = os.pipe()
def main():
    default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    os.write(writer, repr((os.getpgrp() == os.getpid(), default, signal.pthread_sigmask(signal.SIG_BLOCK, ()))).encode())
    return 0
child(main, [writer])
print(os.read(reader, 999).decode())
"""
    assert run(body) == "(True, True, set())\n"


def test_a_signal_that_comes_before_the_child_is_settled_is_kept_for_it() -> None:
    """Neither lost in a handler inherited from the parent, nor deadly by default: it waits until the child's own handler stands."""
    body = """
signal.signal(signal.SIGTERM, lambda *_: None)
reader, writer = os.pipe()
heard = []
def settle():
    os.read(reader, 1)
    signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
pid = fork(lambda: 40 + len(heard), settle=settle, keep=[reader], log=log)
os.kill(pid, signal.SIGTERM)
os.write(writer, b'x')
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert run(body) == "41\n"
