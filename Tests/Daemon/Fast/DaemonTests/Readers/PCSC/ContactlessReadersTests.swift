import Names
import ReaderProtocol
import Settings
import Testing

@testable import Daemon

/// Which readers of pcscd's list are used, and for which tags. Framing's own tests have the table of models.
@Suite struct ContactlessReadersTests {
  private static func usable(_ readers: PCSCReader...) -> [String] {
    readers.filter { ContactlessReaders.isUsable($0, among: readers) }.map(\.name)
  }

  @Test func `of a device with several slots only the one with the antenna is used`() {
    #expect(Self.usable(PCSCSamples.slots(at: 5)[0], PCSCSamples.slots(at: 5)[1]) == [PCSCSamples.picc])
    let omnikey = "HID Global OMNIKEY 5422 Smartcard Reader"
    let slots = ["[OMNIKEY 5422 Smartcard Reader] 00 00", "[OMNIKEY 5422CL Smartcard Reader] 01 00"].map {
      PCSCSamples.listed("\(omnikey) \($0)", at: 7, 0x076B, 0x5422)
    }
    #expect(Self.usable(slots[0], slots[1]) == [slots[1].name])
  }

  @Test func `a reader whose name says nothing is used if it is the only slot of a known model`() {
    let unnamed = PCSCSamples.listed("Example 00 00", at: 5)
    #expect(Self.usable(unnamed) == ["Example 00 00"])
    #expect(Self.usable(unnamed, PCSCSamples.slots(at: 5)[0]) == [PCSCSamples.picc])
    // The same model in another port is no slot of this device.
    #expect(Self.usable(unnamed, PCSCSamples.slots(at: 6)[0]).count == 2)
    #expect(Self.usable(PCSCSamples.listed("Example [SAM] 00 00", at: 5)) == [])
    #expect(Self.usable(PCSCReader(name: "Example 00 00")) == [])
    #expect(Self.usable(PCSCSamples.listed("Example 00 00", at: 5, 0xFFF0, 1)) == [])
  }

  @Test func `Type 5 needs a reader of pcscd that may have it`() {
    func canReadType5(_ device: String) -> Bool { ContactlessReaders.technologies(of: device).contains(.type5) }
    #expect(!canReadType5("pn532_uart:/dev/ttyUSB0") && !canReadType5("usb:001:005"))
    #expect(canReadType5("pcsc:ACS ACR1552 1S CL Reader PICC 00 00") && canReadType5("pcsc:Example NFC 00 00"))
    #expect(!canReadType5("pcsc:\(PCSCSamples.acr122)"))
    #expect(!canReadType5("pcsc:\(PCSCSamples.picc)") && canReadType5("pcsc:ACS ACR1552 CL Reader"))
    let libnfc = ContactlessReaders.technologies(of: "pn532_uart:/dev/ttyUSB0")
    #expect(libnfc == Samples.libnfcTechnologies)
  }

  @Test func `the numbers of a reader tell its model better than its name`() {
    let (acr1252, acr1552) = (
      PCSCReader.Identity(vendor: 0x072F, product: 0x223B),
      PCSCReader.Identity(
        vendor: 0x072F, product: 0x2303)
    )
    func canReadType5(_ name: String, _ identity: PCSCReader.Identity?) -> Bool {
      ContactlessReaders.technologies(of: "pcsc:\(name)", identity).contains(.type5)
    }
    #expect(!canReadType5("Example 00 00", acr1252) && canReadType5("Example 00 00", acr1552))
    #expect(canReadType5(PCSCSamples.acr122, acr1552))
    #expect(!canReadType5(PCSCSamples.acr122, PCSCReader.Identity(vendor: 1, product: 1)))
    #expect(canReadType5("Example 00 00", PCSCReader.Identity(vendor: 1, product: 1)))
  }

  @Test func `the roster has the numbers of pcscd's readers`() {
    var roster = PCSCSamples.roster(backend: .pcsc, hasUdev: false)
    #expect(roster.identity(ofDevice: "pcsc:Example") == nil)
    roster.pcscList.take([PCSCReader(name: "Other 00 00"), PCSCSamples.listed("Example 01 00", at: 5)])
    let identity = PCSCReader.Identity(vendor: 0x072F, product: 0x223B)
    #expect(roster.identity(ofDevice: "pcsc:Example 01 00") == identity)
    #expect(roster.identity(ofDevice: "pcsc:Example") == identity)
    #expect(roster.identity(ofDevice: "pcsc:Other 00 00") == nil && roster.identity(ofDevice: "usb:001:005") == nil)
  }
}
