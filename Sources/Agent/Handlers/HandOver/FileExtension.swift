import Settings

/// The extensions of file names, by media type.
enum FileExtension {
  /// The extension of a media type in lower case, without its dot; nil if the system knows none. Blocks on files.
  ///
  /// The usual types are known without a database. The others are those of shared-mime-info.
  static func of(_ type: String, environment: [String: String]) -> String? {
    if let known = usual[type] { return known }
    let places = DataDirectories(environment: environment)
    for directory in [places.user].compactMap(\.self) + places.system {
      if let suffix = find(type, inFile: "\(directory)/mime/globs2") { return suffix }
    }
    return nil
  }

  /// The size of the database is about 60 kB.
  private static let maximumSize = 1 << 20

  /// shared-mime-info 0.21, section 2.5: each line is `WEIGHT:TYPE:PATTERN`. The heaviest is first.
  private static func find(_ type: String, inFile path: String) -> String? {
    guard let bytes = try? FileContents.read(path, upTo: maximumSize), bytes.count <= maximumSize else { return nil }
    let wanted = Array(":\(type):*.".utf8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[colon...].starts(with: wanted) else { continue }
      let suffix = line[colon...].dropFirst(wanted.count).prefix { $0 != UInt8(ascii: ":") }
      if isPlain(suffix) { return String(decoding: suffix, as: UTF8.self) }
    }
    return nil
  }

  /// Whether a suffix has only small letters and digits, so that it adds nothing else to a name.
  private static func isPlain(_ suffix: ArraySlice<UInt8>) -> Bool {
    (1...12).contains(suffix.count)
      && suffix.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  /// Each type that the default application may get has one here: the database may lack the names of other systems, and
  /// a browser may take a file without an extension for a page. JSON, CSV and Markdown are for rules.
  private static let usual = [
    "application/ics": "ics", "application/json": "json", "application/pdf": "pdf",
    "audio/aac": "aac", "audio/flac": "flac", "audio/midi": "mid", "audio/mp3": "mp3", "audio/mp4": "m4a",
    "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/opus": "opus", "audio/wav": "wav", "audio/webm": "webm",
    "audio/x-flac": "flac", "audio/x-m4a": "m4a", "audio/x-wav": "wav",
    "image/avif": "avif", "image/bmp": "bmp", "image/gif": "gif", "image/heic": "heic", "image/heif": "heif",
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/jxl": "jxl", "image/png": "png", "image/tiff": "tiff",
    "image/webp": "webp",
    "text/calendar": "ics", "text/csv": "csv", "text/directory": "vcf", "text/markdown": "md", "text/plain": "txt",
    "text/vcard": "vcf", "text/x-vcalendar": "vcs", "text/x-vcard": "vcf",
    "video/mp4": "mp4", "video/mpeg": "mpg", "video/ogg": "ogv", "video/quicktime": "mov", "video/webm": "webm",
    "video/x-m4v": "m4v", "video/x-matroska": "mkv",
  ]
}
