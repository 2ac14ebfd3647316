/// Checks of the `platform_data` that a handler is called with. It may come from a bus peer or from a notification
/// server.
extension Names.Handler {
  /// Whether a text can be an xdg-activation token: one short word, because it goes into an environment variable of a
  /// started program. Neither xdg-activation-v1 nor the Startup Notification Protocol limits its length.
  public static func isActivationToken(_ text: String) -> Bool {
    (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Whether a text can be a tap's id: a UUID (RFC 9562, section 4).
  public static func isTapID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }
}
