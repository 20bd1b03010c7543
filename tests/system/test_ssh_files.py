"""Foreign clients move files by sftp and scp: every byte, both ways, under names that hold anything."""

import os
import subprocess

import pytest

import ssh_clients
import ssh_file_clients as files
from conftest import Server, random_bytes, start_ssh, wait_until

LIMITS = "limits { per_address = 0  per_account = 0  unauthenticated = 0  ban_failures = 0 }\n"
RIGHTS = "list", "read", "write", "append", "delete", "rename", "overwrite", "mkdir", "link", "setattr"
LINKS = "defaults { rights = {%s} }\n" % ", ".join('"%s"' % right for right in RIGHTS)
SIZES = {"empty": 0, "byte": 1, "packet": 32768, "packet-and-1": 32769, "long": 5_000_011}
NAMES = ["two words", "quote's", 'double "quote"', "\u00fcml\u00e4ut \u65e5\u672c", "dollar$HOME", "back\\slash", "star*[a]?",
         "semi;colon&", "-dash"]


@pytest.fixture(scope="module")
def server(tmp_path_factory, ssh_keys):
    folder = tmp_path_factory.mktemp("files")
    (folder / "root").mkdir()
    server = start_ssh(lambda *a, **n: Server(folder, *a, **n), ssh_keys, folder / "root", config=LIMITS + LINKS)
    yield server
    server.stop()


@pytest.fixture
def root(server):
    """What the module's server serves, empty."""
    subprocess.run(["find", server.root, "-mindepth", "1", "-delete"], check=True)
    return server.root


each = pytest.mark.parametrize("kind", files.ALL, ids=lambda kind: kind.__name__.lower())


@each
def test_files_of_every_size_come_and_go_whole(kind, server, ssh_keys, root, tmp_path):
    client = kind(server, tmp_path, ssh_keys)
    for name, size in SIZES.items():
        content = random_bytes(size, seed=size)
        (root / name).write_bytes(content)
        client.get(name, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content, name
        client.put(tmp_path / "copy", "up")
        assert (root / "up").read_bytes() == content, name
        for path in (tmp_path / "copy", root / "up"):
            path.unlink()


def test_what_curl_gets_by_scp_is_whole(server, ssh_keys, root, tmp_path):
    client = files.CurlScp(server, tmp_path, ssh_keys)
    for name, size in [*SIZES.items(), *((name, 10) for name in NAMES)]:
        content = random_bytes(size, seed=size)
        (root / name).write_bytes(content)
        client.get(name, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content, name
        (tmp_path / "copy").unlink()


@each
def test_a_longer_file_is_replaced_whole(kind, server, ssh_keys, root, tmp_path):
    client = kind(server, tmp_path, ssh_keys)
    (root / "up").write_bytes(bytes(100_000))
    (tmp_path / "local").write_bytes(b"short")
    client.put(tmp_path / "local", "up")
    assert (root / "up").read_bytes() == b"short"


@each
def test_names_hold_anything(kind, server, ssh_keys, root, tmp_path):
    client = kind(server, tmp_path, ssh_keys)
    for number, name in enumerate(NAMES):
        content = b"%d" % number
        (tmp_path / "local").write_bytes(content)
        client.put(tmp_path / "local", name)
        assert [path.name for path in root.iterdir()] == [name]
        assert (root / name).read_bytes() == content
        client.get(name, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content
        (tmp_path / "copy").unlink()
        (root / name).unlink()


@pytest.mark.parametrize("limit", ["16K", "64K", "1M"])
@pytest.mark.parametrize("kind", [files.Sftp, files.Scp, files.Sshfs], ids=lambda kind: kind.__name__.lower())
def test_new_keys_in_mid_transfer_lose_nothing_in_either_direction(kind, limit, server, ssh_keys, root, tmp_path):
    content = random_bytes(3_000_011)
    client = kind(server, tmp_path, ssh_keys)
    (tmp_path / "local").write_bytes(content)
    client.put(tmp_path / "local", "file", rekey=limit)
    assert (root / "file").read_bytes() == content
    client.get("file", tmp_path / "copy", rekey=limit)
    assert (tmp_path / "copy").read_bytes() == content


@pytest.mark.parametrize("how", [{"cipher": cipher} for cipher in ssh_clients.CIPHERS] +
                         [{"cipher": "aes128-ctr", "mac": mac} for mac in ssh_clients.MACS], ids=ssh_clients.name_of)
def test_uploads_are_whole_by_every_cipher_and_mac(how, server, ssh_keys, root, tmp_path):
    content = random_bytes(3_000_011)
    (tmp_path / "local").write_bytes(content)
    files.Sftp(server, tmp_path, ssh_keys).put(tmp_path / "local", "file", **how)
    assert (root / "file").read_bytes() == content


def test_openssh_resumes_both_ways(server, ssh_keys, root, tmp_path):
    content = random_bytes(300_000)
    sftp = files.Sftp(server, tmp_path, ssh_keys)
    (root / "file").write_bytes(content)
    (tmp_path / "copy").write_bytes(content[:100_001])
    sftp.get("file", tmp_path / "copy", verb="reget")
    assert (tmp_path / "copy").read_bytes() == content
    (root / "file").write_bytes(content[:100_001])
    sftp.put(tmp_path / "copy", "file", verb="reput")
    assert (root / "file").read_bytes() == content


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def make_tree(folder):
    (folder / "a/b c/empty").mkdir(parents=True)
    for number in range(30):
        (folder / "a" / ("file %d" % number)).write_bytes(random_bytes(number * 1000, seed=number))
    (folder / "a/b c/deep").write_bytes(b"deep")


@pytest.mark.parametrize("way", ["sftp", "scp", "scp-by-sftp", "pscp", "pscp-by-sftp", "lftp", "rclone", "sshfs", "asyncssh-scp"])
def test_trees_go_up_and_come_back(way, server, ssh_keys, root, tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    copy.mkdir()
    make_tree(source)
    kind = {"sftp": files.Sftp, "scp": files.Scp, "scp-by-sftp": files.ScpBySftp, "pscp": files.Pscp,
            "pscp-by-sftp": files.PscpBySftp, "lftp": files.Lftp, "rclone": files.Rclone, "sshfs": files.Sshfs, "asyncssh-scp": files.AsyncsshScp}[way]
    client = kind(server, tmp_path, ssh_keys)
    if way == "sftp":
        client.batch("put -R %s /" % files.quoted(str(source / "a")), "get -R /a %s" % files.quoted(str(copy)))
    elif way in ("scp", "scp-by-sftp"):
        client.run(*client.command("-r", "-p", source / "a", client.place("")))
        client.run(*client.command("-r", "-p", client.source("a"), copy))
    elif way.startswith("pscp"):
        remote = "%s@%s:" % (ssh_clients.USER, ssh_clients.HOST)
        words = ["pscp", "-q", client.protocol, "-r", "-p", *client.flags()]
        client.run(*words, source / "a", remote + "/")
        client.run(*words, remote + "/a", copy)
    elif way == "lftp":
        client.batch("mirror -R %s /a" % files.quoted(str(source / "a")), "mirror /a %s" % files.quoted(str(copy / "a")))
    elif way == "rclone":
        client.run(*client.command("copy", "--create-empty-src-dirs", source, ":sftp:/"))
        client.run(*client.command("check", source, ":sftp:/"))
        client.run(*client.command("copy", "--create-empty-src-dirs", ":sftp:/", copy))
    elif way == "sshfs":
        with client.mounted() as place:
            subprocess.run(["cp", "-a", source / "a", place], check=True)
            subprocess.run(["cp", "-a", place / "a", copy], check=True)
    else:
        import asyncssh

        async def body(connection):
            await asyncssh.scp(str(source / "a"), (connection, "/"), recurse=True, preserve=True)
            await asyncssh.scp((connection, "/a"), str(copy), recurse=True, preserve=True)
        client.work(body)
    assert tree(server.root) == tree(source)
    assert tree(copy) == tree(source)


def test_openssh_s_sftp_does_what_else_it_can(server, ssh_keys, root, tmp_path):
    (root / "file").write_bytes(b"content")
    (root / "other").write_bytes(b"other")
    sftp = files.Sftp(server, tmp_path, ssh_keys)
    said = sftp.batch("mkdir new", "rename file new/moved", "rename other new/moved", "chmod 600 new/moved",
                      "ln -s moved new/link", "df /", "pwd", "ls -la new", "cd new", "pwd", "copy moved copied", "rm copied",
                      "cd ..", "mkdir gone", "rmdir gone").decode()
    assert (root / "new/moved").read_bytes() == b"other" and (root / "new/moved").stat().st_mode & 0o777 == 0o600
    assert not (root / "gone").exists() and "Remote working directory: /new" in said and "moved" in said
    for line, why in ("get nothing", "not found"), ("rmdir new", "failure"), ("mkdir new", "failure"), ("rm new", "failure"):
        assert why in sftp.batch(line, expect=1).decode().lower()


def test_sshfs_is_a_file_system_for_those_who_use_it(server, ssh_keys, root, tmp_path):
    content = bytearray(random_bytes(1_000_000))
    with files.Sshfs(server, tmp_path, ssh_keys).mounted() as place:
        (place / "file").write_bytes(content)
        with open(place / "file", "r+b") as file:  # here and there
            for number in range(50):
                at = number * 19_937 % 900_000
                file.seek(at)
                file.write(b"changed")
                content[at:at + 7] = b"changed"
        with open(place / "file", "ab") as file:
            file.write(b"behind")
        os.truncate(place / "file", 900_000)
        content = (content + b"behind")[:900_000]
        assert (place / "file").read_bytes() == content
        os.utime(place / "file", (1_000_000_000, 1_000_000_000))
        os.rename(place / "file", place / "moved")
        (place / "folder").mkdir()
        assert sorted(os.listdir(place)) == ["folder", "moved"]
        assert os.statvfs(place).f_blocks > 0
        with pytest.raises(FileNotFoundError):
            (place / "nothing").read_bytes()
        with pytest.raises(OSError):
            os.rmdir(place / "moved")
    assert (root / "moved").read_bytes() == content and (root / "moved").stat().st_mtime == 1_000_000_000


def test_a_client_that_is_killed_in_mid_upload_leaves_no_session(server, ssh_keys, root, tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 30)
    sftp = files.Sftp(server, tmp_path, ssh_keys)
    words = ["sftp", "-b", "-", "-l", "20000", *sftp.options(), "-P", str(server.port),
             "%s@%s" % (ssh_clients.USER, ssh_clients.HOST)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=sftp.environment) as process:
        process.stdin.write(b"put %s up\n" % os.fsencode(tmp_path / "large"))
        process.stdin.flush()
        wait_until("a transfer", lambda: ssh_clients.USER in server.ferry("who").stdout)
        process.kill()
    wait_until("nobody", lambda: ssh_clients.USER not in server.ferry("who").stdout)
