#include <nfc/nfc.h>

/* Exported by libnfc for its own pn53x tools, but declared in no installed header (libnfc/chips/pn53x.h, 1.8.0).
   With it a target can be listed and its answer checked before libnfc interprets it: libnfc's own decoding of an ATS of
   length 0 is a segmentation fault. Returns the number of bytes received, or a negative nfc error. timeout in ms: 0 waits
   for ever, -1 is the driver's default. */
int pn53x_transceive(struct nfc_device *pnd, const uint8_t *pbtTx, const size_t szTx, uint8_t *pbtRx,
                     const size_t szRxLen, int timeout);
