/// The drop-in files (`*.conf`) of several directories, in the order in which they are applied: by file name.
///
/// As in systemd (systemd.unit(5)), a file hides files of the same name in earlier directories. So an administrator can
/// replace a packaged file, or disable it with an empty one. A missing directory has the same effect as an empty one.
package func dropIns(in directories: [String]) -> [String] {
  // Far more than an administrator writes. It bounds the work if another program fills the directory.
  let mostNames = 10_000
  var paths: [String: String] = [:]
  for directory in directories {
    for name in FileContents.names(inDirectory: directory, atMost: mostNames) ?? [] where name.hasSuffix(".conf") {
      paths[name] = "\(directory)/\(name)"
    }
  }
  return paths.sorted { $0.key < $1.key }.map(\.value)
}
