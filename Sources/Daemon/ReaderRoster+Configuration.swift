import DeviceEvents

/// Another configuration while readers are in use.
extension ReaderRoster {
  /// Has the readers that a start with these names would have, and leaves those alone that it would have the same.
  mutating func configure(_ names: [String]) -> [Action] {
    guard names != configured else { return [] }
    var fresh = ReaderRoster(configured: names, hasUdev: hasUdev, resolve: resolve)
    fresh.next = next
    let present = devices.values.sorted { $0.path < $1.path }
    let started = fresh.handle(.device(.present(present))) + fresh.handle(.start)
    var kept: [Int: Int] = [:]
    for (id, reader) in fresh.readers.sorted(by: { $0.key < $1.key }) {
      let same = readers.sorted { $0.key < $1.key }.first { $0.value.isSame(as: reader) && kept[$0.key] == nil }
      if let same { kept[same.key] = id }
    }
    let leaving = readers.filter { kept[$0.key] == nil }.sorted { $0.key < $1.key }
    let actions = leaving.flatMap { id, reader in reader.device == nil ? [.stop(id)] : [Action.stop(id), .hide(id)] }
    for (old, new) in kept {
      guard let reader = readers[old], let stays = fresh.readers.removeValue(forKey: new)?.stays else { continue }
      fresh.readers[old] = reader
      fresh.readers[old]?.stays = stays
    }
    self = fresh
    let known = Set(kept.values)
    return actions + started.filter { $0.reader.map { !known.contains($0) } ?? true }
  }
}

extension ReaderRoster.Reader {
  /// Whether one process serves both: it was started with the same, and is the same on the bus.
  fileprivate func isSame(as other: Self) -> Bool {
    !seeks && !other.seeks && device == other.device && target == other.target && path == other.path
      && isFollowed == other.isFollowed && isRefused == other.isRefused
  }
}

extension ReaderRoster.Action {
  /// Which reader it is about; nil where that is none.
  fileprivate var reader: Int? {
    switch self {
    case .show(let id, _, _), .start(let id, _), .stop(let id), .restart(let id, _), .refuse(let id, _), .hide(let id),
      .look(let id), .move(let id, _), .away(let id, _):
      id
    case .log: nil
    }
  }
}
