/* A driver ("IFD handler") for pcscd whose readers are served by the reader simulator, over a UNIX socket.

   pcscd loads the library and calls the functions in Handler.c. The device name in its configuration is SOCKET:SLOT.
   For a USB device, pcscd names the device instead; then the variable TAGROUTE_IFD_SOCKET names the socket, and the
   simulator chooses the slot.

   Each slot has two connections. All numbers are big-endian. The first frame on a connection is a greeting: its
   purpose, TAGROUTE_IFD_REQUESTS or TAGROUTE_IFD_EVENTS, and the slot or the name of the USB device. The simulator
   answers it like a request.

     request  length of the rest (4), operation (1), parameters and data
     answer   length of the rest (4), response code of pcsc-lite's ifdhandler.h (2), data
     event    number of the insertions and removals so far (4)

   The simulator closes both connections when the reader is unplugged. */
#ifndef TAGROUTE_CSIMULATED_IFD_H
#define TAGROUTE_CSIMULATED_IFD_H

enum {
  /* Greeting: slot or USB device. The second connection names the slot that the answer to the first one gave. */
  TAGROUTE_IFD_REQUESTS = 0x01,
  TAGROUTE_IFD_EVENTS = 0x02,
  /* 1 if the thread waits for events, else 0 (1). The answer holds the number of insertions and removals (4). */
  TAGROUTE_IFD_PRESENCE = 0x10,
  /* IFD_POWER_UP, IFD_POWER_DOWN or IFD_RESET (2). The answer holds the ATR. */
  TAGROUTE_IFD_POWER = 0x11,
  /* Protocol (1), command. The answer holds the card's answer. */
  TAGROUTE_IFD_TRANSMIT = 0x12,
  /* Control code (4), data. The answer holds the reader's answer. */
  TAGROUTE_IFD_CONTROL = 0x13,
  /* Tag or attribute (4). The answer holds its value. */
  TAGROUTE_IFD_CAPABILITY = 0x14,
};

#endif
