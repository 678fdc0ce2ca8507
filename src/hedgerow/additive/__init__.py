"""Sums of graphs: few trees whose leaves are fitted together, and gradient boosting."""
