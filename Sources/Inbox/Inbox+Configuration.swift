/// Other settings while taps are kept.
extension Inbox {
  /// Keeps taps elsewhere, or for another time, from here on. What is not over goes along.
  ///
  /// Where taps are to be kept no more, the file goes at once. Where they are to be kept from now on, ``returnToFile(maximum:)`` takes the
  /// file, and until then they are in memory.
  ///
  /// - Parameters:
  ///   - location: where the taps are kept.
  ///   - retention: how long and how many; ``prune()`` applies it to what is there.
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold them; then nothing has changed.
  public func configure(_ location: Location, _ retention: Retention) throws(InboxError) {
    let place = Place(location)
    if place != self.place {
      if place.keepsFinished { keep(at: place) } else { try keepNothing(at: place) }
    }
    self.retention = retention
  }

  private func keep(at place: Place) {
    // Where notifications are is for the next run of an agent that keeps nothing.
    if let former, lock != nil { ScreenFile(path: former.screenPath).write([]) }
    writtenPlaces = []
    // What memory has by now belongs into the file, where there is one.
    (isDegraded, isTaken, owesResumption) = (store != nil && place.file != nil, false, false)
    self.place = place
  }

  private func keepNothing(at place: Place) throws(InboxError) {
    do throws(SQLiteError) {
      if let store {
        let memory = try openMemory()
        try unfinished(in: store)?.put(into: memory)
        self.store = memory
      }
    } catch {
      throw InboxError(code: .storage, message: "the inbox cannot be used: \(error.message)")
    }
    (isDegraded, isTaken, owesResumption) = (false, false, false)
    (isFormerGone, hasReportedFormer) = (false, false)
    self.place = place
    guard store != nil else { return }
    removeFormer()
    keepingPlaces(())
  }
}
