import Rig
import Testing

@testable import Handlers
@testable import Routing

/// Types of records in desktop entries, in the user's choices and in the names of files.
@Suite struct RecordClaimsTests {
  private let data: DataDirectory

  init() throws { data = try DataDirectory() }

  @Test func `types of desktop entries are read, and mistakes are named`() async throws {
    try data.entry(
      "good", claims: ["MimeTypes=TEXT/vCard;image/*;", "ExternalTypes=Example.com:Coupon;"])
    try data.entry(
      "bad", claims: ["MimeTypes=vcard;*/*;x-scheme-handler/tel;", "ExternalTypes=coupon;android.com:pkg;"])
    let (registry, problems) = await data.loaded()
    #expect(registry.declarations.map(\.types) == [["text/vcard", "image/*", "example.com:coupon"]])
    #expect(
      problems.map(\.message)
        == ["vcard", "*/*", "x-scheme-handler/tel"].map { "\($0) is not a media type or type/*" }
        + ["coupon", "android.com:pkg"].map { "\($0) is not an external type, such as example.com:ticket" })
    #expect(problems.allSatisfy { $0.desktopID == "bad.desktop" && $0.line != nil })
  }

  @Test func `choices about types are kept`() throws {
    let files = ChoiceFiles(directory: data.temporary.path)
    let application = Application(
      desktopID: "cards.desktop", name: "Cards", file: "/usr/share/applications/cards.desktop", origin: .system,
      launch: "cards %f")
    var choices = HandlerChoices()
    for claim in ["text/vcard", "image/*", "example.com:coupon"] {
      let isPossible = choices.apply(.prefer(application, claim: claim))
      #expect(isPossible)
    }
    let isBlocked = choices.apply(.block(desktopID: "other.desktop", claim: "image/*"))
    #expect(isBlocked)
    let (intents, handlers) = files.write(choices, over: HandlerChoices())
    #expect(intents == nil && handlers == nil)
    let content = files.read()
    #expect(content.choices == choices && content.problems.isEmpty)
  }

  @Test func `the extension is that of the database, if it is plain`() throws {
    let environment = ["XDG_DATA_HOME": data.temporary.file("data"), "XDG_DATA_DIRS": data.temporary.file("none")]
    try data.temporary.write(
      "80:image/x-good:*.good\n50:image/x-good:*.bad\n50:image/x-odd:*.a/../b\n50:image/x-odd:*.odd\n"
        + "50:image/x-long:*.\(String(repeating: "x", count: 40))\n50:image/x-name:makefile\n",
      to: "data/mime/globs2")
    func suffix(_ type: String) -> String? { FileExtension.of(type, environment: environment) }
    #expect(suffix("image/x-good") == "good")
    #expect(suffix("image/x-odd") == "odd")
    #expect(suffix("image/x-long") == nil)
    #expect(suffix("image/x-name") == nil)
    #expect(suffix("text/calendar") == "ics")
  }

  @Test func `each type that a default application may get has an extension without a database`() {
    let environment = ["XDG_DATA_HOME": data.temporary.file("none"), "XDG_DATA_DIRS": data.temporary.file("none")]
    let without = RecordType.files.filter { FileExtension.of($0, environment: environment) == nil }
    #expect(without.isEmpty && !RecordType.files.isEmpty)
  }

  @Test func `the link to a file has only unreserved characters`() {
    #expect(HandOverContents.address(ofFile: "/run/a b%/ü#?.vcf") == "file:///run/a%20b%25/%C3%BC%23%3F.vcf")
  }

  @Test func `an invalid activation token is dropped`() {
    for token in ["", "a b", "a\nb", "a\0b", "é", String(repeating: "a", count: 1025)] {
      #expect(Launcher.Click(activationToken: token).activationToken == nil)
    }
    #expect(Launcher.Click(activationToken: "gnome-shell/x/1-2-host_TIME3").activationToken != nil)
  }
}
