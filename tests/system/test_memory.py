"""What idle sessions cost: private memory of the server, and that it comes back."""

import contextlib
import resource
import socket

import pytest

from conftest import IS_SANITIZED, PASSWORD, USER, private_dirty_kb, wait_until

CONFIG = """limits { sessions = 20000  per_address = 0  per_account = 0  unauthenticated = 0 }
timeouts { idle_s = 3600 }
"""
BELOW_KB = {300: 4 * 1024, 10_000: 20 * 1024}
STAYS_KB = {300: 1536, 10_000: 2048}  # warm stacks and caches, tables that grew


@pytest.fixture(autouse=True)
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def log_in(server, number):
    """As ftplib does, without its memory and its time."""
    source = "127.0.%d.%d" % (1 + number // 200, 1 + number % 200)
    s = socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=(source, 0))
    for command, code in (None, b"220"), ("USER " + USER, b"331"), ("PASS " + PASSWORD, b"230"):
        if command:
            s.sendall(command.encode() + b"\r\n")
        assert s.recv(4096).startswith(code)
    return s


def count(server, what):
    return sum(worker[what] for worker in server.ask("stats"))


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitizer's memory says nothing of ours")
@pytest.mark.parametrize("sessions", sorted(BELOW_KB))
def test_idle_sessions_cost_little_and_give_it_back(ferryd, root, sessions):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < sessions + 1000:
        pytest.skip("too few descriptors")
    server = ferryd(root, config=CONFIG)
    with contextlib.ExitStack() as stack:
        for i in range(50):  # what a server needs that has seen work
            log_in(server, i).close()
        wait_until("nobody", lambda: count(server, "sessions") == 0)
        before_kb = private_dirty_kb(server.pid)
        clients = [stack.enter_context(log_in(server, i)) for i in range(sessions)]
        wait_until("all asleep", lambda: count(server, "dozing") >= sessions, seconds=60)
        assert private_dirty_kb(server.pid) < BELOW_KB[sessions]
        for s in clients[::100]:  # they wake
            s.sendall(b"PWD\r\n")
            assert s.recv(4096).startswith(b"257 ")
        for s in clients:
            s.sendall(b"QUIT\r\n")
        for s in clients:
            assert s.recv(4096).startswith(b"221 ")
    wait_until("nobody", lambda: count(server, "sessions") == 0, seconds=60)
    wait_until("the memory back", lambda: private_dirty_kb(server.pid) < before_kb + STAYS_KB[sessions])
