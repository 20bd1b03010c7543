"""GNU tar on one side of an ssh channel and the server's tar on the other; and archives that nobody should make."""

import gzip
import io
import os
import subprocess
import tarfile

import pytest

import ssh_clients
from conftest import random_bytes, require


class Tar(ssh_clients.OpenSsh):
    programs = ("ssh", "tar")

    def unpack(self, words, archive, expect=0):
        """The server unpacks; what it complains of."""
        done = subprocess.run([str(word) for word in self.command()] + ["tar " + words], input=archive, capture_output=True,
                              timeout=ssh_clients.SECONDS, env=self.environment)
        assert done.returncode == expect and done.stdout == b"", done.stderr
        return done.stderr.decode(errors="replace")


@pytest.fixture
def tar(ssh_server, ssh_keys, tmp_path):
    return Tar(ssh_server, tmp_path, ssh_keys)


def facts(folder):
    """Names, kinds, modes, whole seconds, contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[os.fsencode(path.relative_to(folder))] = (status.st_mode, int(status.st_mtime), content)
    return found


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "deep" / "er" / "est").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "nothing").write_bytes(b"")
    (folder / "large").write_bytes(random_bytes(3_000_001))
    (folder / "even").write_bytes(b"0" * 1_000_000)
    for name in "a b", "ü\U0001f4be", "back\\slash", "two\nlines", "n" * 200:
        (folder / "deep" / name).write_bytes(name.encode())
    (folder / os.fsdecode(b"latin-\xfc")).write_bytes(b"bytes")
    (folder / "deep" / "er" / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "deep" / "er" / "run").chmod(0o750)
    (folder / "deep" / "er" / "est" / ("m" * 120)).mkdir()
    (folder / "deep" / "er" / "est").chmod(0o500)
    for i, path in enumerate(sorted(folder.rglob("*"), reverse=True)):
        os.utime(path, (1_000_000_000 + i, 1_100_000_000 + i))
    return folder


FILTERS = {"plain": "", "gzip": "z", "zstd": "--zstd"}


def filtered(letters, how):
    option = FILTERS[how]
    return [option, letters] if option.startswith("--") else [letters + option]


@pytest.mark.parametrize("how", FILTERS)
@pytest.mark.parametrize("kind", ["gnu", "posix", "ustar-like"])
def test_what_gnu_tar_packs_is_the_same_tree(how, kind, tar, tree, root):
    require("zstd")
    if kind == "ustar-like":
        for name in "deep/" + "n" * 200, "deep/er/est/" + "m" * 120:
            path = tree / name
            path.parent.chmod(0o755)
            path.rmdir() if path.is_dir() else path.unlink()
    words = ["tar", "--format=" + kind.split("-")[0], *filtered("-c", how), "-f", "-", "-C", str(tree), "."]
    archive = subprocess.run(words, capture_output=True, check=True).stdout
    tar.unpack(" ".join(filtered("-xp", how)) + " -f -", archive)
    assert facts(root) == facts(tree)


@pytest.mark.parametrize("how", FILTERS)
def test_gnu_tar_unpacks_the_same_tree(how, tar, tree, root, tmp_path):
    require("zstd")
    subprocess.run(["cp", "-a", str(tree), str(root / "tree")], check=True)
    archive = tar.exec("tar %s -f - -C tree ." % " ".join(filtered("-c", how)))
    (tmp_path / "got").mkdir()
    subprocess.run(["tar", *filtered("-xp", how), "-f", "-", "-C", str(tmp_path / "got")], input=archive, check=True)
    assert facts(tmp_path / "got") == facts(tree)
    record = tar.server.last_audit("download")
    assert record["result"] == "ok" and record["path"].startswith("/tree/")


def test_names_are_those_that_were_asked_for(tar, root):
    for name in "d/x", "d/y", "e":
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"")

    def names(words):
        return tarfile.open(fileobj=io.BytesIO(tar.exec("tar " + words))).getnames()

    assert names("cf - d/x e") == ["d/x", "e"]
    assert sorted(names("cf - -C d .")) == [".", "./x", "./y"]
    assert sorted(names("czf - -C /d *")) == ["x", "y"]
    assert names("cf - /d/x d/../e") == ["d/x", "e"]
    assert sorted(names("cf - /")) == sorted([".", "./d", "./d/x", "./d/y", "./e"])
    assert tar.exec("tar cf - missing", expect=1).endswith(b"tar: missing: no such file or directory\n")


def test_bundles_are_read_as_gnu_tar_reads_them(tar, root):
    (root / "d").mkdir()
    (root / "d" / "x").write_bytes(b"")
    for words in "cf - d", "-cf - d", "-c -f - d", "cvf - -- d", "-vcf- d", "czf - d", "-C / -cf - d", "-C/ -cf - d", "cfC - / d":
        assert tarfile.open(fileobj=io.BytesIO(ssh_clients.run(*tar.command(), "tar " + words, env=tar.environment))).getnames() \
            == ["d", "d/x"], words
    for words in "", "c", "cf -", "cxf - d", "cf file d", "xf - d", "tf -", "-", "cf - --one-file-system d":
        assert b"usage: tar" in tar.exec("tar " + words, expect=2), words


# -- archives that nobody should make --


def archive_of(*entries, **named):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=named.get("format", tarfile.GNU_FORMAT)) as archive:
        for name, kind, content in entries:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            entry.mode = named.get("mode", 0o755 if kind == tarfile.DIRTYPE else 0o644)
            entry.mtime = 1_000_000_000
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                entry.linkname = content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


REG, DIR, SYM, LNK = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
LAST = ("last", REG, b"comes all the same")


@pytest.mark.parametrize("name", ["../x", "a/../../x", "..", "/../x", "d/.."])
def test_names_that_lead_out_are_refused_and_the_rest_comes(name, tar, root):
    (root / "in").mkdir()
    said = tar.unpack("xf - -C in", archive_of((name, REG, b"x"), LAST), expect=1)
    assert "tar: %s: " % name in said
    assert os.listdir(root) == ["in"] and os.listdir(root / "in") == ["last"]


def test_absolute_names_land_below(tar, root):
    (root / "in").mkdir()
    tar.unpack("xf - -C in", archive_of(("/etc/passwd", REG, b"x"), ("//deep/er", REG, b"y")))
    assert (root / "in" / "etc" / "passwd").read_bytes() == b"x" and (root / "in" / "deep" / "er").read_bytes() == b"y"


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(kind, tar, root):
    said = tar.unpack("xf -", archive_of(("null", kind, b""), LAST), expect=1)
    assert "tar: null: not a regular file" in said and os.listdir(root) == ["last"]


def test_set_id_bits_are_dropped(tar, root):
    tar.unpack("xpf -", archive_of(("file", REG, b"x"), ("dir", DIR, b""), mode=0o6777))
    assert [(root / name).stat().st_mode & 0o7777 for name in ("file", "dir")] == [0o777, 0o777]
    tar.unpack("xf -", archive_of(("file", REG, b"x"), mode=0o6777))
    assert (root / "file").stat().st_mode & 0o7777 == 0o755


def test_links_need_their_right(tar, ssh_ferryd, ssh_keys, root, tmp_path):
    archive = archive_of(("file", REG, b"x"), ("hard", LNK, "file"), ("soft", SYM, "file"), LAST)
    said = tar.unpack("xf -", archive, expect=1)
    assert "tar: hard: " in said and "tar: soft: " in said
    assert sorted(os.listdir(root)) == ["file", "last"]
    config = 'defaults { rights = {"list", "read", "write", "overwrite", "delete", "mkdir", "setattr", "link"} }'
    linking = Tar(ssh_ferryd(root, config=config), tmp_path, ssh_keys)
    linking.unpack("xf -", archive)
    assert os.readlink(root / "soft") == "file" and (root / "hard").stat().st_ino == (root / "file").stat().st_ino
    # through a link that leads out nothing is written, nor through a hard link to what is outside
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    archive = archive_of(("out", SYM, str(outside)), ("out/x", REG, b"x"), ("leak", LNK, "out/secret"), ("up", LNK, "../outside/secret"),
                         LAST)
    said = linking.unpack("xf -", archive, expect=1)
    assert "tar: out/x: " in said and "tar: leak: " in said and "tar: up: " in said
    assert os.listdir(outside) == ["secret"] and not (root / "leak").exists()


def sparse(size):
    """A GNU archive with one file of so many bytes, of which it holds ten."""
    entry = bytearray(tarfile.TarInfo("sparse").tobuf(tarfile.GNU_FORMAT))
    entry[156:157] = b"S"
    entry[124:136] = b"%011o\0" % 10
    entry[386:398] = b"%011o\0" % (size - 10)
    entry[398:410] = b"%011o\0" % 10
    entry[483:495] = b"%011o\0" % size
    entry[148:156] = b" " * 8
    entry[148:156] = b"%06o\0 " % sum(entry)
    return bytes(entry) + b"0123456789".ljust(512, b"\0") + bytes(1024)


def test_a_sparse_file_costs_its_whole_size(ssh_ferryd, ssh_keys, root, tmp_path):
    tar = Tar(ssh_ferryd(root, config="defaults { quota_bytes = 1M }"), tmp_path, ssh_keys)
    tar.unpack("xf -", sparse(500_000))
    assert (root / "sparse").read_bytes() == bytes(499_990) + b"0123456789"
    (root / "sparse").rename(root / "kept")
    said = tar.unpack("xf -", sparse(8_000_000_000), expect=1)
    assert "tar: sparse: the quota of the account is used up" in said
    assert os.listdir(root) == ["kept"]


def test_a_full_account_gets_what_fits(ssh_ferryd, ssh_keys, root, tmp_path):
    tar = Tar(ssh_ferryd(root, config="defaults { quota_bytes = 1M }"), tmp_path, ssh_keys)
    said = tar.unpack("xf -", archive_of(("a", REG, bytes(900_000)), ("b", REG, bytes(900_000)), LAST), expect=1)
    assert "tar: b: the quota" in said and sorted(os.listdir(root)) == ["a", "last"]


def test_what_is_cut_off_or_damaged_is_told_and_nothing_half_is_left(tar, tree, root):
    (root / "large").write_bytes(b"old")
    archive = subprocess.run(["tar", "cf", "-", "-C", str(tree), "large"], capture_output=True, check=True).stdout
    for length in 1_000_000, 600, 100:
        tar.unpack("xf -", archive[:length], expect=1)
        assert (root / "large").read_bytes() == b"old" and os.listdir(root) == ["large"]
    tar.unpack("xzf -", gzip.compress(archive)[:1_000_000], expect=1)
    assert (root / "large").read_bytes() == b"old" and os.listdir(root) == ["large"]
    tar.unpack("xf -", b"no archive at all" * 100, expect=1)


def test_endless_headers_end(tar, root):
    """A chain of extensions, each of which must be kept until its entry comes."""
    header = bytearray(tarfile.TarInfo("sparse").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"S"
    header[386:410] = b"00000000001\0" * 2
    header[482:483] = b"\1"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = b"00000000001\0" * 42 + b"\1" + bytes(7)
    archive = bytes(header) + more * 40_000
    for packed in archive, gzip.compress(archive):
        assert "tar: archive: a limit was reached" in tar.unpack("xf -", packed, expect=1)
    assert os.listdir(root) == []
