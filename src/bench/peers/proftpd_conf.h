/* The settings of proftpd that its recipes for FTP and for ssh have in common: Debian's file,
 * but limits, look-ups, pauses and logs are off. */
#pragma once

#define PROFTPD_CONF_SHARED                                                                    \
    "ServerName \"Debian\"\n"                                                                  \
    "ServerType standalone\n"                                                                  \
    "DefaultAddress @ADDRESS@\n"                                                               \
    "SocketBindTight on\n"                                                                     \
    "UseIPv6 off\n"                                                                            \
    "Port @PORT@\n"                                                                            \
    "User nobody\n"                                                                            \
    "Group nogroup\n"                                                                          \
    "Umask 022 022\n"                                                                          \
    "AllowOverwrite on\n"                                                                      \
    "RequireValidShell off\n"                                                                  \
    "AuthOrder mod_auth_unix.c\n"                                                              \
    "AuthPAM off\n"                                                                            \
    "UseReverseDNS off\n"                                                                      \
    "DelayEngine off\n"                                                                        \
    "MaxInstances none\n"                                                                      \
    "WtmpLog off\n"                                                                            \
    "TransferLog none\n"                                                                       \
    "SystemLog none\n"
