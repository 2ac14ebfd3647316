import Configuration
import KeyFile
import Names
import ScanGate
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
      Devices=pn532_uart:/dev/pts/3;pn53x_usb;
      PollInterval=250
      IdlePollInterval=1000
      Technologies=type-4a;type-2;type-2
      [Scan]
      Sessions=any
      WhenLocked=hold
      LockDetection=strict
      [Tags]
      SmartPosters=no
      """)
    #expect(configuration.devices == ["pn532_uart:/dev/pts/3", "pn53x_usb"])
    #expect(configuration.pollInterval == .milliseconds(250))
    #expect(configuration.idlePollInterval == .seconds(1))
    #expect(configuration.technologies == [.type2, .type4A])
    #expect(configuration.sessions == .any)
    #expect(configuration.scan.whenLocked == .hold)
    #expect(configuration.scan.lockDetection == .strict)
    #expect(!configuration.smartPosters)
  }

  @Test(arguments: [
    ("[Scan]\nSessions=all\n", "d.conf:2: Sessions=all is not known: write logind or any"),
    ("[Scan]\nWhenLocked=sleep\n", "d.conf:2: WhenLocked=sleep is not known: write suspend or hold"),
    ("[Scan]\n\nLockDetection=\n", "d.conf:3: LockDetection= is not known: write hint or strict"),
    (
      "[Reader]\nPollInterval=0\n",
      "d.conf:2: PollInterval=0 is out of range: write a number of milliseconds from 10 to 10000"
    ),
    (
      "[Reader]\nDevices=/dev/ttyUSB0\n",
      "d.conf:2: \"/dev/ttyUSB0\" is not a libnfc connection string: "
        + "write driver:device, for example pn532_uart:/dev/ttyUSB0 or pn53x_usb"
    ),
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

  @Test func `a file does not change the keys that it does not contain`() throws {
    var configuration = try read("[Scan]\nSessions=any\n")
    try configuration.merge(KeyFile(bytes: Array("[Reader]\nPollInterval=50\n".utf8), file: "e.conf"))
    #expect(configuration.sessions == .any)
    #expect(configuration.pollInterval == .milliseconds(50))
  }
}
