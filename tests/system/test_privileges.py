"""What a running ferryd may still do, as the kernel tells it. What a confined process is refused, call by call,
is tried in tests/unit/server/sandbox.c and privileges.c.
"""

import io
import os
import pathlib

import pytest


def status(pid):
    text = pathlib.Path("/proc/%d/status" % pid).read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def own_by_nobody(root):
    os.chown(root, 65534, 65534)
    for parent in list(root.parents)[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)


def test_every_thread_has_no_capability_and_gains_no_privilege(server):
    server.client().close()
    for thread in os.listdir("/proc/%d/task" % server.pid):
        s = status(int(thread))
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            if name == "CapBnd" and os.geteuid() != 0:
                continue
            assert int(s[name], 16) == 0, name
        assert s["NoNewPrivs"].strip() == "1"


def test_every_thread_is_under_seccomp(server):
    sandbox = server.records("sandbox")[0]
    if sandbox["seccomp"] != "on":
        pytest.skip("seccomp is " + sandbox["seccomp"])
    server.client().close()
    for thread in os.listdir("/proc/%d/task" % server.pid):
        assert status(int(thread))["Seccomp"].strip() == "2"


def test_root_becomes_the_owner_of_the_directory(ferryd, root):
    if os.geteuid() != 0:
        pytest.skip("not root")
    own_by_nobody(root)
    server = ferryd(root)
    for thread in os.listdir("/proc/%d/task" % server.pid):
        s = status(int(thread))
        assert s["Uid"].split() == ["65534"] * 4 and s["Gid"].split() == ["65534"] * 4
        assert s["Groups"].split() == []
    server.client().storbinary("STOR file", io.BytesIO(b"x"))
    assert (root / "file").stat().st_uid == 65534
    assert server.ferry("who").returncode == 0


def test_a_release_build_cannot_be_traced_or_dumped_by_its_user(ferryd, root):
    if os.geteuid() != 0:
        pytest.skip("not root")
    own_by_nobody(root)
    server = ferryd(root)
    record = server.records("sandbox")[0]
    if record["core"] != "off":
        pytest.skip("cores are " + record["core"])
    # of a process that is not dumpable these belong to root, proc(5)
    assert os.stat("/proc/%d/environ" % server.pid).st_uid == 0
