#!/usr/bin/python3
"""A measurement, no test: what ferry probe predicts beside what ferry cp then does.

For links of `ferry bench levels` and two groups of data like its own (texts and sources; a picture and programs),
over ssh to OpenSSH's server and over FTP's MODE Z to ferryd: ferry probe is asked, then a file is copied as it
says, and the time of an empty file is taken off; medians of some runs in turn. A link is a pair of name spaces of
the network with a token bucket at each end. Needs root, ip, tc, nsenter, unshare and sshd.

    FERRY_BIN=build/release/bin tests/system/measure_probe.py [--only WORD] [--runs 3] [--idle 0.8] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from conftest import BIN, wait_until

NEAR, FAR = "10.77.0.1", "10.77.0.2"
FRAME, SEGMENT, BIG, SMOOTH_MAX = 1514, 1448, 45, 40000000
KB = 1024
LINKS = {
    "1 Gbit/s": 117500000, "100 Mbit/s": 11750000, "8533 KB/s": 8533 * KB, "955 KB/s": 955 * KB, "494 KB/s": 494 * KB,
    "126 KB/s": 126 * KB, "32 KB/s": 32 * KB,
}
GROUPS = {
    "group 1": [(700000, "/usr/share", (".svg", ".ps", ".eps")), (650000, "/usr/share", (".txt", ".po", "changelog.gz")),
                   (1450000, "/usr/include", (".h",))],
    "group 2": [(140000, "/usr/share", (".jpg", ".png", ".webp")), (1000000, "/usr/lib/x86_64-linux-gnu", (".so.6",)),
                 (1600000, "/usr/bin", ("",))],
}
NEAREST, TOLERANCE = 64 * KB, 0.25


def run(*words, **named):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, **named)


class Link:
    """Two name spaces that a pair of cards joins; both end with the processes that hold them."""

    def __init__(self):
        self.holders = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
        for holder in self.holders:
            wait_until("a name space", lambda h=holder: os.readlink("/proc/%d/ns/net" % h.pid) != os.readlink("/proc/self/ns/net"))
        near, far = (str(h.pid) for h in self.holders)
        self.inside(0, "ip", "link", "set", "lo", "up")
        self.inside(0, "ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0", "netns", far)
        for i, (card, address) in enumerate((("near0", NEAR), ("far0", FAR))):
            self.inside(i, "ip", "addr", "add", address + "/30", "dev", card)
            self.inside(i, "ip", "link", "set", card, "up")
        assert near != far

    def enter(self, i):
        return ["nsenter", "-n", "-t", str(self.holders[i].pid)]

    def inside(self, i, *words):
        return run(*self.enter(i), *words)

    def shape(self, payload):
        """As ferry bench does: the bucket counts frames, the rate is of what is in them."""
        rate = payload * FRAME // SEGMENT
        smooth = payload <= SMOOTH_MAX
        burst = max(rate // 500, 2 * FRAME if smooth else BIG * FRAME * 2)
        queue = max(rate // 20, 20 * FRAME, burst)
        for i, card in enumerate(("near0", "far0")):
            self.inside(i, "ip", "link", "set", card, "gso_max_segs", 1 if smooth else BIG)
            self.inside(i, "tc", "qdisc", "replace", "dev", card, "root", "tbf", "rate", "%dbit" % (rate * 8), "burst", burst,
                        "limit", queue)

    def stop(self):
        for holder in self.holders:
            holder.terminate()
            holder.wait()


def group(parts):
    """The first bytes of files of a kind, in the order of their names."""
    whole = b""
    for size, folder, ends in parts:
        found = b""
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.name.endswith(ends)):
            if path.is_file() and path.stat().st_size > 4000 and len(found) < size:
                with contextlib.suppress(OSError):
                    found += path.read_bytes()[:size // 3]
        whole += found[:size]
    return whole


def stretched(data, size):
    """Like ferry bench: all of it again and again, or the first part of each third."""
    if size >= len(data):
        return (data * (size // len(data) + 1))[:size]
    third, left = len(data) // 3, size - 2 * (size // 3)
    return b"".join(data[i * third:i * third + (size // 3 if i < 2 else left)] for i in range(3))


class Servers:
    def __init__(self, folder, link):
        self.home, self.files = folder / "home", folder / "files"
        (self.home / ".ssh").mkdir(mode=0o700, parents=True)
        self.files.mkdir()
        for path in (folder / "host_key", self.home / ".ssh" / "id_ed25519"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path)
        (folder / "sshd_config").write_text("""
Port 22
ListenAddress %s
HostKey %s/host_key
AuthorizedKeysFile %s/.ssh/id_ed25519.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
Subsystem sftp /usr/lib/openssh/sftp-server
""" % (NEAR, folder, self.home))
        os.makedirs("/run/sshd", exist_ok=True)
        (self.home / ".ssh" / "known_hosts").write_text(NEAR + " " + (folder / "host_key.pub").read_text())
        (folder / "password").write_text("secret")
        (folder / "password").chmod(0o600)
        commands = {
            "Server listening": [shutil.which("sshd", path="/usr/sbin"), "-D", "-e", "-f", str(folder / "sshd_config")],
            "ready": [str(BIN / "ferryd"), str(self.files), "--state", str(folder / "state"), "--listen",
                      "ftp://%s:21" % NEAR, "--user", "me:@%s/password" % folder]}
        self.started = []
        for sign, command in commands.items():
            log = folder / command[0].rsplit("/", 1)[1]
            with open(log, "wb") as out:
                self.started.append(subprocess.Popen(link.enter(0) + command, stdout=out, stderr=out))
            wait_until(command[0], lambda: sign in log.read_text())
        self.urls = {"ssh": "sftp://root@%s%s/" % (NEAR, self.files), "ftp": "ftp://me:secret@%s/" % NEAR}

    def stop(self):
        for process in self.started:
            process.terminate()
            process.wait()


def ferry(link, home, *words):
    began = time.monotonic()
    done = subprocess.run(link.enter(1) + [str(BIN / "ferry"), *map(str, words)], capture_output=True, text=True,
                          env={"HOME": str(home), "PATH": os.environ["PATH"]}, timeout=600)
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit("ferry %s: %s" % (" ".join(map(str, words)), done.stderr))
    return done.stdout, took


def idle_share(seconds=2):
    """Of the processors, as others leave it."""
    def read():
        fields = [int(x) for x in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return fields[3] + fields[4], sum(fields)
    before, end = read(), time.monotonic() + seconds
    wait_until("a look at the load", lambda: time.monotonic() > end)
    after = read()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def wait_for_idle(share, seconds=300):
    """Up to so long: what else runs takes the processors from the copy, and from no prediction."""
    end = time.monotonic() + seconds
    while share > 0 and time.monotonic() < end and idle_share() < share:
        pass


def once(link, servers, scheme, path, empty, options):
    """What is predicted, and what comes of it right behind."""
    wait_for_idle(options.idle)
    url = servers.urls[scheme]
    found = json.loads(ferry(link, servers.home, "probe", "--json", "--data", path, url)[0])
    words = ("cp", "-q", "-B", "--compress", found["advice"]["compress"])
    start = ferry(link, servers.home, *words, empty, url)[1]
    took = ferry(link, servers.home, *words, path, url)[1] - start
    assert (servers.files / "data").stat().st_size == path.stat().st_size
    (servers.files / "data").unlink()
    return found, path.stat().st_size / took


def cell(link, servers, scheme, payload, data, options, folder):
    size = int(max(min(len(data), payload * options.seconds), payload * 2, NEAREST))
    path, empty = folder / "data", folder / "empty"
    path.write_bytes(stretched(data, size))
    empty.write_bytes(b"")
    runs = [once(link, servers, scheme, path, empty, options) for _ in range(options.runs)]
    row = {"size": size, "runs": runs, "seen": statistics.median(found["to"]["bytes_per_s"] for found, _ in runs) / payload,
           "compress": "/".join(sorted({found["advice"]["compress"] for found, _ in runs})),
           "predicted": statistics.median(found["advice"]["bytes_per_s"] for found, _ in runs),
           "measured": statistics.median(rate for _, rate in runs)}
    row["off"] = row["predicted"] / row["measured"] - 1
    return row


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--idle", type=float, default=0, help="wait until this share of the processors is idle")
    options.add_argument("--json")
    options = options.parse_args()
    if os.geteuid() != 0:
        sys.exit("name spaces of the network need root")
    rows = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        link = Link()
        stack.callback(link.stop)
        servers = Servers(folder, link)
        stack.callback(servers.stop)
        data = {name: group(parts) for name, parts in GROUPS.items()}
        print("%-5s %-11s %-11s %9s  %-7s %11s %11s %7s" % ("by", "link", "data", "link seen", "advice", "predicted",
                                                           "measured", "off"))
        for scheme in ("ssh", "ftp"):
            for title, payload in LINKS.items():
                for kind, contents in data.items():
                    if options.only not in "%s / %s / %s" % (scheme, title, kind):
                        continue
                    link.shape(payload)
                    row = cell(link, servers, scheme, payload, contents, options, folder)
                    rows.append(dict(row, scheme=scheme, link=title, data=kind))
                    print("%-5s %-11s %-11s %8.1f%%  %-7s %8.0f KB %8.0f KB %+6.1f%%%s" % (
                        scheme, title, kind, 100 * row["seen"], row["compress"],
                        row["predicted"] / KB, row["measured"] / KB, 100 * row["off"],
                        "" if abs(row["off"]) <= TOLERANCE else "  <-"), flush=True)
    near = sum(abs(row["off"]) <= TOLERANCE for row in rows)
    print("%d of %d cells within %.0f %%" % (near, len(rows), 100 * TOLERANCE))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
