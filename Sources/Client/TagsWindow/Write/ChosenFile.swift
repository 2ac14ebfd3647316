import CGTK
import EventLoop
import TagsPages

/// A file that the user has chosen, with its contents.
nonisolated struct ChosenFile: Sendable {
  let name: String
  let contents: [UInt8]
  /// Guessed from the name and the contents.
  let mediaType: String

  struct Problem: Error {
    /// In the user's language, from GIO.
    let message: String
  }

  /// More than any tag can hold, in bytes.
  private static let limit = 1 << 20

  /// Reads on another thread, because a file can be on a network.
  static func read(_ uri: String) async -> Result<ChosenFile, Problem> {
    do throws(SystemError) {
      return try await DedicatedThread.run { load(uri) }
    } catch {
      return .failure(Problem(message: "\(error)"))
    }
  }

  private static func load(_ uri: String) -> Result<ChosenFile, Problem> {
    guard let file = g_file_new_for_uri(uri) else { return .failure(Problem(message: uri)) }
    defer { g_object_unref(UnsafeMutableRawPointer(file)) }
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    func failed() -> Result<ChosenFile, Problem> {
      .failure(Problem(message: error.map { String(cString: $0.pointee.message) } ?? uri))
    }
    guard let stream = g_file_read(file, nil, &error) else { return failed() }
    defer { g_object_unref(stream) }
    var contents = [UInt8](repeating: 0, count: limit + 1)
    var count: gsize = 0
    let input = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GInputStream.self)
    guard g_input_stream_read_all(input, &contents, gsize(contents.count), &count, nil, &error) != 0 else {
      return failed()
    }
    guard count <= limit else {
      return .failure(Problem(message: translated("The file has more than a megabyte. No tag has so much room.")))
    }
    contents.removeLast(contents.count - Int(count))
    let name = text(g_file_get_basename(file)) ?? ""
    let kind = text(g_content_type_guess(name, contents, gsize(contents.count), nil))
    let mediaType = kind.flatMap { text(g_content_type_get_mime_type($0)) } ?? "application/octet-stream"
    return .success(ChosenFile(name: name, contents: contents, mediaType: mediaType))
  }

  /// Takes the text and releases it.
  private static func text(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }
}
