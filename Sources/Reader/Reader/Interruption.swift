package import Framing
package import ReaderLink

/// An error that stops the poller's current step.
package enum Interruption: Error {
  case daemonGone(ReaderLinkError)
  case deviceLost(ChipFailure)
}
