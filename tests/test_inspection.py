"""Stored activations: files of every kind give the same numbers, and the numbers are the ones their names say."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from numerics import activations
from numerics.inspection import OUTLIER_FACTOR, FileProblem, files, inspect_pair, inspect_tensor, open_file
from numerics.inspection.medians import median
from numerics.inspection.quantities import attenuations, turned
from numerics.rounding import FP64, roundings

EPS = 1e-6


def rows(n=37, channels=24, dtype=torch.float32, seed=0):
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(n, channels, generator=rng, dtype=torch.float64)
    x[::5, 3] *= 200
    return x.to(dtype)


def stored(x, tmp_path, name="a.pt"):
    torch.save(x, tmp_path / name)
    (found,) = open_file(tmp_path / name)
    return found


def close(measured, exact, count):
    """Equal up to `count` roundings in fp64 on either side."""
    return abs(measured - exact) <= roundings(2 * count, FP64) * abs(exact)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_the_median_is_exact(dtype, count):
    rng = torch.Generator().manual_seed(count)
    x = torch.randn(count, generator=rng, dtype=torch.float64).abs().mul(4).to(dtype)
    x[: count // 3] = x[-1]  # ties
    expected = np.median(x.double().numpy())
    assert median(lambda: x.split(13)) == expected
    spoiled = torch.cat((x, torch.tensor([torch.nan, torch.inf], dtype=dtype)))
    assert median(lambda: spoiled.split(13)) == expected


def test_the_median_of_nothing_is_nan():
    assert math.isnan(median(lambda: iter(())))
    assert math.isnan(median(lambda: iter([torch.tensor([torch.nan])])))


def test_quantities_are_what_their_names_say(tmp_path):
    x = rows(dtype=torch.float16)
    assert_quantities(inspect_tensor(stored(x, tmp_path), EPS), x)


def half_split(x):
    """Channels i and i + C/2 as pairs."""
    return x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)


WRONG = {
    "half-split pairs": lambda stored, x: inspect_tensor(stored(half_split(x)), EPS),
    "eps forgotten": lambda stored, x: inspect_tensor(stored(x), 0.0),
    "the last row left out": lambda stored, x: inspect_tensor(stored(x[:-1]), EPS),
    "channels across rows": lambda stored, x: inspect_tensor(stored(x.T[: x.shape[1]].contiguous()), EPS),
    "all of it NaN": lambda stored, x: inspect_tensor(stored(torch.full_like(x, torch.nan)), EPS),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_summary_is_noticed(tmp_path, name):
    x = rows(n=36, channels=36, dtype=torch.float16) * 2.0**-7  # so small that eps tells
    found = WRONG[name](lambda wrong: stored(wrong, tmp_path), x)
    with pytest.raises(AssertionError):
        assert_quantities(found, x)


def assert_quantities(found, x):
    """By NumPy, from the definitions, within the roundings of either side."""
    a = x.double().numpy()
    r = np.hypot(a[:, ::2], a[:, 1::2])
    s = r.mean(1) + EPS
    s_rms = np.sqrt((a**2).mean(1) + EPS)
    n = a.shape[1] + 20
    assert (found.rows, found.channels, found.dtype) == (*x.shape, "fp16")
    assert found.outlier_ratio == np.abs(a).max() / np.median(np.abs(a))
    d = a - a.mean()
    assert close(found.kurtosis, (d**4).mean() / (d**2).mean() ** 2, 20 * a.size)
    for key, of in (("min", np.min), ("median", np.median), ("max", np.max)):
        assert close(found.s_over_s_rms[key], of(s / s_rms), n)
    gains = 1 - r / (r.shape[1] * s[:, None])
    assert abs(found.radial_gain_min - gains.min()) <= roundings(2 * n, FP64)  # of a difference of numbers up to 1
    assert close(found.operator_norm_amplification_max, (np.sqrt((r**2).mean(1)) / r.mean(1)).max(), n)
    assert close(found.output_norm_max, (r / s[:, None]).max(), n)
    assert close(found.self_score_min, ((r / s[:, None]) ** 2).sum(1).min(), 3 * n)


def test_an_outlier_shrinks_the_others_by_the_attenuation():
    r = torch.ones(1, 16, dtype=torch.float64)
    assert attenuations(r, 0.0) == {"mrsnorm": 1, "rmsnorm": 1}
    r[0, 5] = OUTLIER_FACTOR  # not more than the factor: no outlier
    assert attenuations(r, 0.0) == {"mrsnorm": 1, "rmsnorm": 1}
    r[0, 5] = 49.0
    assert attenuations(r, 0.0)["mrsnorm"] == (15 + 49) / 16
    assert float(attenuations(r, 0.0)["rmsnorm"]) == math.sqrt((15 + 49**2) / 16)


def test_a_row_without_other_channels_has_no_attenuation(tmp_path):
    x = torch.zeros(1, 8)
    x[0, 2] = 3.0
    found = inspect_tensor(stored(x, tmp_path), 0.0)
    assert math.isnan(found.attenuation["mrsnorm"])
    assert found.radial_gain_min == 0
    assert found.self_score_min == 16  # P^2, the largest there is
    assert close(found.operator_norm_amplification_max, 2.0, 8)  # sqrt(P)


def test_equal_magnitudes_have_the_smallest_self_score(tmp_path):
    found = inspect_tensor(stored(torch.ones(3, 8), tmp_path), 0.0)
    assert close(found.self_score_min, 4.0, 30)  # P
    assert close(found.s_over_s_rms["max"], math.sqrt(2), 20)
    assert found.kurtosis != found.kurtosis  # no spread, no kurtosis


def test_rows_that_are_zero_or_not_finite_are_counted_and_left_out(tmp_path):
    x = rows(4, 8)
    alone = inspect_tensor(stored(x, tmp_path), EPS)
    spoiled = torch.cat((x, torch.zeros(2, 8), torch.full((1, 8), torch.inf), x[:1] * torch.nan))
    found = inspect_tensor(stored(spoiled, tmp_path), EPS)
    assert (found.rows_zero, found.rows_not_finite, found.rows) == (2, 2, 8)
    same = ("s_over_s_rms", "radial_gain_min", "attenuation", "output_norm_max", "self_score_min")
    assert [getattr(found, name) for name in same] == [getattr(alone, name) for name in same]


def test_nothing_but_zeros_has_no_quantity(tmp_path):
    found = inspect_tensor(stored(torch.zeros(2, 4), tmp_path), EPS)
    assert found.rows_zero == 2
    assert all(math.isnan(v) for v in (found.outlier_ratio, found.radial_gain_min, found.fp16_phase_lost_share))


def test_a_phase_is_kept_by_normal_outputs_and_lost_by_underflow():
    rng = torch.Generator().manual_seed(5)
    z = torch.randn(20000, 2, generator=rng, dtype=torch.float64)
    normal = z.abs().amin(-1) >= torch.finfo(torch.float16).smallest_normal
    assert not turned(z, z)[normal].any()
    assert not turned(z, 1000 * z)[normal & (z.abs().amax(-1) < 60)].any()
    below = torch.tensor([[1.0, 0.3], [1.0, 1.0], [-3.0, 0.01]], dtype=torch.float64)
    assert turned(below, below * 2.0**-24).tolist() == [True, False, True]
    assert turned(below, below * 2.0**-30).all()  # both 0
    assert turned(below, below * 2.0**20).all()  # infinite
    assert turned(below, -below).all()  # turned around


def test_a_lost_phase_is_counted(tmp_path):
    x = torch.zeros(1, 8)
    x[0] = torch.tensor([1e6, 0, 1e-3, 1e-3, 2.0, 0.01, 0, 0])
    found = inspect_tensor(stored(x, tmp_path), 0.0)
    # S is 2.5e5: 1e-3 / S is below half of the smallest fp16 number, and 0.01 / S, 0.67 of it, rounds to it
    assert found.fp16_phase_lost_share == 2 / 3


def save_npz(path, x):
    np.savez(path, a=x.numpy())


def save_compressed(path, x):
    np.savez_compressed(path, a=x.numpy())


def save_fortran(path, x):
    np.save(path, np.asfortranarray(x.numpy()))


def save_fortran_npz(path, x):
    np.savez(path, a=np.asfortranarray(x.numpy()))


def save_big_endian(path, x):
    np.save(path, x.numpy().astype(">f4"))


def save_old(path, x):
    torch.save(x, path, _use_new_zipfile_serialization=False)


WRITERS = {
    "a.safetensors": lambda path, x: save_file({"a": x}, path),
    "a.npy": lambda path, x: np.save(path, x.numpy()),
    "fortran.npy": save_fortran,
    "endian.npy": save_big_endian,
    "a.npz": save_npz,
    "compressed.npz": save_compressed,
    "fortran.npz": save_fortran_npz,
    "a.pt": lambda path, x: torch.save(x, path),
    "dict.pt": lambda path, x: torch.save({"a": x}, path),
    "list.pth": lambda path, x: torch.save([x], path),
    "transposed.pt": lambda path, x: torch.save(x.T.contiguous().T, path),
    "old.pt": save_old,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("shape", [(37, 24), (2, 3, 5, 8), (48,)], ids=["matrix", "four dimensions", "one row"])
def test_every_kind_of_file_gives_the_same_numbers(tmp_path, monkeypatch, name, shape):
    x = rows(37, 24).flatten()[: math.prod(shape)].view(shape)
    if name == "transposed.pt" and len(shape) != 2:
        shape = (x.numel() // 8, 8)
        x = x.reshape(shape)
    WRITERS[name](tmp_path / name, x)
    reference = inspect_tensor(stored(x, tmp_path, "reference.pt"), EPS)
    monkeypatch.setattr(files, "CHUNK", 50)  # several chunks
    (found,) = open_file(tmp_path / name)
    assert (found.shape, found.obstacle) == (shape, "")
    assert torch.equal(torch.cat(list(found.read())), x.reshape(-1, shape[-1]))
    summary = inspect_tensor(found, EPS)
    assert close(summary.kurtosis, reference.kurtosis, 20 * x.numel())
    same = {"name": "", "kurtosis": 0.0}
    assert replace(summary, **same) == replace(reference, **same)


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in ("list.pth", "transposed.pt")])
def test_the_channels_may_be_another_dimension(tmp_path, monkeypatch, name):
    x = rows(6, 20).view(3, 8, 5)
    WRITERS[name](tmp_path / name, x)
    monkeypatch.setattr(files, "CHUNK", 30)
    (found,) = open_file(tmp_path / name, 1)
    assert found.shape == (3, 5, 8)
    assert torch.equal(torch.cat(list(found.read())), x.movedim(1, -1).reshape(-1, 8))


def test_bf16_is_read_from_safetensors(tmp_path):
    x = rows(dtype=torch.bfloat16)
    save_file({"b": x, "a": rows(dtype=torch.float64)}, tmp_path / "a.safetensors")
    found = {each.name: each for each in open_file(tmp_path / "a.safetensors")}
    assert {name: each.dtype for name, each in found.items()} == {"a": "fp64", "b": "bf16"}
    assert torch.equal(torch.cat(list(found["b"].read())), x)


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        (torch.zeros(4, 7), "even number of channels"),
        (torch.zeros(4, 8, dtype=torch.int32), "its dtype is int32"),
        (torch.zeros(0, 8), "at least one row"),
        (torch.tensor(1.0), "even number of channels"),
        (torch.zeros(4, 8).to_sparse(), "sparse"),
    ],
    ids=["odd width", "integers", "empty", "a number", "sparse"],
)
def test_what_has_no_phasors_says_why(tmp_path, x, reason):
    found = stored(x, tmp_path)
    assert reason in found.obstacle
    with pytest.raises(ValueError, match=reason):
        inspect_tensor(found)


def damaged(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


@pytest.mark.parametrize("name", ["a.safetensors", "a.npy", "a.npz", "a.pt"])
@pytest.mark.parametrize("content", [b"", b"not a tensor at all, but long enough to hold a header of eight bytes"])
def test_a_damaged_file_is_refused(tmp_path, name, content):
    with pytest.raises(FileProblem):
        open_file(damaged(tmp_path, name, content))


def test_a_cut_file_is_refused(tmp_path):
    for name in ("a.safetensors", "a.npy", "a.npz", "a.pt"):
        WRITERS[name](tmp_path / name, rows())
        whole = (tmp_path / name).read_bytes()
        with pytest.raises(FileProblem):
            open_file(damaged(tmp_path, name, whole[: len(whole) // 2]))


class Trap:
    """Unpickled with code allowed, it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


@pytest.mark.parametrize("old", [False, True], ids=["zip", "old format"])
def test_a_pickle_that_is_not_plain_tensors_is_refused_and_not_run(tmp_path, old):
    torch.save({"a": rows(), "b": Trap(tmp_path / "trace")}, tmp_path / "a.pt", _use_new_zipfile_serialization=not old)
    with pytest.raises(FileProblem, match="refused"):
        open_file(tmp_path / "a.pt")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("writer", [np.save, np.savez])
def test_arrays_of_python_objects_are_refused(tmp_path, writer):
    name = "a.npy" if writer is np.save else "a.npz"
    writer(tmp_path / name, np.array([{}, 1], dtype=object), **({"allow_pickle": True} if writer is np.save else {}))
    with pytest.raises(FileProblem):
        open_file(tmp_path / name)


def anonymous_memory():
    """Bytes of this process that are not mapped from files."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the operating system does not say how much memory is mapped from files")
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return 1024 * int(line.split()[1])


@pytest.mark.parametrize("name", ["a.safetensors", "a.npy", "a.npz", "a.pt"])
def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch, name):
    monkeypatch.setattr(files, "CHUNK", 1 << 15)
    path, size = tmp_path / name, 1 << 25  # 32 MiB in memory, 16 million numbers
    WRITERS[name](path, torch.ones(1 << 12, size // 2 >> 12, dtype=torch.float16))
    (found,) = open_file(path)
    inspect_tensor(replace(found, shape=(1, 4), read=lambda: iter([torch.ones(1, 4)])))  # what is loaded once
    before = anonymous_memory()
    peak = []
    inspect_tensor(found, EPS, lambda numbers: peak.append(anonymous_memory()))
    assert len(peak) == size // 2 >> 15
    assert max(peak) - before < size // 4


def test_scores_are_those_of_attention(tmp_path):
    x = activations.tensors()
    save_file({"q": x["layer0.query"], "k": x["layer0.key"]}, tmp_path / "a.safetensors")
    both = {each.name: each for each in open_file(tmp_path / "a.safetensors")}
    found = inspect_pair(both["q"], both["k"], heads=12, eps=EPS)
    q, k = (x[f"layer0.{name}"].double().view(78, 12, 16, 2).numpy() for name in ("query", "key"))

    def normalized(z, scale):
        r = np.hypot(z[..., 0], z[..., 1])
        s = {"none": np.ones(r.shape[:-1]), "mean": r.mean(-1) + EPS, "rms": np.sqrt((r**2).mean(-1) + EPS)}[scale]
        return (z / s[..., None, None]).reshape(78, 12, 32)

    n = 32 + 2 * (16 + 12)
    for scale, attention in found.attention.items():
        a, b = normalized(q, scale), normalized(k, scale)
        scores = np.einsum("thd,shd->hts", a, b)
        error = roundings(2 * n, FP64) * np.einsum("thd,shd->hts", abs(a), abs(b)).max()
        assert abs(attention.score_max - scores.max()) <= error
        assert abs(attention.score_min - scores.min()) <= error
        w = np.exp(scores / math.sqrt(32) - (scores / math.sqrt(32)).max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)
        entropy = -(w * np.log(np.where(w > 0, w, 1))).sum(-1)
        spread = error + roundings(2 * 78 + 60, FP64) * (1 + abs(scores).max())  # a logit off by e moves w by 2 e w
        assert abs(attention.entropy_mean - entropy.mean()) <= 4 * spread * (1 + abs(scores).max())
        assert abs(attention.entropy_min - entropy.min()) <= 4 * spread * (1 + abs(scores).max())
    assert max(abs(found.attention["rms"].score_min), found.attention["rms"].score_max) <= found.bounds["rms"] == 16
    assert found.attention["mean"].score_max <= found.bounds["mean"] == 256
    assert found.attention["mean"].score_max > found.bounds["rms"]  # real activations exceed d/2 under Eq. 1


def test_sequences_do_not_see_each_other(tmp_path, monkeypatch):
    q, k = rows(12, 8, seed=1).view(3, 4, 8), rows(15, 8, seed=2).view(3, 5, 8)
    monkeypatch.setattr(files, "CHUNK", 24)
    monkeypatch.setattr("numerics.inspection.pairs.CHUNK", 10)
    found = inspect_pair(stored(q, tmp_path, "q.pt"), stored(k, tmp_path, "k.pt"), heads=2)
    alone = [
        inspect_pair(stored(q[b], tmp_path, "q.pt"), stored(k[b], tmp_path, "k.pt"), heads=2).attention["mean"]
        for b in range(3)
    ]
    assert found.attention["mean"].score_max == max(each.score_max for each in alone)
    assert found.attention["mean"].entropy_min == min(each.entropy_min for each in alone)
    assert found.attention["mean"].rows == 24


def test_an_infinite_query_is_refused(tmp_path):
    x = rows(4, 8)
    x[1, 1] = torch.inf
    with pytest.raises(ValueError, match="infinite or NaN"):
        inspect_pair(stored(x, tmp_path, "q.pt"), stored(rows(4, 8), tmp_path, "k.pt"))
