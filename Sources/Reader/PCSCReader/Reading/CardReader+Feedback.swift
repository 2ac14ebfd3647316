import ReaderModels
import ReaderProtocol

/// Showing with the reader's LED and buzzer how a tap ended, if the configuration wants that, and which reader this is.
extension CardReader {
  /// The control codes for commands to the reader itself: those of libccid and of ACS's own driver.
  private static let escapeCodes = [ReaderProperties.controlCode(1), ReaderProperties.controlCode(3500)]

  /// How long another program may keep this process from showing which reader this is.
  private static let identificationAllowance = Duration.seconds(1)

  /// Shows the result of a reading. Sends the commands that the model may know, until the reader accepts one. A reader
  /// that accepts none shows nothing.
  ///
  /// A card that cannot be read is no longer connected, or never was. The commands then go to the reader's driver.
  func signal(_ content: TagReport.Content, _ handle: CardHandle) {
    guard givesFeedback else { return }
    let hasCard = isConnected
    if !hasCard { do throws(CallFailure) { try openReader() } catch { return } }
    var feedback = Feedback.failure
    if case .message = content { feedback = .success }
    show(feedback, handle, hasCard: hasCard)
  }

  /// Shows which reader this is, as after a successful tap. No card may be connected.
  func identify() {
    cardInUse = slot.card?.serial
    defer { disconnect() }
    do throws(CallFailure) { try openReader(within: Self.identificationAllowance) } catch { return }
    show(.success, CardHandle(self), hasCard: false)
  }

  private func show(_ feedback: Feedback, _ handle: CardHandle, hasCard: Bool) {
    guard let model = (try? traits(handle))?.model else { return }
    for command in model.commands(for: feedback) where isAccepted(command, handle, hasCard: hasCard) { return }
  }

  private func isAccepted(_ command: Feedback.Command, _ handle: CardHandle, hasCard: Bool) -> Bool {
    switch command {
    case .apdu(let bytes) where hasCard: (try? handle.transmit(bytes))?.dropLast().last == 0x90
    case .apdu(let bytes), .escape(let bytes): Self.escapeCodes.contains { (try? handle.control($0, bytes)) != nil }
    }
  }
}
