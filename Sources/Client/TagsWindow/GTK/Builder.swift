import CGTK
import CGTKShims
import Names

/// A file of `UI`, with its objects.
final class Builder {
  private let builder: Kept
  private let file: String

  /// `file` is a file of `UI`.
  init(_ file: String) {
    self.file = file
    builder = Kept(adopting: gtk_builder_new())
    gtk_builder_set_translation_domain(builder.opaque, Names.translationDomain)
    var length = 0
    guard let bytes = tags_file(file, &length) else { preconditionFailure("\(file) is not embedded") }
    var error: UnsafeMutablePointer<GError>?
    guard gtk_builder_add_from_string(builder.opaque, bytes, gssize(length), &error) != 0 else {
      // The file is part of the program, and a test loads each.
      preconditionFailure("\(file): \(error.map { String(cString: $0.pointee.message) } ?? "")")
    }
  }

  /// The object with this id. The file is part of the program, so a missing one is a mistake in it.
  subscript(_ id: String) -> Kept {
    guard let object = gtk_builder_get_object(builder.opaque, id) else { preconditionFailure("\(file) has no \(id)") }
    return Kept(object)
  }
}
