import Names
import ReaderModels
import TagrouteClient

extension DoctorWatch {
  /// The part of an examination that the lines depend on.
  package struct Scene: Sendable {
    package struct Reader: Hashable, Sendable {
      /// The object path.
      package let path: String
      package let title: String
      /// The model, if it is known, or the library that drives the reader.
      package let recognition: String
      package let isScanning: Bool

      init(_ reader: ReaderStatus, _ seen: Examination) {
        (path, title) = (reader.path, reader.title)
        recognition = Self.recognition(reader.device, seen)
        isScanning = reader.state == "scanning"
      }

      var text: String { "\(title), \(recognition)\(isScanning ? ", scanning" : "")" }

      private static func recognition(_ device: String, _ seen: Examination) -> String {
        guard let name = Names.PCSC.readerName(inDevice: device) else {
          let plugged = seen.pcsc.readers.first { device.hasSuffix(":\($0.place)") }
          return plugged.map { "recognised as \($0.title), by libnfc" } ?? "by libnfc"
        }
        return ReaderModel.find(readerName: name).map { "recognised as \($0.title)" }
          ?? "a model that Tagroute does not know"
      }
    }

    package let findings: [Finding]
    /// What to fix, or why the readers do not scan, in the order of a tap's path. Not what a reader that is plugged in
    /// fixes.
    package let problems: [Finding]
    /// Why no later examination can be better; nil if one can.
    package let obstacle: Finding?
    /// The readers that are plugged in and work.
    package let readers: [Reader]
    /// Nil if a reader is plugged in.
    package let waitingLine: String?
    package let hasDaemon: Bool
    package let isScanning: Bool
    /// Whether something keeps all readers from scanning.
    package let isSuspended: Bool

    /// What to fix first.
    package var firstWrong: Finding? { problems.first { $0.verdict == .wrong } }
    /// As that of `tagroute doctor`.
    var exitCode: Int32 { findings.contains { $0.verdict == .wrong } ? Names.ExitCode.failure : 0 }

    package init(_ seen: Examination) {
      let diagnosis = Diagnosis(seen)
      let (findings, unplugged) = (diagnosis.findings, diagnosis.unplugged)
      let status = seen.daemon.value
      let reasons = status?.suspendReasons ?? []
      let problems = findings.filter { finding in
        switch finding.verdict {
        case .right: false
        case .wrong: !unplugged.contains(finding)
        // These keep tags from being read, and pass by themselves or are intended.
        case .note:
          switch finding.subject {
          case .reader, .pcscd, .station: true
          case .scanning: !reasons.isEmpty && !reasons.contains("no-reader")
          default: false
          }
        }
      }
      self.findings = findings
      self.problems = problems
      obstacle = findings.first { finding in
        switch finding.subject {
        // The addresses of the buses do not change while a program runs.
        case .systemBus, .sessionBus: finding.verdict == .wrong
        // The taps of a station go to another user's agent.
        case .agent: diagnosis.stationUser != nil && seen.agent.value.flatMap { $0 } == nil
        default: false
        }
      }
      let working = status?.readers.filter { !["absent", "failed"].contains($0.state) } ?? []
      readers = working.map { Reader($0, seen) }
      let isReaderWrong = problems.contains {
        $0.verdict == .wrong && [.reader, .pcscd, .kernelModule].contains($0.subject)
      }
      waitingLine =
        working.isEmpty && !isReaderWrong
        ? unplugged.first.map { Self.waitingLine(status?.readers.first { $0.state == "absent" }, $0) } : nil
      hasDaemon = status != nil
      isScanning = status?.scanning ?? false
      isSuspended = !isScanning && !reasons.isEmpty
    }

    /// `reader` is a reader that the configuration names, or that was there before.
    private static func waitingLine(_ reader: ReaderStatus?, _ finding: Finding) -> String {
      guard let reader, let remedy = finding.remedy else { return "waiting for a reader: plug it in" }
      return "waiting for \(reader.label): \(remedy.text)"
    }
  }
}
