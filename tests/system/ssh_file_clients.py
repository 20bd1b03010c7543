"""Real clients that move files over ssh, by sftp or scp: get and put one file.

Names are text that holds anything, and lie in the root: "/NAME" is what is asked for.
"""

import contextlib
import os
import re
import shlex
import subprocess
import urllib.parse

import pytest

import ssh_clients
from conftest import PASSWORD, USER, wait_until
from ssh_clients import HOST, run


class FileClient(ssh_clients.Client):
    """By default over the user's key; `how` as in ssh_clients.OpenSsh."""
    def run(self, *command, **named):
        return run(*command, env=self.environment, **named)


def quoted(name):
    """As a word of the batch languages of sftp, psftp and lftp."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_pattern(name):
    """Where a client expands patterns, and a backslash takes their meaning away."""
    return "".join("\\" + c if c in "\\*?[" else c for c in name)


class OpenSshFiles(FileClient, ssh_clients.OpenSsh):
    pass


class Sftp(OpenSshFiles):
    programs = ("sftp", "ssh-keygen")

    def batch(self, *lines, expect=0, flags=(), **how):
        text = "".join(line + "\n" for line in lines).encode()
        words = ["sftp", *flags, "-b", "-", *self.options(**how), "-P", self.port, "%s@%s" % (USER, HOST)]
        return self.run(*words, input=text, expect=expect)

    def get(self, name, local, verb="get", **how):
        self.batch("%s %s %s" % (verb, quoted("/" + name), quoted(str(local))), **how)

    def put(self, local, name, verb="put", **how):
        self.batch("%s %s %s" % (verb, quoted(str(local)), quoted("/" + name)), **how)


class Scp(OpenSshFiles):
    """The old protocol."""
    programs = ("scp", "ssh-keygen")
    flags = ("-O", "-T")  # it would compare the name that comes with the quoted one

    def command(self, *places, **how):
        return ["scp", *self.flags, *self.options(**how), "-P", self.port, *places]

    def place(self, name):
        """The old protocol's names go through what takes a shell's place."""
        return "%s@%s:%s" % (USER, HOST, shlex.quote("/" + name))

    def source(self, name):
        return self.place(name)

    def get(self, name, local, **how):
        self.run(*self.command(self.source(name), local, **how))

    def put(self, local, name, **how):
        self.run(*self.command(local, self.place(name), **how))


class ScpBySftp(Scp):
    flags = ("-s",)

    def place(self, name):
        return "%s@%s:/%s" % (USER, HOST, name)

    def source(self, name):
        return self.place(as_pattern(name))


class Psftp(FileClient, ssh_clients.Plink):
    programs = ("psftp", "puttygen")

    def batch(self, *lines):
        path = self.home / "batch"
        path.write_text("".join(line + "\n" for line in lines))
        return self.run("psftp", *self.flags(), "-b", path, "%s@%s" % (USER, HOST))

    @staticmethod
    def word(name):
        return '"' + name.replace('"', '""') + '"'

    def get(self, name, local):
        self.batch("get %s %s" % (self.word("/" + name), self.word(str(local))))

    def put(self, local, name):
        self.batch("put %s %s" % (self.word(str(local)), self.word("/" + name)))


class Pscp(FileClient, ssh_clients.Plink):
    programs = ("pscp", "puttygen")
    protocol = "-scp"

    def get(self, name, local):
        self.run("pscp", "-q", self.protocol, *self.flags(), "%s@%s:%s" % (USER, HOST, self.source(name)), local)

    def put(self, local, name):
        self.run("pscp", "-q", self.protocol, *self.flags(), local, "%s@%s:%s" % (USER, HOST, self.place(name)))

    def place(self, name):
        return shlex.quote("/" + name)

    def source(self, name):
        return self.place(name)


class PscpBySftp(Pscp):
    protocol = "-sftp"

    def place(self, name):
        return "/" + name

    def source(self, name):
        return as_pattern("/" + name)


class Curl(FileClient):
    """libssh2. Before 1.11 it knew no cipher of ours but AES-CTR, and no MAC but those of packets in clear."""
    programs = ("curl",)
    scheme = "sftp"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        about = run("curl", "-V").decode()
        if "libssh2/" not in about or not re.search(r"^Protocols:.* %s\b" % self.scheme, about, re.M):
            pytest.skip("this curl has no %s by libssh2" % self.scheme)

    def command(self, *more):
        return ["curl", "-q", "-sS", "-g", "--user", USER + ":" + PASSWORD, "--hostpubsha256",
                self.keys.fingerprints[0].split(":")[1], *(["--compressed-ssh"] if self.compression == "yes" else []), *more]

    def url(self, name):
        return "%s://%s:%d/%s" % (self.scheme, HOST, self.port, urllib.parse.quote(name))

    def get(self, name, local):
        self.run(*self.command("-o", local, self.url(name)))

    def put(self, local, name):
        self.run(*self.command("-T", local, self.url(name)))


class CurlScp(Curl):
    scheme = "scp"


class Lftp(OpenSshFiles):
    programs = ("lftp", "ssh")

    def batch(self, *lines, **how):
        program = " ".join(["ssh", "-a", "-x", *self.options(**how)])
        before = ["set cmd:fail-exit true", "set net:max-retries 1", "set net:timeout 20", "set xfer:clobber on",
                  'set sftp:connect-program "%s"' % program, "open -u %s, -p %d sftp://%s" % (USER, self.port, HOST)]
        return self.run("lftp", "-c", "; ".join([*before, *lines]))

    def get(self, name, local, **how):
        self.batch("get %s -o %s" % (quoted("/" + name), quoted(str(local))), **how)

    def put(self, local, name, **how):
        self.batch("put %s -o %s" % (quoted(str(local)), quoted("/" + name)), **how)


class Sshfs(OpenSshFiles):
    programs = ("sshfs", "fusermount3", "ssh")

    @contextlib.contextmanager
    def mounted(self, *options, **how):
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            pytest.skip("no /dev/fuse here")
        place = self.home / "mount"
        place.mkdir(exist_ok=True)
        words = ["sshfs", *self.options(**how), "-p", self.port, *options, "%s@%s:/" % (USER, HOST), place]
        done = subprocess.run([str(word) for word in words], capture_output=True, timeout=60, env=self.environment)
        if done.returncode != 0 and b"fuse" in done.stderr.lower():
            pytest.skip("no mounting here: " + done.stderr.decode())
        assert done.returncode == 0, done.stderr
        try:
            yield place
        finally:
            wait_until("the end of the mount", lambda: subprocess.run(
                ["fusermount3", "-u", place], capture_output=True).returncode == 0)

    def get(self, name, local, **how):
        with self.mounted(**how) as place:
            local.write_bytes((place / name).read_bytes())

    def put(self, local, name, **how):
        with self.mounted(**how) as place:
            content = local.read_bytes()
            (place / name).write_bytes(content)
            # the kernel may drop the last CLOSE of a file system that goes, and then the upload was not finished
            there = self.server.root / name
            wait_until("the end of the upload", lambda: there.exists() and there.read_bytes() == content)


class Rclone(FileClient):
    """Go's ssh."""
    programs = ("rclone",)

    def command(self, verb, *more):
        remote = ["--sftp-host", HOST, "--sftp-port", self.port, "--sftp-user", USER,
                  "--sftp-key-file", self.keys.path("ed25519"), "--sftp-known-hosts-file", self.known_hosts]
        once = ["--config", self.home / "none.conf", "--retries", "1", "--low-level-retries", "1"]
        return ["rclone", verb, *once, *remote, *more]

    def get(self, name, local):
        self.run(*self.command("copyto", ":sftp:/" + name, local))

    def put(self, local, name):
        self.run(*self.command("copyto", local, ":sftp:/" + name))


class ParamikoFiles(ssh_clients.Paramiko):
    def get(self, name, local):
        with self.transport() as transport, transport.open_sftp_client() as sftp:
            sftp.get("/" + name, str(local))  # prefetches the whole file

    def put(self, local, name):
        with self.transport() as transport, transport.open_sftp_client() as sftp:
            sftp.put(str(local), "/" + name)


class AsyncsshFiles(ssh_clients.Asyncssh):
    def get(self, name, local):
        async def body(connection):
            async with connection.start_sftp_client() as sftp:
                await sftp.get("/" + name, str(local))
        self.work(body)

    def put(self, local, name):
        async def body(connection):
            async with connection.start_sftp_client() as sftp:
                await sftp.put(str(local), "/" + name)
        self.work(body)


class AsyncsshScp(ssh_clients.Asyncssh):
    def get(self, name, local):
        import asyncssh

        async def body(connection):
            await asyncssh.scp((connection, shlex.quote("/" + name)), str(local))
        self.work(body)

    def put(self, local, name):
        import asyncssh

        async def body(connection):
            await asyncssh.scp(str(local), (connection, shlex.quote("/" + name)))
        self.work(body)


ALL = (Sftp, Scp, ScpBySftp, Psftp, Pscp, PscpBySftp, Curl, CurlScp, Lftp, Sshfs, Rclone, ParamikoFiles, AsyncsshFiles,
       AsyncsshScp)
