import Glibc
import Names
import ReaderModels
import Settings
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
      return findings + [noReader]
    }
    return findings + status.readers.filter { !isExplained($0, by: pcscd) }.map(finding)
  }

  private var noReader: Finding { .wrong(.reader, "no reader found", addingReader) }

  /// The findings whose fix is to plug a reader in.
  var unplugged: [Finding] {
    guard let status = seen.daemon.value else { return [] }
    let findings =
      status.readers.isEmpty
      ? (pcscd.isEmpty ? [noReader] : [])
      : status.readers.filter { $0.state == "absent" && seen.nodes[$0.path].flatMap(opening) == nil }.map(finding)
    return findings.map { $0.shortened(seen.home) }
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

  /// An administrator may have replaced the file to load the module, or may have forgotten the blacklist.
  private var moduleFile: Finding? {
    guard seen.hasOwnModuleFile, !seen.isKernelModuleKeptOff else { return nil }
    return .note(
      .kernelModule,
      "\(ReaderRemedy.moduleFile) replaces the installed file of that name, but does not blacklist \(Self.kernelModule)"
    )
  }

  private func finding(of reader: ReaderStatus) -> Finding {
    let name = reader.label
    guard ["absent", "failed"].contains(reader.state) else {
      let text = "\(name) on \(reader.seat) is \(reader.state)"
      if reader.stateReason == ReaderRemedy.stuck { return .wrong(.reader, text, .advise(ReaderRemedy.stuck)) }
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

/// Readers that are plugged in, and that pcscd does not give to the daemon. Each gets the first obstacle on its way.
extension Diagnosis {
  var pcscd: [Finding] {
    guard let status = seen.daemon.value else { return [] }
    let listed = status.readers.filter { Names.PCSC.readerName(inDevice: $0.device) != nil }
    let works = listed.filter { !["absent", "failed"].contains($0.state) }
    let failed = listed.count > works.count
    let findings = unused(besides: works, status).compactMap {
      obstacle($0, isListed: failed || status.readers.map(\.device).contains(Self.undrivenPrefix + $0.place))
    }
    if findings.isEmpty, !works.isEmpty {
      let readers = works.count == 1 ? "1 reader" : "\(works.count) readers"
      return [.right(.pcscd, "pcscd drives \(readers) for Tagroute")]
    }
    // Several readers may have the same obstacle.
    var reported: Set<Finding> = []
    return findings.filter { reported.insert($0).inserted }
  }

  /// The daemon's device string of a contactless reader that no program can drive begins like this: `usb:001:004`. Its
  /// reason is for any system, and the finding about its obstacle for this one.
  static let undrivenPrefix = "usb:"

  /// Whether a finding of `pcscd` explains this reader of the daemon's list.
  func isExplained(_ reader: ReaderStatus, by findings: [Finding]) -> Bool {
    reader.device.hasPrefix(Self.undrivenPrefix) && findings.contains { $0.verdict != .right }
      && seen.pcsc.readers.contains { Self.undrivenPrefix + $0.place == reader.device }
  }

  /// A name that no driver gives may be that of any reader.
  private func unused(besides works: [ReaderStatus], _ status: DaemonStatus) -> [Examination.PluggedInReader] {
    let readers = seen.pcsc.readers.filter { !isOfLibnfc($0, status) }
    var (unused, unknown) = (readers, 0)
    for name in works.compactMap({ Names.PCSC.readerName(inDevice: $0.device) }) {
      if let index = unused.firstIndex(where: { isNamed(name, $0) }) {
        unused.remove(at: index)
      } else if !readers.contains(where: { isNamed(name, $0) }) {
        unknown += 1
      }
    }
    return Array(unused.dropFirst(unknown))
  }

  /// If only libnfc may be used, pcscd is a rival.
  var rivalPCSCD: Finding? {
    guard seen.pcsc.hasSocket, seen.configuration.backend == .libnfc else { return nil }
    return .note(
      .pcscd, "Backend=libnfc, and pcscd is there: it takes the readers that it can drive, such as an ACR122U",
      setup.stoppingPCSCD)
  }

  /// Whether it is the device of a libnfc connection string, such as `acr122_usb:001:004`.
  private func isOfLibnfc(_ reader: Examination.PluggedInReader, _ status: DaemonStatus) -> Bool {
    status.readers.map(\.device).contains { device in
      device.hasSuffix(":\(reader.place)") && !device.hasPrefix(Names.PCSC.devicePrefix)
        && !device.hasPrefix(Self.undrivenPrefix)
    }
  }

  /// Whether pcscd may give this reader this name. It begins with the driver's name for the model.
  private func isNamed(_ name: String, _ reader: Examination.PluggedInReader) -> Bool {
    seen.pcsc.drivers.contains { driver in
      driver.name(vendor: reader.vendor, product: reader.product).map { name.hasPrefix($0) } == true
    }
  }

  /// Nil if another finding explains it. `isListed`: a reader of the daemon's list does not work.
  private func obstacle(_ reader: Examination.PluggedInReader, isListed: Bool) -> Finding? {
    let name = "\(reader.title) (\(reader.id))"
    let file = seen.configuration.file
    if seen.configuration.namesReaders == true, !isListed {
      return .note(.reader, "\(name) is plugged in, and Devices= in \(file) does not name it")
    }
    if seen.configuration.backend == .libnfc {
      return .note(
        .reader, "\(name) is plugged in, and Backend=libnfc in \(file) leaves it out",
        .advise("write Backend=auto below [Reader], then \(setup.reloading(.daemon, seen.daemonUnit.value).text)"))
    }
    guard seen.pcsc.isInstalled else {
      return .wrong(.pcscd, "\(name) needs pcscd, which is not installed", setup.installing(.pcscd))
    }
    if let finding = missingDriver(reader, name) { return finding }
    if reader.interfaceDrivers.contains(Self.kernelModule) { return nil }
    if let finding = rival(reader, name) ?? closed(reader, name) { return finding }
    if let finding = stopped(name) ?? refusal { return finding }
    guard seen.pcsc.credentials == nil, !seen.pcsc.hidesProcesses, reader.interfaceDrivers.contains("usbfs") else {
      if isListed { return nil }
      return .wrong(.pcscd, "pcscd does not list \(name)", setup.restartingPCSCD("replug the reader then"))
    }
    return .wrong(
      .pcscd, "another program has opened \(name)",
      .run("sudo fuser --verbose \(reader.node.path)", "shows that program; stop it, and replug the reader"))
  }

  private func missingDriver(_ reader: Examination.PluggedInReader, _ name: String) -> Finding? {
    let drivers = seen.pcsc.drivers
    guard !drivers.contains(where: { $0.name(vendor: reader.vendor, product: reader.product) != nil }) else {
      return nil
    }
    guard let ccid = drivers.first(where: { $0.bundle == "ifd-ccid.bundle" }) else {
      return .wrong(.pcscd, "pcscd has no driver for \(name)", setup.installing(.ccid))
    }
    if let version = ReaderModel.firstCCID(vendor: reader.vendor, product: reader.product), ccid.isOlder(than: version)
    {
      return .wrong(
        .pcscd, "pcscd's driver libccid \(ccid.version ?? "") is too old for \(name), which needs \(version)",
        setup.updatingCCID(to: version))
    }
    return .wrong(
      .pcscd, "no driver of pcscd knows \(name)",
      .advise("update libccid, or install a driver of the reader's maker (ACS: acsccid), then replug the reader"))
  }

  /// Another program of this user has the device.
  private func rival(_ reader: Examination.PluggedInReader, _ name: String) -> Finding? {
    guard let holder = reader.holder, holder.program != "pcscd" else { return nil }
    guard holder.program == "scdaemon" else {
      return .wrong(
        .pcscd, "\(holder.program) (process \(holder.process)) has opened \(name), so pcscd cannot use it",
        .advise("stop that program, and replug the reader"))
    }
    return .wrong(
      .pcscd, "GnuPG's scdaemon has opened \(name) with its own driver, so pcscd cannot use it",
      .run(
        "printf 'disable-ccid\\n' >>~/.gnupg/scdaemon.conf && gpgconf --kill scdaemon",
        "GnuPG then uses pcscd, too; replug the reader. With the line pcsc-shared it leaves a card to other programs"))
  }

  /// pcscd may not open the device file. Since pcsc-lite 2.4.0 it is not root.
  private func closed(_ reader: Examination.PluggedInReader, _ name: String) -> Finding? {
    guard let pcscd = seen.pcsc.credentials, reader.node.isThere, !pcscd.mayOpen(reader.node) else { return nil }
    let text = "pcscd, which runs as \(pcscd.userName), may not open \(reader.node.path), \(name)"
    // The installed drop-in adds the group to pcscd, from its next start on.
    guard reader.node.groupName != ReaderRemedy.owner else {
      return .wrong(.pcscd, text, setup.restartingPCSCD("it then belongs to the group \(ReaderRemedy.owner)"))
    }
    return .wrong(
      .pcscd, text,
      .advise("update libccid: from 1.7.0 on its udev rules give readers to pcscd's group; then replug the reader"))
  }

  private func stopped(_ name: String) -> Finding? {
    guard !seen.pcsc.hasSocket else { return nil }
    let state = seen.pcsc.socket?.load == "masked" ? "masked" : "not running"
    return .wrong(
      .pcscd, "\(name) needs pcscd, which is \(state)", setup.startingPCSCD(seen.pcsc.socket))
  }

  /// Why pcscd may refuse the daemon's reader processes.
  private var refusal: Finding? {
    guard seen.pcsc.asksPolkit else { return nil }
    if seen.pcsc.rulesFile == .isMissing {
      return .wrong(
        .pcscd, "polkit does not let tagrouted use pcscd: its rules \(ReaderRemedy.pcscRule) are missing",
        setup.installing)
    }
    guard seen.pcsc.hidesProcesses, seen.pcsc.credentials?.user != 0 else { return nil }
    return .wrong(
      .pcscd, "/proc hides processes (hidepid), so pcscd cannot tell polkit who asks, and refuses every program",
      .run("sudo mount -o remount,hidepid=0 /proc", "remove hidepid from /etc/fstab to keep it so"))
  }

  static let pcscAction = "org.debian.pcsc-lite.access_pcsc"
}
