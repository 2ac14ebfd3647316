// Contains no code: the target only names the programs of the demo as its dependencies.
