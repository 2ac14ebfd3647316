import Settings
import Testing

@Suite struct AgentConfigurationTests {
  private func read(_ text: String) throws -> AgentConfiguration {
    var configuration = AgentConfiguration()
    try configuration.merge(KeyFile(bytes: Array(text.utf8), file: "a.conf"))
    return configuration
  }

  @Test func `every key sets its property`() throws {
    let configuration = try read(
      """
      [Links]
      Schemes=https;matrix;
      SmartPosters=no
      Verify=on
      [Scan]
      SuspendForCamera=yes
      [Notifications]
      Timeout=30
      Sound=failures
      BareTags=show
      [Inbox]
      Inbox=off
      RetentionDays=7
      MaximumTaps=20
      """)
    #expect(configuration.schemes == ["https", "matrix"])
    #expect(!configuration.smartPosters)
    #expect(configuration.verify)
    #expect(configuration.suspendForCamera)
    #expect(configuration.notificationTimeout == 30_000)
    #expect(configuration.sound == .failures)
    #expect(configuration.bareTags == .show)
    #expect(!configuration.inbox)
    #expect(configuration.retentionDays == 7)
    #expect(configuration.maximumTaps == 20)
    #expect(try read("[Notifications]\nTimeout=never\n").notificationTimeout == 0)
  }

  @Test(arguments: [
    (
      "[Links]\nSchemes=https;HTTP\n",
      "a.conf:2: \"HTTP\" is not a URI scheme: write lower-case names separated by ;, for example http;https;tel"
    ),
    (
      "[Links]\nSchemes=https;javascript\n",
      "a.conf:2: links with the scheme javascript are never opened from a tag: leave it out"
    ),
    (
      "[Notifications]\nTimeout=-1\n",
      "a.conf:2: Timeout=-1 is not known: write server, never or a number of seconds from 1 to 86400"
    ),
    ("[Notifications]\nSound=yes\n", "a.conf:2: Sound=yes is not known: write off or on or failures"),
    ("[Notifications]\nBareTags=yes\n", "a.conf:2: BareTags=yes is not known: write ignore or show"),
    ("[Inbox]\nInbox=full\n", "a.conf:2: Inbox=full is neither yes nor no: write on or off"),
    ("[Inbox]\nMaximumTaps=0\n", "a.conf:2: MaximumTaps=0 is out of range: write a number of taps from 1 to 100000"),
    ("[Inbox]\nSchemes=http\n", "a.conf:2: group [Inbox] has no key Schemes: move it below [Links]"),
    (
      "[Reader]\nDevices=\n",
      "a.conf:1: there is no group [Reader]: the known ones are [Inbox], [Links], [Notifications], [Scan]"
    ),
  ])
  func `an error names the line and the valid values`(text: String, expected: String) throws {
    let error = #expect(throws: KeyFileError.self) { try read(text) }
    #expect(error?.description == expected)
  }
}
