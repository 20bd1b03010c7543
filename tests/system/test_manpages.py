"""The man pages and the programs' own help name the same options, commands and keys."""

import pathlib
import re
import subprocess

import pytest

from conftest import BIN, require

MAN = pathlib.Path(__file__).resolve().parents[2] / "docs" / "man"


def help_text(*command):
    done = subprocess.run([str(BIN / command[0]), *command[1:], "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def options_of_help(text):
    """Options that begin a line of the list; usage lines do not count."""
    return set(re.findall(r"^\s+--([a-z][a-z-]*)", text, re.M))


def options_of_page(name):
    return set(re.findall(r"^\.It Fl -([a-z][a-z-]*)", (MAN / name).read_text(), re.M))


def test_ferryd_s_page_names_the_options_of_its_help():
    assert options_of_page("ferryd.8") == options_of_help(help_text("ferryd"))


def test_ferryd_s_synopsis_names_no_other_option():
    page = (MAN / "ferryd.8").read_text()
    assert set(re.findall(r"Fl -([a-z][a-z-]*)", page)) == options_of_page("ferryd.8")


PLACES = ("ls", "cat", "rm", "mkdir", "mv")  # which share a page


def test_the_page_of_the_commands_on_places_names_the_options_of_their_help():
    page = (MAN / "ferry-ls.1").read_text()
    longs = set(re.findall(r"^\.It Fl (?:\w , )?-([a-z][a-z-]*)", page, re.M))
    shorts = set(re.findall(r"^\.It Fl (\w) ,", page, re.M))
    texts = "".join(help_text("ferry", command) for command in PLACES)
    assert longs == set(re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", texts, re.M))
    assert shorts == set(re.findall(r"^  -(\w), ", texts, re.M))


def test_the_page_of_cp_names_the_options_of_its_help():
    assert options_of_page("ferry-cp.1") == options_of_help(help_text("ferry", "cp"))


def test_the_page_of_probe_names_the_options_of_its_help():
    page, text = (MAN / "ferry-probe.1").read_text(), help_text("ferry", "probe")
    assert set(re.findall(r"^\.It Fl (?:\w , )?-([a-z][a-z-]*)", page, re.M)) == set(
        re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", text, re.M))
    assert set(re.findall(r"^\.It Fl (\w) ,", page, re.M)) == set(re.findall(r"^  -(\w), ", text, re.M))


def test_ferry_s_page_names_the_options_of_its_help():
    overview = help_text("ferry")
    commands = set(re.findall(r"^  ([a-z]+) ", overview, re.M)) - set(PLACES) - {"cp", "probe"}
    named = set(re.findall(r"--([a-z]+)", overview))
    for command in commands:
        named |= options_of_help(help_text("ferry", command))
    named |= options_of_help(help_text("ferry", "bench", "peers"))
    assert options_of_page("ferry.1") == named


def test_ferry_s_page_names_every_row_of_a_benchmark():
    rows = set()
    for suite in ("ftp", "ssh"):
        listed = subprocess.run([str(BIN / "ferry"), "bench", suite, "--row", "help"], capture_output=True, text=True,
                                timeout=30).stdout.split("\n\n")[0]
        rows |= {line.split()[0] for line in listed.splitlines()}
    named = set()
    for line in re.findall(r"^\.It Li (.*)$", (MAN / "ferry.1").read_text(), re.M):
        named |= set(line.split(" , "))
    assert rows and named == rows


def test_ferry_s_page_names_the_commands_of_its_help():
    commands = set(re.findall(r"^  ([a-z]+) ", help_text("ferry"), re.M))
    page = set(re.findall(r"^\.It Cm ([a-z]+)", (MAN / "ferry.1").read_text(), re.M))
    assert commands and page == commands


def test_the_configuration_s_page_names_every_key_of_the_parser():
    source = (MAN.parents[1] / "src" / "server" / "config.c").read_text()
    keys = set(re.findall(r'\b(?:TEXT|CHECKED|LIST|NUMBER|FLAG)\("(\w+)"', source))
    page = (MAN / "ferryd.conf.5").read_text()
    named = set()
    for line in re.findall(r"^\.It Ic (.*)$", page, re.M):
        named |= set(re.findall(r"\b[a-z_0-9]+\b", line.split(" No = ")[0]))
    assert keys and named == keys


@pytest.mark.parametrize("page", ["ferryd.8", "ferryd-sftp-server.8", "ferry.1", "ferry-ls.1", "ferry-cp.1", "ferryd.conf.5"])
def test_pages_are_correct_mdoc(page):
    require("mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(MAN / page)], capture_output=True, text=True)
    assert done.stdout == ""
