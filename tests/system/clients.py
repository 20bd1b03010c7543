"""Real FTP clients behind one interface: get and put one file, with the ways that a transfer can go.

Each is run as a person would run it, with a home directory of its own, and must report success.
Names are bytes. `rate` slows the client down so that it can be killed in mid-transfer.
"""

import ftplib
import os
import shutil
import subprocess
import urllib.parse

import pytest

from conftest import PASSWORD, USER

SECONDS = 60


class Client:
    programs = ()
    can_put = True
    can_ipv6 = True

    def __init__(self, server, folder, host="127.0.0.1"):
        for program in self.programs:
            if not shutil.which(program):
                pytest.skip("not installed: " + program)
        self.server, self.host, self.port = server, host, server.port
        self.home = folder / ("home-" + type(self).__name__)
        self.home.mkdir(exist_ok=True)

    @property
    def url(self):
        return "ftp://%s:%d/" % ("[%s]" % self.host if ":" in self.host else self.host, self.port)

    def url_of(self, name):
        return self.url + urllib.parse.quote(name)

    def start(self, *command):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        return subprocess.Popen(command, env=environment, cwd=self.home, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *command):
        process = self.start(*command)
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            pytest.fail("%s took longer than %d s: %r" % (command[0], SECONDS, output))
        assert process.returncode == 0, "%r: exit code %d, %s" % (
            command, process.returncode, output.decode(errors="replace"))
        return output

    def get(self, name, local, **how):
        self.run(*self.get_command(name, local, **how))

    def put(self, local, name, **how):
        self.run(*self.put_command(local, name, **how))


class Curl(Client):
    programs = ("curl",)

    def command(self, *more, resume=False, active=False, rate=None):
        command = ["curl", "-q", "-sS", "-g", "--user", USER + ":" + PASSWORD, *more]
        command += ["-C", "-"] if resume else []
        command += ["-P", "-"] if active else []
        return command + (["--limit-rate", str(rate)] if rate else [])

    def get_command(self, name, local, **how):
        return self.command("-o", local, self.url_of(name), **how)

    def put_command(self, local, name, **how):
        return self.command("-T", local, self.url_of(name), **how)


class Lftp(Client):
    programs = ("lftp",)

    def command(self, *words, resume=False, active=False, rate=None):
        lines = ["set cmd:fail-exit true", "set net:max-retries 1", "set net:timeout 20", "set ftp:ssl-allow false",
                 "set ftp:passive-mode %s" % ("off" if active else "on"), "set ftp:prefer-epsv on",
                 "set xfer:clobber on", "set ftp:use-mode-z no"]
        lines += ["set net:limit-rate %d" % rate] if rate else []
        lines += ["open -u %s -p %d %s" % (self.quote(USER + "," + PASSWORD), self.port, self.host)]
        words = [words[0], *(["-c"] if resume else []), *(self.quote(w) if w[:1] != "-" else w for w in words[1:])]
        return ["lftp", "-c", os.fsencode("; ".join(lines + [" ".join(words)]))]

    @staticmethod
    def quote(word):
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'

    @staticmethod
    def remote(name):
        return "/" + os.fsdecode(name)

    def get_command(self, name, local, **how):
        return self.command("get", self.remote(name), "-o", str(local), **how)

    def put_command(self, local, name, **how):
        return self.command("put", str(local), "-o", self.remote(name), **how)


class Ncftp(Client):
    programs = ("ncftpget", "ncftpput", "ncftpls")
    can_ipv6 = False

    def command(self, program, *flags, resume=False, active=False):
        return [program, "-u", USER, "-p", PASSWORD, "-P", str(self.port), "-t", "20", "-V", "-z" if resume else "-Z",
                *(["-E"] if active else []), *flags]

    def get_command(self, name, local, **how):
        return self.command("ncftpget", "-C", self.host, b"/" + name, local, **how)

    def put_command(self, local, name, **how):
        no_sendfile = ["-s"] if how.get("resume") else []  # with it ncftp 3.2.6 resumes from the file's start
        return self.command("ncftpput", *no_sendfile, "-C", self.host, local, b"/" + name, **how)


class Tnftp(Client):
    programs = ("tnftp",)

    def command(self, *more, resume=False, active=False, rate=None):
        command = ["tnftp", "-V", "-g", "-4" if ":" not in self.host else "-6"]
        command += ["-R"] if resume else []
        command += ["-A"] if active else []
        command += ["-T", "all,%d" % rate] if rate else []
        return command + list(more)

    @property
    def url(self):
        login = urllib.parse.quote(USER) + ":" + urllib.parse.quote(PASSWORD) + "@"
        return super().url.replace("://", "://" + login)

    def get_command(self, name, local, **how):
        return self.command("-o", local, self.url_of(name), **how)

    def put_command(self, local, name, **how):
        return self.command("-u", self.url.encode() + name, local, **how)  # it decodes no %XX here


class Wget(Client):
    programs = ("wget",)
    can_put = False

    def command(self, *more, resume=False, active=False, rate=None):
        command = ["wget", "--no-config", "-nv", "-t", "1", "-T", "20", "--no-glob", "--user", USER,
                   "--password", PASSWORD, *more]
        command += ["-c"] if resume else []
        command += ["--no-passive-ftp"] if active else []
        return command + (["--limit-rate=%d" % rate] if rate else [])

    def get_command(self, name, local, **how):
        return self.command("-O", local, self.url_of(name), **how)


class Ftplib(Client):
    """Python's own; in latin-1 it sends any bytes as they are."""

    def session(self, active=False):
        ftp = ftplib.FTP(timeout=SECONDS, encoding="latin-1")
        ftp.connect(self.host, self.port)
        ftp.login(USER, PASSWORD)
        ftp.set_pasv(not active)
        return ftp

    def get(self, name, local, resume=False, active=False):
        with self.session(active) as ftp, open(local, "ab" if resume else "wb") as file:
            ftp.retrbinary("RETR " + name.decode("latin-1"), file.write, rest=file.tell() if resume else None)

    def put(self, local, name, resume=False, active=False):
        with self.session(active) as ftp, open(local, "rb") as file:
            if resume:
                ftp.voidcmd("TYPE I")
                file.seek(ftp.size(name.decode("latin-1")))
            ftp.storbinary("STOR " + name.decode("latin-1"), file, rest=file.tell() or None)


ALL = (Curl, Lftp, Ncftp, Tnftp, Wget, Ftplib)
UPLOADERS = tuple(client for client in ALL if client.can_put)


def each(classes):
    """Parameters of a test: one client each, by name."""
    return pytest.mark.parametrize("kind", classes, ids=lambda kind: kind.__name__.lower())
