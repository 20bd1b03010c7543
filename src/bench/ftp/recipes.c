/* The servers of FTP. */
#include "base/attr.h"
#include "bench/ftp/suite.h"
#include "bench/peers/proftpd_conf.h"
#include "bench/peers/recipe.h"

#define PLAIN       (1u << RECIPE_PLAIN)
#define NO_SENDFILE (1u << RECIPE_NO_SENDFILE)
#define HASHED      (1u << RECIPE_HASHED)
#define PYTHON      "/usr/bin/python3"
#define PYTHON_LIB  "usr/lib/python3/dist-packages/"

/* How a login is checked. */
#define REMEMBERS        "remembers whom it has hashed once"
#define COMPARES         "compares plain text"
#define HASHES           "hashes each time"
#define HASHES_TWICE     "hashes twice each time (PAM)"
#define HASHES_AND_WAITS "hashes each time, and pauses a few ms"

/* Defaults but for limits and patience. Its audit records cannot be turned off: they go to a
 * file. */
static const char ferryd_conf[] =
    "state = \"@WORK@/state\"\n"
    "listen \"ftp\" { address = {\"@ADDRESS@:@PORT@\"} }\n"
    "!plain,hashed defaults { root = \"@FOLDER@\" }\n"
    "!no-sendfile defaults { root = \"@FOLDER@\"  sendfile = false }\n"
    "limits {\n"
    "    sessions = 0\n"
    "    per_address = 0\n"
    "    per_account = 0\n"
    "    unauthenticated = 0\n"
    "    ban_failures = 0\n"
    "}\n"
    "!plain,no-sendfile timeouts { login_s = 0  idle_s = 0 }\n"
    "!hashed timeouts { login_s = 0  idle_s = 0  remember_s = 0 }\n"
    "!each account \"@NAME@\" { hash = \"@HASH@\" }\n";

/* Debian's file, but for: writing on, limits and pauses off, no log of transfers. Debian's
 * vsftpd asks nobody but PAM, and PAM here pam_unix alone (peer_etc.c), whose version 1.5.2
 * computes each hash twice. */
static const char vsftpd_conf[] = "listen=YES\n"
                                  "listen_address=@ADDRESS@\n"
                                  "listen_port=@PORT@\n"
                                  "background=NO\n"
                                  "anonymous_enable=NO\n"
                                  "local_enable=YES\n"
                                  "write_enable=YES\n"
                                  "local_umask=022\n"
                                  "dirmessage_enable=YES\n"
                                  "use_localtime=YES\n"
                                  "xferlog_enable=NO\n"
                                  "secure_chroot_dir=/run/vsftpd/empty\n"
                                  "pam_service_name=vsftpd\n"
                                  "ssl_enable=NO\n"
                                  "max_clients=0\n"
                                  "max_per_ip=0\n"
                                  "delay_failed_login=0\n"
                                  "delay_successful_login=0\n"
                                  "idle_session_timeout=86400\n"
                                  "data_connection_timeout=86400\n"
                                  "!no-sendfile use_sendfile=NO\n";

/* Debian's file without the modules that it loads for other uses, which every login would pay
 * for; and limits, look-ups, pauses and logs off. One pause is built in: when a session has
 * ended, the daemon takes no connection for 0.2 s, or 0.4 s. */
static const char proftpd_conf[] = PROFTPD_CONF_SHARED "ShowSymlinks on\n"
                                                       "ListOptions \"-l\"\n"
                                                       "DenyFilter \\*.*/\n"
                                                       "TimeoutLogin 0\n"
                                                       "TimeoutIdle 0\n"
                                                       "TimeoutNoTransfer 0\n"
                                                       "TimeoutStalled 0\n"
                                                       "!plain,hashed UseSendfile on\n"
                                                       "!no-sendfile UseSendfile off\n";

static const char pyftpdlib_script[] =
    "import logging\n"
    "!hashed import crypt\n"
    "!hashed from pyftpdlib.authorizers import AuthenticationFailed\n"
    "from pyftpdlib.authorizers import DummyAuthorizer\n"
    "from pyftpdlib.handlers import FTPHandler\n"
    "from pyftpdlib.servers import FTPServer\n"
    "\n"
    "\n"
    "!hashed class Hashed(DummyAuthorizer):\n"
    "!hashed     def validate_authentication(self, name, password, handler):\n"
    "!hashed         user = self.user_table.get(name)\n"
    "!hashed         if not user or crypt.crypt(password, user['pwd']) != user['pwd']:\n"
    "!hashed             raise AuthenticationFailed('Authentication failed.')\n"
    "!hashed \n"
    "!hashed \n"
    "logging.disable(logging.CRITICAL)\n"
    "!plain,no-sendfile authorizer = DummyAuthorizer()\n"
    "!hashed authorizer = Hashed()\n"
    "!plain,no-sendfile !each authorizer.add_user('@NAME@', '@PASSWORD@', '@FOLDER@', "
    "'elradfmwMT')\n"
    "!hashed !each authorizer.add_user('@NAME@', '@HASH@', '@FOLDER@', 'elradfmwMT')\n"
    "FTPHandler.authorizer = authorizer\n"
    "FTPHandler.timeout = 0\n"
    "!plain,hashed assert FTPHandler.use_sendfile\n"
    "!no-sendfile FTPHandler.use_sendfile = False\n"
    "FTPServer.max_cons = 0\n"
    "FTPServer(('@ADDRESS@', @PORT@), FTPHandler, backlog=1000).serve_forever()\n";

/* The folder is everybody's home, in place of /home/NAME. */
static const char twisted_script[] =
    "from twisted.cred.checkers import InMemoryUsernamePasswordDatabaseDontUse\n"
    "from twisted.cred.portal import Portal\n"
    "from twisted.internet import reactor\n"
    "from twisted.protocols.ftp import FTPFactory, FTPRealm\n"
    "from twisted.python.filepath import FilePath\n"
    "\n"
    "\n"
    "class Realm(FTPRealm):\n"
    "    def getHomeDirectory(self, name):\n"
    "        return FilePath('@FOLDER@')\n"
    "\n"
    "\n"
    "users = InMemoryUsernamePasswordDatabaseDontUse()\n"
    "!each users.addUser('@NAME@', '@PASSWORD@')\n"
    "factory = FTPFactory(Portal(Realm('@FOLDER@'), [users]))\n"
    "factory.timeOut = None\n"
    "reactor.listenTCP(@PORT@, factory, backlog=1000, interface='@ADDRESS@')\n"
    "reactor.run()\n";

static const struct recipe recipes[] = {
    {
        .name = "ferryd",
        .program = "ferryd",
        .variants = PLAIN | NO_SENDFILE | HASHED,
        .is_event_driven = true,
        .login_note = {REMEMBERS, REMEMBERS, HASHES},
        .files = {{"ferryd.conf", ferryd_conf}},
        .args = {"@ROOT@/ferryd", "--config", "@WORK@/ferryd.conf"},
    },
    {
        .name = "vsftpd",
        .package = "vsftpd",
        .program = "usr/sbin/vsftpd",
        .variants = PLAIN | NO_SENDFILE | HASHED,
        .lacks = FTP_MLSD,
        .login_note = {HASHES_TWICE, HASHES_TWICE, HASHES_TWICE},
        .files = {{"vsftpd.conf", vsftpd_conf}},
        .folders = {"/run/vsftpd/empty"},
        .pam = "vsftpd",
        .args = {"@ROOT@/usr/sbin/vsftpd", "@WORK@/vsftpd.conf"},
    },
    {
        .name = "proftpd",
        .package = "proftpd-core",
        .program = "usr/sbin/proftpd",
        .variants = PLAIN | NO_SENDFILE | HASHED,
        .login_note = {HASHES, HASHES, HASHES},
        .files = {{"proftpd.conf", proftpd_conf}},
        .folders = {"/run/proftpd", "/var/log/proftpd"},
        .pam = "proftpd",
        .args = {"@ROOT@/usr/sbin/proftpd", "--nodaemon", "--quiet", "--config",
                 "@WORK@/proftpd.conf"},
    },
    {
        .name = "pure-ftpd",
        .package = "pure-ftpd",
        .program = "usr/sbin/pure-ftpd",
        .variants = PLAIN | HASHED, /* sendfile was chosen when it was built */
        .login_note = {HASHES_AND_WAITS, NULL, HASHES_AND_WAITS},
        .folders = {"/run/pure-ftpd"},
        .pam = "pure-ftpd",
        /* -L: of entries in a listing; -c, -C: clients; -I: minutes; -f: no log */
        .args = {"@ROOT@/usr/sbin/pure-ftpd", "-S", "@ADDRESS@,@PORT@", "-l", "unix", "-E",
                 "-H", "-c", "100000", "-C", "100000", "-L", "1000000:5", "-I", "1440",
                 "-fnone"},
    },
    {
        .name = "pyftpdlib",
        .package = "python3-pyftpdlib",
        .program = PYTHON_LIB "pyftpdlib/__init__.py",
        .variants = PLAIN | NO_SENDFILE | HASHED,
        .is_event_driven = true,
        .lacks = FTP_HASHED_LOGIN,
        .runs_as_owner = true,
        .login_note = {COMPARES, COMPARES, HASHES},
        .files = {{"server.py", pyftpdlib_script}},
        .args = {PYTHON, "@WORK@/server.py"},
    },
    {
        .name = "twisted",
        .package = "python3-twisted",
        .program = PYTHON_LIB "twisted/__init__.py",
        .variants = PLAIN | NO_SENDFILE, /* it has no other way than to read and send */
        .is_event_driven = true,
        .lacks = FTP_HASHED_LOGIN | FTP_MLSD,
        .runs_as_owner = true,
        .login_note = {COMPARES, COMPARES, NULL},
        .files = {{"server.py", twisted_script}},
        .args = {PYTHON, "@WORK@/server.py"},
    },
    {
        .name = "floor",
        .variants = PLAIN,
        .is_floor = true,
        .is_event_driven = true,
        .lacks = FTP_MLSD,
        .runs_as_owner = true,
        .login_note = {"takes any password"},
    },
};

const struct recipe_list ftp_recipes = {
    .suite = "ftp",
    .recipes = recipes,
    .count = ARRAY_LEN(recipes),
    .greeting = "220 ", /* the last line has a blank behind the code, RFC 959 section 4.2 */
    .parting = "QUIT\r\n",
};
