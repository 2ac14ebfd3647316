import CIDN2

/// Internationalised domain names, converted by libidn2. Unicode Technical Standard #46 (non-transitional, as in
/// browsers) maps a name, and IDNA 2008 (RFC 5891) checks the result. Browsers skip that check, so they accept emoji,
/// which are rejected here.
enum InternationalDomainName {
  /// No domain name is longer in any form. A longer text is not passed to libidn2.
  private static let maximumLength = 1024

  /// The ASCII form of a name. Throws `badHost` if it has none.
  ///
  /// The caller has to check the labels of the result: UTS #46 maps some characters to ASCII ones that no host may
  /// have.
  static func ascii(_ name: String) throws(URIError) -> String {
    let flags = CInt(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    var output: UnsafeMutablePointer<CChar>?
    guard name.utf8.count <= maximumLength else { throw URIError(.badHost, "the host is too long") }
    // libidn2 would take it as the end of the name.
    guard !name.utf8.contains(0) else { throw URIError(.badHost, "the host has the character U+0000") }
    // `name` is passed with a NUL at its end. libidn2 allocates `output`, which is freed here.
    let status = unsafe idn2_to_ascii_8z(name, &output, flags)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else {
      let reason = unsafe String(cString: idn2_strerror(status))
      throw URIError(.badHost, "the host is not an internationalised domain name: \(reason)")
    }
    return unsafe String(cString: output)
  }

  /// The Unicode form of one label. Nil if the label is not valid in IDNA 2008, or if its Unicode form has a different
  /// ASCII form.
  static func unicode(label: String) -> String? {
    var output: UnsafeMutablePointer<CChar>?
    guard label.utf8.count <= 63 else { return nil }
    // The same rules for memory as in `ascii(_:)`.
    let status = unsafe idn2_to_unicode_8z8z(label, &output, 0)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else { return nil }
    let unicode = unsafe String(cString: output)
    guard let again = try? ascii(unicode), again == label else { return nil }
    return unicode
  }
}
