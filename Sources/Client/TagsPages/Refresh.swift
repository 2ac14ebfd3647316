/// The rhythm of reading what may change at any time: one reading at a time, and changes during it lead to one more.
package struct Refresh: Sendable, Hashable {
  /// Of the present reading, or of the last one.
  private var number = 0
  private var isReading = false
  private var isStale = false

  package init() {}

  /// Returns the number of the reading to start now; nil if one goes on.
  package mutating func changed() -> Int? {
    guard !isReading else {
      isStale = true
      return nil
    }
    isReading = true
    number += 1
    return number
  }

  /// Returns false if the result of this reading is to be ignored.
  package mutating func ended(_ number: Int) -> Bool {
    guard isReading, number == self.number else { return false }
    isReading = false
    return true
  }

  /// After a reading has ended. Returns the number of the next one; nil if nothing has changed meanwhile.
  package mutating func next() -> Int? {
    guard isStale else { return nil }
    isStale = false
    return changed()
  }

  /// Ignores the result of the present reading.
  package mutating func abandon() { (isReading, isStale) = (false, false) }
}
