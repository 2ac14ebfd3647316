import Bus
import Names
import ReaderModels
import Testing

@testable import Doctor
@testable import TagrouteClient

/// `tagroute doctor --watch`: the lines after each event.
struct DoctorWatchTests {
  /// A system that works. Its readers are `readers`, and they scan unless there are `reasons`.
  private static func seen(
    _ readers: [ReaderStatus], reasons: [String] = [], isScanning: Bool? = nil,
    _ change: (inout Examination) -> Void = { _ in }
  ) -> DoctorWatch.Event {
    var seen = Seen.sound()
    let reasons = readers.contains { !["absent", "failed"].contains($0.state) } ? reasons : ["no-reader"] + reasons
    seen.daemon = .given(
      DaemonStatus(
        version: "0.1.0", enabled: true, scanning: isScanning ?? reasons.isEmpty, suspendReasons: reasons,
        readers: readers))
    change(&seen)
    return .examined(seen)
  }

  private static func reader(_ name: String, path: String = "/r", state: String = "scanning") -> ReaderStatus {
    ReaderStatus(path: path, name: name, device: "pcsc:\(name)", seat: "seat0", state: state, stateReason: "")
  }

  private static let acr1252 = reader("ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00")

  private static func tap(
    _ uri: String, technology: String = "type-2", message: [UInt8]? = [0xD1, 0x01, 0x01, 0x55, 0x00],
    handler: String? = nil, rule: String? = nil, code: String = ""
  ) -> DoctorWatch.Event {
    var tap = TapDescription()
    (tap.uri, tap.technology, tap.message, tap.handler, tap.rule) = (uri, technology, message, handler, rule)
    (tap.stateReasonCode, tap.stateReason) = (code, code.isEmpty ? "" : "the record is cut off")
    tap.title = "A private title"
    return .tapped(DoctorWatch.Tap(tap) { $0 == "org.example.Menu.desktop" ? "Menu" : nil })
  }

  private static let menu = tap("https://example.com/private?table=7", handler: "org.example.Menu.desktop")
  private static let menuLine = "tag read: Type 2 tag, link https://example.com → Menu"

  @Test func `each step of a person has its lines, and the last one is ready`() {
    var watch = DoctorWatch()
    #expect(watch.handle(Self.seen([])) == ["waiting for a reader: plug it in"])
    // Nothing new.
    #expect(watch.handle(Self.seen([])).isEmpty)
    // The reader is about to scan.
    var opened = Self.acr1252
    opened.state = "ready"
    #expect(watch.handle(Self.seen([opened], isScanning: false)).isEmpty)
    #expect(
      watch.handle(Self.seen([Self.acr1252])) == [
        "reader: ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00, recognised as ACS ACR1252U, scanning",
        "hold a tag to it",
      ])
    #expect(watch.handle(Self.seen([Self.acr1252])).isEmpty)
    #expect(!watch.needsAnotherLook && watch.state == .watching)
    #expect(watch.handle(Self.menu) == [Self.menuLine, "ready"])
    #expect(watch.state == .ended(exitCode: 0))
    #expect(watch.handle(Self.menu).isEmpty && watch.handle(.interrupted).isEmpty)
  }

  @Test(arguments: [
    ("ACS ACR122U PICC Interface 00 00", "pcsc:ACS ACR122U PICC Interface 00 00", "recognised as ACS ACR122U"),
    ("Nobody's NFC Reader 00 00", "pcsc:Nobody's NFC Reader 00 00", "a model that Tagroute does not know"),
    ("ACS / ACR122U PICC Interface", "acr122_usb:001:004", "recognised as ACS ACR122U, by libnfc"),
    ("pn532_uart:/dev/ttyUSB0", "pn532_uart:/dev/ttyUSB0", "by libnfc"),
  ])
  func `a reader has the model that Tagroute takes it for`(name: String, device: String, recognition: String) {
    var watch = DoctorWatch()
    var reader = Self.reader(name)
    reader.device = device
    let lines = watch.handle(
      Self.seen([reader]) {
        var plugged = Examination.PluggedInReader(vendor: 0x072F, product: 0x2200, title: "ACS ACR122U")
        plugged.place = "001:004"
        $0.pcsc.readers = device.hasPrefix("acr122_usb") ? [plugged] : []
      })
    #expect(lines == ["reader: \(name), \(recognition), scanning", "hold a tag to it"])
  }

  @Test(arguments: [
    (
      DoctorWatchTests.tap("https://example.com:8080/a?b#c", handler: "org.example.Other.desktop"),
      "Type 2 tag, link https://example.com → org.example.Other"
    ),
    (DoctorWatchTests.tap("tel:+491234567"), "Type 2 tag, link tel:"),
    (
      DoctorWatchTests.tap("", technology: "type-4a", rule: "lamp"),
      "Type 4 tag, card or phone, a message without a link → the rule lamp"
    ),
    (DoctorWatchTests.tap("", technology: "mifare-classic", message: []), "MIFARE Classic card, no message on it"),
    (DoctorWatchTests.tap("", technology: "type-9"), "type-9, a message without a link"),
  ])
  func `a tag has its kind, and of its contents only the domain`(event: DoctorWatch.Event, line: String) {
    var watch = DoctorWatch()
    _ = watch.handle(Self.seen([Self.acr1252]))
    #expect(watch.handle(event) == ["tag read: \(line)", "ready"])
  }

  @Test func `a tag that cannot be read does not end the watch`() {
    var watch = DoctorWatch()
    _ = watch.handle(Self.seen([Self.acr1252]))
    #expect(
      watch.handle(Self.tap("", code: "damaged"))
        == ["tag not read: Type 2 tag, the record is cut off; hold it to the reader again"])
    #expect(watch.handle(Self.menu) == [Self.menuLine, "ready"])
  }

  @Test func `a problem is printed once with its fix, and once more when it is fixed`() {
    var watch = DoctorWatch()
    let withoutPolkit = Self.seen([]) { $0.polkitActions = .given([]) }
    let problem = watch.handle(withoutPolkit)
    #expect(problem.first?.hasPrefix("wrong  polkit: ") == true && problem.count == 3, "\(problem)")
    #expect(
      problem[1]
        == "       fix: sudo apt-get install --reinstall tagroute; or reinstall the package file that it came from")
    #expect(problem[2] == "waiting for a reader: plug it in")
    #expect(watch.needsAnotherLook)
    #expect(watch.handle(withoutPolkit).isEmpty)
    #expect(watch.handle(Self.seen([])) == ["right  polkit: knows Tagroute's actions"])
    #expect(!watch.needsAnotherLook)
  }

  @Test func `a problem that is left after the tap is the one thing to do`() {
    var watch = DoctorWatch()
    _ = watch.handle(Self.seen([Self.acr1252]) { $0.notifications = .failed(Seen.absent) })
    let lines = watch.handle(Self.menu)
    #expect(lines.prefix(2) == [Self.menuLine, "one thing is left to do:"])
    #expect(lines[2].hasPrefix("wrong  notifications: no notification server runs") && lines.count == 4, "\(lines)")
    #expect(watch.state == .ended(exitCode: 1))
  }

  @Test func `a reader that is named or has failed gets its own fix`() {
    var watch = DoctorWatch()
    var reader = ReaderStatus(
      path: "/r", name: "", device: "pn532_uart:/dev/ttyUSB0", seat: "seat0", state: "absent",
      stateReason: "it is not plugged in")
    func seen() -> DoctorWatch.Event { Self.seen([reader]) { $0.configuration.namesReaders = true } }
    #expect(
      watch.handle(seen()) == [
        "waiting for pn532_uart:/dev/ttyUSB0: plug it in, or change Devices= below [Reader] in /etc/tagroute.conf"
      ])
    (reader.state, reader.stateReason) = ("failed", "another program has it: stop that program")
    #expect(
      watch.handle(seen()) == [
        "wrong  reader: pn532_uart:/dev/ttyUSB0 is failed", "       fix: another program has it: stop that program",
      ])
    #expect(watch.needsAnotherLook)
    (reader.state, reader.stateReason) = ("scanning", "")
    #expect(
      watch.handle(seen()) == ["reader: pn532_uart:/dev/ttyUSB0, by libnfc, scanning", "hold a tag to it"])
  }

  @Test func `a reader that is plugged in without its driver is a problem, and not missing`() {
    var watch = DoctorWatch()
    let lines = watch.handle(
      Self.seen([]) {
        $0.pcsc.isInstalled = true
        $0.pcsc.readers = [.init(vendor: 0x072F, product: 0x223B, title: "ACS ACR1252U")]
      })
    #expect(
      lines == [
        "wrong  pcscd: pcscd has no driver for ACS ACR1252U (072f:223b)", "       fix: sudo apt-get install libccid",
      ])
  }

  @Test func `a pause is printed with its reason, and the tag is asked for afterwards`() {
    var watch = DoctorWatch()
    var quiet = Self.acr1252
    quiet.state = "ready"
    let locked = Self.seen([quiet], reasons: ["session-locked"])
    let lines = watch.handle(locked)
    #expect(lines.first == "note   scanning: paused: the session is locked")
    #expect(
      lines.last
        == "reader: ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00, recognised as ACS ACR1252U")
    #expect(watch.handle(Self.seen([Self.acr1252])) == ["hold a tag to it"])
    #expect(watch.handle(locked).first == "note   scanning: paused: the session is locked")
    #expect(watch.handle(Self.seen([Self.acr1252])) == ["hold a tag to it"])
  }

  @Test func `a reader that is taken away, and another one, have their lines`() {
    var watch = DoctorWatch()
    _ = watch.handle(Self.seen([Self.acr1252]))
    #expect(
      watch.handle(Self.seen([])) == [
        "reader gone: ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", "waiting for a reader: plug it in",
      ])
    let other = Self.reader("SONY FeliCa RC-S300/S (1) 00 00", path: "/s")
    #expect(
      watch.handle(Self.seen([Self.acr1252, other])) == [
        "reader: ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00, recognised as ACS ACR1252U, scanning",
        "reader: SONY FeliCa RC-S300/S (1) 00 00, recognised as Sony RC-S300, scanning", "hold a tag to one of them",
      ])
  }

  @Test func `a daemon that stops is a problem until it answers again`() {
    var watch = DoctorWatch()
    _ = watch.handle(Self.seen([Self.acr1252]))
    let stopped = watch.handle(
      Self.seen([]) {
        $0.daemon = .failed(Seen.absent)
        $0.daemonUnit = .given(Seen.unit(active: "inactive", sub: "dead"))
      })
    #expect(stopped.first == "wrong  daemon-unit: tagrouted.service is inactive", "\(stopped)")
    #expect(stopped.count == 2 && watch.needsAnotherLook)
    let again = watch.handle(Self.seen([Self.acr1252]))
    #expect(again.first == "right  daemon-unit: tagrouted.service is active" && again.last == "hold a tag to it")
  }

  /// What keeps the watch from ever seeing a tap.
  @Test func `without a bus or at a station the watch ends at once`() {
    let error = BusError(name: BusError.Name.timeout, message: "cannot connect")
    var watch = DoctorWatch()
    #expect(
      watch.handle(Self.seen([]) { $0.sessionBus = error }) == [
        "wrong  session-bus: cannot connect",
        "       fix: run this in your desktop session, not with sudo or in a service",
      ])
    #expect(watch.state == .ended(exitCode: 1))
    watch = DoctorWatch()
    #expect(watch.handle(Self.seen([]) { $0.systemBus = error }).first == "wrong  system-bus: cannot connect")
    #expect(watch.state == .ended(exitCode: 1))
    watch = DoctorWatch()
    var seen = Seen.sound()
    seen.agent = .given(nil)
    seen.daemon = .given(
      DaemonStatus(
        version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [Self.acr1252],
        stationUser: "tagroute-station", stationActive: true))
    let lines = watch.handle(.examined(seen))
    #expect(lines.first?.hasPrefix("note   agent: the station's agent belongs to user tagroute-station") == true)
    #expect(lines.last?.contains("sudo -u tagroute-station") == true && watch.state == .ended(exitCode: 0))
  }

  @Test func `an interrupt prints the present state, with the exit code of doctor`() {
    func interrupted(_ event: DoctorWatch.Event?, exitCode: Int32) -> [String] {
      var watch = DoctorWatch()
      if let event { _ = watch.handle(event) }
      let lines = watch.handle(.interrupted)
      #expect(watch.state == .ended(exitCode: exitCode), "\(lines)")
      return lines
    }
    #expect(interrupted(nil, exitCode: 1).isEmpty)
    #expect(interrupted(Self.seen([]), exitCode: 1) == ["waiting for a reader: plug it in"])
    #expect(interrupted(Self.seen([Self.acr1252]), exitCode: 0) == ["no tag was read yet"])
    #expect(
      interrupted(Self.seen([Self.acr1252], reasons: ["disabled"]), exitCode: 0)
        == ["note   scanning: off", "       fix: tagroute on; starts it"])
    #expect(
      interrupted(Self.seen([Self.acr1252], reasons: ["display-off"]), exitCode: 0)
        == ["note   scanning: paused: the display is off"])
    #expect(
      interrupted(Self.seen([Self.acr1252], isScanning: false), exitCode: 0) == ["the readers do not scan yet"])
  }
}
