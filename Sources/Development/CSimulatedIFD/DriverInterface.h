/* The part of pcsc-lite's <ifdhandler.h>, <reader.h> and <wintypes.h> that the driver uses. It is repeated here because
   those headers need an include path of their own. Version 3 of the interface has not changed since 2004. */
#ifndef TAGROUTE_IFD_DRIVER_INTERFACE_H
#define TAGROUTE_IFD_DRIVER_INTERFACE_H

typedef unsigned char UCHAR;
typedef UCHAR *PUCHAR;
typedef unsigned long DWORD;
typedef DWORD *PDWORD;
typedef char *LPSTR;
typedef long RESPONSECODE;

typedef struct {
  DWORD Protocol;
  DWORD Length;
} SCARD_IO_HEADER;

#define MAX_ATR_SIZE 33

/* Response codes. */
#define IFD_SUCCESS 0
#define IFD_ERROR_TAG 600
#define IFD_ERROR_VALUE_READ_ONLY 602
#define IFD_COMMUNICATION_ERROR 612
#define IFD_NO_SUCH_DEVICE 617
#define IFD_ERROR_INSUFFICIENT_BUFFER 618

/* Actions of IFDHPowerICC. */
#define IFD_POWER_DOWN 501

/* What IFDHGetCapabilities is asked for. */
#define TAG_IFD_ATR 0x0303
#define TAG_IFD_SLOT_THREAD_SAFE 0x0FAC
#define TAG_IFD_THREAD_SAFE 0x0FAD
#define TAG_IFD_SLOTS_NUMBER 0x0FAE
#define TAG_IFD_SIMULTANEOUS_ACCESS 0x0FAF
#define TAG_IFD_POLLING_THREAD 0x0FB0
#define TAG_IFD_POLLING_THREAD_KILLABLE 0x0FB1
#define TAG_IFD_STOP_POLLING_THREAD 0x0FB2
#define TAG_IFD_POLLING_THREAD_WITH_TIMEOUT 0x0FB3
#define SCARD_ATTR_ATR_STRING 0x00090303

RESPONSECODE IFDHCreateChannelByName(DWORD lun, LPSTR device);
RESPONSECODE IFDHCreateChannel(DWORD lun, DWORD channel);
RESPONSECODE IFDHCloseChannel(DWORD lun);
RESPONSECODE IFDHGetCapabilities(DWORD lun, DWORD tag, PDWORD length, PUCHAR value);
RESPONSECODE IFDHSetCapabilities(DWORD lun, DWORD tag, DWORD length, PUCHAR value);
RESPONSECODE IFDHSetProtocolParameters(DWORD lun, DWORD protocol, UCHAR flags, UCHAR pts1, UCHAR pts2, UCHAR pts3);
RESPONSECODE IFDHPowerICC(DWORD lun, DWORD action, PUCHAR atr, PDWORD atr_length);
RESPONSECODE IFDHTransmitToICC(
    DWORD lun, SCARD_IO_HEADER send_pci, PUCHAR command, DWORD command_length, PUCHAR answer, PDWORD answer_length,
    SCARD_IO_HEADER *receive_pci);
RESPONSECODE IFDHControl(
    DWORD lun, DWORD control, PUCHAR data, DWORD data_length, PUCHAR answer, DWORD room, PDWORD answer_length);
RESPONSECODE IFDHICCPresence(DWORD lun);

#endif
