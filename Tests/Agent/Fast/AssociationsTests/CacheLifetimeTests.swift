import Associations
import Testing

@Suite struct CacheLifetimeTests {
  @Test(
    arguments: [
      (nil, 86_400), ("", 86_400), ("public", 86_400), ("max-age=7200", 7200), ("public, max-age=7200", 7200),
      ("Max-Age=7200", 7200), ("max-age=\"7200\"", 7200), (" max-age = 7200 ,must-revalidate", 7200),
      ("max-age=0", 3600),
      ("max-age=3599", 3600), ("max-age=3601", 3601), ("max-age=604801", 604_800),
      ("max-age=99999999999999999999999", 604_800), ("max-age=-1", 86_400), ("max-age=", 86_400), ("max-age", 86_400),
      ("max-age=7200x", 86_400), ("max-age=7200, no-cache", 3600), ("no-store", 3600), ("NO-STORE", 3600),
      ("s-maxage=7200", 86_400), (",,=,=,", 86_400),
    ] as [(String?, Int64)])
  func `Cache-Control gives a lifetime between an hour and seven days`(text: String?, expected: Int64) {
    #expect(CacheLifetime.seconds(text) == expected)
  }
}
