/* A test loads this library into tagroute-reader-pcsc. It tries the operations of attempts.c, which is for the other
   reader program.

   The process has confined itself before it asks pcscd for its readers. That function of libpcsclite is replaced here,
   and tries the operation. With it, no pcscd is needed. */
#include "../../../LibNFCReaderSystemTests/Confinement/Attempts/attempts.c"

long SCardEstablishContext(unsigned long scope, const void *unused1, const void *unused2, long *context) {
  (void)scope, (void)unused1, (void)unused2;
  *context = 1;
  return 0;
}

long SCardListReaders(long context, const char *groups, char *readers, unsigned long *length) {
  (void)context, (void)groups, (void)readers, (void)length;
  try();
  return 0;
}
