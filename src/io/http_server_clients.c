/* The connections of a server, and which of them has to go.
 *
 * A client owes a request from its connection, or its last answer, until it has sent the whole of one. Such clients are
 * in a list by age. Where there is no room, the oldest of them makes place: clients that send their requests byte by
 * byte would keep all others out. A client whose request is handled is never dropped.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "io/http_server_impl.h"

/* --- Those that owe a request ------------------------------------------------------------------------------------- */
static void server_clients_link(lt_http_server *server, lt_server_client *client) {
  client->since_ms = lt_loop_now_ms(server->loop);
  client->prev = NULL;
  client->next = server->owing;
  *(client->next != NULL ? &client->next->prev : &server->oldest_owing) = client;
  server->owing = client;
}

static void server_clients_unlink(lt_http_server *server, lt_server_client *client) {
  *(client->prev != NULL ? &client->prev->next : &server->owing) = client->next;
  *(client->next != NULL ? &client->next->prev : &server->oldest_owing) = client->prev;
}

void lt_http_server_client_owes(lt_http_server *server, lt_server_client *client) {
  if (client != NULL) {
    if (!client->is_handled) {
      server_clients_unlink(server, client);
    }
    client->is_handled = false;
    server_clients_link(server, client);
  }
}

void lt_http_server_client_is_handled(lt_http_server *server, lt_server_client *client) {
  if (client != NULL && !client->is_handled) {
    server_clients_unlink(server, client);
    client->is_handled = true;
  }
}

/* The library reads the end, and closes the connection. */
static void server_clients_drop(lt_server_client *client) {
  if (client != NULL && !client->is_dropped) {
    client->is_dropped = true;
    shutdown(client->fd, SHUT_RDWR);
  }
}

void lt_http_server_drop_slow_clients(lt_http_server *server) {
  uint64_t now_ms = lt_loop_now_ms(server->loop);
  lt_server_client *client = server->oldest_owing;
  while (client != NULL && now_ms - client->since_ms > server->options.idle_ms) {
    server_clients_drop(client);
    client = client->prev;
  }
}

/* --- Those that are gone ------------------------------------------------------------------------------------------ */
enum { GONE_BATCH = 256 }; /* asked about with one call of the kernel */

/* All bytes of a client that has closed its half were read: the rest of its request does not come. */
static bool server_clients_is_at_end(const lt_server_client *client) {
  char byte;
  return recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void server_clients_drop_gone(struct pollfd *ends, lt_server_client *const *clients, unsigned n) {
  if (poll(ends, n, 0) <= 0) {
    return;
  }
  for (unsigned i = 0; i < n; i++) {
    if ((ends[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 && server_clients_is_at_end(clients[i])) {
      server_clients_drop(clients[i]);
    }
  }
}

void lt_http_server_drop_gone_clients(lt_http_server *server) {
  uint64_t now_ms = lt_loop_now_ms(server->loop);
  if (now_ms - server->looked_ms < LT_HTTP_SERVER_LOOK_MS) {
    return;
  }
  server->looked_ms = now_ms;
  struct pollfd ends[GONE_BATCH];
  lt_server_client *clients[GONE_BATCH];
  unsigned n = 0;
  lt_server_client *client = server->oldest_owing;
  while (client != NULL && now_ms - client->since_ms >= LT_HTTP_SERVER_LOOK_MS) { /* younger ones are being read */
    if (n == GONE_BATCH) {
      server_clients_drop_gone(ends, clients, n);
      n = 0;
    }
    ends[n] = (struct pollfd){.fd = client->is_dropped ? -1 : client->fd, .events = POLLRDHUP};
    clients[n++] = client;
    client = client->prev;
  }
  server_clients_drop_gone(ends, clients, n);
}

/* --- Peers -------------------------------------------------------------------------------------------------------- */
static void server_clients_read_peer(lt_server_client *client, const struct sockaddr *address) {
  const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
  if (address != NULL && address->sa_family == AF_INET) {
    memset(client->key + 10, 0xff, 2);
    memcpy(client->key + 12, &v4->sin_addr, 4);
    inet_ntop(AF_INET, &v4->sin_addr, client->peer, sizeof client->peer);
  } else if (address != NULL && address->sa_family == AF_INET6) {
    memcpy(client->key, &v6->sin6_addr, 8);
    inet_ntop(AF_INET6, &v6->sin6_addr, client->peer, sizeof client->peer);
  } else {
    snprintf(client->peer, sizeof client->peer, "unix");
  }
}

static lt_server_client **server_clients_bucket(lt_http_server *server, const lt_server_client *client) {
  return &server->buckets[lt_str_hash(lt_str_from(client->key, sizeof client->key)) % LT_HTTP_SERVER_BUCKETS];
}

/* A peer with too many connections only keeps itself out. */
static void server_clients_bound_peer(lt_http_server *server, const lt_server_client *added) {
  const lt_http_server_options *o = &server->options;
  unsigned most = o->connections_of != NULL ? o->connections_of(o->arg, lt_str_of(added->peer)) : UINT32_MAX, count = 0;
  if (most >= o->connections_max) {
    return;
  }
  lt_server_client *oldest = NULL;
  for (lt_server_client *one = *server_clients_bucket(server, added); one != NULL; one = one->next_peer) {
    if (memcmp(one->key, added->key, sizeof one->key) == 0 && !one->is_dropped) {
      count++;
      bool is_older = !one->is_handled && (oldest == NULL || one->since_ms <= oldest->since_ms);
      oldest = is_older ? one : oldest;
    }
  }
  if (count > most) {
    server_clients_drop(oldest); /* there is one: the new one owes a request */
  }
}

static void server_clients_make_room(const lt_http_server *server) {
  lt_server_client *client = server->oldest_owing;
  while (client != NULL && client->is_dropped) {
    client = client->prev;
  }
  if (server->client_count >= server->options.connections_max) {
    server_clients_drop(client);
  }
}

/* --- Adding and removing ------------------------------------------------------------------------------------------ */
lt_server_client *lt_http_server_add_client(lt_http_server *server, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      server->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  lt_server_client *client = info != NULL ? lt_mem_zalloc(1, sizeof *client) : NULL;
  if (client == NULL) {
    return NULL;
  }
  client->fd = info->connect_fd;
  info = server->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  server_clients_read_peer(client, info != NULL ? info->client_addr : NULL);
  lt_server_client **bucket = server_clients_bucket(server, client);
  client->next_peer = *bucket;
  if (client->next_peer != NULL) {
    client->next_peer->prev_peer = client;
  }
  *bucket = client;
  server_clients_link(server, client);
  server->client_count++;
  server_clients_bound_peer(server, client);
  server_clients_make_room(server);
  return client;
}

void lt_http_server_remove_client(lt_http_server *server, lt_server_client *client) {
  if (client == NULL) {
    return;
  }
  if (!client->is_handled) {
    server_clients_unlink(server, client);
  }
  *(client->prev_peer != NULL ? &client->prev_peer->next_peer : server_clients_bucket(server, client)) =
      client->next_peer;
  if (client->next_peer != NULL) {
    client->next_peer->prev_peer = client->prev_peer;
  }
  server->client_count--;
  lt_mem_free(client);
}

lt_server_client *lt_http_server_client_of(const lt_http_server *server, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      server->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}
