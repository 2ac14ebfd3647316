import Names
import Presence
import Settings
import Testing

@Suite struct DaemonConfigurationTests {
  private func read(_ text: String) throws -> DaemonConfiguration {
    var configuration = DaemonConfiguration()
    try configuration.merge(KeyFile(bytes: Array(text.utf8), file: "d.conf"))
    return configuration
  }

  @Test func `every key sets its property`() throws {
    let configuration = try read(
      """
      [Reader]
      Devices=pn532_uart:/dev/pts/3;pn53x_usb;pcsc:HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL] 00 00;
      Backend=libnfc
      PollInterval=250
      IdlePollInterval=1000
      Technologies=type-4a;type-2;type-2
      Feedback=yes
      [Scan]
      Sessions=any
      StationUser=root
      WhenLocked=hold
      LockDetection=strict
      [Tags]
      SmartPosters=no
      """)
    #expect(
      configuration.devices == [
        "pn532_uart:/dev/pts/3", "pn53x_usb", "pcsc:HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL] 00 00",
      ])
    #expect(configuration.backend == .libnfc)
    #expect(configuration.feedback)
    #expect(configuration.pollInterval == .milliseconds(250))
    #expect(configuration.idlePollInterval == .seconds(1))
    #expect(configuration.technologies == [.type2, .type4A])
    #expect(configuration.sessions == .any)
    #expect(configuration.stationUser == LocalUser(name: "root", uid: 0))
    #expect(configuration.scan.whenLocked == .hold)
    #expect(configuration.scan.lockDetection == .strict)
    #expect(!configuration.smartPosters)
  }

  @Test(arguments: [
    ("[Scan]\nSessions=all\n", "d.conf:2: Sessions=all is not known: write logind or any"),
    ("[Scan]\nWhenLocked=sleep\n", "d.conf:2: WhenLocked=sleep is not known: write suspend or hold"),
    (
      "[Scan]\nStationUser=no-such-user-here\n",
      "d.conf:2: StationUser=no-such-user-here is no user of this machine: correct the name, or create the user first; "
        + "the package tagroute-station creates tagroute-station"
    ),
    ("[Scan]\n\nLockDetection=\n", "d.conf:3: LockDetection= is not known: write hint or strict"),
    (
      "[Reader]\nPollInterval=0\n",
      "d.conf:2: PollInterval=0 is out of range: write a number of milliseconds from 10 to 10000"
    ),
    (
      "[Reader]\nDevices=/dev/ttyUSB0\n",
      "d.conf:2: \"/dev/ttyUSB0\" names no reader: "
        + "write driver:device for libnfc, for example pn532_uart:/dev/ttyUSB0 or pn53x_usb, or pcsc:NAME for pcscd"
    ),
    ("[Reader]\nBackend=PCSC\n", "d.conf:2: Backend=PCSC is not known: write auto or libnfc or pcsc"),
    ("[Reader]\nFeedback=loud\n", "d.conf:2: Feedback=loud is neither yes nor no: write yes or no"),
    (
      "[Reader]\nDevices=pn53x_usb;pn532_uart:/dev/ttyUSB0;pn53x_usb\n",
      "d.conf:2: \"pn53x_usb\" is named twice: name each device once"
    ),
    (
      "[Reader]\nTechnologies=type-2;iso-15693\n",
      "d.conf:2: \"iso-15693\" is no kind of tag: "
        + "write some of type-1, type-2, type-3, type-4a, type-4b, type-5, mifare-classic"
    ),
    ("[Reader]\nTechnologies=\n", "d.conf:2: no kind of tag is named: name one, or use Enabled to stop scanning"),
    ("[Tags]\nSmartPosters=perhaps\n", "d.conf:2: SmartPosters=perhaps is neither yes nor no: write yes or no"),
    ("[Tags]\nSmartposters=no\n", "d.conf:2: group [Tags] has no key Smartposters: did you mean SmartPosters?"),
    (
      "[Reader]\nDevices=a\\qb\n",
      "d.conf:2: Devices=a\\qb has a backslash that escapes nothing: write \\\\ for a backslash"
    ),
  ])
  func `an error names the line and the valid values`(text: String, expected: String) throws {
    let error = #expect(throws: KeyFileError.self) { try read(text) }
    #expect(error?.description == expected)
  }

  @Test func `a device name with control characters or of excessive length is an error`() {
    #expect(throws: KeyFileError.self) { try read("[Reader]\nDevices=pn532_uart:/dev/a\\nb\n") }
    let long = String(repeating: "a", count: 1024)
    #expect(throws: KeyFileError.self) { try read("[Reader]\nDevices=pn532_uart:\(long)\n") }
  }

  @Test(arguments: ["pcsc:", "pcsc:a\\tb", "pcsc:" + String(repeating: "a", count: 129), "pcsc:a\u{202E}b", "PCSC:a b"])
  func `a name for pcscd that is empty, too long or not printable is an error`(device: String) {
    #expect(throws: KeyFileError.self) { try read("[Reader]\nDevices=\(device)\n") }
  }

  @Test func `a name for pcscd may have any printable character, and a semicolon after a backslash`() throws {
    let configuration = try read("[Reader]\nDevices=pcsc:Lesegerät (1)\\; [CL];pcsc:Lesegerät (1)\n")
    #expect(configuration.devices == ["pcsc:Lesegerät (1); [CL]", "pcsc:Lesegerät (1)"])
  }

  @Test func `an empty StationUser takes that of an earlier file back`() throws {
    var configuration = try read("[Scan]\nStationUser=root\n")
    try configuration.merge(KeyFile(bytes: Array("[Scan]\nStationUser=\n".utf8), file: "e.conf"))
    #expect(configuration.stationUser == nil)
  }

  @Test func `a file does not change the keys that it does not contain`() throws {
    var configuration = try read("[Scan]\nSessions=any\n")
    try configuration.merge(KeyFile(bytes: Array("[Reader]\nPollInterval=50\n".utf8), file: "e.conf"))
    #expect(configuration.sessions == .any)
    #expect(configuration.pollInterval == .milliseconds(50))
  }
}
