"""What is learned: p(x, h | θ) with the prior and the families of its parameters."""
