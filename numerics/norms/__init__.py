"""The layers under test: MRSNorm and MA-RMSNorm, and RMSNorm as the comparison, as functions and as modules.

With z_i = (h_2i-1, h_2i) the i-th pair of adjacent channels, r_i = |z_i| and P = N/2:

    MRSNorm   o_i = gamma_i z_i / S,       S = (1/P) sum_k r_k + eps           (MRSNorm paper, section 3, Eqs. 1-2)
    RMSNorm   o_c = gamma_c x_c / S_RMS,   S_RMS = sqrt((1/N) sum_c x_c^2 + eps)
    MA-RMSNorm  o_c = s gamma_c x_c / S_RMS + alpha W_c log S_RMS                     (its article, section 2.2)

Half precision inputs (fp16, bf16) are computed in fp32 and rounded once, to the dtype of the input; fp32 and fp64 are
computed as they are. eps stands outside the mean in Eq. 1 and inside the root in the other two scales. At a phasor
z_i = 0 the backward pass uses u_i = 0, which is what `torch.linalg.vector_norm` does. A row of zeros with eps = 0 has
no output: it is 0/0 = NaN.

MA-RMSNorm's article prints no eps, so that x = 0 has no value there, and does not say how W starts. Here a zero row
gives alpha W log sqrt(eps), the value of the formula with eps, with input gradient s gamma g / sqrt(eps), 2000 g by
defaults; with eps = 0, where mean x^2 is 0 or underflows to 0, the row gives 0 with input gradient 0. The gradient is
finite only as far as |s gamma g| / sqrt(eps) is in the range of the input's dtype: in fp16 (up to 65504) for |g| <= 32
by defaults, while g = 1 gives infinity at eps = 1e-12. W starts at 0: the layer begins as s times RMSNorm.
"""

from numerics.norms.checks import ACCUMULATION
from numerics.norms.functional import MA_ALPHA, MA_S, ma_rms_norm, mrs_norm, phasor_rms_norm, rms_norm
from numerics.norms.group import GroupMRSNorm
from numerics.norms.layers import MARMSNorm, MRSNorm, RMSNorm
from numerics.norms.qk import QKNorm
from numerics.norms.scales import magnitudes, mrs_scale, phasor_rms_scale, rms_scale

__all__ = [
    "ACCUMULATION",
    "MA_ALPHA",
    "MA_S",
    "GroupMRSNorm",
    "MARMSNorm",
    "MRSNorm",
    "QKNorm",
    "RMSNorm",
    "ma_rms_norm",
    "magnitudes",
    "mrs_norm",
    "mrs_scale",
    "phasor_rms_norm",
    "phasor_rms_scale",
    "rms_norm",
    "rms_scale",
]
