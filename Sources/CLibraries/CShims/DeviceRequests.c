#include "CShims.h"

/* Not <termios.h>, which conflicts with the structures that these requests use. */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <linux/spi/spidev.h>
#include <linux/usbdevice_fs.h>

static int store(const unsigned long *from, int count, uint32_t *requests, int room) {
  for (int i = 0; i < count && i < room; i++) requests[i] = (uint32_t)from[i];
  return count;
}

#define STORE(from) store(from, (int)(sizeof from / sizeof *from), requests, room)

int tagroute_terminal_requests(uint32_t *requests, int room) {
  /* Speed and mode of the line, in both forms that C libraries use; counting and discarding received bytes. */
  static const unsigned long all[] = {TCGETS, TCSETS, TCSETSW, TCSETSF, TCFLSH, FIONREAD,
#ifdef TCGETS2
                                      TCGETS2, TCSETS2, TCSETSW2, TCSETSF2,
#endif
  };
  return STORE(all);
}

int tagroute_usb_requests(uint32_t *requests, int room) {
  /* The requests that libusb 0.1 and 1 make on a device and its interfaces. The reset of another device and the power
     of a hub's ports are left out. */
  static const unsigned long all[] = {
      USBDEVFS_CONTROL,          USBDEVFS_BULK,           USBDEVFS_RESETEP,          USBDEVFS_SETINTERFACE,
      USBDEVFS_SETCONFIGURATION, USBDEVFS_GETDRIVER,      USBDEVFS_SUBMITURB,        USBDEVFS_DISCARDURB,
      USBDEVFS_REAPURB,          USBDEVFS_REAPURBNDELAY,  USBDEVFS_CLAIMINTERFACE,   USBDEVFS_RELEASEINTERFACE,
      USBDEVFS_CONNECTINFO,      USBDEVFS_IOCTL,          USBDEVFS_RESET,            USBDEVFS_CLEAR_HALT,
      USBDEVFS_GET_CAPABILITIES, USBDEVFS_DISCONNECT_CLAIM,
#ifdef USBDEVFS_GET_SPEED
      USBDEVFS_GET_SPEED,
#endif
  };
  return STORE(all);
}

uint32_t tagroute_i2c_address_request(void) { return I2C_SLAVE; }

int tagroute_spi_requests(uint32_t *requests, int room) {
  /* libnfc sends one transfer, or two if it reads an answer. */
  static const unsigned long all[] = {
      SPI_IOC_MESSAGE(1),       SPI_IOC_MESSAGE(2),          SPI_IOC_RD_MODE,         SPI_IOC_WR_MODE,
      SPI_IOC_RD_BITS_PER_WORD, SPI_IOC_WR_BITS_PER_WORD,    SPI_IOC_RD_MAX_SPEED_HZ, SPI_IOC_WR_MAX_SPEED_HZ,
  };
  return STORE(all);
}

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

int tagroute_is_sanitized(void) {
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  return 1;
#else
  return 0;
#endif
}
