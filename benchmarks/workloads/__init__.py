"""One file for every kind of work; each has a list named WORKLOADS, and that is all it takes."""
