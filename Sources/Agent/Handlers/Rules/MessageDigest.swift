import CGIO

/// The hash by which a rule names a message.
package enum MessageDigest {
  /// The SHA-256 of `bytes` in lower-case hexadecimal digits.
  package static func sha256(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer { buffer in
      guard let text = g_compute_checksum_for_data(G_CHECKSUM_SHA256, buffer.baseAddress, gsize(buffer.count)) else {
        return ""
      }
      defer { g_free(text) }
      return String(cString: text)
    }
  }
}
