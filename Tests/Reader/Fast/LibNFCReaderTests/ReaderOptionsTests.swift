import Daemon
import Names
import ReaderProtocol
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct ReaderOptionsTests {
  @Test func `the arguments from the daemon are read`() throws {
    let options = try ReaderOptions(["--link", "3", "--device", "pn532_uart:/dev/ttyS0"])
    #expect(options.mode == .serve(link: 3))
    #expect(options.device == "pn532_uart:/dev/ttyS0")
    #expect(try ReaderOptions(["--list"]).mode == .list(link: nil))
    #expect(try ReaderOptions(["--list", "--link", "3"]).mode == .list(link: 3))
    #expect(try ReaderOptions(["--version"]).mode == .showVersion)
    #expect(!options.isFollowed)
    #expect(try ReaderOptions(["--link", "3", "--followed"]).isFollowed)
    var more = options
    more.take(ReaderPolling(idleInterval: .milliseconds(900), technologies: [.type2, .type3]))
    #expect(more.idlePollInterval == .milliseconds(900))
    #expect(more.technologies.modulations == [.typeA, .felica212, .felica424])
    #expect(more.technologies.include(.type2))
    #expect(!more.technologies.include(.type4A) && !more.technologies.include(.peer))
  }

  @Test func `the longest poll interval is the longest pause that the daemon expects`() {
    #expect(.milliseconds(Names.pollIntervals.upperBound) == ReaderTiming.longestPause)
  }

  @Test func `all readable kinds need all modulations, and include the report of a peer`() {
    #expect(TagType.readable.modulations == Set(Modulation.allCases))
    #expect(TagType.readable.include(.peer))
  }

  @Test(
    arguments: [
      ([], "use one of --list, --version and --link"),
      (["--list", "--version"], "use one of --list, --version and --link"),
      (["--lnk"], "unknown option --lnk"),
      (["--link"], "--link needs a value"),
      (["--link", "2"], "--link 2: the descriptor must be 3 or higher"),
    ] as [([String], String)])
  func `a wrong argument is named in the error`(_ arguments: [String], _ words: String) {
    #expect(throws: ReaderOptions.Mistake(description: words)) { try ReaderOptions(arguments) }
  }
}

@Suite struct DeviceSearchTests {
  @Test(arguments: [
    ("pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0"), ("pn532_uart:/dev/ttyUSB0:115200", "/dev/ttyUSB0"),
    ("pn53x_usb", nil), ("pn53x_usb:002:014", nil), ("", nil),
  ])
  func `the device file is taken from the connection string`(_ connectionString: String, _ path: String?) {
    #expect(ConnectionString.path(of: connectionString) == path)
  }

  /// libnfc lists only serial readers that answer.
  @Test func `a known serial reader is used even if it does not answer`() {
    let known = "pn532_uart:/dev/null"
    func search(_ configured: String?, _ known: String?, listed: [String]) -> String? {
      try? DeviceSearch(configured: configured, known: known).candidate { listed }.get()
    }
    #expect(search(nil, known, listed: []) == known)
    #expect(search(nil, nil, listed: []) == nil)
    #expect(search(nil, known, listed: ["pn53x_usb:001:002"]) == "pn53x_usb:001:002")
    #expect(search(nil, "pn532_uart:/dev/none-such", listed: []) == nil)
    // libnfc lists every USB reader that is plugged in.
    #expect(search(nil, "acr122_usb:001:002", listed: []) == nil)
    #expect(search("pn532_uart:/dev/none-such", known, listed: [known]) == nil)
  }
}
