"""Numeric checks of real PyTorch layers, in every format, against bounds derived from unit roundoffs."""
