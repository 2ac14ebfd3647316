import Bus
import Names
import TagrouteClient
import TagsPages

/// Carries out what `WritingRun` decides, with the daemon's reader sessions.
final class WritingRunner {
  typealias Run = WritingRun<ReaderTag>

  private(set) var run = WritingRun<ReaderTag>()
  private let services: Services
  private let changed: () -> Void
  private var session: ReaderSession?
  private var following: Task<Void, Never>?

  /// `changed` is called when there is something else to see.
  init(_ services: Services, changed: @escaping () -> Void) { (self.services, self.changed) = (services, changed) }

  isolated deinit { following?.cancel() }

  func handle(_ event: WritingRun<ReaderTag>.Event) {
    for action in run.handle(event) {
      switch action {
      case .start(let formats): start(formats: formats)
      case .examine(let tag): examine(tag)
      case .write(let tag, let message, let locks): write(tag, message, locks: locks)
      case .close: close()
      case .show: changed()
      }
    }
  }

  private func start(formats: Bool) {
    following?.cancel()
    let options = ReaderSessionOptions(message: Self.instruction, access: .write, formatsBlankTags: formats)
    following = Task { [weak self, services] in
      do throws(BusError) {
        // A session that is released ends, also if this task was cancelled meanwhile.
        let session = try await services.readerSession(options)
        guard !Task.isCancelled else { return }
        self?.session = session
        for await event in session.events {
          guard !Task.isCancelled else { return }
          self?.follow(event)
        }
      } catch {
        guard !Task.isCancelled else { return }
        self?.handle(.notStarted(Self.problem(starting: error)))
      }
    }
  }

  private func follow(_ event: ReaderSessionEvent) {
    switch event {
    case .activated: handle(.activated)
    case .tagDetected(let tag): handle(.detected(tag, name: Self.name(tag)))
    case .roundEnded: handle(.roundEnded)
    case .tagRemoved(let tag): handle(.removed(tag))
    case .ended(let end):
      session = nil
      handle(.ended(end.reason))
    case .pollingRestarted, .messageRead, .progress: break
    }
  }

  /// Tags without a UID differ in their number.
  private static func name(_ tag: ReaderTag) -> String {
    let number = tag.path.string.split(separator: "/").last.map { "#\($0)" } ?? ""
    return "\(TapWords.technology(tag.technology)) \(tag.uid.isEmpty ? number : UIDText.text(tag.uid))"
  }

  private func examine(_ tag: ReaderTag) {
    let size = run.order.message.count
    Task { [weak self] in
      let result = await Self.contents(of: tag, roomFor: size)
      self?.handle(.examined(tag, result))
    }
  }

  /// Finds out before the user is asked that the message cannot be written. Off the main actor, because it decodes a
  /// message of up to a megabyte.
  @concurrent nonisolated private static func contents(
    of tag: ReaderTag, roomFor size: Int
  ) async -> Result<Run.Contents, Run.TagProblem> {
    do throws(BusError) {
      let (status, capacity) = try await tag.queryNDEF()
      switch status {
      case .notSupported: return .success(.blank)
      case .readOnly: return .failure(Run.TagProblem(.tag(.readOnly)))
      case .readWrite where Int(capacity) < size: return .failure(Run.TagProblem(.room(Int(capacity))))
      case .readWrite: return .success(.message(try await tag.readNDEF()))
      }
    } catch {
      switch TagFailure(error) {
      case .noMessage: return .success(.empty)
      case .notSupported: return .success(.blank)
      case .refused: return .success(.damaged)
      default: return .failure(Run.TagProblem(problem(error)))
      }
    }
  }

  private func write(_ tag: ReaderTag, _ message: [UInt8], locks: Bool) {
    Task { [weak self] in
      let result = await Self.written(message, on: tag, locks: locks)
      self?.handle(.written(tag, result))
    }
  }

  @concurrent nonisolated private static func written(
    _ message: [UInt8], on tag: ReaderTag, locks: Bool
  ) async -> Result<Bool, Run.TagProblem> {
    do throws(BusError) {
      // The daemon reads the message back.
      try await tag.writeNDEF(message)
    } catch {
      return .failure(Run.TagProblem(problem(error)))
    }
    guard locks else { return .success(false) }
    do throws(BusError) {
      try await tag.lock()
      return .success(true)
    } catch {
      return .failure(Run.TagProblem(.notLocked(problem(error))))
    }
  }

  private func close() {
    let (session, farewell) = (session, farewell)
    self.session = nil
    following?.cancel()
    following = nil
    Task { try? await session?.invalidate(errorMessage: farewell) }
  }

  // MARK: Words

  nonisolated private static func problem(_ error: BusError) -> Run.Problem {
    if let failure = TagFailure(error) { return .tag(failure) }
    let isGone = error.isAway || [BusError.Name.noReply, BusError.Name.disconnected].contains(error.name)
    return isGone ? .ended(.daemonGone) : .other(error.message)
  }

  /// Why a reader session could not be started.
  static func problem(starting error: BusError) -> Run.Problem {
    switch error.name {
    case Names.Errors.notPossible: .noReader
    // The message says which right is missing.
    case Names.Errors.notAuthorized, BusError.Name.accessDenied, Names.Errors.tooMany: .other(error.message)
    default: problem(error)
    }
  }

  /// On the sheet of the session.
  private static var instruction: String {
    // Translators: below “Hold a tag near the reader”, after the name of the program.
    sheet(translated("Hold the tag that is to be written near the reader."), "Hold the tag near the reader.")
  }

  /// What the sheet shows at the end; nil for a check mark.
  private var farewell: String? {
    guard let entry = run.entries.last else { return Self.nothing }
    switch entry.outcome {
    case .written: return nil
    case .kept: return Self.nothing
    case .failed(let problem): return Self.sheet(problem.words, "That did not work.")
    }
  }

  private static var nothing: String { sheet(translated("Nothing was written."), "Nothing was written.") }

  /// The daemon takes at most 256 bytes. A session must not fail in one language only.
  private static func sheet(_ text: String, _ english: String) -> String { text.utf8.count <= 256 ? text : english }
}
