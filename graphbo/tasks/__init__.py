"""Problems with a known answer: graphs and functions on them, to try graphbo on and to measure it with."""
