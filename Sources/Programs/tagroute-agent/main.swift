import Agent
import Glibc

exit(await AgentProgram.run(CommandLine.arguments))
