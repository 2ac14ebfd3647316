extension Names {
  /// Readers that are used through pcscd (PC/SC).
  package enum PCSC {
    /// The beginning of `Reader.Device` of such a reader. The name by which pcscd knows it follows.
    package static let devicePrefix = "pcsc:"
    /// The environment variable that names pcscd's socket (`getSocketName` in pcsc-lite's winscard_msg.c).
    package static let socketVariable = "PCSCLITE_CSOCK_NAME"
    /// pcscd's socket, below the directory of runtime files.
    package static let socket = "pcscd/pcscd.comm"
    /// The limit of readers in pcscd's list (`PCSCLITE_MAX_READERS_CONTEXTS` in pcsclite.h).
    package static let mostReaders = 16
    /// The limit of bytes of a reader's name (`MAX_READERNAME` in pcsclite.h).
    package static let mostBytesOfName = 128

    /// Whether a text can be a reader's name. The name comes from a driver, or from the device itself, so it can have any
    /// content. It goes into log lines, arguments of programs and messages on the bus.
    package static func isReaderName(_ text: String) -> Bool {
      (1...mostBytesOfName).contains(text.utf8.count) && isPrintable(text)
    }

    /// Whether a text has no control characters, and none that change how the text around them is shown.
    package static func isPrintable(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isPrintable) }

    /// The name in a device string `pcsc:NAME`; nil if it is the string of another kind of reader.
    package static func readerName(inDevice device: String) -> String? {
      device.hasPrefix(devicePrefix) ? String(device.dropFirst(devicePrefix.count)) : nil
    }

    /// A reader's name without the numbers of the reader and its slot. They depend on the order of plugging, so a
    /// configuration does not name them. pcscd appends them as ` rr ss`, two hexadecimal digits each
    /// (`RFSetReaderName` in pcsc-lite's readerfactory.c).
    package static func withoutNumbers(_ name: String) -> String {
      let bytes = Array(name.utf8)
      let end = Array(bytes.suffix(6))
      guard bytes.count > 6, end[0] == UInt8(ascii: " "), end[3] == UInt8(ascii: " "),
        [1, 2, 4, 5].allSatisfy({ Character(Unicode.Scalar(end[$0])).isHexDigit })
      else { return name }
      return String(decoding: bytes.dropLast(6), as: UTF8.self)
    }

    /// Whether `wanted`, a name from a configuration, means the reader that pcscd names `reader`. Without numbers it
    /// means each reader of this model.
    package static func means(_ wanted: String, _ reader: String) -> Bool {
      wanted == reader || wanted == withoutNumbers(reader)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }
}

extension Names.Files {
  /// The process of a reader that pcscd drives, beside `tagrouted` or in libexec.
  package static let pcscReaderProgram = "tagroute-reader-pcsc"
}
