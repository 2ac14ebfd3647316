import EventLoop
import Glibc
import Names
import TestKit

/// What a benchmark has measured: printed as tables, and written as a data file.
struct Results: Sendable {
  /// The values of one quantity under the same conditions.
  struct Series: Sendable, Hashable {
    /// A condition, such as the kind of the tag or the program, and its value.
    struct Label: Sendable, Hashable {
      let key: String
      let value: String
    }

    /// The quantity, such as “placed to Notify”.
    let name: String
    /// The unit of the values; empty for a count.
    let unit: String
    let labels: [Label]
    /// In the order of the measurement.
    let values: [Double]

    init(_ name: String, _ values: [Double], _ unit: String, _ labels: KeyValuePairs<String, String> = [:]) {
      (self.name, self.values, self.unit) = (name, values, unit)
      self.labels = labels.map { Label(key: $0.key, value: $0.value) }
    }

    init(_ name: String, _ value: Double, _ unit: String, _ labels: KeyValuePairs<String, String> = [:]) {
      self.init(name, [value], unit, labels)
    }

    /// Durations, in milliseconds.
    init(_ name: String, _ durations: [Duration], _ labels: KeyValuePairs<String, String> = [:]) {
      self.init(name, durations.map { $0 / .milliseconds(1) }, "ms", labels)
    }
  }

  var series: [Series] = []

  static func += (results: inout Results, series: Series) { results.series.append(series) }

  static func += (results: inout Results, series: [Series]) { results.series += series }

  // MARK: Tables

  /// A table in Markdown for the series with the same keys, in the order of their first appearance. Rows that differ only
  /// in the last label are next to each other. Of many values, a table has some percentiles and the number of values.
  var tables: String {
    let groups = Self.grouped(series) { $0.labels.map(\.key) }
    return groups.map { Self.table($0) }.joined(separator: "\n\n")
  }

  private static func table(_ series: [Series]) -> String {
    let keys = series.first?.labels.map(\.key) ?? []
    let quantities = grouped(series, by: \.name).map { same in
      (name: same[0].name, unit: same[0].unit, isDistribution: same.contains { $0.values.count > 1 })
    }
    let head = quantities.flatMap { quantity in
      let title = quantity.unit.isEmpty ? quantity.name : "\(quantity.name), \(quantity.unit)"
      return quantity.isDistribution ? ["\(title): median", "90 %", "99 %", "worst", "of"] : [title]
    }
    let rows = grouped(grouped(series, by: \.labels)) { $0[0].labels.dropLast() }.joined().map { row in
      row[0].labels.map(\.value)
        + quantities.flatMap { quantity in
          let values = row.first { $0.name == quantity.name }?.values ?? []
          return cells(values, isDistribution: quantity.isDistribution)
        }
    }
    return markdown([keys + head] + rows)
  }

  private static func cells(_ values: [Double], isDistribution: Bool) -> [String] {
    guard isDistribution else { return [values.first.map(text) ?? ""] }
    guard !values.isEmpty else { return ["", "", "", "", "0"] }
    return [50, 90, 99, 100].map { text(percentile($0, of: values)) } + ["\(values.count)"]
  }

  private static func grouped<Element, Key: Hashable>(_ all: [Element], by key: (Element) -> Key) -> [[Element]] {
    var indices: [Key: Int] = [:]
    return all.reduce(into: []) { groups, element in
      if let index = indices[key(element)] { return groups[index].append(element) }
      indices[key(element)] = groups.count
      groups.append([element])
    }
  }

  private static func markdown(_ rows: [[String]]) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "| " + cells.joined(separator: " | ") + " |"
    }
    lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
    return lines.joined(separator: "\n")
  }

  /// The smallest value that at least `percent` of all values do not exceed (nearest rank). There has to be a value.
  static func percentile(_ percent: Int, of values: [Double]) -> Double {
    let rank = (percent * values.count + 99) / 100
    return values.sorted()[min(max(rank, 1), values.count) - 1]
  }

  /// A number of at least zero: a whole one as it is, others with two digits after the point, from 10 on with one.
  static func text(_ number: Double) -> String {
    guard number != number.rounded() else { return "\(Int(number))" }
    let scale = number < 10 ? 100 : 10
    let scaled = Int((number * Double(scale)).rounded())
    return "\(scaled / scale).\(String(scaled % scale + scale).dropFirst())"
  }

  // MARK: Data file

  /// Where the results are written, and what the file says about their origin.
  struct DataFile: Sendable {
    let path: String
    let benchmark: String
    /// The commit of the programs; `unknown` outside a checkout.
    let commit: String

    /// Replaces the file, so that a reader always finds a whole one.
    func write(_ results: Results) throws {
      let head = JSONTree.record([
        "benchmark": .string(benchmark), "date": .string(Self.today), "commit": .string(commit),
        "build": .string(Self.build), "machine": Self.machine,
      ])
      // One line for each series.
      let lines = results.series.map { String(decoding: $0.tree.bytes, as: UTF8.self) }
      let text =
        "\(String(decoding: head.bytes.dropLast(), as: UTF8.self)),\"series\":[\n\(lines.joined(separator: ",\n"))\n]}\n"
      let (bytes, new) = (Array(text.utf8), path + ".new")
      let number = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      guard number >= 0, Glibc.write(number, bytes, bytes.count) == bytes.count, close(number) == 0,
        rename(new, path) == 0
      else { throw SystemError("write \(path)") }
    }

    #if DEBUG
      private static let build = "debug"
    #else
      private static let build = "release"
    #endif

    /// The day in UTC, `2026-11-29`.
    private static var today: String {
      var (now, parts) = (time(nil), tm())
      gmtime_r(&now, &parts)
      let day = [parts.tm_mon + 1, parts.tm_mday].map { $0 < 10 ? "0\($0)" : "\($0)" }
      return "\(parts.tm_year + 1900)-\(day.joined(separator: "-"))"
    }

    /// The processor's name, its cores, and the kernel's version.
    private static var machine: JSONTree {
      let processors = String(decoding: (try? readFile("/proc/cpuinfo")) ?? [], as: UTF8.self)
      let name = processors.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ": ").last
      let kernel = String(decoding: (try? readFile("/proc/sys/kernel/osrelease")) ?? [], as: UTF8.self)
      return .record([
        "processor": .string(name.map { String($0) } ?? "unknown"),
        "cores": .integer(Int128(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
        "kernel": .string("Linux \(kernel.filter { !$0.isNewline })"),
      ])
    }
  }

  var file: DataFile?

  /// Writes the data file, if one is asked for.
  func save() throws { try file?.write(self) }
}

extension Results.Series {
  fileprivate var tree: JSONTree {
    .record([
      "name": .string(name), "unit": .string(unit),
      "labels": .object(labels.map { JSONTree.Member(key: $0.key, value: .string($0.value)) }),
      "values": .array(values.map { Self.number($0) }),
    ])
  }

  /// With at most three digits after the point.
  private static func number(_ value: Double) -> JSONTree {
    value == value.rounded() ? .integer(Int128(value)) : .decimal((value * 1000).rounded() / 1000)
  }
}
