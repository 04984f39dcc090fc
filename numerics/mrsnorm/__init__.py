"""The claims of the MRSNorm paper (arXiv 2607.17822), measured: one file each."""
