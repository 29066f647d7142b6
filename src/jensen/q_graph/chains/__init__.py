"""q(G) as draws: chains over orders, partitions and graphs.

All chains read the same weights of parent sets (`weights`); what they move over is one file each.
"""
