"""What each command does, in a line: ``graphbo --help`` lists them without importing any."""

__all__ = ["SUMMARIES"]

#: By its name, the sentence that its own help begins with.
SUMMARIES = {
    "load": "Load a graph into the database.",
    "doctor": "Check the connection, the rights, the view and its key, and time them.",
    "run": "Find the best node of a graph.",
    "ask": "Name the node to measure next.",
    "tell": "Record the value of a node.",
    "collect": "Tell the answers that people have set on waiting nodes, in Neo4j Browser or with any program.",
    "release": "Give back a node that was asked for: it costs nothing and may be asked for again.",
    "exclude": "Leave nodes alone: they are never proposed, and stay part of the graph and of the model.",
    "include": "Let nodes be proposed again that were excluded.",
    "note": "Note something about a node that waits, or that was told, in place of what was noted before.",
    "retract": "Take back a value that was told for the wrong node.",
    "retry": "Give failures back for another try: those of these nodes, or all of a run.",
    "why": "Say why a node is to be measured: what speaks for it, and how much.",
    "status": "Say how a run stands: its best, who is at work, what failed.",
    "runs": "List the runs in the database.",
    "best": "Print the answer of a run so far: its best node.",
    "history": "Print everything that a run was told, in the order of telling.",
    "report": "Write a report of a run: one HTML file that works offline.",
    "plot": "Draw a figure of a run, for a paper or a talk.",
    "annotate": "Write the properties and labels of a run's nodes again, from its record.",
    "browser": "Print a link that opens Neo4j Browser on a run.",
    "dashboard": "Show all runs in a browser, and take what people measure there.",
    "stop": "Let the workers of a run end after the evaluations they are at.",
    "clean": "Remove every trace of a run from the database.",
    "bench": "Compare methods on tasks with a known answer.",
    "cypher": "Print a statement as it runs on a view, or list them all.",
    "tasks": "List the tasks: graphs and functions on them whose best node is known.",
    "neo4j": "A Neo4j with Browser on this machine, without docker, root or Java.",
    "mcp": "Serve the runs of a database to an assistant, over standard input and output.",
}
