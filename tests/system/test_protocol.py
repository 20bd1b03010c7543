"""The dialogue itself, as RFC 959, 1123, 2389, 2428 and 3659 and what clients make of them want it."""

import re

import pytest

from dialogue import Dialogue, read_all

VERBS = ("USER PASS ACCT CWD CDUP QUIT REIN PORT PASV EPRT EPSV TYPE STRU MODE RETR STOR STOU APPE ALLO REST RNFR "
         "RNTO ABOR DELE RMD MKD PWD LIST NLST MLST MLSD SIZE MDTM MFMT SITE SYST STAT HELP NOOP FEAT OPTS "
         "XCWD XCUP XMKD XRMD XPWD").split()


@pytest.fixture
def ftp(server):
    with Dialogue(server) as dialogue:
        yield dialogue


# -- lines and order --


def test_pipelined_commands_are_answered_in_order(ftp, root):
    (root / "file").write_bytes(b"12345")
    commands = ["NOOP", "SIZE file", "PWD", "XYZZY", "TYPE A", "SIZE file", "TYPE I", "MKD new", "CWD new", "PWD"]
    ftp.send(*commands)
    assert [ftp.reply().code for _ in commands] == [200, 213, 257, 500, 200, 550, 200, 257, 250, 257]
    ftp.send(*["NOOP", "PWD"] * 2000)
    assert [ftp.reply().code for _ in range(4000)] == [200, 257] * 2000


def test_a_pipelined_command_waits_for_the_transfer_before_it(ftp, root):
    (root / "file").write_bytes(b"x" * 100_000)
    with ftp.data() as data:
        ftp.send("RETR file", "DELE file", "SIZE file")
        received = b""
        while part := data.recv(65536):
            received += part
    assert received == b"x" * 100_000
    assert [ftp.reply().code for _ in range(4)] == [150, 226, 250, 550]


def test_a_whole_session_can_be_sent_at_once(server, root):
    (root / "file").write_bytes(b"12345")
    with Dialogue(server, login=False) as ftp:
        ftp.send("USER " + server.user, "PASS " + server.password, "TYPE I", "SIZE file", "QUIT")
        assert [ftp.reply().code for _ in range(5)] == [331, 230, 200, 213, 221]
        assert ftp.is_closed()


def test_a_command_may_come_byte_by_byte_and_end_in_a_bare_newline(ftp):
    for byte in b"NOOP\r\nPWD\n":
        ftp.control.sendall(bytes([byte]))
    ftp.expect(200)
    ftp.expect(257)


@pytest.mark.parametrize("verb", ["noop", "Noop", "nOOP", "  NOOP", "NOOP "])
def test_verbs_are_known_in_any_case(ftp, verb):
    ftp.ask(verb, 200)


def test_other_verbs_answer_in_any_case_too(ftp, root):
    (root / "file").write_bytes(b"12345")
    assert ftp.ask("size file", 213).text == "213 5"
    ftp.ask("type i", 200)
    ftp.ask("opts mlst TYPE;", 200)
    ftp.ask("site chmod 600 file", 200)
    ftp.ask("epsv all", 200)


@pytest.mark.parametrize("line", [
    b"XYZZY", b"AUTH TLS", b"PBSZ 0", b"CLNT probe", b"", b" ", b"\t", b"NOOPX", b"N" * 400, b"\x01\x02",
    b"GET / HTTP/1.1", b"\xff\xfd\x03nothing", b"-", b"RETR\x01file",
])
def test_what_is_no_command_is_refused_and_harms_nothing(ftp, line):
    ftp.ask(line, 500, 501, 502)
    ftp.ask("NOOP", 200)


def test_an_overlong_line_is_refused_once(ftp):
    ftp.ask(b"CWD " + b"x" * 100_000, 500)
    ftp.ask("NOOP", 200)


def test_a_line_with_nul_is_refused(ftp):
    ftp.ask(b"CWD a\0b", 501)
    ftp.ask("NOOP", 200)


def test_telnet_escapes_in_a_name_are_undone(ftp, root):
    ftp.ask(b"MKD a\xff\xff\xfeb", 257)
    assert [bytes(path).rsplit(b"/", 1)[1] for path in root.iterdir()] == [b"a\xff\xfeb"]
    ftp.ask(b"CWD a\xff\xff\xfeb", 250)
    assert ftp.ask("PWD", 257).lines[0].startswith(b'257 "/a\xff\xff\xfeb"')


# -- before and around the login --


def test_what_is_known_before_login(server):
    with Dialogue(server, login=False) as ftp:
        for command in ("OPTS UTF8 ON", "opts utf8 on", "OPTS UTF-8 ON", "NOOP"):
            ftp.ask(command, 200)
        ftp.ask("SYST", 215)
        ftp.ask("FEAT", 211)
        ftp.ask("HELP", 214)
        for command in ("PWD", "CWD /", "PASV", "EPSV", "LIST", "RETR x", "STOR x", "SIZE x", "STAT", "MKD x",
                        "TYPE I"):
            ftp.ask(command, 530)
        ftp.login()


def test_login_out_of_order_is_503(server):
    with Dialogue(server, login=False) as ftp:
        ftp.ask("PASS " + server.password, 503)
        ftp.login()
        ftp.ask("PASS " + server.password, 503)


def test_login_refusals_read_the_same(server):
    tries = {"unknown user": ("nobody", "x"), "wrong password": (server.user, "x"), "empty password": (server.user, ""),
             "unknown and empty": ("nobody", ""), "password of another case": (server.user, server.password.upper()),
             "hostile name": ("../" + server.user, server.password),
             "cut password": (server.user, server.password[:-1])}
    answers = set()
    for user, password in tries.values():
        with Dialogue(server, login=False) as ftp:
            name = ftp.ask("USER " + user).text
            answers.add((name, ftp.ask("PASS " + password).text))
    assert len(answers) == 1
    assert answers.pop()[1].startswith("530 ")


def test_wrong_passwords_and_commands_without_login_are_counted(server):
    with Dialogue(server, login=False) as ftp:
        codes = []
        while not codes or codes[-1] != 421:
            ftp.ask("USER " + server.user, 331)
            codes.append(ftp.ask("PASS wrong", 530, 421).code)
        assert len(codes) <= 5 and ftp.is_closed()
    with Dialogue(server, login=False) as ftp:
        codes = []
        while not codes or codes[-1] != 421:
            codes.append(ftp.ask("NOOP", 200, 421).code)
        assert 10 < len(codes) < 200 and ftp.is_closed()


def test_rein_logs_out_and_user_begins_anew(ftp, root):
    (root / "sub").mkdir()
    ftp.ask("CWD sub", 250)
    ftp.ask("REIN", 220)
    ftp.ask("PWD", 530)
    ftp.login()
    assert '"/"' in ftp.ask("PWD", 257).text
    ftp.ask("USER nobody", 331)
    ftp.ask("PWD", 530)


def test_user_leaves_the_parameters_and_rein_does_not(server, root):
    """RFC 959 4.1.1: after USER "all transfer parameters are unchanged"."""
    with Dialogue(server, login=False) as ftp:
        ftp.ask("OPTS MLST size;", 200)
        ftp.login()
        ftp.ask("EPSV ALL", 200)
        for after in ("USER", "REIN"):
            if after == "REIN":
                ftp.ask("REIN", 220)
            ftp.ask("USER " + server.user, 331)
            ftp.ask("PASS " + server.password, 230)
            is_kept = after == "USER"
            assert ("type*;" not in ftp.ask("FEAT", 211).text) == is_kept
            assert ("ASCII" not in ftp.ask("STAT", 211).text) == is_kept
            ftp.ask("PASV", 503 if is_kept else 227)


def test_quit_says_goodbye_and_closes(ftp):
    ftp.ask("QUIT", 221)
    assert ftp.is_closed()


# -- parameters that old devices insist on --


@pytest.mark.parametrize("command, code", [
    ("MODE S", 200), ("MODE s", 200), ("MODE B", 504), ("MODE Z", 200), ("MODE S", 200), ("MODE", 501),
    ("STRU F", 200), ("STRU R", 504), ("STRU", 501),
    ("TYPE I", 200), ("TYPE A", 200), ("TYPE A N", 200), ("TYPE L 8", 200), ("TYPE L8", 200), ("TYPE E", 504),
    ("TYPE L 7", 504), ("TYPE", 501),
    ("ALLO 100", 200), ("ALLO 100 R 10", 200), ("ALLO x", 501), ("ACCT any", 202),
    ("REST 0", 350), ("REST 5", 350), ("REST -1", 501), ("REST x", 501), ("REST 99999999999999999999", 501),
    ("OPTS UTF8 ON", 200), ("OPTS UTF8 OFF", 200), ("OPTS", 501), ("OPTS XYZZY", 501),
    ("SITE HELP", 214), ("SITE", 501), ("SITE XYZZY", 504), ("SITE EXEC id", 504),
    ("MFMT x y", 501), ("MFMT 20260102030405", 501), ("SITE CHMOD 9 x", 501), ("SITE CHMOD 644", 501),
    ("EPSV 7", 522), ("EPSV x", 501), ("PORT 1,2,3", 501), ("EPRT |1|x|9|", 501), ("EPRT |3|::|2000|", 522),
    ("RNTO x", 503), ("CWD", 501), ("RETR", 501), ("RETR x", 425), ("LIST", 425), ("STOR x", 425), ("STOU", 425),
    ("APPE x", 425), ("MLSD", 425), ("SYST", 215), ("ABOR", 225),
])
def test_parameters_and_bad_sequences(ftp, command, code):
    ftp.ask(command, code)
    ftp.ask("NOOP", 200)


def test_allo_refuses_at_once_what_no_disk_holds(ftp, root):
    ftp.ask("ALLO %d" % (1 << 60), 200)
    with ftp.data():
        ftp.ask("STOR file", 452, 552)
    assert list(root.iterdir()) == []
    ftp.give("STOR file", b"x")


# -- telling --


def test_feat_tells_the_extensions(ftp):
    reply = ftp.ask("FEAT", 211)
    assert all(line.startswith(b" ") for line in reply.lines[1:-1])
    features = [line.decode()[1:] for line in reply.lines[1:-1]]
    assert {"UTF8", "EPSV", "EPRT", "SIZE", "MDTM", "MFMT", "REST STREAM", "TVFS"} <= set(features)
    assert any(re.fullmatch(r"MLST (\S+\*?;)+", feature) for feature in features)


def test_help_names_every_command_and_tells_of_each(ftp):
    text = ftp.ask("HELP", 214).text
    for verb in VERBS:
        assert re.search(r"^ %s\b" % verb, text, re.M), verb
        assert ftp.ask("HELP " + verb, 214).text.startswith("214 %s " % verb)
    ftp.ask("HELP XYZZY", 501, 502, 504)


def test_no_known_verb_is_called_unknown(server, ftp):
    for verb in VERBS:
        with Dialogue(server) as fresh:
            assert fresh.ask(verb).code != 500, verb


def test_stat_tells_the_state(ftp, server):
    text = ftp.ask("STAT", 211).text
    assert server.user in text and "binary" in text
    ftp.ask("TYPE A", 200)
    assert "ASCII" in ftp.ask("STAT", 211).text


# -- names: making, moving, removing --


@pytest.mark.parametrize("make, remove, enter, leave, tell", [("MKD", "RMD", "CWD", "CDUP", "PWD"),
                                                              ("XMKD", "XRMD", "XCWD", "XCUP", "XPWD")])
def test_directories_are_made_entered_and_removed(ftp, root, make, remove, enter, leave, tell):
    assert ftp.ask(make + " a b", 257).text.startswith('257 "/a b"')
    assert (root / "a b").is_dir()
    ftp.ask(enter + " a b", 250)
    assert ftp.ask(tell, 257).text.startswith('257 "/a b"')
    ftp.ask(make + " c", 257)
    ftp.ask(leave, 250)
    assert ftp.ask(tell, 257).text.startswith('257 "/"')
    ftp.ask(remove + " a b", 550)
    ftp.ask(remove + " a b/c", 250)
    ftp.ask(remove + " a b", 250)
    assert list(root.iterdir()) == []


def test_quotes_in_a_path_are_doubled(ftp, root):
    assert ftp.ask('MKD a "b" c', 257).text.startswith('257 "/a ""b"" c"')
    ftp.ask('CWD a "b" c', 250)
    assert ftp.ask("PWD", 257).text.startswith('257 "/a ""b"" c"')


def test_nothing_is_above_the_root(ftp, root):
    (root.parent / "outside").write_bytes(b"x")
    for path in ("..", "/..", "../../..", "/../../etc", "a/../../.."):
        ftp.ask("CWD " + path)
        assert '"/"' in ftp.ask("PWD", 257).text
    for path in ("../outside", "/../outside", "/etc/passwd", "../../../../etc/passwd"):
        ftp.ask("SIZE " + path, 550)
    ftp.ask("CDUP", 250)


def test_links_that_lead_out_lead_nowhere(ftp, root):
    (root.parent / "outside").mkdir()
    (root.parent / "outside/file").write_bytes(b"secret")
    (root / "dir").symlink_to("../outside")
    (root / "absolute").symlink_to(root.parent / "outside")
    (root / "etc").symlink_to("/etc/passwd")
    for command in ("CWD dir", "CWD absolute", "SIZE dir/file", "SIZE etc", "MDTM etc", "MKD dir/new", "DELE dir/file",
                    "MLST dir/file", "SITE CHMOD 777 etc"):
        ftp.ask(command, 550)
    with ftp.data():
        ftp.ask("RETR etc", 550)
    with ftp.data():
        ftp.ask("STOR dir/new", 550)
    assert (root.parent / "outside/file").read_bytes() == b"secret"
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["file"]


def test_rename_moves_and_needs_its_pair(ftp, root):
    (root / "a").write_bytes(b"1")
    (root / "d").mkdir()
    ftp.ask("RNFR missing", 550)
    ftp.ask("RNTO b", 503)
    ftp.ask("RNFR a", 350)
    ftp.ask("RNTO d/b", 250)
    assert (root / "d/b").read_bytes() == b"1" and not (root / "a").exists()
    ftp.ask("RNFR d", 350)
    ftp.ask("PWD", 257)
    ftp.ask("RNTO e", 503)


@pytest.mark.parametrize("refused, code", [("RNFR missing", 550), ("RNFR", 501), ("RNFR " + "x" * 256, 553)])
def test_a_refused_rename_leaves_none_of_before(ftp, root, refused, code):
    (root / "a").write_bytes(b"1")
    ftp.ask("RNFR a", 350)
    ftp.ask(refused, code)
    ftp.ask("RNTO b", 503)
    assert (root / "a").exists() and not (root / "b").exists()


def test_delete_takes_files_only(ftp, root):
    (root / "a").write_bytes(b"1")
    (root / "d").mkdir()
    ftp.ask("DELE d", 550)
    ftp.ask("RMD a", 550)
    ftp.ask("DELE a", 250)
    ftp.ask("DELE a", 550)
    assert [path.name for path in root.iterdir()] == ["d"]


# -- facts of one file --


def test_size_and_times(ftp, root):
    (root / "f").write_bytes(b"12345")
    (root / "d").mkdir()
    assert ftp.ask("SIZE f", 213).text == "213 5"
    ftp.ask("SIZE d", 550)
    ftp.ask("SIZE missing", 550)
    assert ftp.ask("MFMT 20200102030405 f", 213).text.startswith("213 Modify=20200102030405; f")
    assert (root / "f").stat().st_mtime == 1577934245
    assert ftp.ask("MDTM f", 213).text == "213 20200102030405"
    ftp.ask("MDTM missing", 550)
    ftp.ask("MFMT 20201332030405 f", 501)
    ftp.ask("TYPE A", 200)
    ftp.ask("SIZE f", 550)


def test_chmod_sets_the_plain_bits_and_no_others(ftp, root):
    (root / "f").write_bytes(b"1")
    ftp.ask("SITE CHMOD 640 f", 200)
    assert (root / "f").stat().st_mode & 0o7777 == 0o640
    ftp.ask("SITE CHMOD 4755 f")
    assert (root / "f").stat().st_mode & 0o7000 == 0


def test_the_server_never_shows_where_it_serves(server, root):
    """Dialogue looks at each line; this asks for whatever may carry a path."""
    (root / "file").write_bytes(b"1")
    (root / "dir").mkdir()
    with Dialogue(server) as ftp:
        for verb in VERBS:
            if verb in ("QUIT", "REIN", "USER", "PASS", "PASV", "EPSV"):
                continue
            for argument in ("", " file", " missing", " dir", " dir/../file", " /", " /etc", " file/below"):
                code = ftp.ask(verb + argument).code
                assert 200 <= code < 600
                if verb == "REST":
                    ftp.ask("REST 0", 350)
        (root / "plain").write_bytes(b"1")
        for verb in ("RETR", "STOR", "APPE", "LIST", "NLST", "MLSD"):
            with ftp.data():
                ftp.ask(verb + " plain/below", 550)


def test_commands_are_still_answered_after_a_doze(server, root):
    """An idle session gives its stack back; nothing that it was told is forgotten."""
    (root / "sub").mkdir()
    (root / "sub/file").write_bytes(b"a\nb\n")
    with Dialogue(server) as ftp:
        ftp.ask("TYPE A", 200)
        ftp.ask("CWD sub", 250)
        ftp.ask("OPTS MLST size;", 200)
        ftp.ask("RNFR file", 350)
        server.wait_for_doze()
        ftp.ask("RNTO other", 250)
        assert '"/sub"' in ftp.ask("PWD", 257).text
        assert ftp.ask("MLST other", 250).lines[1] == b" size=4; /sub/other"
        assert ftp.fetch("RETR other") == b"a\r\nb\r\n"


def test_a_noop_right_behind_a_transfer_is_answered_behind_its_150(server, root):
    (root / "file").write_bytes(b"content")
    with Dialogue(server) as d:
        for _ in range(20):
            data = d.data()
            d.send("RETR file", "NOOP", "PWD")
            d.expect(150)
            assert read_all(data) == b"content"
            assert sorted(d.reply().code for _ in range(2)) == [200, 226]
            d.expect(257)


def test_mfmt_tells_the_time_that_was_kept(server, root):
    (root / "file").write_bytes(b"content")
    with Dialogue(server) as d:
        for wanted in ("20200102030405", "00010101000000", "99991231235959"):
            told = d.ask("MFMT %s file" % wanted, 213).text
            kept = d.ask("MDTM file", 213).text
            assert "Modify=" + kept.split()[1] in told, (wanted, told, kept)
