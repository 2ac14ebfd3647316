#define _GNU_SOURCE
#include "Link.h"

#include "CSimulatedIFD.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define GREETING_TIMEOUT_SECONDS 5
#define USB_PREFIX "usb:"

static void put32(uint8_t *bytes, uint32_t value) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int read_fully(int descriptor, uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = read(descriptor, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    bytes += got;
    count -= (size_t)got;
  }
  return 1;
}

static int send_fully(int descriptor, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return 0;
    bytes += sent;
    count -= (size_t)sent;
  }
  return 1;
}

static int send_request(int descriptor, const struct tagroute_request *request) {
  uint8_t head[9];
  size_t length = 1 + request->parameter_count + request->data_length;
  put32(head, (uint32_t)length);
  head[4] = request->operation;
  memcpy(head + 5, request->parameters, request->parameter_count);
  return send_fully(descriptor, head, 5 + request->parameter_count) &&
         send_fully(descriptor, request->data, request->data_length);
}

/* Reads an answer. Bytes for which there is no room are lost, and the answer is an error then. */
static RESPONSECODE receive_answer(int descriptor, const struct tagroute_request *request, size_t *length) {
  uint8_t head[6];
  if (!read_fully(descriptor, head, sizeof head)) return IFD_NO_SUCH_DEVICE;
  uint32_t rest = get32(head);
  if (rest < 2) return IFD_NO_SUCH_DEVICE;
  rest -= 2;
  size_t taken = rest < request->room ? rest : request->room;
  if (!read_fully(descriptor, request->answer, taken)) return IFD_NO_SUCH_DEVICE;
  for (size_t left = rest - taken; left > 0;) {
    uint8_t lost[4096];
    size_t count = left < sizeof lost ? left : sizeof lost;
    if (!read_fully(descriptor, lost, count)) return IFD_NO_SUCH_DEVICE;
    left -= count;
  }
  RESPONSECODE code = head[4] << 8 | head[5];
  if (code == IFD_SUCCESS && taken < rest) return IFD_ERROR_INSUFFICIENT_BUFFER;
  *length = taken;
  return code;
}

/* Connects and greets. Stores what the simulator calls the slot. */
static int connect_to(const char *path, size_t path_length, uint8_t purpose, const char *name, char *slot, size_t room) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path_length == 0 || path_length >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, path_length);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct timeval limit = {.tv_sec = GREETING_TIMEOUT_SECONDS};
  struct timeval none = {0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  size_t length = 0;
  struct tagroute_request greeting = {
      .operation = purpose, .data = (const uint8_t *)name, .data_length = strlen(name), .answer = (uint8_t *)slot,
      .room = room - 1};
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 && send_request(descriptor, &greeting) &&
      receive_answer(descriptor, &greeting, &length) == IFD_SUCCESS) {
    slot[length] = 0;
    /* The answer to a request may take as long as a test likes. */
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    return descriptor;
  }
  close(descriptor);
  return -1;
}

/* Finds the socket and the slot's name in what pcscd calls the device. */
static int parse_device(const char *device, const char **path, size_t *path_length, const char **name) {
  if (strncmp(device, USB_PREFIX, strlen(USB_PREFIX)) == 0) {
    *path = getenv("TAGROUTE_IFD_SOCKET");
    *name = device;
    *path_length = *path != NULL ? strlen(*path) : 0;
    return *path != NULL;
  }
  const char *colon = strrchr(device, ':');
  *path = device;
  *name = colon != NULL ? colon + 1 : "";
  *path_length = colon != NULL ? (size_t)(colon - device) : 0;
  return colon != NULL;
}

/* Needs `lock`. */
static RESPONSECODE connect_slot(struct tagroute_slot *slot) {
  const char *path, *name;
  size_t path_length;
  char number[32], unused[32];
  if (!parse_device(slot->device, &path, &path_length, &name)) return IFD_NO_SUCH_DEVICE;
  int requests = connect_to(path, path_length, TAGROUTE_IFD_REQUESTS, name, number, sizeof number);
  if (requests < 0) return IFD_NO_SUCH_DEVICE;
  int events = connect_to(path, path_length, TAGROUTE_IFD_EVENTS, number, unused, sizeof unused);
  if (events < 0) {
    close(requests);
    return IFD_NO_SUCH_DEVICE;
  }
  pthread_mutex_lock(&slot->descriptors);
  slot->requests = requests;
  slot->events = events;
  slot->atr_length = 0;
  pthread_mutex_unlock(&slot->descriptors);
  return IFD_SUCCESS;
}

/* Needs `lock`. */
static void disconnect_slot(struct tagroute_slot *slot) {
  pthread_mutex_lock(&slot->descriptors);
  if (slot->requests >= 0) close(slot->requests);
  if (slot->events >= 0) close(slot->events);
  slot->requests = slot->events = -1;
  pthread_mutex_unlock(&slot->descriptors);
}

RESPONSECODE tagroute_link_open(struct tagroute_slot *slot) {
  pthread_mutex_lock(&slot->lock);
  disconnect_slot(slot);
  pthread_mutex_lock(&slot->descriptors);
  if (slot->stop >= 0) close(slot->stop);
  slot->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_unlock(&slot->descriptors);
  RESPONSECODE code = slot->stop >= 0 ? connect_slot(slot) : IFD_COMMUNICATION_ERROR;
  pthread_mutex_unlock(&slot->lock);
  return code;
}

void tagroute_link_close(struct tagroute_slot *slot) {
  /* A request in another thread holds `lock`. It ends when its connection does. */
  pthread_mutex_lock(&slot->descriptors);
  if (slot->requests >= 0) shutdown(slot->requests, SHUT_RDWR);
  if (slot->events >= 0) shutdown(slot->events, SHUT_RDWR);
  pthread_mutex_unlock(&slot->descriptors);
  pthread_mutex_lock(&slot->lock);
  disconnect_slot(slot);
  pthread_mutex_unlock(&slot->lock);
}

RESPONSECODE tagroute_link_ask(struct tagroute_slot *slot, const struct tagroute_request *request, size_t *length) {
  *length = 0;
  RESPONSECODE code = IFD_NO_SUCH_DEVICE;
  pthread_mutex_lock(&slot->lock);
  /* pcscd keeps asking for the presence of a card in a reader that its configuration names, also after an error. So
     the reader can come back. */
  if (slot->requests < 0 && request->operation == TAGROUTE_IFD_PRESENCE) connect_slot(slot);
  if (slot->requests >= 0 && send_request(slot->requests, request)) {
    code = receive_answer(slot->requests, request, length);
  }
  if (code == IFD_NO_SUCH_DEVICE) disconnect_slot(slot);
  if (code == IFD_SUCCESS && request->operation == TAGROUTE_IFD_POWER && *length <= sizeof slot->atr) {
    memcpy(slot->atr, request->answer, *length);
    slot->atr_length = *length;
  }
  pthread_mutex_unlock(&slot->lock);
  return code;
}

static long long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* A descriptor of the caller's own, so that nobody closes it during the wait; -1 if there is no connection. */
static int borrow_events(struct tagroute_slot *slot) {
  pthread_mutex_lock(&slot->descriptors);
  int copy = slot->events >= 0 ? fcntl(slot->events, F_DUPFD_CLOEXEC, 0) : -1;
  pthread_mutex_unlock(&slot->descriptors);
  return copy;
}

/* The count of insertions and removals that the last presence check of this thread has seen. pcscd has a thread for each
   slot that checks the presence and waits for events. Checks of other threads, for example before a reset, must not
   hide an event from it. */
static _Thread_local uint32_t seen;
/* Whether this is such a thread. */
static _Thread_local int has_waited;

/* An event that arrives after the presence check has already seen its cause must not end the wait: pcscd switches a
   card that nobody uses off when the wait ends. */
static int is_news(uint32_t count) { return (int32_t)(count - seen) > 0; }

RESPONSECODE tagroute_link_wait(struct tagroute_slot *slot, int timeout) {
  has_waited = 1;
  int events = borrow_events(slot);
  if (events < 0) return IFD_NO_SUCH_DEVICE;
  long long end = milliseconds() + timeout;
  RESPONSECODE code = IFD_SUCCESS;
  while (1) {
    struct pollfd ready[2] = {{.fd = events, .events = POLLIN}, {.fd = slot->stop, .events = POLLIN}};
    long long left = end - milliseconds();
    if (left <= 0) break;
    int count = poll(ready, 2, (int)left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (ready[1].revents != 0) {
      uint64_t ignored;
      if (read(slot->stop, &ignored, sizeof ignored) < 0) code = IFD_COMMUNICATION_ERROR;
      break;
    }
    uint8_t event[4];
    if (!read_fully(events, event, sizeof event)) {
      code = IFD_NO_SUCH_DEVICE;
      break;
    }
    if (is_news(get32(event))) break;
  }
  close(events);
  return code;
}

void tagroute_link_stop_waiting(struct tagroute_slot *slot) {
  uint64_t one = 1;
  pthread_mutex_lock(&slot->descriptors);
  if (slot->stop >= 0 && write(slot->stop, &one, sizeof one) < 0) errno = 0;
  pthread_mutex_unlock(&slot->descriptors);
}

int tagroute_link_has_waited(void) { return has_waited; }

void tagroute_link_note_presence(const uint8_t *answer) { seen = get32(answer); }

RESPONSECODE tagroute_link_atr(struct tagroute_slot *slot, PDWORD length, uint8_t *value) {
  pthread_mutex_lock(&slot->lock);
  RESPONSECODE code = *length >= slot->atr_length ? IFD_SUCCESS : IFD_ERROR_INSUFFICIENT_BUFFER;
  if (code == IFD_SUCCESS) {
    memcpy(value, slot->atr, slot->atr_length);
    *length = slot->atr_length;
  }
  pthread_mutex_unlock(&slot->lock);
  return code;
}
