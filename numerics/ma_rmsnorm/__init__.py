"""Numeric checks of the claims of the MA-RMSNorm article, one file a claim."""
