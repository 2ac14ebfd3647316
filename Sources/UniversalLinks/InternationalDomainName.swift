import CIDN2

/// Internationalised domain names, by libidn2: Unicode Technical Standard #46 (non-transitional, as browsers have it) maps a
/// name to what IDNA 2008 (RFC 5891) then checks. Stricter than browsers, which leave out that check: no emoji.
enum InternationalDomainName {
  /// No domain name is longer in any form; libidn2 is given no more.
  private static let maximumLength = 1024

  /// The ASCII form of a name; throws a `badHost` where it has none.
  ///
  /// Its labels still have to be looked at: UTS #46 maps some characters to ASCII ones that no host may have.
  static func ascii(_ name: String) throws(URIError) -> String {
    let flags = CInt(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    var output: UnsafeMutablePointer<CChar>?
    guard name.utf8.count <= maximumLength else { throw URIError(.badHost, "the host is too long") }
    // libidn2 would end the name there.
    guard !name.utf8.contains(0) else { throw URIError(.badHost, "the host has the character U+0000") }
    // `name` ends in a NUL and `output` is a string of libidn2's that is freed here.
    let status = unsafe idn2_to_ascii_8z(name, &output, flags)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else {
      let reason = unsafe String(cString: idn2_strerror(status))
      throw URIError(.badHost, "the host is not an internationalised domain name: \(reason)")
    }
    return unsafe String(cString: output)
  }

  /// The Unicode form of one label; nil where it is none of IDNA 2008 or has another ASCII form.
  static func unicode(label: String) -> String? {
    var output: UnsafeMutablePointer<CChar>?
    guard label.utf8.count <= 63 else { return nil }
    // As above.
    let status = unsafe idn2_to_unicode_8z8z(label, &output, 0)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else { return nil }
    let unicode = unsafe String(cString: output)
    guard let again = try? ascii(unicode), again == label else { return nil }
    return unicode
  }
}
