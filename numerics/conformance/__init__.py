"""Does somebody's implementation do what a normalization layer does, and does its gradient?

The target runs in a child process; what is true is computed in the parent, from its own copies of the inputs, and never
leaves it. The child sends bytes and JSON. So a target can change whatever it likes in its own process: to pass, it has
to leave the right numbers in memory, on every call, for inputs it has not seen before.

What can still fool this:
- A target that knows that it is being checked, and is right only then.
- One that is right on all that is tried, and wrong elsewhere: other widths, dtypes, layouts or values, a later call.
- One that tampers with the machine rather than with its process: the checker's files, or the parent's memory, which
  the same user may write to. The limits are those of `setrlimit`; this is no sandbox.
- An error smaller than the bounds. They are worst cases over every order of summation: at 65,536 rows a weight gradient
  may be off by 2^-8 of the sum of magnitudes, where a good sum is some thousand times better.
- For fp64 input, one that computes in fp32: that is allowed, and said.
"""
