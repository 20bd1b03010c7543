"""Sessions that work against each other on the same names, and words that are meant to mislead."""

import contextlib
import threading

import pytest

from conftest import PASSWORD, USER
from dialogue import Dialogue, cut

MANY = "limits { per_address = 0  per_account = 0  unauthenticated = 0 }\n"
QUOTA = 4 << 20


def put(client, command, content, breaks=False):
    """Runs an upload, whatever becomes of it; returns the last reply."""
    with client.data() as data:
        reply = client.ask(command)
        if reply.code != 150:
            return reply
        with contextlib.suppress(ConnectionError):  # refused in the middle
            data.sendall(content)
        if breaks:
            cut(data)
    return client.reply()


def assert_ledger_is_right(client, root):
    """What the quota leaves beside the files in the tree can be stored, and no byte more."""
    room = QUOTA - sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())
    assert put(client, "STOR probe", bytes(room + 1)).code == 552
    assert put(client, "STOR probe", bytes(room)).code == 226


@pytest.mark.parametrize("atomic", ["true", "false"])
def test_sessions_that_race_on_one_name_neither_gain_nor_lose_quota(ferryd, root, atomic):
    server = ferryd(root, config=MANY + "defaults { quota_bytes = %d  atomic_upload = %s }" % (QUOTA, atomic))

    def attack(client, number):
        for i in range(60):
            name = "f%d" % (i % 2)
            if number % 4 == 0:
                put(client, "STOR " + name, b"x" * (QUOTA // 8))
            elif number % 4 == 1:
                put(client, "STOR " + name, b"x")
            elif number % 4 == 2:
                client.ask("REST 1", 350)
                put(client, "STOR " + name, b"y", breaks=i % 3 == 0)
                put(client, "APPE " + name, b"z" * 1000)
            else:
                client.ask("DELE " + name, 250, 550)
                client.ask("RNFR f0", 350, 550)
                client.ask("RNTO f1", 250, 503, 550)

    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Dialogue(server)) for _ in range(8)]
        threads = [threading.Thread(target=attack, args=(client, i)) for i, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert_ledger_is_right(clients[0], root)


def test_a_file_that_many_cut_at_once_makes_no_room_for_others(ferryd, root):
    server = ferryd(root, config=MANY + "defaults { quota_bytes = %d }" % QUOTA)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Dialogue(server)) for _ in range(8)]
        clients[0].give("STOR kept", bytes(QUOTA // 2))
        clients[0].give("STOR f", bytes(QUOTA // 4))
        uploads = []
        for client in clients:
            client.ask("REST 1", 350)
            uploads.append(client.data())
            client.ask("STOR f", 150)
        for client, data in zip(clients, uploads):
            data.sendall(b"y")
            data.close()
            client.expect(226)
        assert (root / "f").read_bytes() == b"\0y"
        assert_ledger_is_right(clients[0], root)


def test_replies_behind_an_abor_come_behind_its_own(server, root):
    (root / "large").write_bytes(bytes(32 << 20))
    with Dialogue(server) as client, client.data() as data:
        client.ask("RETR large", 150)
        client.send("ABOR", "NOOP", "STAT", "ABOR", "PWD", "QUIT")
        assert [client.reply().code for _ in range(7)] == [426, 226, 200, 211, 225, 257, 221]
        assert client.is_closed()


def test_the_longest_password_logs_in_and_a_longer_one_is_refused(ferryd, root):
    long = "x" * 511
    server = ferryd(root, users=((USER, PASSWORD), ("long", long)))
    with Dialogue(server, login=False) as client:
        client.login("long", long)
    for wrong in (long + "x", long[:-1]):
        with Dialogue(server, login=False) as client:
            client.ask("USER long", 331)
            client.ask("PASS " + wrong, 530)


@pytest.mark.parametrize("commands", [["RMD /"], ["RNFR /", "RNTO x"], ["MKD x", "RNFR x", "RNTO /"]])
def test_nobody_is_told_to_try_again_what_never_works(server, commands):
    with Dialogue(server) as client:
        for command in commands[:-1]:
            client.ask(command, 257, 350)
        client.ask(commands[-1], 550)
