import NDEF

/// The answer of the desktop about the default application of a media type.
public enum TypeDefault: Sendable, Hashable {
  /// The application can open a file.
  case application(Application)
  /// No default application is set.
  case missing
  /// The default application cannot be used, or is not known; the reason is a sentence without its full stop.
  case unusable(String)
  /// The type is another name, or a kind, of one that never becomes a file. No app gets a file with it.
  case never
}

extension RecordType {
  /// Whether the default application may get a record of this type as a file.
  ///
  /// Some default applications run a file, install it, or open it as a page whose scripts read other files. A tag must
  /// not cause that, as it must not open `javascript:` or `file:` links. A handler that declares such a type gets it.
  var mayBeFile: Bool {
    guard case .media(let type) = self else { return false }
    // The password of a network is for NetworkManager only.
    guard type != WiFiRecord.type else { return false }
    return !Self.neverFiles.contains(type) && !Self.neverFileTrees.contains { type.hasPrefix($0) }
      && !Self.neverFileEndings.contains { type.hasSuffix($0) }
  }

  /// Several files in one, among them pages.
  private static let neverFileTrees = ["multipart/", "message/"]

  /// XML, pages and images with scripts under names that a database of types may not have.
  private static let neverFileEndings = ["+xml", "/svg", "/x-netscape-bookmarks", "/xhtml_xml"]

  /// Programs, scripts, packages, links to other files, and pages with scripts.
  ///
  /// The desktop also opens other names and kinds of these types in their default applications. Its database has them.
  public static let neverFiles: Set<String> = [
    "application/ecmascript", "application/java-archive", "application/javascript",
    "application/vnd.appimage", "application/vnd.android.package-archive",
    "application/vnd.debian.binary-package", "application/vnd.flatpak", "application/vnd.flatpak.ref",
    "application/vnd.flatpak.repo", "application/vnd.microsoft.portable-executable",
    "application/vnd.openofficeorg.extension", "application/vnd.snap", "application/x-appimage",
    "application/x-awk", "application/x-bat", "application/x-csh", "application/x-deb",
    "application/x-debian-package", "application/x-desktop", "application/x-dosexec",
    "application/x-executable", "application/x-gnome-app-info", "application/x-iso9660-appimage",
    "application/x-jar", "application/x-java-archive", "application/x-java-jnlp-file",
    "application/x-javascript", "application/x-mimearchive", "application/x-ms-dos-executable",
    "application/x-ms-shortcut", "application/x-msdos-program", "application/x-msdownload",
    "application/x-msi", "application/x-mswinurl", "application/x-perl", "application/x-php",
    "application/x-pie-executable", "application/x-python", "application/x-redhat-package-manager",
    "application/x-rpm", "application/x-ruby", "application/x-sh", "application/x-sharedlib",
    "application/x-shellscript", "application/x-shockwave-flash", "application/x-win-lnk",
    "application/x-xpinstall", "application/xhtml+xml", "application/xml", "image/svg+xml",
    "image/svg+xml-compressed", "text/ecmascript", "text/html", "text/javascript", "text/tcl",
    "text/vbscript", "text/x-csh", "text/x-perl", "text/x-python", "text/x-python3", "text/x-ruby",
    "text/x-sh", "text/x-uri", "text/xml",
  ]
}
