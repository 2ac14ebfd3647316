import Doctor
import EventLoop
import Glibc
import Names
import Settings
import TagrouteClient

/// The files of a report.
struct ReportContents {
  struct File {
    let name: String
    /// Shown to the user before the report is written.
    let summary: String
    let bytes: [UInt8]
  }

  private static let journalctl = "/usr/bin/journalctl"
  private static let journalTimeout = Duration.seconds(20)
  private static let mostJournalBytes = 16 << 20
  private static let usbDevices = "/sys/bus/usb/devices"
  /// UIDs (systemd's UIDS-GIDS.md). Lower ones are of the system's own users.
  private static let leastPerson: uid_t = 1000
  private static let nobody: uid_t = 65_534

  /// What Tagroute and the journal answer.
  private struct Answers: Sendable {
    let findings: [Finding]
    let status: Result<String, Failure>
    let journal: Result<String, SystemError>
  }

  private(set) var files: [File] = []
  /// Nil if everything is kept.
  private let text: TextRedaction?
  private let traces: TraceRedaction?

  /// Asks Tagroute and the system. A remark gives the reason why a part is missing.
  static func collect(
    _ traces: [TraceRecording.Trace], _ remarks: [String], keepsContents: Bool, on loop: EventLoop
  ) async throws(SystemError) -> [File] {
    let answers = Answers(
      findings: Diagnosis(await Examination.make(on: loop)).findings, status: await status(on: loop),
      journal: await journal())
    // The names of all users may come from a server, and long traces take a while.
    return try await DedicatedThread.run {
      var contents = ReportContents(keepsContents: keepsContents, traces: traces.map(\.lines))
      for trace in traces { contents.add(trace.lines, of: trace.reader) }
      contents.add(answers, remarks)
      return contents.files
    }
  }

  private static func status(on loop: EventLoop) async -> Result<String, Failure> {
    do throws(Failure) {
      return .success(try Console(json: true).text(try await StatusReport.current(on: loop), onOneLine: false))
    } catch {
      return .failure(error)
    }
  }

  private static func journal() async -> Result<String, SystemError> {
    let units = ["tagrouted.service", "pcscd.service"].flatMap { ["--unit", $0] }
    let userUnits = ["tagroute-agent.service", "tagroute-mqtt.service"].flatMap { ["--user-unit", $0] }
    // Lines for debugging may have the contents of tags.
    let arguments =
      ["--no-pager", "--no-hostname", "--output=short-iso", "--priority=info", "--lines=2000", "--quiet"] + units
      + userUnits + JournalRedaction.matches
    do throws(SystemError) {
      return .success(
        try await ProgramOutput.run(
          journalctl, arguments, timeout: journalTimeout, mostBytes: mostJournalBytes
        ).text)
    } catch {
      return .failure(error)
    }
  }

  private init(keepsContents: Bool, traces: [[TraceLine]]) {
    let redaction = keepsContents ? nil : TraceRedaction(traces)
    self.traces = redaction
    text = redaction.map { redaction in
      TextRedaction(
        users: Self.users(), home: ProcessEnvironment.current["HOME"], host: Self.host(),
        identifiers: redaction.identifiers, contents: redaction.contents)
    }
  }

  private mutating func add(_ trace: [TraceLine], of reader: TraceRecording.Reader) {
    let lines = traces?.redact(trace) ?? trace
    let (exchanges, taps) = trace.reduce(into: (0, 0)) { counts, line in
      switch line.event {
      case .exchange: counts.0 += 1
      case .tap: counts.1 += 1
      default: break
      }
    }
    files.append(
      File(
        name: "trace-\(reader.number).jsonl",
        summary: "\(exchanges) exchanges and \(taps) tap\(taps == 1 ? "" : "s") with reader \(reader.label)",
        bytes: lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] }))
  }

  private mutating func add(_ answers: Answers, _ remarks: [String]) {
    var remarks = remarks
    add(
      "doctor.txt", "what tagroute doctor --verbose prints",
      ReportLine.report(answers.findings, isVerbose: true).map(\.description))
    switch answers.status {
    case .success(let status): add("status.json", "what tagroute status --json prints", status)
    case .failure(let failure): remarks.append("no status: \(failure.message)")
    }
    add("versions.txt", "versions of Tagroute and of the system", Self.versions())
    add("usb.txt", "devices on USB, without serial numbers", Self.usb())
    switch answers.journal {
    case .success(let journal):
      let lines = text == nil ? journal : JournalRedaction.redact(journal)
      if lines.isEmpty {
        remarks.append("no journal: \(Self.journalctl) shows no lines of Tagroute to you")
      } else {
        add("journal.txt", "the last lines of Tagroute and pcscd in the journal", lines)
        if !lines.contains("tagrouted[") {
          remarks.append("the journal shows no lines of tagrouted to you: sudo journalctl --unit=tagrouted has them")
        }
      }
    case .failure(let error): remarks.append("no journal: \(error)")
    }
    if !remarks.isEmpty { add("remarks.txt", "what could not be collected, and why", remarks) }
  }

  private mutating func add(_ name: String, _ summary: String, _ lines: [String]) {
    add(name, summary, Console.text(lines))
  }

  private mutating func add(_ name: String, _ summary: String, _ contents: String) {
    files.append(File(name: name, summary: summary, bytes: Array((text?.redact(contents) ?? contents).utf8)))
  }

  private static func versions() -> [String] {
    var lines = ["tagroute \(Names.version)"]
    if let release = contents("/etc/os-release") {
      lines += release.split(separator: "\n").filter { $0.hasPrefix("PRETTY_NAME=") }.map(String.init)
    }
    var system = utsname()
    if uname(&system) == 0 {
      lines.append("\(text(system.sysname)) \(text(system.release)) \(text(system.machine))")
    }
    for name in ["XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG"] {
      if let value = ProcessEnvironment.current[name] { lines.append("\(name)=\(value)") }
    }
    return lines
  }

  /// The numbers and names of the devices.
  private static func usb() -> [String] {
    guard let names = FileContents.names(inDirectory: usbDevices, atMost: 1000) else {
      return ["the devices cannot be listed"]
    }
    return names.compactMap { name -> String? in
      func attribute(_ attribute: String) -> String? {
        contents("\(usbDevices)/\(name)/\(attribute)")?.split(separator: "\n").first.map(String.init)
      }
      guard let vendor = attribute("idVendor"), let product = attribute("idProduct") else { return nil }
      let words = [attribute("manufacturer"), attribute("product"), attribute("bcdDevice").map { "version \($0)" }]
      return "\(vendor):\(product) " + words.compactMap(\.self).joined(separator: ", ")
    }.sorted()
  }

  private static func contents(_ path: String) -> String? {
    let bytes = try? FileContents.read(path, upTo: 4096)
    return bytes.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The login names and real names of people, and of the user who runs the command.
  private static func users() -> [String] {
    var users = ["USER", "LOGNAME"].compactMap { ProcessEnvironment.current[$0] }
    func add(_ entry: UnsafeMutablePointer<passwd>) {
      users.append(String(cString: entry.pointee.pw_name))
      // The real name is the first field (passwd(5)).
      guard let fields = entry.pointee.pw_gecos else { return }
      if let name = String(cString: fields).split(separator: ",", omittingEmptySubsequences: false).first {
        users.append(String(name))
      }
    }
    if let entry = getpwuid(getuid()) { add(entry) }
    setpwent()
    defer { endpwent() }
    while users.count < 20_000, let entry = getpwent() {
      if entry.pointee.pw_uid >= Self.leastPerson, entry.pointee.pw_uid != Self.nobody { add(entry) }
    }
    // The programs of the system run as root.
    return users.filter { $0 != "root" }
  }

  private static func host() -> String {
    var system = utsname()
    return uname(&system) == 0 ? text(system.nodename) : ""
  }

  /// A C array of characters.
  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
