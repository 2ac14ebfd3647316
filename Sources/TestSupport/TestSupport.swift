// Tests import the rig through this module, so that a stand-in can move between the two without a change to the tests.
@_exported public import Rig
