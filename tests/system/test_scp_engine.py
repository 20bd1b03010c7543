"""scp's client engine against OpenSSH's `scp -f` and `scp -t`: tests/tools/scp_engine.c is the program."""

import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BIN

SECONDS = 60
TIME = 1000000007


def engine_path():
    for folder in (BIN, os.environ.get("FERRY_TOOLS")):
        if folder and (pathlib.Path(folder) / "scp_engine").is_file():
            return pathlib.Path(folder) / "scp_engine"
    return pytest.skip("scp_engine is not built")


@pytest.fixture(scope="module", params=["dash", "bash", "zsh", "tcsh"])
def shell(request):
    if shutil.which(request.param) is None:
        pytest.skip("not installed: " + request.param)
    if shutil.which("scp") is None:
        pytest.skip("not installed: scp")
    return request.param


def talk(shell, folder, options, words, paths, direction):
    """The engine with what a server's shell runs in the folder: its output and both statuses."""
    engine = engine_path()
    command = subprocess.run([engine, *options, "command", direction, *paths], check=True, stdout=subprocess.PIPE,
                             timeout=SECONDS).stdout
    to_server, to_client = os.pipe(), os.pipe()
    server = subprocess.Popen([shell, "-c", command], cwd=folder, stdin=to_server[0], stdout=to_client[1],
                              stderr=subprocess.PIPE)
    client = subprocess.Popen([engine, *options, *words], stdin=to_client[0], stdout=to_server[1],
                              stderr=subprocess.PIPE)
    for fd in (*to_server, *to_client):
        os.close(fd)
    try:
        said = client.communicate(timeout=SECONDS)[1].decode()
        server_said = server.communicate(timeout=SECONDS)[1].decode()
    finally:
        client.kill()
        server.kill()
    return client.returncode, server.returncode, said + server_said


def get(shell, folder, to, *paths, options=()):
    return talk(shell, folder, options, ["get", to, *paths], paths, "get")


def put(shell, folder, path, to, options=()):
    return talk(shell, folder, options, ["put", path], [to], "put")


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "from" / "it's a $(tree)"
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "large").write_bytes(os.urandom(3000000))
    (top / "empty").touch()
    (top / "sub" / "ünï *").write_bytes(b"name")
    (top / "sub" / "run").write_bytes(b"#!")
    (top / "sub" / "run").chmod(0o751)
    for path in (top / "large", top / "sub" / "run", top / "sub" / "deep", top / "sub", top):
        os.utime(path, (TIME - 5, TIME))
    (top / "sub" / "deep").chmod(0o711)
    (tmp_path / "to").mkdir()
    return top


def facts(top, with_times=True):
    found = {}
    for path in [top, *top.rglob("*")]:
        st = path.stat()
        facts_of = (path.read_bytes() if path.is_file() else None, st.st_mode & 0o777, int(st.st_mtime))
        found[str(path.relative_to(top))] = facts_of if with_times else facts_of[0]
    return found


def test_a_tree_comes_with_times_and_modes(shell, tree, tmp_path):
    assert get(shell, tree.parent, tmp_path / "to", tree.name, options=["-r", "-p"]) == (0, 0, "")
    assert facts(tmp_path / "to" / tree.name) == facts(tree)


def test_a_tree_goes_with_times_and_modes(shell, tree, tmp_path):
    assert put(shell, tmp_path, tree, "to", options=["-r", "-p", "-d"]) == (0, 0, "")
    assert facts(tmp_path / "to" / tree.name) == facts(tree)


def test_a_tree_goes_to_a_new_name(shell, tree, tmp_path):
    assert put(shell, tmp_path, tree, "to/new $name", options=["-r"]) == (0, 0, "")
    assert facts(tmp_path / "to" / "new $name", False) == facts(tree, False)


def test_what_cannot_be_read_is_left_out_and_told(shell, tree, tmp_path):
    os.mkfifo(tree / "pipe")
    client, server, said = get(shell, tree.parent, tmp_path / "to", "none", tree.name, options=["-r"])
    assert (client, server) == (1, 1)
    assert "none" in said and "No such file" in said and "not a regular file" in said
    (tree / "pipe").unlink()
    assert facts(tmp_path / "to" / tree.name, False) == facts(tree, False)


def test_what_the_client_cannot_store_is_left_out(shell, tree, tmp_path):
    (tmp_path / "to" / tree.name / "sub").mkdir(parents=True)
    (tmp_path / "to" / "large").mkdir()
    client, server, said = get(shell, tree, tmp_path / "to", "large", "sub", "empty", options=["-r"])
    assert (client, server) == (0, 1)
    assert "skipped" in said
    assert (tmp_path / "to" / "empty").is_file() and (tmp_path / "to" / "sub" / "run").is_file()


def test_what_the_server_cannot_store_is_left_out(shell, tree, tmp_path):
    (tmp_path / "to" / tree.name).mkdir()
    (tmp_path / "to" / tree.name / "sub").touch()
    client, server, said = put(shell, tmp_path, tree, "to", options=["-r", "-d"])
    assert (client, server) == (1, 1)
    assert "Not a directory" in said
    assert (tmp_path / "to" / tree.name / "large").stat().st_size == 3000000


def test_a_server_without_the_directory_refuses(shell, tree, tmp_path):
    client, server, said = put(shell, tmp_path, tree / "large", "to/none/at/all")
    assert (client, server) == (1, 1) and "No such file" in said
    client, server, said = put(shell, tmp_path, tree / "large", "none", options=["-d"])
    assert client == 3 and "none" in said


@pytest.mark.parametrize("pattern, names", [
    ("*", "$(touch gone) `a` ab abc it's x;y ~"),
    ("a?", "ab"),
    ("[ab]?c", "abc"),
    ("[!a-z]*", "$(touch gone) `a` ~"),
    ("*$(touch gone)", "$(touch gone)"),
    ("`a*", "`a`"),
    ("x;*", "x;y"),
    ("it's*", "it's"),
    ("[~]", "~"),
    (".h*", ".hidden"),
    ("s*b/*", "in sub"),
    ("{ab,abc}*", ""),
])
def test_a_pattern_is_expanded_to_names_and_not_more(shell, tmp_path, pattern, names):
    folder, to = tmp_path / "from", tmp_path / "to"
    (folder / "s b").mkdir(parents=True)
    to.mkdir()
    for name in ("$(touch gone)", "`a`", "ab", "abc", "it's", "x;y", "~", ".hidden", "s b/in sub"):
        (folder / name).write_text(name)
    _, _, said = get(shell, folder, to, pattern, options=["-g"])
    assert " ".join(sorted(p.name for p in to.iterdir())) == names, said
    assert not (folder / "gone").exists()
