"""What proposes the next node: strategies, the regions they look at, the model, and the graph as they see it.

::

    strategies   what proposes the next node
    regions      where they look: pure folds over a history
    graph        the strategies' only door to the database
    features     what is known of nodes beforehand, as numbers
    costs        what measurements cost, and how much that counts
    acquisition  a score for each candidate, from what is believed of it
    model        the Gaussian process over nodes
    kernels      its covariances, as scikit-learn kernels
    modes        how much each mode weighs
    spectrum     a subgraph's Laplacian and its eigenpairs
"""
