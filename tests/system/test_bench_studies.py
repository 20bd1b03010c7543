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
TABLES = {"compression": 1, "ciphers": 2, "methods": 5, "levels": 3}
# With those of times, where a table has several columns, and that of files.
ALL_TABLES = {"compression": 2, "ciphers": 2, "methods": 6, "levels": 7}
CHARTS = {"compression": 1, "ciphers": 2, "methods": 4, "levels": 7}  # all that is in table 3 of methods is retired
GOALS = {"compression": 0, "ciphers": 8, "methods": 6, "levels": 2}
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
        done = subprocess.run([FERRY, "bench", suite, "--quick", *ARGUMENTS[suite], *map(str, options)], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_S)
        self.out, self.err = done.stdout, done.stderr
        self.results = json.loads(self.paths["json"].read_text())
        reasons = {cell["reason"] for cell in self.results["cells"] if cell["state"] == "failed"}
        if reasons and all("self-test" in reason for reason in reasons):
            pytest.skip("the machine is too busy for a link to prove its rate: %s" % reasons)
        assert done.returncode == 0 and not reasons, self.out + self.err
        assert "Sanitizer:" not in self.err and "runtime error" not in self.err, self.err
        self.html = self.paths["html"].read_text()
        only = ARGUMENTS[suite][-1] if "--only" in ARGUMENTS[suite] else ""
        self.cells = [cell for cell in self.results["cells"] if only in cell["row"] or cell["state"] == "retired"]


# Minutes go into other people's programs; one of the suites is enough to see ours under a sanitizer.
SUITES = [name if name == "compression" else pytest.param(name, marks=pytest.mark.heavy) for name in ARGUMENTS]


@pytest.fixture(scope="module", params=SUITES)
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
            assert cell["runs"][0]["bytes"] == cell["bytes"], cell
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
        assert cell["row"].split(" | ")[-1] in run.out and re.search(r"since|one level", cell["reason"])


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
    assert len(shaped) == {"compression": 1, "levels": 1, "methods": 2}.get(run.suite, 0)
    for link in shaped:
        if "round_trip_us" in link:
            assert link["round_trip_us"] == 100000 <= link["measured_trip_us"]
    assert len([link for link in shaped if "round_trip_us" in link]) == {"methods": 2}.get(run.suite, 0)


def test_both_ends_have_user_and_system_time(run):
    rows = {}
    for cell in run.cells:
        if cell["state"] == "measured" and "command" in cell:
            for ran in cell["runs"]:
                times = [ran[key] for key in ("user_s", "system_s", "server_user_s", "server_system_s")]
                assert min(times) >= 0 and sum(times) > 0, cell
                rows.setdefault(cell["row"], []).append(sum(times[2:]))
    if run.suite == "ciphers":
        assert all(max(times) > 0 for times in rows.values()), rows


def test_targets_are_undecided_by_one_run(run):
    assert len(run.results["goals"]) == GOALS[run.suite]
    for goal in run.results["goals"]:
        assert goal["verdict"] == "undecided" and goal["why"], goal
        assert goal["goal"] in run.out and goal["goal"] in run.html.replace("&quot;", '"')
    if run.suite == "ciphers":
        judged = {goal["goal"]: goal for goal in run.results["goals"]}
        value = judged["one file to ferryd: times as fast as scp to sshd"]["value"]
        cells = {cell["row"]: cell for cell in run.cells if cell["table"] == "One file by cipher"}
        assert value == pytest.approx(cells["scp -o Compression=no"]["value"] / cells["ferry cp to ferryd"]["value"])


def test_the_files_of_the_groups_are_told_with_what_each_level_makes_of_them(run):
    sources = run.results["sources"]
    assert len(sources) == (6 if run.suite == "levels" else 0)
    for source in sources:
        assert source["bytes"] > source["level 1"] >= source["level 6"] >= source["level 9"] - 50 > 0
        assert str(source["level 6"]) in run.out and str(source["level 6"]) in run.html


def test_the_record_names_machine_versions_and_data(run):
    assert run.results["host"]["cores"] > 0 and run.results["host"]["kernel"]
    versions = "\n".join(run.results["versions"])
    assert "OpenSSH_" in versions and "client: ferry " in versions and "server: sshd " in versions
    assert all(data["bytes"] > 0 for data in run.results["data"])
    assert run.suite == "levels" or any("data: " in note for note in run.results["notes"])
    assert "client: openssh-client " in versions


def test_the_table_of_the_terminal_has_every_row(run):
    for cell in run.results["cells"]:
        assert cell["row"].split(" | ")[0] in run.out and cell["table"] in run.out
    if run.suite == "methods":
        assert re.search(r"^command +compression +time", run.out, re.M)
        assert re.search(r"^tar +ssh and gzip +\d+\.\d+s ", run.out, re.M)
    if run.suite == "levels":
        assert re.search(r"^ +Files 1 \(compress well\) +Files 2", run.out, re.M)
        for table in {cell["table"] for cell in run.cells}:
            row = re.search(r"^%s.*?^955KB/s[^\n]*" % re.escape(table), run.out, re.M | re.S)[0]
            assert row.splitlines()[-1].count("*") == 2, row
    if run.suite == "compression":
        assert re.search(r"^scp, compression off +\d+\.\d+s \(\d+\)", run.out, re.M)
    if run.suite == "ciphers":
        assert "run | Xfer type | real | user | system |" in run.out
        assert re.search(r"^1 \| scp -o Compression=no \| 0m\d+\.\d{3}s \| 0m", run.out, re.M)
        assert re.search(r"^scp -o Compression=no: real=\d+\.\d{3} user=\d+\.\d{4} sys=\d", run.out, re.M)


def test_markdown_tables_have_as_many_cells_in_each_line(run):
    text = run.paths["md"].read_text()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert len(tables) == ALL_TABLES[run.suite]
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
    assert page.seen.count("table") == ALL_TABLES[run.suite] and page.seen.count("svg") == CHARTS[run.suite]
    assert len({cell["table"] for cell in run.results["cells"]}) == TABLES[run.suite]
    assert "prefers-color-scheme:dark" in run.html and 'name="viewport"' in run.html


def test_the_page_shows_every_value_of_the_table(run):
    for cell in run.cells:
        if cell["state"] == "measured":
            value = cell["value"]
            text = "%.*f" % (3 if value < 10 else 1 if value < 1000 else 0, value)
            text += "s" if cell["unit"] == "s" else ""
            assert ">%s<" % text in run.html or ">%s " % text in run.html, cell


def test_an_earlier_run_stands_beside_this_one(run):
    if run.suite != "ciphers":
        pytest.skip("one suite is enough")
    out, _ = bench("ciphers", "--quick", "-s", "1M", "--only", "Ciphers alone", "--baseline", run.paths["json"])
    assert len(re.findall(r"^Ciphers alone.* then, .* now \([+-]\d+\.\d %\)$", out, re.M)) == 6


def test_an_earlier_run_is_told_as_it_was(run, tmp_path):
    if run.suite != "ciphers":
        pytest.skip("one suite is enough")
    earlier = json.loads(run.paths["json"].read_text())
    for cell in earlier["cells"]:
        if cell["row"] == "3des-cbc":
            cell["value"] = 123456789.5
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    paths = {kind: tmp_path / ("now." + kind) for kind in ("md", "html")}
    out, _ = bench("ciphers", "--quick", "-s", "1M", "--only", "/ 3des-cbc /", "--baseline", tmp_path / "earlier.json",
                   *[word for kind, path in paths.items() for word in ("--" + kind, path)])
    assert re.search(r"/ 3des-cbc / KB/s: 123456789.500 then, \d+\.\d+ now \(-\d+\.\d %\)", out)
    assert all("123456789.500" in path.read_text() for path in paths.values())


# A window of a browser is never as narrow as a phone: the page stands in a frame that is. Tells how wide page and
# frame are, and of each chart how many marks it has, and whether a label hangs out of it.
LOOK = """<p id=w></p><iframe id=f width=%d height=900 style="border:0" srcdoc="%s"></iframe><script>
document.getElementById('f').onload = function () {
  var d = this.contentDocument, told = 'wide ' + d.documentElement.scrollWidth + ' of ' + d.documentElement.clientWidth;
  d.querySelectorAll('svg').forEach(function (svg) {
    var marks = 0, out = 0, box = svg.viewBox.baseVal;
    svg.querySelectorAll('rect, polyline').forEach(function (e) { marks += e.getBBox().width > 0; });
    svg.querySelectorAll('text').forEach(function (e) {
      var b = e.getBBox(); out += b.x < -1 || b.x + b.width > box.width + 1 || b.y + b.height > box.height + 3; });
    told += '; chart ' + marks + ' ' + out + ' ' + Math.round(svg.getBoundingClientRect().width); });
  document.getElementById('w').textContent = told; };
</script>"""


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_the_page_no_wider_than_its_window(run, tmp_path, width, scheme):
    require("chromium")
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(LOOK % (width, html.escape(run.html)))
    common = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
              "--user-data-dir=%s" % (tmp_path / "profile"),
              "--window-size=1400,1000", "--blink-settings=preferredColorScheme=%d" % (scheme == "light")]
    done = subprocess.run([*common, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    wide = re.search(r"<p id=\"w\">wide (\d+) of (\d+)", done.stdout)
    assert wide and int(wide[1]) <= int(wide[2]) == width, done.stderr
    charts = re.findall(r"; chart (\d+) (\d+) (\d+)", done.stdout)
    assert len(charts) == CHARTS[run.suite]
    for marks, out, wide in charts:
        assert int(marks) > 0 and int(out) == 0 and 250 < int(wide) <= width
    subprocess.run([*common, "--screenshot=%s" % picture, page.as_uri()], check=True, capture_output=True, timeout=120)
    assert picture.stat().st_size > 5000


def with_tool(tool, script, folder, *args):
    """Runs the benchmark where this script stands in the place of a tool, for it alone."""
    (folder / "false-tool").write_text(script)
    (folder / "false-tool").chmod(0o755)
    path = folder / "results.json"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"',
                           folder / "false-tool", tool, FERRY, "bench", *args, "--json", path],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["state"] != "not run"
             and cell["state"] != "retired"]
    assert len(cells) == 1, done.stdout + done.stderr
    return done.returncode, cells[0]


@as_root
@pytest.mark.parametrize("what, script", [
    ("nothing", "#!/bin/sh\nexit 0\n"),
    ("half of it", "#!/bin/sh\nfor last; do :; done; head -c 500000 \"$last\" > \"$last.half\"\n"
     "exec /usr/bin/curl -sS --netrc-file \"$HOME/.netrc\" -T \"$last.half\" \"ftp://$9:$8/in/half\"\n"),
])
def test_a_client_that_brings_too_little_has_no_number(tmp_path, what, script):
    require("ncftpput", "curl", "unshare")
    code, cell = with_tool("/usr/bin/ncftpput", script, tmp_path, "ciphers", "--quick", "-s", "1M", "--only",
                           "/ ncftpput -m to ferryd /")
    assert code == 1 and cell["state"] == "failed" and "value" not in cell, cell
    assert "the data ended too early" in cell["reason"], cell


@as_root
def test_a_client_that_fails_has_no_number_and_its_last_words(tmp_path):
    require("ncftpput", "unshare")
    code, cell = with_tool("/usr/bin/ncftpput", "#!/bin/sh\necho no luck today >&2\nexit 3\n", tmp_path, "ciphers",
                           "--quick", "-s", "1M", "--only", "/ ncftpput -m to ferryd /")
    assert code == 1 and cell["state"] == "failed" and "no luck today" in cell["reason"], cell


@as_root
def test_a_link_that_is_off_its_rate_has_no_number(tmp_path):
    require("tc", "ip", "unshare")
    shutil.copy("/usr/sbin/tc", tmp_path / "tc")
    script = "#!/bin/sh\nexec %s/tc $(echo \"$@\" | awk '{for (i = 1; i < NF; i++) if ($i == \"rate\") " \
             "$(i + 1) = sprintf(\"%%dbit\", $(i + 1) * 0.9); print}')\n" % tmp_path
    code, cell = with_tool("/usr/sbin/tc", script, tmp_path, "compression", "--quick", "-s", "300K", "--only",
                           "sources / ferry cp to ferryd, none / 100 Mbit/s")
    assert code == 1 and cell["state"] == "failed" and "value" not in cell, cell
    assert re.search(r"self-test found \d+\.\d KB/s, -\d+\.\d %: not within 3 %", cell["reason"]), cell


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
