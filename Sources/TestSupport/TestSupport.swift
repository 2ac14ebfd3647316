// Tests see the rig through this module, so that a stand-in may move between the two without touching them.
@_exported public import Rig
