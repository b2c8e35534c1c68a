/* What a service manager is told of a service (sd_notify(3)): a datagram to $NOTIFY_SOCKET. Without that variable
 * nothing happens. */
#ifndef LT_IO_SERVICE_MANAGER_H
#define LT_IO_SERVICE_MANAGER_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1". Never waits; what cannot be sent is lost. */
void lt_service_manager_tell(const char *state);
/* "RELOADING=1", with the time that systemd wants to know. "READY=1" ends it. */
void lt_service_manager_tell_reload(void);
/* How often "WATCHDOG=1" has to be told, so that the service is not taken for stuck: half of $WATCHDOG_USEC; 0: never.
 */
uint64_t lt_service_manager_watchdog_ms(void);

#endif
