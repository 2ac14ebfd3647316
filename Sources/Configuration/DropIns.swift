import KeyFile

/// The drop-in files of several directories, in the order in which they are applied: by file name.
///
/// As systemd does it (systemd.unit(5)): a file hides those of the same name in the directories before its own, so that an
/// administrator can replace or (with an empty file) switch off what a package ships.
///
/// - Parameter directories: in ascending precedence; one that does not exist is empty.
/// - Returns: paths of the files whose names end in `.conf`.
public func dropIns(in directories: [String]) -> [String] {
  // More than anybody writes, and a bound where something else does.
  let mostNames = 10_000
  var paths: [String: String] = [:]
  for directory in directories {
    for name in FileContents.names(inDirectory: directory, atMost: mostNames) ?? [] where name.hasSuffix(".conf") {
      paths[name] = "\(directory)/\(name)"
    }
  }
  return paths.sorted { $0.key < $1.key }.map(\.value)
}
