"""The server's tar and zstd: frames in a row, bombs, what is torn or damaged, and the level that it packs with."""

import io
import os
import subprocess
import tarfile

import pytest

import ssh_clients  # noqa: F401
from conftest import random_bytes, require
from test_tar import REG, Tar, archive_of, tar  # noqa: F401


def zstd(data, *options):
    require("zstd")
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, capture_output=True, check=True).stdout


def frames(data, size, *options):
    """A frame for each piece of so many bytes, as a sender has it who changes his level."""
    levels = ["-1", "-19", "--fast=5", "-6"]
    return [zstd(data[at:at + size], levels[i % 4], *options) for i, at in enumerate(range(0, len(data), size))]


ARCHIVE_FILES = {"f%d" % i: random_bytes(20_000 + i, i) for i in range(20)}


@pytest.fixture(scope="module")
def archive():
    return archive_of(*((name, REG, data) for name, data in ARCHIVE_FILES.items()))


def contents(root):
    return {name: (root / name).read_bytes() for name in os.listdir(root)}


@pytest.mark.parametrize("size", [1000, 65536, 10_000_000])
def test_frames_in_a_row_are_one_stream(tar, root, archive, size):
    skippable = b"\x50\x2a\x4d\x18\x05\0\0\0which"
    tar.unpack("--zstd -xf -", skippable.join(frames(archive, size)))
    assert contents(root) == ARCHIVE_FILES


def test_stored_frames_are_taken(tar, root, archive):
    """Raw blocks, as ferry sends what compression is not worth its time for."""
    packed = b""
    for at in range(0, len(archive), 65536):
        piece = archive[at:at + 65536]
        packed += b"\x28\xb5\x2f\xfd\xa0" + len(piece).to_bytes(4, "little") + (len(piece) << 3 | 1).to_bytes(3, "little") + piece
    assert subprocess.run(["zstd", "-q", "-dc"], input=packed, capture_output=True, check=True).stdout == archive
    tar.unpack("--zstd -xf -", packed)
    assert contents(root) == ARCHIVE_FILES


def test_what_is_torn_keeps_what_was_whole(tar, root, archive):
    packed = frames(archive, 65536)
    torn = b"".join(packed[:3]) + packed[3][:len(packed[3]) // 2]
    assert "tar: archive: " in tar.unpack("--zstd -xf -", torn, expect=1)
    there = contents(root)
    assert 3 <= len(there) < 20 and all(ARCHIVE_FILES[name] == data for name, data in there.items())


def test_a_wrong_checksum_is_told(tar, root, archive):
    packed = frames(archive, 65536)
    packed[2] = packed[2][:-1] + bytes([packed[2][-1] ^ 1])
    assert "tar: archive: " in tar.unpack("--zstd -xf -", b"".join(packed), expect=1)
    assert all(ARCHIVE_FILES[name] == data for name, data in contents(root).items()) and len(contents(root)) < 20


def test_a_later_frame_with_a_large_window_is_refused(tar, root, archive):
    first = zstd(archive[:200_000])
    large = zstd(archive[200_000:], "--ultra", "--long=27", "--no-check")
    assert large[4] & 0x20 == 0, "the window stands in the head"
    said = tar.unpack("--zstd -xf -", first + large, expect=1)
    assert "window is over 8 MB" in said and 0 < len(contents(root)) < 20


def zeros(count):
    """So many zeros in a row of frames of 100 MB: 10 KB each."""
    hundred = zstd(bytes(100_000_000))
    return hundred * (count // 100_000_000)


def test_a_bomb_costs_its_whole_size(ssh_ferryd, ssh_keys, root, tmp_path):
    tar = Tar(ssh_ferryd(root, config="defaults { quota_bytes = 1M }"), tmp_path, ssh_keys)
    info = tarfile.TarInfo("bomb")
    info.size = 8_000_000_000
    said = tar.unpack("--zstd -xf -", zstd(info.tobuf(tarfile.GNU_FORMAT)) + zeros(info.size), expect=1)
    assert "tar: bomb: the quota of the account is used up" in said
    assert os.listdir(root) == []


def test_packed_endless_headers_end(tar, root):
    header = tarfile.TarInfo("x" * 90)
    header.type = tarfile.GNUTYPE_LONGNAME
    header.size = 1_000_000_000
    said = tar.unpack("--zstd -xf -", zstd(header.tobuf(tarfile.GNU_FORMAT)) + zeros(1_000_000_000), expect=1)
    assert "tar: archive: " in said and os.listdir(root) == []


def test_the_server_packs_with_a_level_that_it_chooses(tar, root):
    """Nothing much where the link is as fast as here; and what cannot be compressed grows by little."""
    require("zstd")
    words = b" ".join(b"word%d" % (b % 97) for b in random_bytes(400_000))
    (root / "text").write_bytes(words)
    (root / "noise").write_bytes(random_bytes(3_000_000))
    for option, program in ("--zstd", "zstd"), ("-z", "gzip"):
        for name, most in ("text", len(words)), ("noise", 3_000_000 * 1.02 + 30_000):
            packed = tar.exec("tar -c %s -f - %s" % (option, name))
            assert len(packed) < most
            plain = subprocess.run([program, "-dc"], input=packed, capture_output=True, check=True).stdout
            member = tarfile.open(fileobj=io.BytesIO(plain)).extractfile(name)
            assert member.read() == (root / name).read_bytes()
