import CGIO

/// Internationalised domain names.
public enum HostConversion {
  /// The IDNA form of a host, by GLib (`g_hostname_to_ascii`, IDNA 2003).
  ///
  /// - Parameter host: a domain name, with or without non-ASCII characters.
  /// - Returns: its ASCII form; nil where it has none.
  @Sendable public static func toASCII(_ host: String) -> String? {
    guard host.utf8.count <= 1024, !host.utf8.contains(0), let ascii = g_hostname_to_ascii(host) else { return nil }
    defer { g_free(ascii) }
    return String(cString: ascii)
  }
}
