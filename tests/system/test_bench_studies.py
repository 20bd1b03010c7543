"""ferry bench compression, levels, methods and ciphers: tables of the studies, with data so small that no number says
anything. No number is judged, only that it is there and where it should be."""

import contextlib
import html.parser
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import BIN, IS_SANITIZED, require, wait_until
from test_bench_peers import as_root

FERRY = str(BIN / "ferry")
DEADLINE_S = 900 if IS_SANITIZED else 400
# What each is run with: all cells of the first, and of the last one those over a link slow enough for short data.
ARGUMENTS = {
    "compression": ["-s", "300K"],
    "ciphers": ["-s", "1M"],
    "methods": ["-s", "256K"],
    "levels": ["-s", "200K", "--only", "955KB/s"],
}
TABLES = {"compression": 1, "ciphers": 2, "methods": 3, "levels": 3}
STATES = {"measured", "retired", "not installed"}


def bench(*args, code=0):
    done = subprocess.run([FERRY, "bench", *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Sanitizer:" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.stdout, done.stderr


class Run:
    def __init__(self, suite, folder):
        self.suite = suite
        self.paths = {kind: folder / (suite + "." + kind) for kind in ("json", "md", "html")}
        options = [word for kind, path in self.paths.items() for word in ("--" + kind, path)]
        self.out, self.err = bench(suite, "--quick", *ARGUMENTS[suite], *options)
        self.results = json.loads(self.paths["json"].read_text())
        self.html = self.paths["html"].read_text()
        only = ARGUMENTS[suite][-1] if "--only" in ARGUMENTS[suite] else ""
        self.cells = [cell for cell in self.results["cells"] if only in cell["row"] or cell["state"] == "retired"]


@pytest.fixture(scope="module", params=ARGUMENTS)
def run(request, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("servers are started side by side by root alone")
    require("ssh", "scp", "ip", "tc")
    if not os.path.exists("/usr/sbin/sshd"):
        pytest.skip("not installed: sshd")
    return Run(request.param, tmp_path_factory.mktemp("studies"))


def test_every_cell_is_measured_or_says_why_not(run):
    assert run.results["complete"] and run.results["suite"] == run.suite
    for cell in run.cells:
        assert cell["state"] in STATES, cell
        if cell["state"] == "measured":
            assert cell["value"] > 0 and len(cell["runs"]) == 1 and cell["bytes"] > 0, cell
        else:
            assert cell["reason"] and "value" not in cell, cell
    assert any(cell["state"] == "measured" for cell in run.cells)


def test_what_is_retired_keeps_its_place(run):
    retired = [cell for cell in run.cells if cell["state"] == "retired"]
    if run.suite == "ciphers":
        assert {"arcfour", "blowfish"} <= {word for cell in retired for word in re.split(r"[ -]", cell["row"])}
        alone = {cell["row"]: cell for cell in run.cells if cell["table"].startswith("Ciphers alone")}
        assert alone["arcfour (RC4), retired"]["state"] == alone["blowfish-cbc, retired"]["state"] == "measured"
    assert retired
    for cell in retired:
        assert cell["row"] in run.out and re.search(r"since|one level", cell["reason"])


def test_programs_that_are_missing_are_named(run):
    for cell in run.cells:
        if cell["state"] == "not installed":
            named = re.match(r"there is no (\S+)$", cell["reason"])
            if named and named[1] != "such":
                assert not shutil.which(named[1], path="/usr/bin")


def test_links_are_proved_within_three_percent(run):
    for link in run.results["links"]:
        if link["bytes_per_s"] > 0 and "measured_bytes_per_s" in link:
            assert abs(link["measured_bytes_per_s"] / link["bytes_per_s"] - 1) < 0.03
    shaped = [link for link in run.results["links"] if "measured_bytes_per_s" in link]
    assert len(shaped) == {"compression": 1, "levels": 1}.get(run.suite, 0)


def test_the_record_names_machine_versions_and_data(run):
    assert run.results["host"]["cores"] > 0 and run.results["host"]["kernel"]
    versions = "\n".join(run.results["versions"])
    assert "OpenSSH_" in versions and "client: ferry " in versions and "server: sshd " in versions
    assert all(data["bytes"] > 0 for data in run.results["data"])
    assert any(re.search(r"data: |group 1", note) for note in run.results["notes"])


def test_the_table_of_the_terminal_has_every_row(run):
    for cell in run.results["cells"]:
        assert cell["row"] in run.out and cell["table"] in run.out
    if run.suite == "ciphers":
        assert "run | Xfer type | real | user | system |" in run.out
        assert re.search(r"^1 \| scp -o Compression=no \| 0m\d+\.\d{3}s \| 0m", run.out, re.M)
        assert re.search(r"^scp -o Compression=no: real=\d+\.\d{3} user=\d+\.\d{4} sys=\d", run.out, re.M)


def test_markdown_tables_have_as_many_cells_in_each_line(run):
    text = run.paths["md"].read_text()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert len(tables) == TABLES[run.suite]
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


class Page(html.parser.HTMLParser):
    """Whether each element that was opened is closed, and what they are."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "style") or name.startswith("on")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


def test_the_page_is_well_formed_and_needs_nothing_else(run):
    page = Page()
    page.feed(run.html)
    page.close()
    assert page.open == [] and page.links == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.seen)
    assert "url(" not in run.html and "@import" not in run.html and "http" not in run.html
    assert page.seen.count("table") == TABLES[run.suite] <= page.seen.count("svg")
    assert "prefers-color-scheme:dark" in run.html and 'name="viewport"' in run.html


def test_the_page_shows_every_value_of_the_table(run):
    for cell in run.cells:
        if cell["state"] == "measured":
            value = cell["value"]
            text = "%.*f" % (3 if value < 10 else 1 if value < 1000 else 0, value)
            assert ">%s<" % text in run.html or ">%s " % text in run.html, cell


def test_an_earlier_run_stands_beside_this_one(run):
    if run.suite != "ciphers":
        pytest.skip("one suite is enough")
    out, _ = bench("ciphers", "--quick", "-s", "1M", "--only", "Ciphers alone", "--baseline", run.paths["json"])
    assert len(re.findall(r"^Ciphers alone.* then, .* now \([+-]\d+\.\d %\)$", out, re.M)) == 6


@pytest.mark.parametrize("width, height", [(360, 740), (1280, 900)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_the_page_no_wider_than_its_window(run, tmp_path, width, height, scheme):
    require("chromium")
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(run.html.replace("</body>", "<p id=w></p><script>document.getElementById('w').textContent="
                                     "'wide '+document.documentElement.scrollWidth+' of '+innerWidth</script></body>"))
    common = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=%s" % (tmp_path / "profile"),
              "--window-size=%d,%d" % (width, height), "--blink-settings=preferredColorScheme=%d" % (scheme == "light")]
    done = subprocess.run([*common, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    wide = re.search(r"wide (\d+) of (\d+)", done.stdout)
    assert wide and int(wide[1]) <= int(wide[2]), done.stderr
    subprocess.run([*common, "--screenshot=%s" % picture, page.as_uri()], check=True, capture_output=True, timeout=120)
    assert picture.stat().st_size > 5000


@as_root
def test_the_senders_share_of_the_processor_is_set_or_said_to_be_impossible():
    out, _ = bench("compression", "--quick", "-s", "300K", "--only", "ferry cp to ferryd, none / loopback",
                   "--cpu-share", "50")
    assert "the sender has 50 % of one core" in out or "--cpu-share: not done" in out


@as_root
def test_a_relay_stands_in_where_no_network_can_be_made(tmp_path):
    require("setpriv", "scp")
    path = tmp_path / "results.json"
    done = subprocess.run(["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", FERRY, "bench", "levels",
                           "--quick", "-s", "300K", "--only", "955KB/s (10Base-T) / 1 none", "--json", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
    results = json.loads(path.read_text())
    cells = {cell["table"]: cell for cell in results["cells"]
             if cell["row"].startswith("955KB/s") and cell["column"] == "1 none"}
    assert done.returncode == 1 and "a relay of our own stands in" in done.stdout, done.stdout + done.stderr
    assert cells["scp to sshd, aes128-ctr"]["value"] < 955 * 1.6  # most of 300 KB at that rate, and no more at once
    assert cells["ferry cp to ferryd, FTP MODE Z"]["state"] == "failed"
    assert "go past a relay" in cells["ferry cp to ferryd, FTP MODE Z"]["reason"]


@as_root
def test_a_signal_ends_it_and_nothing_is_left():
    started = subprocess.Popen([FERRY, "bench", "levels", "--only", "32KB/s"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def base():
        assert started.poll() is None
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == started.pid and words[1:3] == [b"bench", b"run-peer"]:
                    return pathlib.Path(os.fsdecode(words[6]))
        return None

    folder = wait_until("a server runs", base, 120)
    assert folder.is_dir()
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 1 and "interrupted" in err, out + err
    assert not folder.exists()


@pytest.mark.parametrize("arguments, reason", [
    (["--runs", "0"], "this value will not do: 0"),
    (["--runs", "21"], "this value will not do: 21"),
    (["--cpu-share", "101"], "this value will not do: 101"),
    (["-s", "much"], "this value will not do: much"),
    (["--full", "--quick"], "one or the other: --full and --quick"),
    (["--frobnicate"], "unknown option --frobnicate"),
    (["--json"], "a value is missing for --json"),
    (["more"], "one argument too many: more"),
])
@pytest.mark.parametrize("suite", ARGUMENTS)
def test_options_that_make_no_sense_are_refused(suite, arguments, reason):
    _, err = bench(suite, *arguments, code=2)
    assert err == "ferry bench %s: %s\nTry 'ferry bench %s --help'.\n" % (suite, reason, suite)


@pytest.mark.parametrize("suite", ARGUMENTS)
def test_help_tells_what_the_study_did(suite):
    out, _ = bench(suite, "--help")
    assert out.startswith("usage: ferry bench %s [OPTION]..." % suite)
    assert "--cpu-share" in out and all(len(line) <= 100 for line in out.splitlines() if line.startswith("  "))


def test_the_manual_page_names_the_options_of_the_help():
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "man" / "ferry-bench.1").read_text()
    out, _ = bench("levels", "--help")
    assert set(re.findall(r"^\.It Fl -([a-z][a-z-]*)", page, re.M)) == set(re.findall(r"^\s+--([a-z-]+)", out, re.M))


def test_a_baseline_that_is_none_is_refused_before_anything_is_run(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    _, err = bench("ciphers", "--baseline", path, code=1)
    assert "it is no study's JSON" in err


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_run(tmp_path):
    _, err = bench("ciphers", "--html", tmp_path / "no" / "page.html", code=1)
    assert "No such file" in err or "no such file" in err.lower()
