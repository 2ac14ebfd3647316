/* pkg-config's include path is the folder of this header. It includes pcsclite.h and wintypes.h. */
#include <winscard.h>
