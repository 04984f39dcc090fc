"""Multi-head self-attention with rotary position embedding and a norm of queries and keys.

RoPE turns the pair i = 0, ..., P - 1 of a query or key of width d = 2P at position t by the angle t omega_i, with
omega_i = base^(-i / P). Which two channels are a pair is a convention, and the two that are in use are here:

    "adjacent"     channels 2i and 2i + 1, the pairs that MRSNorm reads as phasors: a rotation leaves every magnitude
                   as it is, so that norm and RoPE may be applied in either order
    "half-split"   channels i and i + P: the rotation mixes different phasors, and the order matters

Here the norm comes first. Angles, sines and cosines are computed in fp64 where the device has it, in fp32 elsewhere;
the rotation in fp32 for half precision inputs (fp64 for fp64), rounded once.

Source: MRSNorm paper, sections 2.2 and 5.3; RoPE is that of Su et al., "RoFormer".
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from numerics.norms import ACCUMULATION, QKNorm
from numerics.norms.checks import NAMES, check_count

PAIRINGS = ("adjacent", "half-split")


def check_pairing(pairing: str) -> None:
    """ValueError for a pairing that is none of the two."""
    if pairing not in PAIRINGS:
        raise ValueError(f"pairing is {pairing!r}; accepted: {', '.join(map(repr, PAIRINGS))}")


def rope_angles(positions: Tensor, head_dim: int, base: float = 10_000.0) -> Tensor:
    """t omega_i in radians: positions (...,), of any dtype -> (..., head_dim/2).

    Raises TypeError or ValueError for a head_dim that is no positive even integer, ValueError for a base that is not a
    finite number above 0.
    """
    pairs = check_count("head_dim", head_dim, 2) // 2
    if not (base > 0 and math.isfinite(base)):
        raise ValueError(f"base is {base}; accepted: a finite number above 0")
    dtype = torch.float32 if positions.device.type == "mps" else torch.float64
    exponent = torch.arange(pairs, device=positions.device, dtype=dtype) / pairs
    return positions.to(dtype).unsqueeze(-1) * base**-exponent


def rotate(x: Tensor, angles: Tensor, pairing: str = "adjacent") -> Tensor:
    """Each pair (a, b) of x turned to (a cos - b sin, a sin + b cos): (..., d) -> (..., d), in the dtype of x.

    `angles` (..., d/2) broadcasts against the pairs. Raises TypeError for a dtype of x, ValueError for a width or a
    pairing, that is not accepted.
    """
    check_pairing(pairing)
    if x.dtype not in ACCUMULATION:
        raise TypeError(f"x has dtype {x.dtype} and shape {tuple(x.shape)}; accepted: {NAMES}")
    if x.dim() == 0 or x.shape[-1] != 2 * angles.shape[-1]:
        raise ValueError(f"x has shape {tuple(x.shape)}; accepted: (..., {2 * angles.shape[-1]})")
    wide = ACCUMULATION[x.dtype]
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)
    adjacent = pairing == "adjacent"
    pairs = x.to(wide).unflatten(-1, (-1, 2) if adjacent else (2, -1))
    a, b = pairs.unbind(-1 if adjacent else -2)
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1 if adjacent else -2)
    return turned.flatten(-2).to(x.dtype)


class Attention(nn.Module):
    """Self-attention: (B, T, channels) -> (B, T, channels), `num_heads` heads of width d = channels / num_heads.

    Queries and keys are normalized head by head (`qk_scale` "mean", Eq. 1, or "rms", Eq. 11, see `QKNorm`; None leaves
    them as they are), rotated by RoPE with the given `pairing` (None: no RoPE), and scored by q . k * `temperature`,
    1/sqrt(d) unless given. With `causal`, position t attends to positions up to t.

    Raises TypeError or ValueError for a number of channels or heads that is no positive integer, heads that do not
    divide the channels into an even width, for another scale or pairing, and for inputs of another shape.
    """

    def __init__(
        self,
        channels: int,
        num_heads: int,
        qk_scale: str | None = "mean",
        pairing: str | None = "adjacent",
        causal: bool = False,
        eps: float = 1e-6,
        base: float = 10_000.0,
        temperature: float | None = None,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.channels, self.num_heads = check_count("channels", channels), check_count("num_heads", num_heads)
        if channels % (2 * num_heads):
            raise ValueError(
                f"num_heads is {num_heads}, channels is {channels}; "
                "accepted: heads of an even width, channels a multiple of 2 num_heads"
            )
        if pairing is not None:
            check_pairing(pairing)
        self.head_dim = channels // num_heads
        self.pairing, self.causal, self.base = pairing, causal, base
        self.temperature = self.head_dim**-0.5 if temperature is None else temperature
        self.norm = None if qk_scale is None else QKNorm(self.head_dim, qk_scale, eps)
        self.projection = nn.Linear(channels, 3 * channels, bias=bias, device=device, dtype=dtype)
        self.output = nn.Linear(channels, channels, bias=bias, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the projections anew, as `torch.nn.Linear` does."""
        self.projection.reset_parameters()
        self.output.reset_parameters()

    def extra_repr(self) -> str:
        """The constructor's arguments that no part shows."""
        return (
            f"{self.channels}, {self.num_heads}, pairing={self.pairing!r}, causal={self.causal}, base={self.base}, "
            f"temperature={self.temperature}"
        )

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Attention over the tokens of each sample; `positions` (T,) or (B, T), 0, 1, ..., T - 1 unless given."""
        if x.dim() != 3 or x.shape[-1] != self.channels:
            raise ValueError(f"x has shape {tuple(x.shape)}; accepted: (B, T, {self.channels})")
        q, k, v = self.projection(x).unflatten(-1, (3, self.num_heads, self.head_dim)).movedim(1, 3).unbind(1)
        if self.norm is not None:
            q, k = self.norm(q, k)  # (B, heads, T, d)
        if self.pairing is not None:
            q, k = self._rotated(q, k, positions)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal, scale=self.temperature)
        return self.output(mixed.movedim(1, 2).flatten(-2))

    def _rotated(self, q: Tensor, k: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor]:
        tokens = q.shape[-2]
        if positions is None:
            positions = torch.arange(tokens, device=q.device)
        elif positions.shape not in ((tokens,), (q.shape[0], tokens)):
            raise ValueError(
                f"positions has shape {tuple(positions.shape)}; accepted: ({tokens},) or ({q.shape[0]}, {tokens})"
            )
        angles = rope_angles(positions, self.head_dim, self.base)
        angles = angles if angles.dim() == 2 else angles.unsqueeze(1)  # (B, 1, T, P): the same for every head
        return rotate(q, angles, self.pairing), rotate(k, angles, self.pairing)
