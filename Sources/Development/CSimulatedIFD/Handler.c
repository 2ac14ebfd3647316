/* The functions that pcscd calls. */
#include "CSimulatedIFD.h"
#include "Link.h"

#include <string.h>

#define SLOTS 64
#define UNUSED -1
#define API __attribute__((visibility("default")))

/* Slots are never freed, because pcscd may close a reader while another thread still uses it. */
static struct tagroute_slot slots[SLOTS] = {
    [0 ... SLOTS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER, .descriptors = PTHREAD_MUTEX_INITIALIZER,
                         .requests = UNUSED, .events = UNUSED, .stop = UNUSED}};
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* Claims a free slot for the number if `device` is given. */
static struct tagroute_slot *find_slot(DWORD lun, const char *device) {
  struct tagroute_slot *found = NULL;
  pthread_mutex_lock(&slots_lock);
  for (int i = 0; i < SLOTS && found == NULL; i++) {
    if (slots[i].is_used && slots[i].lun == lun) found = &slots[i];
  }
  for (int i = 0; i < SLOTS && found == NULL && device != NULL; i++) {
    if (!slots[i].is_used) found = &slots[i];
  }
  if (found != NULL && device != NULL) {
    found->is_used = 1;
    found->lun = lun;
    strncpy(found->device, device, sizeof found->device - 1);
  }
  pthread_mutex_unlock(&slots_lock);
  return found;
}

static void free_slot(struct tagroute_slot *slot) {
  pthread_mutex_lock(&slots_lock);
  slot->is_used = 0;
  pthread_mutex_unlock(&slots_lock);
}

API RESPONSECODE IFDHCreateChannelByName(DWORD lun, LPSTR device) {
  if (device == NULL || strlen(device) >= sizeof slots[0].device) return IFD_NO_SUCH_DEVICE;
  struct tagroute_slot *slot = find_slot(lun, device);
  if (slot == NULL) return IFD_COMMUNICATION_ERROR;
  RESPONSECODE code = tagroute_link_open(slot);
  if (code != IFD_SUCCESS) free_slot(slot);
  return code;
}

/* Only named devices exist. */
API RESPONSECODE IFDHCreateChannel(DWORD lun, DWORD channel) {
  (void)lun, (void)channel;
  return IFD_NO_SUCH_DEVICE;
}

API RESPONSECODE IFDHCloseChannel(DWORD lun) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  if (slot == NULL) return IFD_SUCCESS;
  tagroute_link_close(slot);
  free_slot(slot);
  return IFD_SUCCESS;
}

API RESPONSECODE IFDHICCPresence(DWORD lun) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  if (slot == NULL) return IFD_NO_SUCH_DEVICE;
  uint8_t answer[4];
  size_t length;
  struct tagroute_request request = {.operation = TAGROUTE_IFD_PRESENCE, .parameters = {tagroute_link_has_waited()},
                                     .parameter_count = 1, .answer = answer, .room = sizeof answer};
  RESPONSECODE code = tagroute_link_ask(slot, &request, &length);
  if (length == sizeof answer) tagroute_link_note_presence(answer);
  return code;
}

API RESPONSECODE IFDHPowerICC(DWORD lun, DWORD action, PUCHAR atr, PDWORD atr_length) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  if (slot == NULL) return IFD_NO_SUCH_DEVICE;
  uint8_t answer[MAX_ATR_SIZE];
  size_t length;
  struct tagroute_request request = {.operation = TAGROUTE_IFD_POWER, .parameters = {action >> 8 & 0xFF, action & 0xFF},
                                     .parameter_count = 2, .answer = answer, .room = sizeof answer};
  RESPONSECODE code = tagroute_link_ask(slot, &request, &length);
  /* pcscd passes no room for the ATR with IFD_POWER_DOWN. */
  if (atr != NULL && atr_length != NULL && action != IFD_POWER_DOWN) {
    if (code == IFD_SUCCESS && length > *atr_length) code = IFD_ERROR_INSUFFICIENT_BUFFER;
    *atr_length = code == IFD_SUCCESS ? length : 0;
    memcpy(atr, answer, *atr_length);
  }
  return code;
}

API RESPONSECODE IFDHTransmitToICC(
    DWORD lun, SCARD_IO_HEADER send_pci, PUCHAR command, DWORD command_length, PUCHAR answer, PDWORD answer_length,
    SCARD_IO_HEADER *receive_pci) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  size_t length = 0;
  struct tagroute_request request = {
      .operation = TAGROUTE_IFD_TRANSMIT, .parameters = {send_pci.Protocol & 0xFF}, .parameter_count = 1,
      .data = command, .data_length = command_length, .answer = answer, .room = *answer_length};
  RESPONSECODE code = slot != NULL ? tagroute_link_ask(slot, &request, &length) : IFD_NO_SUCH_DEVICE;
  *answer_length = code == IFD_SUCCESS ? length : 0;
  if (receive_pci != NULL) receive_pci->Protocol = send_pci.Protocol;
  return code;
}

API RESPONSECODE IFDHControl(
    DWORD lun, DWORD control, PUCHAR data, DWORD data_length, PUCHAR answer, DWORD room, PDWORD answer_length) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  size_t length = 0;
  struct tagroute_request request = {
      .operation = TAGROUTE_IFD_CONTROL,
      .parameters = {control >> 24 & 0xFF, control >> 16 & 0xFF, control >> 8 & 0xFF, control & 0xFF},
      .parameter_count = 4, .data = data, .data_length = data_length, .answer = answer, .room = room};
  RESPONSECODE code = slot != NULL ? tagroute_link_ask(slot, &request, &length) : IFD_NO_SUCH_DEVICE;
  *answer_length = code == IFD_SUCCESS ? length : 0;
  return code;
}

static RESPONSECODE wait_for_event(DWORD lun, int timeout) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  return slot != NULL ? tagroute_link_wait(slot, timeout) : IFD_NO_SUCH_DEVICE;
}

static RESPONSECODE stop_waiting(DWORD lun) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  if (slot == NULL) return IFD_NO_SUCH_DEVICE;
  tagroute_link_stop_waiting(slot);
  return IFD_SUCCESS;
}

static RESPONSECODE give(const void *bytes, size_t count, PDWORD length, PUCHAR value) {
  if (*length < count) return IFD_ERROR_INSUFFICIENT_BUFFER;
  memcpy(value, bytes, count);
  *length = count;
  return IFD_SUCCESS;
}

API RESPONSECODE IFDHGetCapabilities(DWORD lun, DWORD tag, PDWORD length, PUCHAR value) {
  struct tagroute_slot *slot = find_slot(lun, NULL);
  if (slot == NULL) return IFD_NO_SUCH_DEVICE;
  uint8_t one = 1, readers = SLOTS;
  RESPONSECODE (*wait)(DWORD, int) = wait_for_event;
  RESPONSECODE (*stop)(DWORD) = stop_waiting;
  switch (tag) {
    case TAG_IFD_SIMULTANEOUS_ACCESS: return give(&readers, 1, length, value);
    case TAG_IFD_THREAD_SAFE:
    case TAG_IFD_SLOT_THREAD_SAFE:
    case TAG_IFD_SLOTS_NUMBER: return give(&one, 1, length, value);
    case TAG_IFD_POLLING_THREAD_WITH_TIMEOUT: return give(&wait, sizeof wait, length, value);
    case TAG_IFD_STOP_POLLING_THREAD: return give(&stop, sizeof stop, length, value);
    case TAG_IFD_ATR:
    case SCARD_ATTR_ATR_STRING: return tagroute_link_atr(slot, length, value);
    /* Not used by pcscd if the wait can be stopped. */
    case TAG_IFD_POLLING_THREAD_KILLABLE:
    case TAG_IFD_POLLING_THREAD: return IFD_ERROR_TAG;
  }
  size_t count;
  struct tagroute_request request = {
      .operation = TAGROUTE_IFD_CAPABILITY,
      .parameters = {tag >> 24 & 0xFF, tag >> 16 & 0xFF, tag >> 8 & 0xFF, tag & 0xFF}, .parameter_count = 4,
      .answer = value, .room = *length};
  RESPONSECODE code = tagroute_link_ask(slot, &request, &count);
  if (code == IFD_SUCCESS) *length = count;
  return code;
}

API RESPONSECODE IFDHSetCapabilities(DWORD lun, DWORD tag, DWORD length, PUCHAR value) {
  (void)lun, (void)tag, (void)length, (void)value;
  return IFD_ERROR_VALUE_READ_ONLY;
}

/* A simulated card speaks the protocol that the client chose. */
API RESPONSECODE IFDHSetProtocolParameters(
    DWORD lun, DWORD protocol, UCHAR flags, UCHAR pts1, UCHAR pts2, UCHAR pts3) {
  (void)lun, (void)protocol, (void)flags, (void)pts1, (void)pts2, (void)pts3;
  return IFD_SUCCESS;
}
