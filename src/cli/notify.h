/* notify.h - telling systemd how far the daemon is (sd_notify(3), without its library). */
#ifndef LC_CLI_NOTIFY_H
#define LC_CLI_NOTIFY_H

/* Sends lines such as "READY=1\nSTATUS=…" to $NOTIFY_SOCKET. Without one, or when nobody listens,
 * nothing happens: a daemon must not depend on who started it. */
void lc_notify(const char *state);

#endif /* LC_CLI_NOTIFY_H */
