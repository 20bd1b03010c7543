"""ferry probe against other people's servers and ours: what it finds, and that nothing of it stays."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading

import pytest

from conftest import USER, random_bytes, wait_until
from test_client_places import (FERRY, HOST, FtpPeer, HostileFtp, OwnServer, Sshd, dropbear, ferry, free_port, home,  # noqa: F401
                                own, sshd)
from test_bench_peers import Peer
from test_cp import Relay

SHORT = ("--seconds", "1", "--size", "4M")
WAYS = ["none"] + ["zlib:%d" % level for level in range(1, 10)] + ["auto"]


def probe(url, *args, expect=0):
    said = ferry("probe", "--json", *SHORT, *args, url, expect=expect)
    return json.loads(said) if expect == 0 else said


def left_over(folder):
    """Hidden files, a server's own partial ones too."""
    return [name for _, _, files in os.walk(folder) for name in files if "ferry" in name]


@pytest.fixture(params=["ferryd-ftp", "ferryd-sftp", "sshd", "dropbear", "vsftpd", "proftpd"])
def place(request, home):
    if request.param.startswith("ferryd-"):
        server = OwnServer(request.getfixturevalue("own"), request.param.split("-")[1])
        server.files = server.root
        yield server
    elif request.param in ("sshd", "dropbear"):
        yield request.getfixturevalue(request.param)
    else:
        peer = Peer(request.param)
        try:
            yield FtpPeer(peer)
        finally:
            peer.stop()


def test_both_ways_are_measured_and_nothing_stays(place):
    found = probe(place.url)
    assert found["to"]["bytes_per_s"] > 0 and 0 < found["to"]["bytes"] <= 4 << 20
    assert found["from"]["bytes_per_s"] > 0
    assert found["login_s"] > 0 and found["round_trip_ms"] > 0
    is_ssh = place.url.startswith("sftp")
    expected = (WAYS + ["ssh"] * is_ssh) if found["can_compress"] else ["none"]
    assert [way["compress"] for way in found["predicted"]] == expected
    assert all(way["bytes_per_s"] > 0 for way in found["predicted"])
    assert found["predicted"][0]["bytes_per_s"] == found["to"]["bytes_per_s"]
    best = found["advice"]
    assert best["bytes_per_s"] in [way["bytes_per_s"] for way in found["predicted"] if way["compress"] == best["compress"]]
    assert ("ssh_config" in best, "cipher" in found) == (is_ssh, is_ssh)
    assert "ferry" not in ferry("ls", "-a", place.url + "/")
    if hasattr(place, "files"):
        assert left_over(place.files) == []


# -- nothing stays, whatever happens --


def start(*args):
    return subprocess.Popen([FERRY, "probe", *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


def end(process, expect):
    out, err = process.communicate(timeout=120)
    assert process.returncode == expect, (process.returncode, out, err)
    return err.decode()


def test_a_place_that_is_read_only_is_told_and_no_file_is_said_to_be_left(sshd):
    folder = sshd.files / "ro"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", folder], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("needs the right to mount")
    try:
        said = ferry("probe", *SHORT, sshd.url + "/ro", expect=1)
        assert "/ro" in said and "may still be there" not in said
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("scheme", ["sftp", "ftp"])
def test_ctrl_c_removes_what_was_written_to_ferryd(own, scheme):
    process = start("--seconds", "60", "--size", "1G", OwnServer(own, scheme).url)
    wait_until("the file is there", lambda: left_over(own.root))
    process.send_signal(signal.SIGINT)
    assert "interrupted" in end(process, 130)
    wait_until("it is gone", lambda: not left_over(own.root))


def test_ctrl_c_removes_what_was_written_to_sshd(sshd):
    process = start("--seconds", "60", "--size", "1G", sshd.url)
    wait_until("the file is there", lambda: left_over(sshd.files))
    process.send_signal(signal.SIGINT)
    assert "interrupted" in end(process, 130)
    assert left_over(sshd.files) == []


def test_ctrl_c_removes_what_was_written_to_vsftpd(home):
    peer = Peer("vsftpd")
    try:
        process = start("--seconds", "60", "--size", "1G", FtpPeer(peer).url)
        wait_until("the file is there", lambda: left_over(peer.files))
        process.send_signal(signal.SIGINT)
        assert "interrupted" in end(process, 130)
        assert left_over(peer.files) == []
    finally:
        peer.stop()


@pytest.fixture(params=["sshd", "ferryd"])
def behind_relay(request, home):
    """A server, the folder that it serves, and a port before it whose connections can be cut."""
    if request.param == "sshd":
        server = request.getfixturevalue("sshd")
        url, port, files = server.url, server.port, server.files
        relay = Relay(port)
        known = home / ".ssh" / "known_hosts"
        known.write_text(known.read_text().replace(":%d " % port, ":%d " % relay.port))
    else:
        server = request.getfixturevalue("own")
        url, port, files = OwnServer(server, "sftp").url, server.ports[1], server.root
        relay = Relay(port)
    relay.url, relay.files = url.replace(":%d" % port, ":%d" % relay.port), files
    yield relay
    relay.stop()


def cut_it(relay):
    process = start("--seconds", "60", "--size", "1G", relay.url)
    wait_until("the file is there", lambda: left_over(relay.files))
    return process


def test_after_a_cut_another_connection_removes_the_file(behind_relay):
    process = cut_it(behind_relay)
    behind_relay.cut()
    said = end(process, 1)
    assert HOST in said and "may still be there" not in said, said
    assert left_over(behind_relay.files) == []


def test_a_file_that_cannot_be_removed_is_named(behind_relay):
    process = cut_it(behind_relay)
    behind_relay.listener.shutdown(socket.SHUT_RDWR)  # closing alone lets one more in
    behind_relay.stop()
    said = end(process, 1)
    assert re.search(r"\.ferry-probe-[0-9a-f]{16} may still be there, remove it with ferry rm", said), said


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")
def test_a_full_disk_ends_the_writing_and_leaves_nothing(tmp_path, home):
    class Full(Sshd):
        def __init__(self, folder, home):
            super().__init__(folder, home, "Subsystem sftp %s" % (tmp_path / "sftp"))

    (tmp_path / "sftp").write_text("""#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs -o size=2m none "$0" && cd "$0" && /usr/lib/openssh/sftp-server; ls -A "$0" > "$1"' \\
    %s %s
""" % (tmp_path / "sshd" / "files", tmp_path / "left"))
    (tmp_path / "sftp").chmod(0o755)
    server = Full(tmp_path / "sshd", home)
    try:
        done = subprocess.run([FERRY, "probe", "--json", *SHORT, server.url], capture_output=True, text=True, timeout=60)
    finally:
        server.stop()
    assert done.returncode in (0, 1), done
    found = json.loads(done.stdout)
    assert any(note.startswith("writing to it") for note in found["notes"]), found
    wait_until("the subsystem's end", lambda: (tmp_path / "left").exists())
    assert (tmp_path / "left").read_text() == ""


def test_a_quota_ends_the_writing_and_leaves_nothing(ferryd, root, home):
    server = ferryd(root, config="defaults { quota_bytes = 1M }\n")
    found = json.loads(subprocess.run([FERRY, "probe", "--json", *SHORT, OwnServer(server, "ftp").url], capture_output=True,
                                      text=True, timeout=60).stdout)
    assert any(note.startswith("writing to it") for note in found["notes"]), found
    wait_until("it is gone", lambda: not left_over(root))


# -- what cannot be written can be read --


def test_a_read_only_place_is_read_if_it_names_a_file(ferryd, root, home):
    (root / "big").write_bytes(random_bytes(1 << 20) * 8)
    server = ferryd(root, "--read-only")
    url = OwnServer(server, "ftp").url
    found = probe(url + "/big")
    assert "bytes_per_s" not in found["to"] and found["from"]["bytes_per_s"] > 0
    assert found["predicted"] == [] and found["advice"]["fetch_bytes_per_s"] == found["from"]["bytes_per_s"]
    assert found["advice"]["command"].startswith("ferry cp ") and found["advice"]["command"].endswith("/big .")
    assert any(note.startswith("writing to it: ") for note in found["notes"])
    said = ferry("probe", *SHORT, url + "/", expect=1)
    assert "no rate could be measured" in said
    assert os.listdir(root) == ["big"]


def test_a_place_that_is_a_file_stays_as_it_is(sshd):
    sshd.put("file", b"contents")
    found = probe(sshd.url + "/file")
    assert found["to"]["bytes_per_s"] > 0
    assert os.listdir(sshd.files) == ["file"] and (sshd.files / "file").read_bytes() == b"contents"


# -- the data --


def test_the_data_s_levels_are_measured(sshd, tmp_path):
    text, noise = tmp_path / "text", tmp_path / "noise"
    text.write_bytes(b"".join(b"line %d of some text\n" % (i * i) for i in range(40000)))
    noise.write_bytes(random_bytes(1 << 20))
    for path, least, most in ((text, 0.05, 0.5), (noise, 0.99, 1.01)):
        data = probe(sshd.url, "--data", path)["data"]
        assert [level["level"] for level in data["levels"]] == list(range(1, 10))
        assert all(least < level["ratio"] < most and level["bytes_per_s"] > 0 for level in data["levels"]), data
        assert (data["files"], data["bytes"]) == (1, path.stat().st_size)
    found = probe(sshd.url, "--data", noise)
    assert found["advice"]["compress"] == "none" and "Compression no" in found["advice"]["ssh_config"]
    assert "predicted_incompressible" not in found


def test_what_is_behind_the_beginning_counts_too(sshd, tmp_path):
    path = tmp_path / "mixed"
    path.write_bytes(bytes(8 << 20) + random_bytes(1 << 20) * 24)
    levels = probe(sshd.url, "--data", path)["data"]["levels"]
    assert 0.6 < levels[0]["ratio"] < 0.9, levels  # three quarters of it are noise


def test_data_that_repeats_itself_is_looked_at_in_all_its_parts(sshd, tmp_path):
    path = tmp_path / "repeats"
    period = bytes(1 << 19) + random_bytes(1 << 19)
    path.write_bytes(period * 32 + period[:128 << 10])  # 32 pieces at an even distance would all be zeros
    ratio = probe(sshd.url, "--data", path)["data"]["levels"][0]["ratio"]
    assert 0.3 < ratio < 0.7, ratio


def test_a_directory_of_small_files_goes_as_tar(sshd, tmp_path):
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    for i in range(40):
        (tree / "sub" / str(i)).write_bytes(b"%d\n" % i * 500)
    found = probe(sshd.url, "--data", tree)
    assert found["data"]["files"] == 40
    assert found["advice"]["method"] == "tar" and " -r " in found["advice"]["command"]
    assert found["small_files"]["tar_per_s"] > 0 and found["small_files"]["single_per_s"] > 0


def test_without_data_both_cases_are_told(sshd):
    found = probe(sshd.url)
    assert "path" not in found["data"] and found["predicted_incompressible"][0]["compress"] == "none"
    assert "no --data was given" in ferry("probe", *SHORT, sshd.url)


# -- words --


def test_the_advice_is_for_a_shell_and_for_ssh(sshd, tmp_path):
    path = tmp_path / "it's $HOME"
    path.write_bytes(b"text " * 10000)
    found = probe(sshd.url, "--data", path)
    advice = found["advice"]
    words = subprocess.run(["sh", "-c", "printf '%%s\\n' %s" % advice["command"]], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    assert words[:2] == ["ferry", "cp"] and words[-2:] == [str(path), sshd.url]
    config = tmp_path / "config"
    config.write_text(advice["ssh_config"])
    said = subprocess.run(["ssh", "-G", "-F", config, HOST], capture_output=True, text=True, check=True).stdout
    assert re.search("^port %d$" % sshd.port, said, re.M)
    assert re.search("^ciphers %s," % re.escape(found["cipher"]), said, re.M), said


def test_the_command_has_what_the_login_needs(sshd, home):
    (home / "no config").write_text("")
    place = "%s:%s" % (sshd.url.split("//")[1].split(":")[0], sshd.files)
    args = ["-P", sshd.port, "-i", home / ".ssh" / "id_ed25519", "-F", home / "no config", "-c", "aes256-gcm@openssh.com"]
    found = json.loads(ferry("probe", "--json", *SHORT, *args, place))
    assert found["cipher"] == "aes256-gcm@openssh.com"
    (home / "FILE").write_text("x")
    command = found["advice"]["command"].replace("ferry cp ", FERRY + " cp -q ", 1)
    subprocess.run(["sh", "-c", command], check=True, cwd=home, stdin=subprocess.DEVNULL, timeout=60)
    assert (sshd.files / "FILE").read_text() == "x"


def test_people_read_a_table_with_one_row_chosen(sshd):
    said = ferry("probe", *SHORT, sshd.url)
    for word in ("login", "round trip", "to it", "from it", "this CPU", "auto", "ssh -C", "advice", "Ciphers ^"):
        assert word in said, word
    assert len(re.findall("^> ", said, re.M)) == 1
    assert all(len(line) < 100 for line in said.splitlines() if not line.startswith("command "))


def test_no_password_is_told(own):
    said = ferry("probe", *SHORT, OwnServer(own, "ftp").url)
    assert "correct" not in said and USER in said


@pytest.mark.parametrize("args, word", [
    ([], "an argument is missing"), (["a:", "b:"], "one argument too many"), (["--nothing", "a:"], "--nothing"),
    (["--seconds", "0", "a:"], "--seconds"), (["--seconds", "61", "a:"], "--seconds"), (["--size", "1", "a:"], "--size"),
    (["--size", "much", "a:"], "--size"), (["--data"], "a value is missing"), (["here"], "no server's place"),
    (["-c", "rot13", "a:"], "no cipher"), (["rsync://h/x"], "rsync")])
def test_what_is_used_wrongly_is_refused_with_the_reason(home, args, word):
    assert word in ferry("probe", *args, expect=2)


def test_what_is_not_there_is_named(sshd, tmp_path):
    assert "no such file" in ferry("probe", sshd.url + "/missing", expect=1)
    assert "no such file" in ferry("probe", "--data", tmp_path / "missing", sshd.url, expect=1)
    (tmp_path / "empty").mkdir()
    assert "nothing in it" in ferry("probe", "--data", tmp_path / "empty", sshd.url, expect=1)


def test_a_server_that_is_not_there_is_another_exit_code(home):
    assert "refused" in ferry("probe", "sftp://%s:%d/" % (HOST, free_port()), expect=3)


# -- hostile servers --


class Liar(HostileFtp):
    """Has a file of any size, takes none, and sends without end."""

    pause = threading.Event()

    def __init__(self, store, confirm_s=None):
        self.store, self.confirm_s = store, confirm_s
        super().__init__(b"", feat=b" MLST type*;size*;\r\n")

    def talk(self, connection):
        passive = None
        with contextlib.suppress(OSError), connection:
            connection.sendall(b"220 hello\r\n")
            for line in connection.makefile("rb"):
                verb = line.split()[0].upper()
                if verb == b"FEAT":
                    connection.sendall(b"211-x\r\n" + self.feat + b"211 end\r\n")
                elif verb == b"MLST":
                    connection.sendall(b"250-x\r\n type=file;size=9223372036854775807; /f\r\n250 end\r\n")
                elif verb == b"PASV":
                    passive = socket.create_server((HOST, 0))
                    port = passive.getsockname()[1]
                    connection.sendall(b"227 (127,0,0,1,%d,%d)\r\n" % (port >> 8, port & 255))
                elif verb == b"STOR":
                    connection.sendall(self.store)
                    with contextlib.suppress(OSError), passive.accept()[0] as data:
                        while data.recv(1 << 16):
                            self.pause.wait(0.002)
                    if self.confirm_s is not None:
                        self.pause.wait(self.confirm_s)
                        connection.sendall(b"226 stored\r\n")
                elif verb == b"RETR":
                    connection.sendall(b"150 here\r\n")
                    with contextlib.suppress(OSError), passive.accept()[0] as data:
                        while True:
                            data.sendall(bytes(1 << 16))
                    connection.sendall(b"426 you left\r\n")
                else:
                    connection.sendall(b"331 go on\r\n" if verb == b"USER" else b"200 yes\r\n")


def test_a_file_without_end_is_read_for_its_time(home):
    server = Liar(b"553 no \x1b]0;owned\x07\r\n")
    done = subprocess.run([FERRY, "probe", "--json", "--timeout", "5", *SHORT, "ftp://u:p@%s:%d/f" % (HOST, server.port)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    found = json.loads(done.stdout)
    assert 0 < found["from"]["bytes"] < 64 << 20 and "bytes_per_s" not in found["to"]
    assert "\x1b" not in "".join(found["notes"]) + done.stderr


def test_a_server_that_never_confirms_is_left_after_its_time(home):
    server = Liar(b"150 give\r\n")
    said = ferry("probe", "--timeout", "1", *SHORT, "ftp://u:p@%s:%d/f" % (HOST, server.port), expect=1)
    assert "may still be there" in said or "time" in said or "stalled" in said, said


def test_what_is_confirmed_late_has_arrived_late(home):
    server = Liar(b"150 give\r\n", confirm_s=2)
    found = json.loads(ferry("probe", "--json", "--size", "16M", "ftp://u:p@%s:%d/f" % (HOST, server.port)))
    assert any("holds back" in note for note in found["notes"]), found
    assert found["to"]["bytes_per_s"] < (16 << 20) / 2  # 16M took more than the two seconds
