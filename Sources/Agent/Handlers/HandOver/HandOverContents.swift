import UniversalLinks

/// What an application gets of a tag.
enum HandOverContents: Sendable {
  /// The link alone.
  case link(URI)
  /// The encoded NDEF message, with its link if it has one.
  case message([UInt8], URI?)
  /// The absolute path of a file with the payload of a record.
  case file(String)

  /// The cases, without their values.
  enum Kind: Sendable {
    case link, message, file
  }

  var kind: Kind {
    switch self {
    case .link: .link
    case .message: .message
    case .file: .file
    }
  }

  /// The encoded NDEF message; nil if the application does not get it.
  var wholeMessage: [UInt8]? { if case .message(let message, _) = self { message } else { nil } }

  /// The path of the file; nil if there is none.
  var filePath: String? { if case .file(let path) = self { path } else { nil } }

  /// The link, or the URI of the file; nil for a message without a link.
  var address: String? {
    switch self {
    case .link(let uri), .message(_, let uri?): uri.string
    case .message(_, nil): nil
    case .file(let path): Self.address(ofFile: path)
    }
  }

  /// RFC 8089. Each byte that is not unreserved in RFC 3986 is encoded, also in the name of the directory.
  static func address(ofFile path: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return "file://"
      + path.utf8.reduce(into: "") { address, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"), UInt8(ascii: "/"):
          address.unicodeScalars.append(Unicode.Scalar(byte))
        default: address += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
      }
  }
}
