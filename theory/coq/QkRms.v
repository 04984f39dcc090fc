(** Eq. 11 is RMSNorm's scale times sqrt 2, so QK-MRSNorm under Eq. 11 is QK-RMSNorm with every score halved.

    The equality is exact at eps = 0, and for every eps when RMSNorm's is eps/2.  With the same eps in both roots each
    vector contributes a factor whose square, (m + eps)/(2m + eps), lies strictly between 1/2 and 1, m being the mean
    square of its channels.  Source: appendix A, Eq. 11, against section 3, Eq. 1.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Comparison CauchySchwarz.
Local Open Scope R_scope.

Implicit Types (P N : nat) (eps : R) (q k z : nat -> vec) (x y : nat -> R).

(** The score of QK-RMSNorm over N channels, eps inside each root. *)
Definition qk_rmsnorm N eps x y : R :=
  sum N (fun n => x n / RMS N eps x * (y n / RMS N eps y)).

Lemma mean_sq_channels P z : (0 < P)%nat ->
  sum (2 * P) (fun n => channels z n ^ 2) / INR (2 * P) = sum P (fun i => nrm (z i) ^ 2) / INR P / 2.
Proof.
  intros HP%lt_0_INR; rewrite sum_channels_sq, mult_INR; simpl (INR 2); field; lra.
Qed.

Lemma S_rms_channels P eps z : (0 < P)%nat ->
  S_rms P eps z = sqrt 2 * RMS (2 * P) (eps / 2) (channels z).
Proof.
  intros HP; unfold S_rms, RMS; rewrite mean_sq_channels, <- sqrt_mult_alt by (easy || lra).
  f_equal; field; apply Rgt_not_eq, lt_0_INR; easy.
Qed.

Lemma sum_channels_dot P q k :
  sum (2 * P) (fun n => channels q n * channels k n) = sum P (fun i => dot (q i) (k i)).
Proof.
  rewrite sum_pairs; apply sum_ext; intros i _.
  rewrite !channels_even, !channels_odd; unfold dot; ring.
Qed.

Lemma qk_rmsnorm_div N eps x y :
  qk_rmsnorm N eps x y = sum N (fun n => x n * y n) * / (RMS N eps x * RMS N eps y).
Proof.
  unfold qk_rmsnorm; rewrite <- sum_scal_r; apply sum_ext; intros n _.
  unfold Rdiv; rewrite Rinv_mult; ring.
Qed.

Theorem qk_rms_is_half P eps q k : (0 < P)%nat ->
  score P (S_rms P eps q) (S_rms P eps k) q k
  = qk_rmsnorm (2 * P) (eps / 2) (channels q) (channels k) / 2.
Proof.
  intros HP; rewrite score_div, qk_rmsnorm_div, sum_channels_dot, !S_rms_channels by easy.
  replace (sqrt 2 * _ * (sqrt 2 * _)) with
    (sqrt 2 ^ 2 * (RMS (2 * P) (eps / 2) (channels q) * RMS (2 * P) (eps / 2) (channels k))) by ring.
  rewrite pow2_sqrt, (Rinv_mult 2) by lra; unfold Rdiv; ring.
Qed.

Theorem qk_rms_is_half_eps0 P q k : (0 < P)%nat ->
  score P (S_rms P 0 q) (S_rms P 0 k) q k = qk_rmsnorm (2 * P) 0 (channels q) (channels k) / 2.
Proof. intros HP; rewrite qk_rms_is_half by easy; now replace (0 / 2) with 0 by field. Qed.

(** One vector's factor when both roots hold the same eps > 0. *)
Theorem same_eps_factor P eps z : (0 < P)%nat -> 0 < eps -> 0 < rms P z ->
  let m := rms P z ^ 2 in
  (RMS (2 * P) eps (channels z) / S_rms P eps z) ^ 2 = (m + eps) / (2 * m + eps)
  /\ 1 / 2 < (m + eps) / (2 * m + eps) < 1.
Proof.
  intros HP He Hr m; assert (Hm : 0 < m) by (unfold m; nra).
  assert (A : RMS (2 * P) eps (channels z) ^ 2 = m + eps).
  { unfold m, rms; rewrite !RMS_sq by lra; lra. }
  assert (B : S_rms P eps z ^ 2 = 2 * m + eps).
  { rewrite S_rms_sq, <- rms_sq by (easy || lra); fold m; apply lt_0_INR in HP; field; lra. }
  assert (C : S_rms P eps z <> 0) by (intros E; rewrite E in B; lra).
  split; [|split].
  - unfold Rdiv; rewrite Rpow_mult_distr, A, pow_inv, B; reflexivity.
  - apply (Rmult_lt_reg_r (2 * m + eps)); [lra|]; unfold Rdiv at 2; rewrite Rmult_assoc, Rinv_l; lra.
  - apply (Rmult_lt_reg_r (2 * m + eps)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** A pair of channels adds the same inner product under RMSNorm, so orthogonal phases cancel there as well. *)
Theorem rms_pair P eps q k i :
  let x := channels q in let y := channels k in let Rq := RMS (2 * P) eps x in let Rk := RMS (2 * P) eps y in
  x (2 * i)%nat / Rq * (y (2 * i)%nat / Rk) + x (2 * i + 1)%nat / Rq * (y (2 * i + 1)%nat / Rk)
  = contribution Rq Rk q k i.
Proof.
  cbv zeta; rewrite contribution_div, !channels_even, !channels_odd, Rinv_mult; unfold dot, Rdiv; ring.
Qed.
