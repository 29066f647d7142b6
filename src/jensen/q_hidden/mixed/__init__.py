"""Missing labels and numbers of the same rows: each part of the missing numbers is integrated out.

What is left of it is a table over the missing labels around it, which joins the cluster tree of the
labels as one more factor (the strong trees of Lauritzen and Jensen 2001, in these terms).
"""
