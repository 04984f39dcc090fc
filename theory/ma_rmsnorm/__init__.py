"""Claims of the MA-RMSNorm article, one file a claim."""
