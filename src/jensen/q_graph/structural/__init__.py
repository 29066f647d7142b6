"""q(G) as a point on expected statistics: structural EM, for rows with missing values."""
