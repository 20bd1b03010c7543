"""Sessions that work against each other on the same names, and words that are meant to mislead."""

import contextlib
import threading

import pytest

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


def room_left(client):
    """How many bytes the account may still store: what is kept of a file that is too large."""
    assert put(client, "STOR probe", bytes(2 * QUOTA)).code == 552
    kept = int(client.ask("SIZE probe", 213).text.split()[1])
    client.ask("DELE probe", 250)
    return kept


def bytes_in(root):
    return sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())


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
        assert room_left(clients[0]) + bytes_in(root) == QUOTA


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
        assert room_left(clients[0]) == QUOTA // 2 - 2
