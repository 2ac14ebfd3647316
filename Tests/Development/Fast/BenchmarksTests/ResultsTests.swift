import Names
import Rig
import Testing

@testable import Benchmarks

/// What a benchmark prints and writes.
struct ResultsTests {
  private static let results: Results = {
    var results = Results()
    for (tag, program, times) in [
      ("Type 2", "ours", [3.0, 1, 2]), ("Type 4A", "ours", [20.25]), ("Type 2", "theirs", []),
    ] {
      results += Results.Series("placed", times, "ms", ["Tag": tag, "Program": program])
      results += Results.Series("missed", 0, "", ["Tag": tag, "Program": program])
    }
    results += Results.Series("field on", 0.125, "%", ["Program": "ours"])
    return results
  }()

  @Test func `there is a table for each kind of conditions and a row for each condition`() {
    #expect(
      Self.results.tables == """
        | Tag     | Program | placed, ms: median | 90 % | 99 % | worst | of | missed |
        |---------|---------|--------------------|------|------|-------|----|--------|
        | Type 2  | ours    | 2                  | 3    | 3    | 3     | 3  | 0      |
        | Type 2  | theirs  |                    |      |      |       | 0  | 0      |
        | Type 4A | ours    | 20.3               | 20.3 | 20.3 | 20.3  | 1  | 0      |

        | Program | field on, % |
        |---------|-------------|
        | ours    | 0.13        |
        """)
  }

  @Test func `the data file has every value in its order`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("data.json")
    try Results.DataFile(path: file, benchmark: "data", commit: "0123456789ab").write(Self.results)
    let data = try DataFile(file)
    #expect(data.benchmark == "data")
    #expect(data.series.map(\.name) == ["placed", "missed", "placed", "missed", "placed", "missed", "field on"])
    #expect(data.series.map(\.values) == [[3, 1, 2], [0], [20.25], [0], [], [0], [0.125]])
    #expect(data.series[0].labels == ["Tag", "Program"])
    withExtendedLifetime(directory) {}
  }
}

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

/// A data file as a program that draws it reads it. Throws if something is missing.
struct DataFile {
  struct Series {
    let name: String
    let labels: [String]
    let values: [Double]
  }

  let benchmark: String
  let series: [Series]

  init(_ file: String) throws {
    let data = try JSONReader.value(of: try readFile(file))
    benchmark = try Self.text(data["benchmark"])
    for key in ["date", "commit", "build"] { _ = try Self.text(data[key]) }
    guard case .object(let machine) = data["machine"], machine.map(\.name) == ["processor", "cores", "kernel"],
      case .list(let series) = data["series"]
    else { throw RigError("\(file): the machine or the series are missing") }
    self.series = try series.map { series in
      guard case .object(let labels) = series["labels"], case .list(let values) = series["values"] else {
        throw RigError("\(file): a series has no labels or no values")
      }
      _ = try Self.text(series["unit"])
      return Series(
        name: try Self.text(series["name"]), labels: labels.map(\.name),
        values: try values.map { value in
          guard case .number(let number?) = value.content else { throw RigError("\(file): a value is no number") }
          return number
        })
    }
  }

  private static func text(_ content: JSONValue.Content?) throws -> String {
    guard case .text(let text) = content else { throw RigError("a text is missing: \(String(describing: content))") }
    return text
  }
}
