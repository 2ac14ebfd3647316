import Rig
import Testing

/// The page about performance, with its data files and plots.
struct PerformancePageTests {
  private static let folder = "\(repositoryRoot)/docs/development/performance"

  @Test func `every data file is whole, and the page names it, and every plot`() throws {
    let page = String(decoding: try readFile("\(Self.folder).md"), as: UTF8.self)
    let names = try #require(fileNames(in: Self.folder)).sorted()
    let linked = page.split(separator: "](performance/").dropFirst().map { String($0.prefix { $0 != ")" }) }
    #expect(Set(linked).sorted() == names)
    for name in names where name.hasSuffix(".json") {
      let data = try DataFile("\(Self.folder)/\(name)")
      #expect("\(data.benchmark).json" == name)
      #expect(!data.series.isEmpty)
    }
  }
}
