"""Does somebody's implementation do what a normalization layer does, and does its gradient?"""
