import Glibc
import Names
import TagrouteClient

extension Diagnosis {
  var readers: [Finding] {
    let pcscd = pcscd
    let findings =
      [
        finding(of: seen.readerProgram, Names.Files.readerProgram),
        finding(of: seen.pcscReaderProgram, Names.Files.pcscReaderProgram), kernelModule, moduleFile, rivalPCSCD,
      ].compactMap { $0 } + pcscd
    guard let status = seen.daemon.value else { return findings }
    // If a reader is plugged in, its obstacle is named already.
    if status.readers.isEmpty, pcscd.isEmpty {
      return findings + [.wrong(.reader, "no reader found", addingReader)]
    }
    return findings + status.readers.filter { !isExplained($0, by: pcscd) }.map(finding)
  }

  /// A program that uses readers, if it does not start. Otherwise its library is in the finding about versions.
  private func finding(of program: Examination.ReaderProgram, _ name: String) -> Finding? {
    switch program {
    case .notAsked, .loads: nil
    case .isMissing(let path): .wrong(.reader, "\(path), which opens readers, is missing", setup.installing)
    case .isNotLinked(let reason):
      .wrong(
        .reader, "\(name), which opens readers, does not start (\(reason))",
        ReaderProgramProbe.missingLibrary(in: reason).flatMap(setup.installing(library:)) ?? setup.installing)
    case .fails(let reason):
      .wrong(.reader, "\(name), which opens readers, does not work (\(reason))", setup.installing)
    }
  }

  private var kernelModule: Finding {
    let module = Self.kernelModule
    guard seen.hasKernelModule else { return .right(.kernelModule, "no module takes readers") }
    let removing = ReaderRemedy.unloading(module)
    return .wrong(
      .kernelModule, "\(module) is loaded and takes readers before libnfc or pcscd can",
      .run(seen.isKernelModuleKeptOff ? removing : "\(removing) && \(ReaderRemedy.keepingOff(module))"))
  }

  /// An administrator who replaced the file may want the module, or may have forgotten the blacklist.
  private var moduleFile: Finding? {
    guard seen.hasOwnModuleFile, !seen.isKernelModuleKeptOff else { return nil }
    return .note(
      .kernelModule,
      "\(ReaderRemedy.moduleFile) replaces the installed file of that name, but does not blacklist \(Self.kernelModule)"
    )
  }

  private func finding(of reader: ReaderStatus) -> Finding {
    let name = reader.name.isEmpty ? reader.device : "\(reader.name) (\(reader.device))"
    guard ["absent", "failed"].contains(reader.state) else {
      let text = "\(name) on \(reader.seat) is \(reader.state)"
      // For example, another program holds the card.
      return reader.stateReason.isEmpty ? .right(.reader, text) : .note(.reader, "\(text); \(reader.stateReason)")
    }
    let unit = seen.daemonUnit.value
    let text = "\(name) is \(reader.state)" + (reader.stateReason.isEmpty ? "" : " (\(reader.stateReason))")
    if let remedy = seen.nodes[reader.path].flatMap(opening) { return .wrong(.reader, text, remedy) }
    if reader.state == "absent" {
      return .wrong(.reader, text, connecting(reader))
    }
    guard !reader.stateReason.isEmpty else { return .wrong(.reader, text, setup.log(of: .daemon, unit)) }
    // The daemon's reason says what to do.
    return .wrong(.reader, "\(name) is \(reader.state)", .advise(reader.stateReason))
  }

  private var addingReader: Remedy {
    .advise("plug in a reader, or name its port in Devices= below [Reader] in \(seen.configuration.file)")
  }

  /// How to connect an absent reader. If the configuration names no reader, libnfc found it, or looks for one.
  private func connecting(_ reader: ReaderStatus) -> Remedy {
    let place = "Devices= below [Reader] in \(seen.configuration.file)"
    return switch seen.configuration.namesReaders {
    case true?: .advise("plug it in, or change \(place)")
    case nil: .advise("plug it in, or check whether \(place) names another reader")
    case false? where reader.device.isEmpty: addingReader
    case false?: .advise("plug it in")
    }
  }

  /// How to let the daemon open a device file; nil if there is no visible obstacle.
  private func opening(_ node: Examination.Node) -> Remedy? {
    guard node.isThere, let daemon = seen.daemonCredentials else { return nil }
    guard daemon.mayOpen(node) else {
      // The rules only help a daemon with the group of the rules.
      if node.isUSB, daemon.groupName == ReaderRemedy.owner {
        guard seen.hasUdevRules else { return setup.installing }
        return .run(ReaderRemedy.applyingUdevRules, "applies the udev rules, which give it to the daemon's group")
      }
      return letting(daemon, open: node)
    }
    guard let devices = seen.daemonUnit.value?.devices, !devices.contains(where: node.isLetIn) else { return nil }
    return .run(
      "sudo systemctl set-property \(RunningProgram.daemon.unit) 'DeviceAllow=\(node.path) rw'",
      "the unit does not allow tagrouted to read and write this device")
  }

  /// How to change permissions so that the daemon can open the file.
  private func letting(_ daemon: Examination.Credentials, open node: Examination.Node) -> Remedy {
    let passing = "lasts until it is plugged in again; a udev rule makes it permanent"
    if daemon.user == node.owner { return .run("sudo chmod u+rw \(node.path)", passing) }
    let opening = "sudo chmod g+rw \(node.path)"
    if daemon.groups.contains(node.group) { return .run(opening, passing) }
    // Do not add the daemon to root's group. A group without a name cannot be joined.
    if node.group == 0 || node.groupName == "\(node.group)" {
      return .run("sudo chgrp \(daemon.groupName) \(node.path) && \(opening)", passing)
    }
    let restart = setup.restarting(.daemon, seen.daemonUnit.value)
    let isOpen = node.mode & 0o060 == 0o060
    let commands = [
      isOpen ? nil : opening, "sudo usermod -aG \(node.groupName) \(daemon.userName)", restart.command,
    ].compactMap { $0 }
    let advice = [restart.advice, isOpen ? nil : passing].compactMap { $0 }
    return Remedy(
      command: commands.joined(separator: " && "), advice: advice.isEmpty ? nil : advice.joined(separator: "; "))
  }

  static let kernelModule = "pn533_usb"
}

extension Examination.Node {
  /// Whether an entry of DeviceAllow= allows opening this file. A driver may be a pattern
  /// (systemd.resource-control(5)).
  func isLetIn(by entry: Examination.AllowedDevice) -> Bool {
    entry.isToReadAndWrite && (names.contains(entry.name) || drivers.contains { fnmatch(entry.name, $0, 0) == 0 })
  }
}

extension Examination.Credentials {
  /// Whether the file's permissions allow reading and writing it (path_resolution(7)).
  func mayOpen(_ node: Examination.Node) -> Bool {
    if user == 0 { return true }
    if user == node.owner { return node.mode & 0o600 == 0o600 }
    return groups.contains(node.group) ? node.mode & 0o060 == 0o060 : node.mode & 0o006 == 0o006
  }
}
