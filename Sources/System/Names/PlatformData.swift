/// Checks of the `platform_data` that a handler is called with. It may come from a bus peer or from a notification
/// server.
extension Names.Handler {
  /// Whether a text can be an xdg-activation token: one short word, because it goes into an environment variable of a
  /// started program. Neither xdg-activation-v1 nor the Startup Notification Protocol limits its length.
  package static func isActivationToken(_ text: String) -> Bool {
    isWord(text, atMost: 1024)
  }

  /// Whether a text can be a tap's id: a UUID (RFC 9562, section 4).
  package static func isTapID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }

  /// Whether a text can be a tag's technology, such as `type-2`: one short word, because it goes into an environment
  /// variable.
  package static func isTechnology(_ text: String) -> Bool { isWord(text, atMost: 32) }

  /// Whether a text can be the object path of a reader.
  package static func isReader(_ text: String) -> Bool { text.hasPrefix("/") && isWord(text, atMost: 255) }

  private static func isWord(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
