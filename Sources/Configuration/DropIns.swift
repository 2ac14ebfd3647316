import Glibc

/// The drop-in files of several directories, in the order in which they are applied: by file name.
///
/// As systemd does it (systemd.unit(5)): a file hides those of the same name in the directories before its own, so that an
/// administrator can replace or (with an empty file) switch off what a package ships.
///
/// - Parameter directories: in ascending precedence; one that does not exist is empty.
/// - Returns: paths of the files whose names end in `.conf`.
public func dropIns(in directories: [String]) -> [String] {
  var paths: [String: String] = [:]
  for directory in directories {
    for name in names(in: directory) where name.hasSuffix(".conf") && !name.hasPrefix(".") {
      paths[name] = "\(directory)/\(name)"
    }
  }
  return paths.sorted { $0.key < $1.key }.map(\.value)
}

private func names(in directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    // A name is valid text up to its NUL, or it is not one of ours.
    let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
      String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if let name { names.append(name) }
  }
  return names
}
