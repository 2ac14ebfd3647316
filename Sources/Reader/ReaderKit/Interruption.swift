package import PN53x
package import ReaderProtocol

/// An error that stops the poller's current step.
package enum Interruption: Error {
  case daemonGone(ReaderLinkError)
  case deviceLost(ChipFailure)
}
