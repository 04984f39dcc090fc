(** The theorems, restated in full: a proof file that proves less no longer passes here.

    Above each stands what it decides, as [claim | statement | outcome] or [claim | statement | outcome | scope]; the
    scope is "every P" where none is given.  A theorem may decide part of a statement; the text says which part.  The
    words are pinned in [Definitions.v].  *)
From Coq Require Import Reals.
From Twins Require Import Definitions SelfScore QkRms Veto Softmax RmsGradientLimits GradientLimits GradientBounds
  RadialGain PowerMeanGradient NoPeriodic Projections MaPreimages.
Local Open Scope R_scope.

(** * The forward map: Eqs. 1-3 *)

(** [mrsnorm.eq01 | as printed | proved] [mrsnorm.eps-at-zero | as printed | proved] eps > 0 keeps S positive. *)
Check (S_mean_pos_eps : forall P eps z, (0 < P)%nat -> 0 < eps -> 0 < S_mean P eps z).

(** [mrsnorm.eq01 | bounds by the RMS | proved] S - eps >= sqrt(2/P) rms(h). *)
Check (mean_lower : forall P eps z, (0 < P)%nat -> sqrt (2 / INR P) * rms P z <= S_mean P eps z - eps).

(** [mrsnorm.eq01 | bounds by the RMS | proved] Equality on the left: at most one non-zero phasor. *)
Check (mean_lower_sharp : forall P eps z, (0 < P)%nat ->
  sqrt (2 / INR P) * rms P z = S_mean P eps z - eps <-> lone P z).

(** [mrsnorm.eq01 | bounds by the RMS | proved] S - eps <= sqrt(2) rms(h). *)
Check (mean_upper : forall P eps z, (0 < P)%nat -> S_mean P eps z - eps <= sqrt 2 * rms P z).

(** [mrsnorm.eq01 | bounds by the RMS | proved] Equality on the right: all magnitudes are equal. *)
Check (mean_upper_sharp : forall P eps z, (0 < P)%nat ->
  S_mean P eps z - eps = sqrt 2 * rms P z <-> equal_magnitudes P z).

(** [mrsnorm.quadratic-outlier | corrected | proved] [mrsnorm.quadratic-outlier | one phasor alone | proved]
    [beyond.starvation-relief | as printed | proved]
    S_RMS / S is between 1 / sqrt 2 and sqrt N / 2; the ends are reached by equal magnitudes and by a phasor alone. *)
Check (relief : forall P z, (0 < P)%nat -> 0 < S_mean P 0 z ->
  / sqrt 2 <= rms P z / S_mean P 0 z <= sqrt (INR (2 * P)) / 2 /\
  (/ sqrt 2 = rms P z / S_mean P 0 z <-> equal_magnitudes P z) /\
  (rms P z / S_mean P 0 z = sqrt (INR (2 * P)) / 2 <-> lone P z)).

(** [mrsnorm.eq02 | scaling | proved] N(c h) with eps is N(h) with eps / c. *)
Check (scale_mean : forall P eps gam c z i, 0 < c -> 0 < S_mean P (eps / c) z ->
  out gam (S_mean P eps (scaled c z)) (scaled c z) i = out gam (S_mean P (eps / c) z) z i).

(** [mrsnorm.eq02 | scaling | proved] At eps = 0 it is N(h). *)
Check (scale_invariance_mean : forall P gam c z i, 0 < c -> 0 < S_mean P 0 z ->
  out gam (S_mean P 0 (scaled c z)) (scaled c z) i = out gam (S_mean P 0 z) z i).

(** [mrsnorm.eq02 | eps > 0 breaks it | proved] *)
Check (scale_only_eps0 : forall P eps c z i, (i < P)%nat -> 0 < eps -> 1 < c -> z i <> vzero ->
  nrm (zhat P eps z i) < nrm (zhat P eps (scaled c z) i)).

(** Scale invariance under Eq. 11. *)
Check (scale_invariance_rms : forall P gam c z i, 0 < c -> 0 < S_rms P 0 z ->
  out gam (S_rms P 0 (scaled c z)) (scaled c z) i = out gam (S_rms P 0 z) z i).

(** [ma-rmsnorm.ma-discard | as printed | proved | every N] [mrsnorm.token-scale | RMSNorm | proved | every N]
    RMSNorm without weights does not see a common factor. *)
Check (rmsnorm_scaled : forall N c x k, 0 < c -> 0 < RMS N 0 x ->
  c * x k / RMS N 0 (fun n => c * x n) = x k / RMS N 0 x).

(** [mrsnorm.eq02 | rotation keeps magnitudes | proved] [mrsnorm.rope | as printed | proved] Any angle. *)
Check (nrm_rot : forall a u, nrm (rot a u) = nrm u).

(** [mrsnorm.eq02 | rotation equivariance | proved]
    [mrsnorm.rope | MRSNorm commutes with RoPE on adjacent pairs | proved] Every phasor by its own angle. *)
Check (rotation_equivariance_mean : forall P eps gam th z i,
  out gam (S_mean P eps (rotated th z)) (rotated th z) i = rot (th i) (out gam (S_mean P eps z) z i)).

(** Rotation equivariance under Eq. 11. *)
Check (rotation_equivariance_rms : forall P eps gam th z i,
  out gam (S_rms P eps (rotated th z)) (rotated th z) i = rot (th i) (out gam (S_rms P eps z) z i)).

(** [mrsnorm.eq02 | output bound | proved] |o_i| <= P |gamma_i|. *)
Check (output_bound : forall P eps gam z i, (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  nrm (out gam (S_mean P eps z) z i) <= INR P * Rabs (gam i)).

(** [mrsnorm.eq02 | output bound is reached | proved] By a single non-zero phasor. *)
Check (output_bound_tight : forall P gam, (0 < P)%nat ->
  nrm (out gam (S_mean P 0 (spike 1)) (spike 1) 0) = INR P * Rabs (gam 0%nat)).

(** [mrsnorm.eq03 | as printed | proved] The output points the same way, if gamma_i > 0 and z_i != 0. *)
Check (phase_kept : forall P eps gam z i, (i < P)%nat -> 0 <= eps -> z i <> vzero -> 0 < gam i ->
  unit (out gam (S_mean P eps z) z i) = unit (z i)).

(** [mrsnorm.eq03 | without: gamma_i > 0 | refuted] A negative weight turns it by pi. *)
Check (phase_turned : forall P eps gam z i, (i < P)%nat -> 0 <= eps -> z i <> vzero -> gam i < 0 ->
  unit (out gam (S_mean P eps z) z i) = vscal (-1) (unit (z i))).

(** [mrsnorm.phasor-manifold | as printed | proved] [mrsnorm.phasor-manifold | an open ball for eps > 0 | proved]
    [mrsnorm.soft-constraint | Eq. 1 is a projection as well | proved]
    The mean magnitude after normalization is 1 - eps / S. *)
Check (mean_magnitude_after : forall P eps z, (0 < P)%nat -> 0 < S_mean P eps z ->
  sum P (fun i => nrm (zhat P eps z i)) / INR P = 1 - eps / S_mean P eps z).

(** [mrsnorm.soft-constraint | Eq. 11 is the L2 projection of the whole vector | proved]
    [mrsnorm.soft-constraint | inside the sphere for eps > 0 | proved] The energy after it is P (1 - eps / S^2). *)
Check (energy_after : forall P eps z, (0 < P)%nat -> 0 <= eps -> 0 < S_rms P eps z ->
  sum P (fun i => nrm (vscal (/ S_rms P eps z) (z i)) ^ 2) = INR P * (1 - eps / S_rms P eps z ^ 2)).

(** * Gradients: Eqs. 4-7 *)

(** [mrsnorm.eq04 | as printed | proved | every N] The derivative by one channel. *)
Check (eq04 : forall N eps gam d x i, (i < N)%nat -> 0 < RMS N eps x ->
  is_derive (fun a => rms_loss N gam d (RMS N eps (upd x i a)) (upd x i a)) (x i)
    ((gam i * d i - x i / RMS N eps x * rms_projection N gam d (RMS N eps x) x) / RMS N eps x)).

(** [mrsnorm.eq04 | as printed | proved | every N] Along any differentiable curve. *)
Check (eq04_curve : forall N eps gam d c t w, 0 < RMS N eps (c t) -> channel_curve N c t w ->
  is_derive (fun s => rms_loss N gam d (RMS N eps (c s)) (c s)) t
    (sum N (fun i => rms_grad N eps gam d (c t) i * w i))).

(** [mrsnorm.eq04 | with eps outside the root | proved | every N] *)
Check (eq04_eps_outside : forall N eps gam d x i, (i < N)%nat -> 0 < RMS N 0 x -> 0 < RMS N 0 x + eps ->
  is_derive (fun a => rms_loss N gam d (RMS N 0 (upd x i a) + eps) (upd x i a)) (x i)
    (let S := RMS N 0 x + eps in (gam i * d i - x i / RMS N 0 x * rms_projection N gam d S x) / S)).

(** [mrsnorm.eq04 | without: eps = 0, or S_RMS has it under the root | refuted | N = 1] *)
Check (eq04_eps_refuted : ~ (forall N eps gam d x i, (i < N)%nat -> 0 <= eps -> 0 < RMS N 0 x ->
  is_derive (fun a => rms_loss N gam d (RMS N 0 (upd x i a) + eps) (upd x i a)) (x i)
    (let S := RMS N 0 x + eps in (gam i * d i - x i / S * rms_projection N gam d S x) / S))).

(** [mrsnorm.eq04 | without: xhat_k is taken before the affine weight | refuted | N = 1] *)
Check (eq04_post_affine_refuted : ~ (forall N eps gam d x i, (i < N)%nat -> 0 <= eps -> 0 < RMS N eps x ->
  is_derive (fun a => rms_loss N gam d (RMS N eps (upd x i a)) (upd x i a)) (x i)
    (let S := RMS N eps x in (gam i * d i - x i / S * rms_projection_post N gam d S x) / S))).

(** [mrsnorm.rms-gradient-outlier | corrected | proved | every N] |xhat_i| <= sqrt N. *)
Check (xhat_bound : forall N eps x i, (i < N)%nat -> 0 <= eps -> 0 < RMS N eps x ->
  Rabs (x i / RMS N eps x) <= sqrt (INR N)).

(** [mrsnorm.eq05 | as printed | proved] The derivative by x_i. *)
Check (eq05_x : forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive (fun x => loss P eps gam g (upd z i (x, snd (z i)))) (fst (z i))
    ((gam i * fst (g i) - fst (unit (z i)) * Omega P eps gam g z) / S_mean P eps z)).

(** [mrsnorm.eq05 | as printed | proved] The derivative by y_i. *)
Check (eq05_y : forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive (fun y => loss P eps gam g (upd z i (fst (z i), y))) (snd (z i))
    ((gam i * snd (g i) - snd (unit (z i)) * Omega P eps gam g z) / S_mean P eps z)).

(** [mrsnorm.eq05 | as printed | proved] Along any differentiable curve of phasors that are not 0 or do not move. *)
Check (eq05_curve : forall P eps gam g c t w, S_mean P eps (c t) <> 0 -> curve P c t w ->
  is_derive (fun s => loss P eps gam g (c s)) t (sum P (fun k => dot (grad P eps gam g (c t) k) (w k)))).

(** [mrsnorm.eq05 | as printed | proved] Along any differentiable curve of phasor i. *)
Check (eq05_direction : forall P eps gam g z i f t v, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  f t = z i -> is_derive_vec f t v ->
  is_derive (fun s => loss P eps gam g (upd z i (f s))) t (dot (grad P eps gam g z i) v)).

(** [mrsnorm.eq05 | without: zhat_k is taken before the affine weight (z_k / S, not Eq. 2's gamma_k z_k / S) | refuted
     | P = 1] *)
Check (eq05_post_affine_refuted : ~ (forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive (fun x => loss P eps gam g (upd z i (x, snd (z i)))) (fst (z i)) (fst (grad_post P eps gam g z i)))).

(** [mrsnorm.eq05 | without: z_i != 0 | refuted] At z_i = 0 no line through it has a derivative, unless Omega = 0. *)
Check (no_gradient_at_zero : forall P eps gam g z i v, (i < P)%nat -> z i = vzero -> 0 < S_mean P eps z ->
  Omega P eps gam g z <> 0 -> v <> vzero -> ~ ex_derive (fun t => loss P eps gam g (upd z i (vscal t v))) 0).

(** [mrsnorm.eq05 | no gradient at z_i = 0 | proved] One-sided slopes: along v and -v they sum to -2 |v| Omega / S. *)
Check (slope_from_zero : forall P eps gam g z i v, (i < P)%nat -> z i = vzero -> 0 < S_mean P eps z ->
  exists F, (forall t, 0 <= t -> loss P eps gam g (upd z i (vscal t v)) = F t) /\
    is_derive F 0 ((gam i * dot (g i) v - nrm v * Omega P eps gam g z) / S_mean P eps z)).

(** [mrsnorm.unit-direction | as printed | proved] |u_i| = 1 where z_i is not 0. *)
Check (nrm_unit : forall u, u <> vzero -> nrm (unit u) = 1).

(** [mrsnorm.eq06 | as printed | proved] *)
Check (interference_norm : forall P eps gam g z i, 0 < S_mean P eps z -> z i <> vzero ->
  nrm (interference P eps gam g z i) = Rabs (Omega P eps gam g z) / S_mean P eps z).

(** [mrsnorm.eq06 | the same for every phasor | proved] *)
Check (interference_uniform : forall P eps gam g z i j, 0 < S_mean P eps z -> z i <> vzero -> z j <> vzero ->
  nrm (interference P eps gam g z i) = nrm (interference P eps gam g z j)).

(** What Eqs. 6 and 7 are about is what Eq. 5 subtracts. *)
Check (grad_interference : forall P eps gam g z i,
  grad P eps gam g z i = vadd (vscal (gam i / S_mean P eps z) (g i)) (vscal (-1) (interference P eps gam g z i))).

(** [mrsnorm.eq07 | as printed | proved] The cross product with z_i is 0. *)
Check (interference_parallel : forall P eps gam g z i, cross (interference P eps gam g z i) (z i) = 0).

(** [mrsnorm.eq07 | RMSNorm does the same | proved] *)
Check (rms_interference_parallel : forall P eps gam d z i, 0 < RMS (2 * P) eps (channels z) ->
  let x := channels z in
  let subtracted n := gam n * d n / RMS (2 * P) eps x - rms_grad (2 * P) eps gam d x n in
  cross (subtracted (2 * i)%nat, subtracted (2 * i + 1)%nat) (z i) = 0).

(** [mrsnorm.phase-decoupled | as printed | proved] A step along u_i keeps the line through z_i. *)
Check (radial_step : forall u c, u <> vzero -> vadd u (vscal c (unit u)) = vscal (nrm u + c) (unit u)).

(** [mrsnorm.phase-decoupled | as printed | proved] [mrsnorm.phase-decoupled | the condition is the conclusion | proved]
    It keeps the phase exactly under the condition. *)
Check (radial_step_phase : forall u c, u <> vzero ->
  unit (vadd u (vscal c (unit u))) = unit u <-> 0 < nrm u + c).

(** [mrsnorm.phase-decoupled | the amplitude after the step | proved] *)
Check (radial_step_length : forall u c, u <> vzero -> nrm (vadd u (vscal c (unit u))) = Rabs (nrm u + c)).

(** [mrsnorm.phase-decoupled | the whole gradient turns the phase | proved] *)
Check (grad_tangential : forall P eps gam g z i, S_mean P eps z <> 0 ->
  cross (z i) (grad P eps gam g z i) = gam i * cross (z i) (g i) / S_mean P eps z).

(** [mrsnorm.phase-invariance | as printed | refuted | P = 1] *)
Check (phase_invariance_refuted : ~ (forall P eps gam th g z, (0 < P)%nat -> 0 <= eps ->
  (forall k, (k < P)%nat -> z k <> vzero) ->
  Rabs (Omega P eps gam g (rotated th z)) / S_mean P eps (rotated th z)
  = Rabs (Omega P eps gam g z) / S_mean P eps z)).

(** [mrsnorm.phase-invariance | corrected | proved] If every g_k is turned along with its z_k. *)
Check (phase_invariance_corrected : forall P eps gam th g z,
  Omega P eps gam (rotated th g) (rotated th z) = Omega P eps gam g z /\
  S_mean P eps (rotated th z) = S_mean P eps z).

(** [mrsnorm.homogeneity | as printed | refuted | P = 2] *)
Check (homogeneity_refuted : ~ (forall P eps gam g z i j, (i < P)%nat -> (j < P)%nat -> 0 <= eps ->
  z i <> vzero -> z j <> vzero -> nrm (grad P eps gam g z i) = nrm (grad P eps gam g z j))).

(** The witness, with upstream gradients of equal length: 9/13 and 15/13. *)
Check (homogeneity_witness :
  let z := fun _ : nat => (1, 0) in let gam := fun _ : nat => 1 in
  let g := fun k : nat => match k with O => (1, 0) | _ => (-5 / 13, 12 / 13) end in
  nrm (g 0%nat) = 1 /\ nrm (g 1%nat) = 1 /\
  nrm (grad 2 0 gam g z 0) = 9 / 13 /\ nrm (grad 2 0 gam g z 1) = 15 / 13).

(** [mrsnorm.homogeneity | corrected | proved] [mrsnorm.clipper | corrected | proved] |Omega| <= (1 - eps/S) M. *)
Check (Omega_bound : forall P eps gam g z M, (0 < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) ->
  Rabs (Omega P eps gam g z) <= (1 - eps / S_mean P eps z) * M).

(** That bound is reached, with M = 1, by upstream gradients along the phasors. *)
Check (Omega_bound_tight : forall P eps z, (0 < P)%nat -> 0 < S_mean P eps z ->
  Omega P eps (fun _ => 1) (fun k => unit (z k)) z = 1 - eps / S_mean P eps z).

(** [mrsnorm.homogeneity | corrected | proved] [mrsnorm.clipper | corrected | proved]
    |dL/dz_i| <= (2 - eps/S) M / S. *)
Check (grad_bound : forall P eps gam g z i M, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) ->
  nrm (grad P eps gam g z i) <= (2 - eps / S_mean P eps z) * M / S_mean P eps z).

(** [mrsnorm.homogeneity | corrected | proved] Both with M = max |gamma_k| |g_k|. *)
Check (grad_bound_max : forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  let M := rmax P (fun k => Rabs (gam k) * nrm (g k)) in
  Rabs (Omega P eps gam g z) <= (1 - eps / S_mean P eps z) * M /\
  nrm (grad P eps gam g z i) <= (2 - eps / S_mean P eps z) * M / S_mean P eps z).

(** [mrsnorm.eps-at-zero | as printed | proved] |dL/dz_i| <= M / eps. *)
Check (grad_bound_eps : forall P eps gam g z i M, (i < P)%nat -> 0 < eps -> z i <> vzero ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) -> nrm (grad P eps gam g z i) <= M / eps).

(** [mrsnorm.clipper | as printed | refuted] No threshold holds for every upstream gradient. *)
Check (clipper_refuted : ~ (exists C, forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  nrm (grad P eps gam g z i) <= C)).

(** [mrsnorm.clipper | corrected | proved] The backward pass is linear in g. *)
Check (grad_linear : forall P eps gam g z i c,
  grad P eps gam (fun k => vscal c (g k)) z i = vscal c (grad P eps gam g z i)).

(** [mrsnorm.scale-invariance | as printed | refuted | P = 2] *)
Check (scale_invariance_refuted : ~ (forall P eps gam g z i c, (i < P)%nat -> 0 <= eps -> 0 < c -> z i <> vzero ->
  nrm (grad P eps gam g (scaled c z) i) = nrm (grad P eps gam g z i))).

(** [mrsnorm.scale-invariance | corrected | proved] The gradient at c h, with c eps, is 1/c times that at h. *)
Check (grad_scaled : forall P eps gam g z i c, 0 < c -> 0 < S_mean P eps z -> z i <> vzero ->
  grad P (c * eps) gam g (scaled c z) i = vscal (/ c) (grad P eps gam g z i)).

(** * The Jacobian and the radial direction: Eq. 8, section 5.2 *)

(** [mrsnorm.eq08 | as printed | proved] *)
Check (eq08 : forall P eps z i v, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z i v s) i) 0
    (vscal (/ S_mean P eps z) (vadd v (vscal (- (dot (zhat P eps z i) v / INR P)) (unit (z i)))))).

(** [mrsnorm.eq08 | with the affine weight | proved] *)
Check (eq08_with_weight : forall P eps gam z i v, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => out gam (S_mean P eps (moved z i v s)) (moved z i v s) i) 0
    (vscal (gam i) (own_block P eps z i v))).

(** [mrsnorm.eq08 | blocks off the diagonal | proved] *)
Check (eq08_off_diagonal : forall P eps z i j v,
  (i < P)%nat -> (j < P)%nat -> i <> j -> 0 <= eps -> z j <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z j v s) i) 0
    (vscal (- (dot (unit (z j)) v / (INR P * S_mean P eps z))) (zhat P eps z i))).

(** [mrsnorm.eq08 | without: zhat_i is taken before the affine weight (z_i / S) | refuted | P = 1] *)
Check (eq08_post_affine_refuted : ~ (forall P eps gam z i v, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  let S := S_mean P eps z in
  is_derive_vec (fun s => out gam (S_mean P eps (moved z i v s)) (moved z i v s) i) 0
    (vscal (/ S) (vadd v (vscal (- (dot (out gam S z i) v / INR P)) (unit (z i))))))).

(** [mrsnorm.isometry | corrected | proved] J v, all blocks at once: along any differentiable curve. *)
Check (jacobian_curve : forall P eps c t w i, (i < P)%nat -> S_mean P eps (c t) <> 0 -> curve P c t w ->
  is_derive_vec (fun s => zhat P eps (c s) i) t
    (vscal (/ S_mean P eps (c t))
       (vadd (w i) (vscal (- (sum P (fun k => dot (unit (c t k)) (w k)) / INR P)) (zhat P eps (c t) i))))).

(** [mrsnorm.radial-open | as printed | proved] The radial gain is (1/S) (1 - r_i / (P S)). *)
Check (radial_gain_derive : forall P eps z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z i (unit (z i)) s) i) 0
    (vscal ((1 - nrm (z i) / (INR P * S_mean P eps z)) / S_mean P eps z) (unit (z i)))).

(** [mrsnorm.radial-open | as printed | proved] It is (sum_{k != i} r_k + P eps) / (P S^2). *)
Check (radial_gain_eq : forall P eps z i, (i < P)%nat -> 0 < S_mean P eps z ->
  radial_gain P eps z i = (others P z i + INR P * eps) / (INR P * S_mean P eps z ^ 2)).

(** [mrsnorm.radial-open | as printed | proved] [mrsnorm.radial-open | the conditions are the conclusions | proved]
    It is positive exactly under the condition. *)
Check (radial_gain_pos : forall P eps z i, (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  0 < radial_gain P eps z i <-> 0 < eps \/ exists j, (j < P)%nat /\ j <> i /\ z j <> vzero).

(** [mrsnorm.radial-open | without: eps > 0 or some other phasor is not 0 | refuted | P = 1] *)
Check (radial_gain_blocked : forall z, z 0%nat <> vzero -> radial_gain 1 0 z 0 = 0).

(** [mrsnorm.radial-open | as printed | proved] [mrsnorm.radial-open | the conditions are the conclusions | proved]
    It is at least delta / S exactly under the condition. *)
Check (radial_gain_stable : forall P eps z i delta, (i < P)%nat -> 0 < S_mean P eps z ->
  delta / S_mean P eps z <= radial_gain P eps z i <-> nrm (z i) <= (1 - delta) * (INR P * S_mean P eps z)).

(** [mrsnorm.radial-open | an outlier loses its radial gradient | proved] *)
Check (radial_gain_outlier : forall P z, (0 < P)%nat -> nrm (z 0%nat) = INR P ^ 2 ->
  (forall k, (0 < k < P)%nat -> nrm (z k) = 1) -> S_mean P 0 z * radial_gain P 0 z 0 <= / INR P).

(** [mrsnorm.radial-open | the common radial direction | proved] J h = (eps / S^2) h. *)
Check (common_radial : forall P eps z i, (i < P)%nat -> 0 < S_mean P eps z ->
  is_derive_vec (fun s => zhat P eps (fun k => vadd (z k) (vscal s (z k))) i) 0
    (vscal (eps / S_mean P eps z ^ 2) (z i))).

(** [mrsnorm.isometry | never an isometry | proved] h with every phasor turned by a right angle is stretched by 1/S. *)
Check (common_tangential : forall P eps z i, (i < P)%nat -> 0 < S_mean P eps z ->
  let turned k := (- snd (z k), fst (z k)) in
  is_derive_vec (fun s => zhat P eps (fun k => vadd (z k) (vscal s (turned k))) i) 0
    (vscal (/ S_mean P eps z) (turned i))).

(** [mrsnorm.isometry | as printed | refuted] [mrsnorm.isometry | never an isometry | proved]
    The two stretches, of h and of h turned, differ wherever a phasor is not 0. *)
Check (stretches_differ : forall P eps z i, (i < P)%nat -> z i <> vzero -> 0 <= eps ->
  eps / S_mean P eps z ^ 2 < / S_mean P eps z).

(** [mrsnorm.projection-blockade | as printed | proved] The Jacobian of z / |z| is (I - u u^T) / r. *)
Check (unit_derive : forall f t v, is_derive_vec f t v -> f t <> vzero ->
  is_derive_vec (fun s => unit (f s)) t
    (vscal (/ nrm (f t)) (vadd v (vscal (- dot (unit (f t)) v) (unit (f t)))))).

(** [mrsnorm.projection-blockade | as printed | proved] It maps u to 0. *)
Check (unit_radial : forall z, z <> vzero ->
  is_derive_vec (fun s => unit (vadd z (vscal s (unit z)))) 0 vzero).

(** [mrsnorm.squash-blockade | as printed | refuted] At every z but 0. *)
Check (squash_refuted : forall z, z <> vzero ->
  ~ is_derive_vec (fun s => squash (vadd z (vscal s (unit z)))) 0 vzero).

(** [mrsnorm.squash-blockade | corrected | proved] J u = 2r / (1 + r^2)^2 u. *)
Check (squash_radial : forall z, z <> vzero ->
  is_derive_vec (fun s => squash (vadd z (vscal s (unit z)))) 0 (vscal (2 * nrm z / (1 + nrm z ^ 2) ^ 2) (unit z))).

(** [mrsnorm.squash-blockade | the radial factor | proved] *)
Check (squash_positive : forall r, 0 < r ->
  0 < 2 * r / (1 + r ^ 2) ^ 2 /\ 2 * r / (1 + r ^ 2) ^ 2 < 2 * r /\ 2 * r / (1 + r ^ 2) ^ 2 < 2 / r ^ 3).

(** [mrsnorm.squash-blockade | the whole Jacobian is invertible | proved] It stretches by r / (1 + r^2) across. *)
Check (squash_across : forall z v, z <> vzero -> dot (unit z) v = 0 ->
  is_derive_vec (fun s => squash (vadd z (vscal s v))) 0 (vscal (nrm z / (1 + nrm z ^ 2)) v)).

(** The length of the squashed vector as a function of r, and the squashed vector along any curve. *)
Check (squash_length : forall r, is_derive (fun s => s ^ 2 / (1 + s ^ 2)) r (2 * r / (1 + r ^ 2) ^ 2)).
Check (squash_derive : forall f t v, is_derive_vec f t v -> f t <> vzero ->
  let r := nrm (f t) in let u := unit (f t) in
  is_derive_vec (fun s => squash (f s)) t
    (vadd (vscal (2 * r / (1 + r ^ 2) ^ 2 * dot u v) u)
          (vscal (r / (1 + r ^ 2)) (vadd v (vscal (- dot u v) u))))).

(** [mrsnorm.no-1d | as printed | proved | every such function] *)
Check (no_periodic_C1 : forall f df T c, 0 < T -> 0 < c -> (forall x, is_derive f x (df x)) ->
  (forall x, continuity_pt df x) -> (forall x, f (x + T) = f x) -> ~ (forall x, Rabs (df x) = c)).

(** [mrsnorm.no-1d | differentiable is enough | proved | every such function] *)
Check (no_periodic : forall f df T c, 0 < T -> 0 < c -> (forall x, is_derive f x (df x)) ->
  (forall x, f (x + T) = f x) -> ~ (forall x, Rabs (df x) = c)).

(** [mrsnorm.no-1d | differentiable functions | proved | every differentiable f] *)
Check (moves_at_least : forall f df x T m, 0 < T -> (forall y, is_derive f y (df y)) ->
  (forall y, m <= Rabs (df y)) -> T * m <= Rabs (f (x + T) - f x)).

(** [mrsnorm.min-dim | as printed | proved | every continuous u] In dimension 1 there is no continuous phase. *)
Check (no_phase_on_the_line : forall f a b, (forall x, continuity_pt f x) -> (forall x, f x = 1 \/ f x = -1) ->
  f a = 1 -> f b <> -1).

(** [mrsnorm.min-dim | a phase in dimension 2 | proved] (cos, sin) is periodic with velocity 1. *)
Check (periodic_in_the_plane : forall x,
  is_derive cos x (- sin x) /\ is_derive sin x (cos x) /\ sqrt ((- sin x) ^ 2 + cos x ^ 2) = 1 /\
  cos (x + 2 * PI) = cos x /\ sin (x + 2 * PI) = sin x).

(** * The attention score: Eqs. 9-18 *)

(** [mrsnorm.eq09 | as printed | proved] [mrsnorm.phase-veto | as printed | proved] Any scales. *)
Check (score_cosines : forall P Sq Sk rq thq rk thk,
  score P Sq Sk (fun i => polar (rq i) (thq i)) (fun i => polar (rk i) (thk i)) =
  sum P (fun i => rq i * rk i / (Sq * Sk) * cos (thq i - thk i))).

(** [mrsnorm.phase-veto | as printed | proved] Orthogonal phases add nothing. *)
Check (orthogonal_adds_nothing : forall Sq Sk q k i, dot (q i) (k i) = 0 -> contribution Sq Sk q k i = 0).

(** [mrsnorm.phase-veto | corrected | proved] A pair of channels adds the same inner product under RMSNorm. *)
Check (rms_pair : forall P eps q k i,
  let x := channels q in let y := channels k in let Rq := RMS (2 * P) eps x in let Rk := RMS (2 * P) eps y in
  x (2 * i)%nat / Rq * (y (2 * i)%nat / Rk) + x (2 * i + 1)%nat / Rq * (y (2 * i + 1)%nat / Rk)
  = contribution Rq Rk q k i).

(** [mrsnorm.veto-neutralises | as printed | refuted | P = 2] *)
Check (veto_refuted : ~ (forall P eps Sk q k i v, (i < P)%nat -> 0 <= eps -> 0 < Sk -> 0 < S_mean P eps q ->
  q i = vzero -> dot v (k i) = 0 ->
  score P (S_mean P eps (upd q i v)) Sk (upd q i v) k = score P (S_mean P eps q) Sk q k)).

(** [mrsnorm.veto-neutralises | corrected | proved] The whole score falls as 1/A. *)
Check (veto : forall P eps Sk q k i v, (i < P)%nat -> 0 < S_mean P eps q -> q i = vzero -> dot v (k i) = 0 ->
  let W := INR P * S_mean P eps q in
  score P (S_mean P eps (upd q i v)) Sk (upd q i v) k = W / (W + nrm v) * score P (S_mean P eps q) Sk q k).

(** [mrsnorm.veto-neutralises | falls as 1/A | proved] *)
Check (veto_falls : forall P eps Sk q k i v, (i < P)%nat -> 0 < S_mean P eps q -> q i = vzero -> dot v (k i) = 0 ->
  nrm v * Rabs (score P (S_mean P eps (upd q i v)) Sk (upd q i v) k)
  <= INR P * S_mean P eps q * Rabs (score P (S_mean P eps q) Sk q k)).

(** [mrsnorm.eq11 | as printed | refuted | P = 2] Eq. 1 is not Eq. 11. *)
Check (eq11_refuted : ~ (forall P z, (0 < P)%nat -> S_mean P 0 z = S_rms P 0 z)).

(** [mrsnorm.eq11 | Eq. 1 is never larger | proved] [mrsnorm.eq11 | smaller where magnitudes differ | proved]
    [mrsnorm.eq11 | the same where magnitudes are equal | proved] *)
Check (mean_le_rms : forall P z, (0 < P)%nat ->
  S_mean P 0 z <= S_rms P 0 z /\ (S_mean P 0 z = S_rms P 0 z <-> equal_magnitudes P z)).

(** [mrsnorm.eq11 | corrected | proved] QK-MRSNorm under Eq. 11 is QK-RMSNorm with eps/2, halved. *)
Check (qk_rms_is_half : forall P eps q k, (0 < P)%nat ->
  score P (S_rms P eps q) (S_rms P eps k) q k = qk_rmsnorm (2 * P) (eps / 2) (channels q) (channels k) / 2).

(** [mrsnorm.eq11 | corrected | proved] At eps = 0. *)
Check (qk_rms_is_half_eps0 : forall P q k, (0 < P)%nat ->
  score P (S_rms P 0 q) (S_rms P 0 k) q k = qk_rmsnorm (2 * P) 0 (channels q) (channels k) / 2).

(** [mrsnorm.eq11 | the same eps in both roots | proved] *)
Check (same_eps_factor : forall P eps z, (0 < P)%nat -> 0 < eps -> 0 < rms P z ->
  let m := rms P z ^ 2 in
  (RMS (2 * P) eps (channels z) / S_rms P eps z) ^ 2 = (m + eps) / (2 * m + eps)
  /\ 1 / 2 < (m + eps) / (2 * m + eps) < 1).

(** [mrsnorm.token-scale | as printed | proved] At eps = 0, under Eq. 1. *)
Check (score_scale_mean : forall P Sk c q k, 0 < c ->
  score P (S_mean P 0 (scaled c q)) Sk (scaled c q) k = score P (S_mean P 0 q) Sk q k).

(** [mrsnorm.token-scale | with eps | proved] *)
Check (score_scale_mean_eps : forall P eps Sk c q k, (0 < P)%nat -> 0 < c -> 0 <= eps -> 0 < S_mean P eps q ->
  let S := S_mean P eps q in
  score P (S_mean P eps (scaled c q)) Sk (scaled c q) k = c * S / (c * (S - eps) + eps) * score P S Sk q k).

(** [mrsnorm.eq17 | one phasor | proved] *)
Check (dot_le : forall u v, Rabs (dot u v) <= nrm u * nrm v).

(** [mrsnorm.eq17 | as printed | proved] The first step of the chain, for any positive scales. *)
Check (chain_blocks : forall P Sq Sk q k, 0 < Sq -> 0 < Sk ->
  Rabs (score P Sq Sk q k) <= sum P (fun i => nrm (q i) * nrm (k i)) / (Sq * Sk)).

(** [mrsnorm.eq17 | as printed | proved] Its terms: one block, for any positive scales. *)
Check (block_bound : forall Sq Sk q k i, 0 < Sq -> 0 < Sk ->
  Rabs (contribution Sq Sk q k i) <= nrm (q i) * nrm (k i) / (Sq * Sk)).

(** [mrsnorm.eq17 | as printed | proved] The second. *)
Check (chain_energies : forall P Sq Sk q k, 0 < Sq -> 0 < Sk ->
  sum P (fun i => nrm (q i) * nrm (k i)) / (Sq * Sk) <=
  sqrt (sum P (fun i => nrm (q i) ^ 2) * sum P (fun i => nrm (k i) ^ 2)) / (Sq * Sk)).

(** [mrsnorm.energy-identity | as printed | proved] Under Eq. 11 with eps = 0. *)
Check (energy_identity_eps0 : forall P z, (0 < P)%nat ->
  sum P (fun i => nrm (z i) ^ 2) = INR P * S_rms P 0 z ^ 2).

(** [mrsnorm.energy-identity | with eps | proved] *)
Check (energy_identity : forall P eps z, (0 < P)%nat -> 0 <= eps ->
  sum P (fun i => nrm (z i) ^ 2) = INR P * (S_rms P eps z ^ 2 - eps)).

(** [mrsnorm.energy-identity | eps > 0 | proved] *)
Check (energy_below : forall P eps z, (0 < P)%nat -> 0 < eps ->
  sum P (fun i => nrm (z i) ^ 2) < INR P * S_rms P eps z ^ 2).

(** [mrsnorm.energy-identity | Eq. 1 turns it round | proved]
    [mrsnorm.energy-identity | strictly, where magnitudes differ | proved]
    [mrsnorm.energy-identity | equal magnitudes | proved] *)
Check (energy_mean : forall P z, (0 < P)%nat ->
  INR P * S_mean P 0 z ^ 2 <= sum P (fun i => nrm (z i) ^ 2) /\
  (INR P * S_mean P 0 z ^ 2 = sum P (fun i => nrm (z i) ^ 2) <-> equal_magnitudes P z)).

(** [mrsnorm.eq16-rms | as printed | proved] *)
Check (block_rms : forall P eps q k i, (i < P)%nat -> 0 <= eps -> 0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (contribution (S_rms P eps q) (S_rms P eps k) q k i)
    <= nrm (q i) * nrm (k i) / (S_rms P eps q * S_rms P eps k) <= INR P).

(** [mrsnorm.eq16-rms | the bound is reached | proved] *)
Check (block_rms_tight : forall P, (0 < P)%nat ->
  exists q, 0 < S_rms P 0 q /\ contribution (S_rms P 0 q) (S_rms P 0 q) q q 0 = INR P).

(** [mrsnorm.eq18-rms | as printed | proved] *)
Check (score_rms_bound : forall P eps q k, (0 < P)%nat -> 0 <= eps -> 0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) <= INR P).

(** [mrsnorm.eq18-rms | as printed | proved] In channels, d = 2P. *)
Check (score_rms_bound_d : forall P d eps q k, (0 < P)%nat -> d = (2 * P)%nat -> 0 <= eps ->
  0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) <= INR d / 2).

(** [mrsnorm.eq18-rms | the bound is reached | proved] By every non-zero vector with itself. *)
Check (score_rms_tight : forall P q, (0 < P)%nat -> 0 < S_rms P 0 q ->
  score P (S_rms P 0 q) (S_rms P 0 q) q q = INR P).

(** At eps = 0 only: for eps > 0 the bound is strict. *)
Check (score_rms_strict : forall P eps q k, (0 < P)%nat -> 0 < eps ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) < INR P).

(** [mrsnorm.eq16 | as printed | refuted | every P >= 2, every eps >= 0] *)
Check (eq16_refuted : forall P eps, (2 <= P)%nat -> 0 <= eps ->
  ~ (forall q k i, (i < P)%nat -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
       Rabs (contribution (S_mean P eps q) (S_mean P eps k) q k i) <= INR P)).

(** [mrsnorm.eq16 | corrected | proved] *)
Check (block_mean : forall P eps q k i, (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (contribution (S_mean P eps q) (S_mean P eps k) q k i)
    <= nrm (q i) * nrm (k i) / (S_mean P eps q * S_mean P eps k) <= INR P ^ 2).

(** [mrsnorm.eq18 | as printed | refuted | every P >= 2, every eps >= 0] *)
Check (eq18_refuted : forall P eps, (2 <= P)%nat -> 0 <= eps ->
  ~ (forall q k, 0 < S_mean P eps q -> 0 < S_mean P eps k ->
       Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR P)).

(** [mrsnorm.eq18 | corrected | proved] *)
Check (score_mean_bound : forall P eps q k, (0 < P)%nat -> 0 <= eps -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR P ^ 2).

(** [mrsnorm.eq18 | corrected | proved] In channels, d = 2P. *)
Check (score_mean_bound_d : forall P d eps q k, (0 < P)%nat -> d = (2 * P)%nat -> 0 <= eps ->
  0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR d ^ 2 / 4).

(** [mrsnorm.eq16 | the corrected bound is reached | proved] [mrsnorm.eq18 | the corrected bound is reached | proved] *)
Check (score_mean_tight : forall P, (0 < P)%nat ->
  exists q, 0 < S_mean P 0 q /\
    score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P ^ 2 /\
    contribution (S_mean P 0 q) (S_mean P 0 q) q q 0 = INR P ^ 2).

(** [mrsnorm.eq16 | fails for every d >= 4 and eps > 0 | proved | every P >= 2, every eps > 0]
    [mrsnorm.eq18 | fails for every d >= 4 and eps > 0 | proved | every P >= 2, every eps > 0] *)
Check (score_mean_above_eps : forall P eps, (2 <= P)%nat -> 0 < eps ->
  exists q, 0 < S_mean P eps q /\
    score P (S_mean P eps q) (S_mean P eps q) q q = 16 * INR P ^ 2 / 25 /\
    contribution (S_mean P eps q) (S_mean P eps q) q q 0 = 16 * INR P ^ 2 / 25 /\
    INR P < 16 * INR P ^ 2 / 25).

(** [mrsnorm.eq18 | fails for every d >= 4 at eps = 0 | proved | every P >= 2, eps = 0] *)
Check (score_mean_above : forall P, (2 <= P)%nat ->
  exists q, 0 < S_mean P 0 q /\
    score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P ^ 2 /\
    contribution (S_mean P 0 q) (S_mean P 0 q) q q 0 = INR P ^ 2 /\
    INR P < INR P ^ 2).

(** [beyond.self-score | as printed | proved] *)
Check (self_score : forall P q, (0 < P)%nat -> 0 < S_mean P 0 q ->
  INR P <= score P (S_mean P 0 q) (S_mean P 0 q) q q /\
  (score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P <-> equal_magnitudes P q)).

(** [beyond.self-score | with eps | proved] The difference. *)
Check (self_score_excess : forall P eps q, (0 < P)%nat -> 0 < S_mean P eps q ->
  score P (S_mean P eps q) (S_mean P eps q) q q - INR P
  = INR P * (S_rms P 0 q ^ 2 - S_mean P eps q ^ 2) / S_mean P eps q ^ 2).

(** [beyond.self-score | with eps | proved] Its sign. *)
Check (self_score_eps : forall P eps q, (0 < P)%nat -> 0 < S_mean P eps q ->
  INR P <= score P (S_mean P eps q) (S_mean P eps q) q q <-> S_mean P eps q <= S_rms P 0 q).

(** [mrsnorm.softmax-collapse | as printed | proved | every n, every logits] *)
Check (largest_weight : forall n a i D, (i < n)%nat -> (forall k, (k < n)%nat -> a i - a k <= D) ->
  weight n a i <= 1 / (1 + (INR n - 1) * exp (- D))).

(** [mrsnorm.softmax-collapse | as printed | proved | every n] The bound is reached. *)
Check (largest_weight_tight : forall n D, (0 < n)%nat ->
  weight n (fun k => if Nat.eqb k 0 then 0 else - D) 0 = 1 / (1 + (INR n - 1) * exp (- D))).

(** [mrsnorm.softmax-collapse | the spread of the logits under Eq. 11 | proved] *)
Check (spread_rms : forall P eps q k k', (0 < P)%nat -> 0 <= eps ->
  0 < S_rms P eps q -> 0 < S_rms P eps k -> 0 < S_rms P eps k' ->
  score P (S_rms P eps q) (S_rms P eps k) q k / sqrt (INR (2 * P))
  - score P (S_rms P eps q) (S_rms P eps k') q k' / sqrt (INR (2 * P)) <= sqrt (INR (2 * P))).

(** [mrsnorm.softmax-collapse | as printed | proved | every d, every n, every q and keys] *)
Check (largest_weight_rms : forall P eps n q keys i, (0 < P)%nat -> 0 <= eps -> (i < n)%nat ->
  0 < S_rms P eps q -> (forall j, (j < n)%nat -> 0 < S_rms P eps (keys j)) ->
  weight n (fun j => score P (S_rms P eps q) (S_rms P eps (keys j)) q (keys j) / sqrt (INR (2 * P))) i
  <= 1 / (1 + (INR n - 1) * exp (- sqrt (INR (2 * P))))).

(** * Power means *)

(** p = 1 is Eq. 1, p = 2 is Eq. 11. *)
Check (S_pow_1 : forall P z, S_pow P 1 z = S_mean P 0 z).
Check (S_pow_2 : forall P z, S_pow P 2 z = S_rms P 0 z).

(** [beyond.power-mean-logit | as printed | proved] 0 < p <= 2. *)
Check (power_mean_low : forall P p q k, (0 < P)%nat -> 0 < p <= 2 -> 0 < S_pow P p q -> 0 < S_pow P p k ->
  Rabs (score P (S_pow P p q) (S_pow P p k) q k) <= pw (INR P) (2 / p)).

(** [beyond.power-mean-logit | as printed | proved] p >= 2. *)
Check (power_mean_high : forall P p q k, (0 < P)%nat -> 2 <= p -> 0 < S_pow P p q -> 0 < S_pow P p k ->
  Rabs (score P (S_pow P p q) (S_pow P p k) q k) <= INR P).

(** [beyond.power-mean-logit | as printed | proved] The first bound is reached. *)
Check (power_mean_low_tight : forall P p, (0 < P)%nat -> 0 < p ->
  exists q, 0 < S_pow P p q /\ score P (S_pow P p q) (S_pow P p q) q q = pw (INR P) (2 / p)).

(** [beyond.power-mean-logit | as printed | proved] The second bound is reached. *)
Check (power_mean_high_tight : forall P p, (0 < P)%nat -> 0 < p ->
  exists q, 0 < S_pow P p q /\ score P (S_pow P p q) (S_pow P p q) q q = INR P).

(** [beyond.trade-off | as printed | proved | every P >= 2] For p < 2 the first bound is above d/2. *)
Check (power_mean_above : forall P p, (2 <= P)%nat -> 0 < p < 2 -> INR P < pw (INR P) (2 / p)).

(** The gradient under a power mean, along any motion of non-zero phasors. *)
Check (power_mean_gradient : forall P p gam g c t w, (0 < P)%nat -> 0 < p ->
  (forall k, (k < P)%nat -> is_derive_vec (fun s => c s k) t (w k) /\ c t k <> vzero) ->
  is_derive (fun s => loss_pow P p gam g (c s)) t (sum P (fun k => dot (grad_pow P p gam g (c t) k) (w k)))).

(** [beyond.power-mean | as printed | proved] The length of the interference. *)
Check (power_mean_interference : forall P p gam g z i, (i < P)%nat -> 0 < p -> z i <> vzero ->
  nrm (interference_pow P p gam g z i)
  = Rabs (Omega_pow P p gam g z) * pw (nrm (z i) / S_pow P p z) (p - 1) / S_pow P p z).

(** [beyond.power-mean | longer for p > 1 | proved] [beyond.trade-off | longer for p > 1 | proved] *)
Check (power_mean_longer : forall P p gam g z i j, (i < P)%nat -> (j < P)%nat -> 0 < p -> z j <> vzero ->
  nrm (z j) < nrm (z i) -> Omega_pow P p gam g z <> 0 -> 1 < p ->
  nrm (interference_pow P p gam g z j) < nrm (interference_pow P p gam g z i)).

(** [beyond.power-mean | shorter for p < 1 | proved] [beyond.trade-off | shorter for p < 1 | proved] *)
Check (power_mean_shorter : forall P p gam g z i j, (i < P)%nat -> (j < P)%nat -> 0 < p -> z j <> vzero ->
  nrm (z j) < nrm (z i) -> Omega_pow P p gam g z <> 0 -> p < 1 ->
  nrm (interference_pow P p gam g z i) < nrm (interference_pow P p gam g z j)).

(** [beyond.power-mean | as printed | proved | every P >= 2] Uniform for every h exactly when p = 1. *)
Check (power_mean_uniform : forall P p, (2 <= P)%nat -> 0 < p ->
  (forall gam g z i j, (i < P)%nat -> (j < P)%nat -> (forall k, (k < P)%nat -> z k <> vzero) ->
     nrm (interference_pow P p gam g z i) = nrm (interference_pow P p gam g z j)) <-> p = 1).

(** [beyond.trade-off | as printed | proved | every P >= 2, every p > 0] *)
Check (trade_off : forall P p, (2 <= P)%nat -> 0 < p ->
  ~ ((forall gam g z i j, (i < P)%nat -> (j < P)%nat -> (forall k, (k < P)%nat -> z k <> vzero) ->
        nrm (interference_pow P p gam g z i) = nrm (interference_pow P p gam g z j)) /\
     (forall q k, 0 < S_pow P p q -> 0 < S_pow P p k ->
        Rabs (score P (S_pow P p q) (S_pow P p k) q k) <= INR P))).

(** * MA-RMSNorm *)

(** [ma-rmsnorm.ma-jacobian | as printed | proved | every N] Entry by entry. *)
Check (ma_jacobian : forall N s alpha gam W x i j, (i < N)%nat -> (j < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => MA N s alpha gam W (upd x j a) i) (x j)
    (let xhat k := x k / RMS N 0 x in
     (s * gam i * ((if Nat.eqb i j then 1 else 0) - xhat i * xhat j / INR N) + alpha * W i * xhat j / INR N)
     / RMS N 0 x)).

(** The same along any differentiable curve. *)
Check (ma_jacobian_curve : forall N s alpha gam W c t w k,
  (k < N)%nat -> 0 < RMS N 0 (c t) -> channel_curve N c t w ->
  is_derive (fun a => MA N s alpha gam W (c a) k) t
    (let R := RMS N 0 (c t) in
     (s * gam k * (w k - c t k / R * along N (c t) w) + alpha * W k * along N (c t) w) / R)).

(** [ma-rmsnorm.ma-jacobian | as printed | proved | every N] J x = alpha W. *)
Check (ma_radial : forall N s alpha gam W x k, (k < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => MA N s alpha gam W (fun n => x n + a * x n) k) 0 (alpha * W k)).

(** [ma-rmsnorm.ma-jacobian | as printed | proved | every N] MA(c x) = MA(x) + alpha W log c. *)
Check (ma_scaled : forall N s alpha gam W x c k, 0 < c -> 0 < RMS N 0 x ->
  MA N s alpha gam W (fun n => c * x n) k = MA N s alpha gam W x k + alpha * W k * ln c).

(** [ma-rmsnorm.ma-jacobian | the input gradient | proved | every N] *)
Check (ma_gradient : forall N s alpha gam W e x i, (i < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => sum N (fun k => e k * MA N s alpha gam W (upd x i a) k)) (x i)
    (let R := RMS N 0 x in
     (s * gam i * e i - x i / R * (/ INR N * sum N (fun k => e k * (s * gam k * (x k / R) - alpha * W k)))) / R)).

(** The same along any differentiable curve. *)
Check (ma_gradient_curve : forall N s alpha gam W e c t w, 0 < RMS N 0 (c t) -> channel_curve N c t w ->
  is_derive (fun a => sum N (fun k => e k * MA N s alpha gam W (c a) k)) t
    (sum N (fun i => ma_grad N s alpha gam W e (c t) i * w i))).

(** [ma-rmsnorm.ma-recover | as printed | refuted | N = 1]
    [ma-rmsnorm.ma-recover | the smallest counterexample | proved | N = 1]
    MA(1) = MA(-e^40) = 2. *)
Check (magnitude_lost :
  let f (a : R) := MA 1 2 (1 / 10) (fun _ => 1) (fun _ => 1) (fun _ => a) 0%nat in
  f 1 = 2 /\ f (- exp 40) = 2 /\ Rabs 1 <> Rabs (- exp 40)).

(** [ma-rmsnorm.ma-recover | corrected | proved | every N] The two levels an output leaves. *)
Check (two_levels : forall N s alpha gam W x, (0 < N)%nat -> 0 < RMS N 0 x ->
  (forall k, (k < N)%nat -> gam k <> 0) -> 0 < slant_sq N alpha gam W ->
  forall x', 0 < RMS N 0 x' -> (forall k, (k < N)%nat -> MA N s alpha gam W x' k = MA N s alpha gam W x k) ->
  ln (RMS N 0 x') = ln (RMS N 0 x) \/
  ln (RMS N 0 x') = ln (RMS N 0 x) + 2 * s * alignment N alpha gam W x / slant_sq N alpha gam W).

(** [ma-rmsnorm.ma-recover | corrected | proved | every N] They are one exactly on the fold. *)
Check (levels_coincide : forall N s alpha gam W x, 0 < slant_sq N alpha gam W -> s <> 0 ->
  (other_level N s alpha gam W x = ln (RMS N 0 x) <-> alignment N alpha gam W x = 0)).

(** [ma-rmsnorm.ma-recover | the second preimage | proved | every N] *)
Check (second_preimage : forall N s alpha gam W x, (0 < N)%nat -> 0 < RMS N 0 x ->
  (forall k, (k < N)%nat -> gam k <> 0) -> 0 < slant_sq N alpha gam W ->
  0 < RMS N 0 (other N s alpha gam W x) /\
  (forall k, (k < N)%nat -> MA N s alpha gam W (other N s alpha gam W x) k = MA N s alpha gam W x k) /\
  ln (RMS N 0 (other N s alpha gam W x)) = other_level N s alpha gam W x /\
  alignment N alpha gam W (other N s alpha gam W x) = - alignment N alpha gam W x).

(** There is no third. *)
Check (two_preimages : forall N s alpha gam W x, (0 < N)%nat -> 0 < RMS N 0 x ->
  (forall k, (k < N)%nat -> gam k <> 0) -> 0 < slant_sq N alpha gam W ->
  forall x', s <> 0 -> 0 < RMS N 0 x' ->
  (forall k, (k < N)%nat -> MA N s alpha gam W x' k = MA N s alpha gam W x k) ->
  (forall k, (k < N)%nat -> x' k = x k) \/ (forall k, (k < N)%nat -> x' k = other N s alpha gam W x k)).
