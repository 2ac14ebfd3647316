import CPSL

/// The domains under which people register their own: `com`, `co.uk`, `github.io` (publicsuffix.org, read by libpsl).
///
/// Two names directly under a public suffix have different owners. If no rule of the list covers a name, its last label
/// is its public suffix.
@safe public final class PublicSuffixList: Sendable {
  /// The system's list: libpsl's built-in list or the distribution's file, whichever is newer.
  public static let system = unsafe PublicSuffixList(psl_latest(nil))

  /// Owned, and freed in `deinit`. Once the list is loaded libpsl only reads it, so any thread may use it.
  private nonisolated(unsafe) let list: OpaquePointer?

  private init(_ list: OpaquePointer?) { unsafe self.list = list }

  /// Reads a list. Nil if the file does not exist or cannot be read as a list.
  ///
  /// - Parameter path: a file in the list's own format, or one compiled by `psl-make-dafsa`.
  public convenience init?(path: String) {
    guard let list = unsafe psl_load_file(path) else { return nil }
    unsafe self.init(list)
  }

  deinit { unsafe psl_free(list) }

  /// Whether people register their own domains directly under this one.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: also true if no list is loaded, or if `domain` contains U+0000 and so is no domain name.
  public func isPublicSuffix(_ domain: String) -> Bool {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return true }
    return unsafe psl_is_public_suffix(list, domain) == 1
  }

  /// The public suffix of a domain with one more label, which has one owner: `example.co.uk` for `www.example.co.uk`.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: nil if the domain is a public suffix itself, or if no list is loaded.
  public func registrableDomain(of domain: String) -> String? {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return nil }
    // libpsl returns a pointer into the text that it gets.
    return unsafe domain.withCString { start in
      unsafe psl_registrable_domain(list, start).map { unsafe String(cString: $0) }
    }
  }
}
