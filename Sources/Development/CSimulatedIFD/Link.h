/* The connections of one slot to the simulator. Any thread may call any of these functions. */
#ifndef TAGROUTE_IFD_LINK_H
#define TAGROUTE_IFD_LINK_H

#include "DriverInterface.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct tagroute_slot {
  /* The number by which pcscd knows the slot, and the name of the device. Both are fixed while is_used. */
  DWORD lun;
  int is_used;
  char device[512];

  /* Held during a request. It also guards the ATR of the last power-up. */
  pthread_mutex_t lock;
  uint8_t atr[MAX_ATR_SIZE];
  size_t atr_length;

  /* Guards what follows, and is taken after `lock`. `requests` changes only while both are held. */
  pthread_mutex_t descriptors;
  int requests;
  int events;
  /* An eventfd that ends the wait for events. */
  int stop;
};

/* A request and the room for its answer. The parameters come before the data. */
struct tagroute_request {
  uint8_t operation;
  uint8_t parameters[4];
  size_t parameter_count;
  const uint8_t *data;
  size_t data_length;
  uint8_t *answer;
  size_t room;
};

/* Opens both connections. */
RESPONSECODE tagroute_link_open(struct tagroute_slot *slot);

/* Ends a request and a wait that are running in other threads, then closes both connections. */
void tagroute_link_close(struct tagroute_slot *slot);

/* Sends the request and stores the answer's length. Waits for as long as the simulator takes. Returns
   IFD_NO_SUCH_DEVICE if it is gone. */
RESPONSECODE tagroute_link_ask(struct tagroute_slot *slot, const struct tagroute_request *request, size_t *length);

/* Waits until there was an insertion or removal after this thread's last presence check, or the timeout in milliseconds
   expires. Returns IFD_NO_SUCH_DEVICE if the simulator is gone. */
RESPONSECODE tagroute_link_wait(struct tagroute_slot *slot, int timeout);

/* Ends the wait, or the next one. */
void tagroute_link_stop_waiting(struct tagroute_slot *slot);

/* Whether this thread has waited for an event: 1 or 0. */
int tagroute_link_has_waited(void);

/* Takes over the number in the answer to a presence check of this thread: four bytes. */
void tagroute_link_note_presence(const uint8_t *answer);

/* Copies the ATR of the last power-up. */
RESPONSECODE tagroute_link_atr(struct tagroute_slot *slot, PDWORD length, uint8_t *value);

#endif
