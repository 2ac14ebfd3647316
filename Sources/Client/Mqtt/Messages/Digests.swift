import CGIO

/// The digests and encodings that GLib has.
enum Digests {
  /// SHA-256 as 64 lower-case hexadecimal digits.
  static func sha256(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer {
      take(g_compute_checksum_for_data(G_CHECKSUM_SHA256, $0.baseAddress, gsize($0.count)))
    }
  }

  /// HMAC-SHA256 (RFC 2104) as 64 lower-case hexadecimal digits.
  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> String {
    key.withUnsafeBufferPointer { key in
      bytes.withUnsafeBufferPointer {
        take(
          g_compute_hmac_for_data(
            G_CHECKSUM_SHA256, key.baseAddress, gsize(key.count), $0.baseAddress, gsize($0.count)))
      }
    }
  }

  /// Base64 with padding (RFC 4648, section 4).
  static func base64(_ bytes: [UInt8]) -> String {
    guard !bytes.isEmpty else { return "" }
    return bytes.withUnsafeBufferPointer { take(g_base64_encode($0.baseAddress, gsize($0.count))) }
  }

  private static func take(_ text: UnsafeMutablePointer<CChar>?) -> String {
    defer { g_free(text) }
    return text.map { String(cString: $0) } ?? ""
  }
}
