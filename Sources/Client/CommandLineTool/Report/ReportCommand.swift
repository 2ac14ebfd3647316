import Bus
import Doctor
import EventLoop
import Glibc
import Names
import Settings
import TagrouteClient

extension Command {
  static let report = Command(
    name: "report", summary: "collect what a developer needs to find a fault", arguments: "FILE",
    details: """
      Records what passes between Tagroute and the readers while you repeat what goes
      wrong, and adds the findings of tagroute doctor, the status, versions, the
      journal of Tagroute, and the devices on USB. FILE becomes a compressed archive
      (.tar.gz). Nothing is sent anywhere: attach the file to your report.

      Identifiers of tags, what is stored on them, serial numbers of readers, names
      of users and the name of this machine are replaced, unless you give
      --with-contents. The command lists what it has collected, and asks before it
      writes.

      Recording needs the same permission as tagroute read. Each reader starts again
      before and after its recording. A reader session that has the reader ends with
      the first start. docs/traces.md describes the recordings. Fails with 73 if FILE
      cannot be written.
      """,
    options: [
      Option("minutes", "N", "record for N minutes, from 0 to 9; 1 without this option"),
      Option("with-contents", "keep identifiers, contents and names"), Option("yes", "do not ask"),
      Option("force", "overwrite FILE"),
    ]
  ) { arguments, console throws(Failure) in
    try await ReportRun(arguments, console).run()
    return 0
  }
}

/// One call of `tagroute report`.
private struct ReportRun {
  private static let archiver = "/usr/bin/tar"
  private static let archiverTimeout = Duration.seconds(60)
  private static let mostArchiveBytes = 256 << 20
  private static let mostErrorBytes = 1 << 16
  private static let archive = "report.tar.gz"

  private let file: OutputFile
  private let duration: Duration
  private let keepsContents: Bool
  private let isConfirmed: Bool
  private let console: Console

  init(_ arguments: Arguments, _ console: Console) throws(Failure) {
    guard arguments.words.count == 1, let path = arguments.words.first else {
      throw .usage("name the file to write, for example tagroute-report.tar.gz")
    }
    guard path != "-" else { throw .usage("a report cannot go to standard output: name a file") }
    file = OutputFile(path: path, overwrites: arguments.has("force"))
    duration = .seconds(60 * (try arguments.number("minutes", in: 0...9) ?? 1))
    keepsContents = arguments.has("with-contents")
    isConfirmed = arguments.has("yes")
    self.console = console
    guard isConfirmed || isatty(STDIN_FILENO) == 1 else {
      throw .usage("there is no terminal to ask whether to write the file: confirm with --yes")
    }
    try file.check(isText: false, console)
  }

  func run() async throws(Failure) {
    let loop = EventLoop(label: "tagroute")
    let (traces, remarks) = await record(on: loop)
    let files: [ReportContents.File]
    do throws(SystemError) {
      files = try await ReportContents.collect(traces, remarks, keepsContents: keepsContents, on: loop)
    } catch {
      throw Failure(message: "\(error)", exitCode: Names.ExitCode.failure)
    }
    if !isConfirmed { try await confirm(files) }
    let archive = try await pack(files)
    try await file.write { write throws(Failure) in try write(archive) }
    try console.answer(
      [
        "file": file.path, "bytes": archive.count,
        "files": files.map { ["name": $0.name, "bytes": $0.bytes.count] as JSON },
      ] as JSON, ["\(file.path): \(archive.count) bytes, \(files.count) files"])
  }

  /// The traces of all readers, and what is missing in them.
  private func record(on loop: EventLoop) async -> (traces: [TraceRecording.Trace], remarks: [String]) {
    guard duration > .zero else { return ([], []) }
    do throws(Failure) {
      let client = try await DaemonClient.own(on: loop)
      let recording = TraceRecording(TraceRecording.Source(client), on: loop)
      try await Failure.asking(.daemon) { () throws(BusError) in try await recording.update() }
      let (readers, remarks) = await (recording.traces.map(\.reader.label), recording.remarks)
      for remark in remarks { Console.warn(remark) }
      // If you may not record the readers that are there, you may not record one that comes later either.
      if !readers.isEmpty || remarks.isEmpty {
        let changes = try await Failure.asking(.daemon) { () throws(BusError) in try await client.changes() }
        let follower = Task { for await _ in changes { try? await recording.update() } }
        defer { follower.cancel() }
        instruct(readers)
        do throws(SystemError) { try await TraceRecording.untilInput(orAfter: duration) } catch {
          throw Failure(message: "\(error)", exitCode: Names.ExitCode.failure)
        }
      }
      return await recording.finish()
    } catch {
      let remark = "nothing was recorded: \(error.message)"
      Console.warn(remark)
      return ([], [remark])
    }
  }

  private func instruct(_ readers: [String]) {
    let names = readers.isEmpty ? "readers" : readers.map { "reader \($0)" }.joined(separator: ", ")
    let minutes = duration / .seconds(60)
    Console.warn(
      "Recording \(names) for \(minutes == 1 ? "1 minute" : "\(Int(minutes)) minutes"). "
        + "Repeat what goes wrong: \(readers.isEmpty ? "connect the reader" : "hold the tag to the reader"). "
        + "Then press Enter.")
  }

  private func confirm(_ files: [ReportContents.File]) async throws(Failure) {
    Console.tell("\nThe report contains:\n")
    for file in files { Console.warn("  \(file.name) (\(file.bytes.count) bytes): \(file.summary)") }
    Console.tell(
      keepsContents
        ? "It contains identifiers of tags, what is stored on them, and names of this machine and its users.\n"
        : "Identifiers of tags, what is stored on them, serial numbers of readers, names of users and the name of this "
          + "machine are replaced.\n")
    Console.tell("Write \(Console.printable(file.path))? [y/N] ")
    // A key that was pressed during the recording is no answer.
    tcflush(STDIN_FILENO, TCIFLUSH)
    let answer = await BlockingRead.line()?.lowercased()
    guard answer == "y" || answer == "yes" else { throw Failure(message: "no report was written", exitCode: 1) }
  }

  private func pack(_ files: [ReportContents.File]) async throws(Failure) -> [UInt8] {
    let output: ProgramOutput
    let archive: [UInt8]
    do throws(SystemError) {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      for file in files { try FileDescriptor.replace("\(folder.path)/\(file.name)", with: file.bytes) }
      let path = "\(folder.path)/\(Self.archive)"
      // With errors in the output, the archive has to go to a file.
      output = try await ProgramOutput.run(
        Self.archiver,
        [
          "--create", "--gzip", "--file", path, "--directory", folder.path, "--owner=0", "--group=0",
          "--numeric-owner",
        ] + files.map(\.name), withErrors: true, timeout: Self.archiverTimeout, mostBytes: Self.mostErrorBytes)
      archive = (try? FileContents.read(path, upTo: Self.mostArchiveBytes)).flatMap { $0 } ?? []
    } catch {
      throw Failure(message: "\(error)", exitCode: Names.ExitCode.cannotCreate)
    }
    guard output.end == .exited(0), !archive.isEmpty else {
      let reason = output.text.split(separator: "\n").first.map { ": \(Console.printable(String($0)))" } ?? ""
      throw Failure(
        message: "\(Self.archiver) could not make the archive\(reason)", exitCode: Names.ExitCode.cannotCreate)
    }
    return archive
  }
}

/// A folder of this program, which only its user can open.
private struct TemporaryFolder {
  let path: String

  init() throws(SystemError) {
    var name = Array("\(ProcessEnvironment.current["TMPDIR"] ?? "/tmp")/tagroute-report.XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw SystemError("make a folder for temporary files") }
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Also removes its files. It has no folders.
  func remove() {
    for name in FileContents.names(inDirectory: path, atMost: 1000) ?? [] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}
