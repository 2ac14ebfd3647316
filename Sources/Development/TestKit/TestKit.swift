// A test with processes imports this module alone, so that a stand-in can move between the two without a change to it.
@_exported public import Rig
