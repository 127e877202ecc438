"""What proposes the next node: strategies, the regions they look at, the model, and the graph as they see it."""
