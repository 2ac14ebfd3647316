import EventLoop

/// Where the taps are at the moment: in the file, or in memory for as long as that cannot be used.
extension Inbox {
  /// Runs `body` on the store; after a failure once more, on whatever takes the store's place.
  func attempt<Result>(_ body: (TapStore) throws(SQLiteError) -> Result) throws(InboxError) -> Result {
    defer { stamp = store == nil || isDegraded ? nil : file?.stamp(after: stamp) }
    do {
      do {
        return keepingPlaces(try body(try present()))
      } catch {
        return keepingPlaces(try body(try fallBack(after: error)))
      }
    } catch {
      throw InboxError(code: .storage, message: "the inbox cannot be used: \(error.message)")
    }
  }

  private func present() throws(SQLiteError) -> TapStore {
    if let store {
      if let stamp, let error = file?.change(since: stamp) { throw error }
      return store
    }
    let opened: TapStore
    if let file, takeLock(of: file) {
      opened = try file.open(at: now(), maximumPages: maximumPages, report: report)
    } else {
      opened = try openMemory()
      removeFormer()
      for place in placesOfFormer() { try opened.putOther(at: place) }
    }
    store = opened
    return opened
  }

  /// - Returns: whether the file may be opened. Where there can be no lock it is, and says itself what is wrong.
  private func takeLock(of file: InboxFile) -> Bool {
    guard lock == nil else { return true }
    file.prepareDirectory()
    switch InboxLock.ask(file.lockPath) {
    case .held(let lock): self.lock = lock
    case .impossible: break
    case .taken:
      (isDegraded, isTaken) = (true, true)
      report(
        "the inbox \(file.path) is in use by another process of this user, as an agent of another session bus: taps are kept in memory "
          + "until it is free")
      return false
    }
    return true
  }

  /// A fresh file after damage, else memory, with what the old store still gives of what is not over.
  private func fallBack(after error: SQLiteError) throws(SQLiteError) -> TapStore {
    guard let file, !isDegraded else { throw error }
    let unfinished = store.flatMap(unfinished)
    let former = store
    store = nil
    if let held = lock, !held.isAt(file.lockPath) { lock = nil }
    if error.isDamage, takeLock(of: file) {
      do throws(SQLiteError) {
        // Before SQLite closes it, which would write into a file that is another program's by now.
        try withExtendedLifetime(former) { () throws(SQLiteError) in
          try file.moveAside(because: error, at: now(), report: report)
        }
        let fresh = try file.open(at: now(), maximumPages: maximumPages, report: report)
        try unfinished?.put(into: fresh)
        store = fresh
        return fresh
      } catch {
        report("no new inbox could be made at \(file.path): \(error.message)")
      }
    }
    if !isTaken {
      report("the inbox \(file.path) cannot be written (\(error.message)): taps are kept in memory until it can")
    }
    let memory = try openMemory()
    try unfinished?.put(into: memory)
    store = memory
    isDegraded = true
    owesResumption = unfinished == nil
    return memory
  }

  /// - Returns: nil where it cannot be read.
  func unfinished(in store: TapStore) -> Unfinished? {
    guard let ids = try? store.unfinished(), let places = try? store.otherPlaces() else { return nil }
    return Unfinished(taps: ids.compactMap { try? store.tap($0) }, otherPlaces: places)
  }

  // MARK: The way back

  /// Goes back to the file where a full disk, say, had made that impossible, with all that memory has.
  ///
  /// - Parameter maximum: how many are to be shown at most of what an earlier run has left.
  /// - Returns: what that has left, as ``resume(maximum:)`` has it, where the file could not be read when that was asked for; nil where
  ///   there is nothing to say, or the file still cannot be used.
  public func returnToFile(maximum: Int) -> Resumption? {
    guard let file, isDegraded, !isTaken, let memory = store, takeLock(of: file) else { return nil }
    let time = now()
    do throws(SQLiteError) {
      let opened = try file.open(at: time, maximumPages: maximumPages, report: report)
      let left = try enter(opened, from: memory, maximum: maximum, at: time)
      store = opened
      (isDegraded, owesResumption) = (false, false)
      for id in left?.expired ?? [] { finished.insert(id) }
      report("the inbox \(file.path) can be written again")
      return left
    } catch {
      // Said once already, when it began; the next call tries again.
      return nil
    }
  }

  /// All of it or nothing.
  private func enter(
    _ opened: TapStore, from memory: TapStore, maximum: Int, at time: Timestamp
  ) throws(SQLiteError) -> Resumption? {
    try opened.transaction { () throws(SQLiteError) -> Resumption? in
      if owesResumption { return try resume(opened, joinedBy: memory, maximum: maximum, at: time) }
      try merge(memory, into: opened, at: time)
      return nil
    }
  }

  /// Takes the file as soon as the process that has it lets go, where that is why the taps are in memory, and puts them into it.
  ///
  /// - Parameter maximum: how many are to be shown at most of what that process has left.
  /// - Returns: what that has left, as ``resume(maximum:)`` has it; nil where there was nothing to wait for, somebody waits already, or the
  ///   file cannot be used: then ``returnToFile(maximum:)`` says it once it can.
  /// - Throws: ``InboxError/Code/storage``.
  public func takeFile(maximum: Int) async throws(InboxError) -> Resumption? {
    try attempt { (_: TapStore) throws(SQLiteError) in }
    guard let file, isTaken, !isWaiting else { return nil }
    isWaiting = true
    let lock = await InboxLock.wait(file.lockPath)
    isWaiting = false
    guard let lock, isTaken else { return nil }
    self.lock = lock
    (isTaken, owesResumption) = (false, true)
    return returnToFile(maximum: maximum)
  }

  /// What an earlier run has left in the file, and in the file from here on what memory has.
  private func resume(
    _ opened: TapStore, joinedBy memory: TapStore, maximum: Int, at time: Timestamp
  ) throws(SQLiteError) -> Resumption {
    let own = Set(try memory.allIdentifiers())
    let left = try resume(opened, maximum: maximum, at: time)
    try copy(memory, into: opened)
    // Also where an earlier run has shown what this one has got once more.
    let others = try opened.otherPlaces()
    let ownPlaces = try memory.otherPlaces()
    for place in ownPlaces { try opened.putOther(at: place) }
    return Resumption(
      waiting: left.waiting.filter { !own.contains($0.id) }, expired: left.expired.filter { !own.contains($0) },
      places: left.places.filter { !own.contains($0.key) }, otherPlaces: others.filter { !ownPlaces.contains($0) })
  }

  /// Memory knows better. What it has of this run no longer has made room: it is on no screen, and in the file would wait for good.
  private func merge(_ memory: TapStore, into opened: TapStore, at time: Timestamp) throws(SQLiteError) {
    let own = Set(try memory.allIdentifiers())
    for id in try opened.unfinished() where !own.contains(id) {
      try end(id, because: .madeRoom, in: opened, at: time)
      if let place = try opened.tap(id)?.place { try opened.leave(place) }
    }
    try copy(memory, into: opened)
    try opened.removeOtherPlaces()
    for place in try memory.otherPlaces() { try opened.putOther(at: place) }
  }

  private func copy(_ memory: TapStore, into opened: TapStore) throws(SQLiteError) {
    for id in try memory.allIdentifiers() { if let tap = try memory.tap(id) { try opened.replace(tap) } }
  }

  /// Lets go of the file; the next call opens it again.
  public func close() {
    store = nil
    lock = nil
    (isDegraded, isTaken, owesResumption, isFormerGone) = (false, false, false, false)
    writtenPlaces = []
  }

  /// Looks for damage in the whole file, on a thread of its own: a large one takes a second, and no tap waits for it.
  ///
  /// Damage that a tap meets before is found by that; this finds it where nothing has been looked at for long.
  public func check() async {
    guard let file, (try? attempt({ _ in })) != nil, !isDegraded, let checked = store else { return }
    guard let damage = (try? await DedicatedThread.run { file.damage() }) ?? nil else { return }
    // Meanwhile another may have taken its place.
    guard store === checked else { return }
    _ = try? fallBack(after: damage)
  }
}

/// What is carried over from a store that cannot be used any longer.
struct Unfinished {
  /// Those that are not over, the oldest first.
  let taps: [StoredTap]
  /// The notifications that show no tap.
  let otherPlaces: [ScreenPlace]

  func put(into store: TapStore) throws(SQLiteError) {
    for tap in taps { _ = try store.insert(tap) }
    for place in otherPlaces { try store.putOther(at: place) }
  }
}
