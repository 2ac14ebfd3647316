import NDEF

/// The answer of the desktop about the default application of a media type.
package enum TypeDefault: Sendable, Hashable {
  /// The application can open a file.
  case application(Application)
  /// No default application is set.
  case missing
  /// The default application cannot be used, or is not known; the reason is a sentence without its full stop.
  case unusable(String)
}

extension RecordType {
  /// Whether the default application may get a record of this type as a file.
  ///
  /// Some default applications run a file, install it, or open it as a page whose scripts read other files. A tag must
  /// not cause that, as it must not open `javascript:` or `file:` links. So only these types go there: data that is
  /// shown or played. A handler that declares another type gets it, and so does an app that the user's rule names for it.
  var mayBeFile: Bool {
    guard case .media(let type) = self else { return false }
    return Self.files.contains(type)
  }

  /// Contacts, calendars, plain text, PDF, and the usual formats of images, audio and video, with the names that apps of
  /// other systems use for them. `FileExtension` in Handlers has the extension of each.
  static let files: Set<String> = [
    "text/vcard", "text/x-vcard", "text/directory", "text/calendar", "text/x-vcalendar", "text/plain",
    "application/pdf",
    "image/avif", "image/bmp", "image/gif", "image/heic", "image/heif", "image/jpeg", "image/jpg", "image/jxl",
    "image/png", "image/tiff", "image/webp",
    "audio/aac", "audio/flac", "audio/midi", "audio/mp3", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/opus",
    "audio/wav", "audio/webm", "audio/x-flac", "audio/x-m4a", "audio/x-wav",
    "video/mp4", "video/mpeg", "video/ogg", "video/quicktime", "video/webm", "video/x-m4v", "video/x-matroska",
  ]
}
