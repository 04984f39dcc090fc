(** What the layer and the score do when phasors are scaled by one number or turned, each by its own angle.

    Sources: section 3, Eqs. 1-3 (scaling, phase), section 2.2 (rotations of the phasors, as RoPE makes them),
    section 5.3 (the scale of a token).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export CauchySchwarz Spike.
Local Open Scope R_scope.

Implicit Types (P : nat) (eps c a : R) (gam th : nat -> R) (u v : vec) (q k z : nat -> vec).

Definition scaled c z : nat -> vec := fun i => vscal c (z i).
Definition rotated th z : nat -> vec := fun i => rot (th i) (z i).

(** ** Scaling *)

Lemma S_mean_scaled P eps c z : 0 <= c -> S_mean P (c * eps) (scaled c z) = c * S_mean P eps z.
Proof.
  intros Hc; unfold S_mean, scaled, Rdiv.
  rewrite (sum_ext P _ (fun i => c * nrm (z i))); [rewrite sum_scal; ring|].
  intros; now apply nrm_vscal_pos.
Qed.

Lemma S_rms_scaled P eps c z : 0 <= c -> 0 <= eps ->
  S_rms P (c ^ 2 * eps) (scaled c z) = c * S_rms P eps z.
Proof.
  intros Hc He; unfold S_rms, scaled, Rdiv.
  rewrite (sum_ext P _ (fun i => c ^ 2 * nrm (z i) ^ 2)).
  - rewrite sum_scal, Rmult_assoc, <- Rmult_plus_distr_l, sqrt_mult_alt by apply pow2_ge_0.
    now rewrite sqrt_pow2.
  - intros; rewrite nrm_vscal_pos by easy; ring.
Qed.

Lemma out_scaled gam S c z i : 0 < c -> 0 < S -> out gam (c * S) (scaled c z) i = out gam S z i.
Proof. intros; unfold out, scaled, Rdiv; components; field; lra. Qed.

(** Eq. 2: N(c h) with eps is N(h) with eps / c. *)
Theorem scale_mean P eps gam c z i : 0 < c -> 0 < S_mean P (eps / c) z ->
  out gam (S_mean P eps (scaled c z)) (scaled c z) i = out gam (S_mean P (eps / c) z) z i.
Proof.
  intros Hc HS; replace eps with (c * (eps / c)) at 1 by (field; lra).
  rewrite S_mean_scaled by lra; now apply out_scaled.
Qed.

Theorem scale_invariance_mean P gam c z i : 0 < c -> 0 < S_mean P 0 z ->
  out gam (S_mean P 0 (scaled c z)) (scaled c z) i = out gam (S_mean P 0 z) z i.
Proof.
  intros Hc HS; assert (E : 0 / c = 0) by (unfold Rdiv; ring).
  assert (D := scale_mean P 0 gam c z i Hc); rewrite E in D; now apply D.
Qed.

Theorem scale_invariance_rms P gam c z i : 0 < c -> 0 < S_rms P 0 z ->
  out gam (S_rms P 0 (scaled c z)) (scaled c z) i = out gam (S_rms P 0 z) z i.
Proof.
  intros Hc HS; assert (E := S_rms_scaled P 0 c z); rewrite Rmult_0_r in E.
  rewrite E by lra; now apply out_scaled.
Qed.

(** Only eps = 0: for eps > 0 every non-zero output of weight 1 grows with c. *)
Theorem scale_only_eps0 P eps c z i : (i < P)%nat -> 0 < eps -> 1 < c -> z i <> vzero ->
  nrm (zhat P eps z i) < nrm (zhat P eps (scaled c z) i).
Proof.
  intros Hi He Hc Hz%nrm_pos; assert (HP := INR_pos P i Hi).
  assert (E : S_mean P eps (scaled c z) = c * S_mean P (eps / c) z).
  { rewrite <- S_mean_scaled by lra; f_equal; field; lra. }
  assert (L : S_mean P (eps / c) z < S_mean P eps z).
  { unfold S_mean; apply Rplus_lt_compat_l.
    apply (Rmult_lt_reg_r c); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; nra. }
  assert (Q : 0 < S_mean P (eps / c) z).
  { apply S_mean_pos_eps; [lia|]; apply Rdiv_lt_0_compat; lra. }
  unfold zhat, scaled at 2; rewrite !nrm_vscal_pos; try (left; apply Rinv_0_lt_compat; nra); try lra.
  rewrite E, Rinv_mult.
  replace (/ c * / S_mean P (eps / c) z * (c * nrm (z i))) with (/ S_mean P (eps / c) z * nrm (z i))
    by (field; lra).
  apply Rmult_lt_compat_r; [easy|]; apply Rinv_lt_contravar; nra.
Qed.

(** Section 5.3: the scale of a query does not change its scores. *)
Theorem score_scale_mean P Sk c q k : 0 < c ->
  score P (S_mean P 0 (scaled c q)) Sk (scaled c q) k = score P (S_mean P 0 q) Sk q k.
Proof.
  intros Hc; assert (E := S_mean_scaled P 0 c q (Rlt_le _ _ Hc)); rewrite Rmult_0_r in E.
  rewrite E, !score_div.
  rewrite (sum_ext P _ (fun i => c * dot (q i) (k i)))
    by (intros; unfold scaled, dot, vscal; simpl; ring).
  rewrite sum_scal, !Rinv_mult.
  replace (c * _ * _) with (c * / c * (sum P (fun i => dot (q i) (k i)) * (/ S_mean P 0 q * / Sk))) by ring.
  rewrite Rinv_r by lra; ring.
Qed.

(** With eps, by a factor that is 1 only for c = 1 or eps = 0. *)
Theorem score_scale_mean_eps P eps Sk c q k : (0 < P)%nat -> 0 < c -> 0 <= eps -> 0 < S_mean P eps q ->
  let S := S_mean P eps q in
  score P (S_mean P eps (scaled c q)) Sk (scaled c q) k = c * S / (c * (S - eps) + eps) * score P S Sk q k.
Proof.
  intros HP Hc He HS S; assert (G := S_mean_ge_eps P eps q HP); fold S in HS, G.
  assert (E : S_mean P eps (scaled c q) = c * (S - eps) + eps).
  { assert (E := S_mean_scaled P 0 c q (Rlt_le _ _ Hc)); unfold S, S_mean in *; lra. }
  assert (Q : 0 < c * (S - eps) + eps) by (destruct He; nra).
  rewrite E, !score_div, (sum_ext P _ (fun i => c * dot (q i) (k i)))
    by (intros; unfold scaled, dot, vscal; simpl; ring).
  rewrite sum_scal, !Rinv_mult; generalize (/ Sk); intros; field; lra.
Qed.

(** ** Rotation *)

Lemma out_rot gam S th z i : out gam S (rotated th z) i = rot (th i) (out gam S z i).
Proof. unfold out, rotated, rot, vscal; simpl; f_equal; ring. Qed.

Lemma S_mean_rotated P eps th z : S_mean P eps (rotated th z) = S_mean P eps z.
Proof. unfold S_mean; do 2 f_equal; apply sum_ext; intros; apply nrm_rot. Qed.

Lemma S_rms_rotated P eps th z : S_rms P eps (rotated th z) = S_rms P eps z.
Proof.
  unfold S_rms; do 3 f_equal; apply sum_ext; intros; unfold rotated; now rewrite nrm_rot.
Qed.

Theorem rotation_equivariance_mean P eps gam th z i :
  out gam (S_mean P eps (rotated th z)) (rotated th z) i = rot (th i) (out gam (S_mean P eps z) z i).
Proof. now rewrite S_mean_rotated, out_rot. Qed.

Theorem rotation_equivariance_rms P eps gam th z i :
  out gam (S_rms P eps (rotated th z)) (rotated th z) i = rot (th i) (out gam (S_rms P eps z) z i).
Proof. now rewrite S_rms_rotated, out_rot. Qed.

(** Eq. 3: for a positive weight the output points the same way. *)
Theorem phase_kept P eps gam z i : (i < P)%nat -> 0 <= eps -> z i <> vzero -> 0 < gam i ->
  unit (out gam (S_mean P eps z) z i) = unit (z i).
Proof.
  intros Hi He Hz Hg; assert (HS := S_mean_pos P eps z i Hi He Hz); apply nrm_pos in Hz.
  assert (C : 0 < gam i / S_mean P eps z) by now apply Rdiv_lt_0_compat.
  unfold unit, out; rewrite nrm_vscal_pos, Rinv_mult by lra.
  set (c := gam i / S_mean P eps z) in *; components; field; lra.
Qed.

Theorem phase_turned P eps gam z i : (i < P)%nat -> 0 <= eps -> z i <> vzero -> gam i < 0 ->
  unit (out gam (S_mean P eps z) z i) = vscal (-1) (unit (z i)).
Proof.
  intros Hi He Hz Hg; assert (HS := S_mean_pos P eps z i Hi He Hz); apply nrm_pos in Hz.
  assert (C : 0 < - gam i / S_mean P eps z) by (apply Rdiv_lt_0_compat; lra).
  unfold unit, out; rewrite nrm_vscal.
  replace (gam i / S_mean P eps z) with (- (- gam i / S_mean P eps z)) by (field; lra).
  rewrite Rabs_Ropp, (Rabs_pos_eq (- gam i / _)), Rinv_mult by lra.
  set (c := - gam i / S_mean P eps z) in *; components; field; lra.
Qed.

(** |o_i| <= P |gamma_i|. *)
Theorem output_bound P eps gam z i : (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  nrm (out gam (S_mean P eps z) z i) <= INR P * Rabs (gam i).
Proof.
  intros Hi He HS; unfold out; rewrite nrm_vscal; unfold Rdiv; rewrite Rabs_mult.
  assert (HI := Rinv_0_lt_compat _ HS); rewrite (Rabs_pos_eq (/ _)) by lra.
  assert (B := nrm_le_S_mean P eps z i Hi); assert (G := Rabs_pos (gam i)); assert (HP := INR_pos P i Hi).
  replace (INR P * Rabs (gam i)) with (Rabs (gam i) * / S_mean P eps z * (INR P * S_mean P eps z)) by (field; lra).
  apply Rmult_le_compat_l; nra.
Qed.

Theorem output_bound_tight P gam : (0 < P)%nat ->
  nrm (out gam (S_mean P 0 (spike 1)) (spike 1) 0) = INR P * Rabs (gam 0%nat).
Proof.
  intros HP; unfold out; rewrite nrm_vscal, S_mean_spike, nrm_spike by (easy || lra).
  apply lt_0_INR in HP; replace (gam 0%nat / (1 / INR P + 0)) with (INR P * gam 0%nat) by (field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (INR P)) by lra; ring.
Qed.

(** ** The normalized vector as a whole *)

(** Eq. 1 puts it on (eps = 0) or inside (eps > 0) the set of vectors of mean magnitude 1. *)
Theorem mean_magnitude_after P eps z : (0 < P)%nat -> 0 < S_mean P eps z ->
  sum P (fun i => nrm (zhat P eps z i)) / INR P = 1 - eps / S_mean P eps z.
Proof.
  intros HP HS; assert (I := Rinv_0_lt_compat _ HS).
  rewrite (sum_ext P _ (fun i => / S_mean P eps z * nrm (z i)))
    by (intros; unfold zhat; rewrite nrm_vscal_pos; lra).
  rewrite sum_scal, (sum_nrm P eps) by easy; apply lt_0_INR in HP; field; lra.
Qed.

(** Eq. 11 puts it on or inside a sphere, so it is an L2 projection of the whole vector at eps = 0. *)
Theorem energy_after P eps z : (0 < P)%nat -> 0 <= eps -> 0 < S_rms P eps z ->
  sum P (fun i => nrm (vscal (/ S_rms P eps z) (z i)) ^ 2) = INR P * (1 - eps / S_rms P eps z ^ 2).
Proof.
  intros HP He HS; assert (I := Rinv_0_lt_compat _ HS).
  rewrite (sum_ext P _ (fun i => / S_rms P eps z ^ 2 * nrm (z i) ^ 2))
    by (intros; rewrite nrm_vscal_pos by lra; field; lra).
  rewrite sum_scal, (sum_nrm_sq P eps) by easy; field; lra.
Qed.
