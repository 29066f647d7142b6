"""Tests of independence, and the graphs that are learned by them: PC-stable and MMHC."""
