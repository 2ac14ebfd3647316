import Testing
import UniversalLinks

@Suite struct PlaceTests {
  private static func words(_ place: Place?) -> String? { place.map { "\($0.latitude) \($0.longitude) \($0.label)" } }

  @Test(
    arguments: [
      ("geo:48.2010,16.3695", "48.2010 16.3695 "), ("GEO:-48,-16.5,183", "-48 -16.5 "),
      ("geo:48.2,16.3;crs=WGS84;u=10", "48.2 16.3 "), ("geo:48.2,16.3?z=11", "48.2 16.3 "),
      ("geo:0,0?q=48.2,16.3(Caf%C3%A9+Wien)", "48.2 16.3 Café Wien"),
      ("geo:48.2,16.3?z=1&q=Hotel+(Wien)", "48.2 16.3 Hotel (Wien)"), ("geo:0,0?q=1,2", "1 2 "),
      ("geo:1,2?q=a%(b)", "1 2 a%(b)"), ("geo:1,2?q=%FF(", "1 2 %FF("), ("geo:1,2?q=3,4()", "3 4 "),
      ("geo:1,2?q=)", "1 2 )"), ("geo:90,180?q=", "90 180 "), ("geo:1,2?q=3,4(a(b))", "3 4 a(b)"),
    ])
  func `a place is read with its label`(text: String, words: String) throws {
    #expect(Self.words(Place(try URI(text))) == words)
  }

  @Test(arguments: [
    "geo:", "geo:1", "geo:91,0", "geo:0,181", "geo:1,2,3,4", "geo:1.,2", "geo:.5,2", "geo:--1,2", "geo:+1,2",
    "geo:nan,inf", "geo:1e1,2", "geo:0x1,2", "geo:1,2;crs=moon-2011", "geo:%31,2", "https://1,2", "tel:1,2",
  ])
  func `other links are no place`(text: String) throws {
    #expect((try? URI(text)).flatMap(Place.init) == nil)
  }

  @Test func `a hostile place is bounded by the length of a link`() throws {
    let digits = String(repeating: "0", count: 2000)
    #expect(Place(try URI("geo:\(digits)1,\(digits)2?q=\(digits)"))?.label.utf8.count == 2000)
    #expect(Place(try URI("geo:1,2?q=" + String(repeating: "(", count: 4000) + ")")) != nil)
  }
}
