import CPSL

/// Under which domains people register their own: `com`, `co.uk`, `github.io` (publicsuffix.org, by libpsl).
///
/// Whoever owns a name right under a public suffix is a stranger to whoever owns the next one. A name that no rule of the list
/// covers is under a public suffix of one label.
@safe public final class PublicSuffixList: Sendable {
  /// The system's list: the newer of the one that libpsl was built with and the distribution's file.
  public static let system = unsafe PublicSuffixList(psl_latest(nil))

  /// Owned; freed in `deinit`. libpsl only reads it after it is loaded, from any thread.
  private nonisolated(unsafe) let list: OpaquePointer?

  private init(_ list: OpaquePointer?) { unsafe self.list = list }

  /// Reads a list; nil where there is no such file, or none that can be read.
  ///
  /// - Parameter path: a file in the list's own form, or one that `psl-make-dafsa` has made of it.
  public convenience init?(path: String) {
    guard let list = unsafe psl_load_file(path) else { return nil }
    unsafe self.init(list)
  }

  deinit { unsafe psl_free(list) }

  /// Whether people register their own domains right under this one.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: true for every domain where there is no list, and for what is none because it has a U+0000.
  public func isPublicSuffix(_ domain: String) -> Bool {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return true }
    return unsafe psl_is_public_suffix(list, domain) == 1
  }

  /// The public suffix of a domain and one label more, which has one owner: `example.co.uk` of `www.example.co.uk`.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: nil where the domain is a public suffix itself, or there is no list.
  public func registrableDomain(of domain: String) -> String? {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return nil }
    // What libpsl answers is the end of what it is given.
    return unsafe domain.withCString { start in
      unsafe psl_registrable_domain(list, start).map { unsafe String(cString: $0) }
    }
  }
}
