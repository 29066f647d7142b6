"""Answers of networks of labels whose trees are too large: each says what it is.

`METHODS` holds the ways, by the word of `inference=`; `answers` has the questions.
"""

from jensen.inference.approximate.labels import Label, LabelledArray, LabelledNumber

__all__ = ["Label", "LabelledArray", "LabelledNumber"]
