(** The scales that a vector is divided by, and what the layer and the attention score make of them.

    Sources: Eq. 1 (the mean of the magnitudes), Eq. 11 (their root mean square), Eq. 2 (the layer), Eqs. 9 and 12
    (the score), Eq. 15 (what one block adds to it).  RMSNorm is the paper's point of comparison (Eq. 4); its eps, like
    that of Eq. 11, stands inside the root.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Phasors.
Local Open Scope R_scope.

Implicit Types (P N : nat) (eps c : R) (gam x : nat -> R) (g q k z : nat -> vec).

Definition S_mean P eps z : R := sum P (fun i => nrm (z i)) / INR P + eps.
Definition S_rms P eps z : R := sqrt (sum P (fun i => nrm (z i) ^ 2) / INR P + eps).

(** RMSNorm over N channels, and the 2P channels that P phasors are made of. *)
Definition RMS N eps x : R := sqrt (sum N (fun n => x n ^ 2) / INR N + eps).
Definition channels z : nat -> R :=
  fun n => if Nat.even n then fst (z (Nat.div2 n)) else snd (z (Nat.div2 n)).

(** Before the affine weight, and after it. *)
Definition zhat P eps z i : vec := vscal (/ S_mean P eps z) (z i).
Definition out gam (S : R) z i : vec := vscal (gam i / S) (z i).

(** What a loss sees of the layer: its gradient with respect to output [i] is [g i]. *)
Definition loss P eps gam g z : R :=
  sum P (fun i => dot (g i) (out gam (S_mean P eps z) z i)).

(** The mean projection of the weighted upstream gradient on the normalized phasors (Eq. 5). *)
Definition Omega P eps gam g z : R :=
  / INR P * sum P (fun i => gam i * dot (g i) (zhat P eps z i)).

Definition contribution (Sq Sk : R) q k i : R := dot (vscal (/ Sq) (q i)) (vscal (/ Sk) (k i)).
Definition score P (Sq Sk : R) q k : R := sum P (contribution Sq Sk q k).

(** ** The scales are positive *)

Lemma INR_pos P i : (i < P)%nat -> 0 < INR P.
Proof. intros; apply lt_0_INR; lia. Qed.

Lemma sum_nrm_ge0 P z : 0 <= sum P (fun i => nrm (z i)).
Proof. apply sum_ge0; intros; apply nrm_ge0. Qed.

Lemma sum_nrm P eps z : (0 < P)%nat ->
  sum P (fun i => nrm (z i)) = INR P * (S_mean P eps z - eps).
Proof. intros H%lt_0_INR; unfold S_mean; field; lra. Qed.

Lemma S_mean_ge_eps P eps z : (0 < P)%nat -> eps <= S_mean P eps z.
Proof.
  intros H%lt_0_INR; unfold S_mean.
  enough (0 <= sum P (fun i => nrm (z i)) / INR P) by lra.
  apply Rmult_le_pos; [apply sum_nrm_ge0|left; now apply Rinv_0_lt_compat].
Qed.

Lemma nrm_le_sum P z i : (i < P)%nat -> nrm (z i) <= sum P (fun j => nrm (z j)).
Proof. intros Hi; apply (sum_ge_term P i (fun j => nrm (z j)) Hi); intros; apply nrm_ge0. Qed.

Lemma nrm_le_S_mean P eps z i : (i < P)%nat -> nrm (z i) <= INR P * (S_mean P eps z - eps).
Proof. intros Hi; rewrite <- sum_nrm by lia; now apply nrm_le_sum. Qed.

Theorem S_mean_pos_eps P eps z : (0 < P)%nat -> 0 < eps -> 0 < S_mean P eps z.
Proof. intros HP He; assert (D := S_mean_ge_eps P eps z HP); lra. Qed.

Lemma S_mean_pos P eps z i : (i < P)%nat -> 0 <= eps -> z i <> vzero -> 0 < S_mean P eps z.
Proof.
  intros Hi He Hz%nrm_pos; assert (HP := INR_pos P i Hi).
  assert (D := nrm_le_S_mean P eps z i Hi); nra.
Qed.

Lemma mean_sq_ge0 N x : 0 <= sum N (fun n => x n ^ 2) / INR N.
Proof.
  unfold Rdiv; destruct N as [|n]; [simpl; lra|].
  apply Rmult_le_pos; [apply sum_sq_ge0|left; apply Rinv_0_lt_compat, lt_0_INR; lia].
Qed.

Lemma RMS_sq N eps x : 0 <= eps -> RMS N eps x ^ 2 = sum N (fun n => x n ^ 2) / INR N + eps.
Proof. intros He; unfold RMS; apply pow2_sqrt; assert (D := mean_sq_ge0 N x); lra. Qed.

Lemma RMS_scaled N c x : 0 <= c -> RMS N 0 (fun n => c * x n) = c * RMS N 0 x.
Proof.
  intros Hc; unfold RMS; rewrite !Rplus_0_r, (sum_ext N _ (fun n => c ^ 2 * x n ^ 2)) by (intros; ring).
  rewrite sum_scal; unfold Rdiv; rewrite Rmult_assoc, sqrt_mult_alt, sqrt_pow2 by (lra || apply pow2_ge_0); easy.
Qed.

(** RMSNorm does not see a common factor of its channels, at eps = 0. *)
Theorem rmsnorm_scaled N c x (k : nat) : 0 < c -> 0 < RMS N 0 x ->
  c * x k / RMS N 0 (fun n => c * x n) = x k / RMS N 0 x.
Proof. intros Hc HR; rewrite RMS_scaled by lra; field; lra. Qed.

(** No channel is more than sqrt N times the root mean square. *)
Theorem xhat_bound N eps x i : (i < N)%nat -> 0 <= eps -> 0 < RMS N eps x ->
  Rabs (x i / RMS N eps x) <= sqrt (INR N).
Proof.
  intros Hi He HR; assert (HN := INR_pos N i Hi); assert (E := RMS_sq N eps x He).
  assert (L : x i ^ 2 <= sum N (fun n => x n ^ 2))
    by (apply (sum_ge_term N i (fun n => x n ^ 2) Hi); intros; apply pow2_ge_0).
  rewrite <- (Rabs_pos_eq (sqrt (INR N))) by apply sqrt_pos; apply Rsqr_le_abs_0; rewrite !Rsqr_pow2, pow2_sqrt by lra.
  apply (Rmult_le_reg_r (RMS N eps x ^ 2)); [now apply pow_lt|].
  replace ((x i / RMS N eps x) ^ 2 * RMS N eps x ^ 2) with (x i ^ 2) by (field; lra).
  rewrite E; replace (INR N * (sum N (fun n => x n ^ 2) / INR N + eps)) with (sum N (fun n => x n ^ 2) + INR N * eps)
    by (field; lra); nra.
Qed.

(** Both root mean squares are the same function, of magnitudes and of channels. *)
Lemma S_rms_RMS P eps z : S_rms P eps z = RMS P eps (fun i => nrm (z i)).
Proof. reflexivity. Qed.

Lemma S_rms_sq P eps z : 0 <= eps -> S_rms P eps z ^ 2 = sum P (fun i => nrm (z i) ^ 2) / INR P + eps.
Proof. rewrite S_rms_RMS; apply RMS_sq. Qed.

Lemma sum_nrm_sq P eps z : (0 < P)%nat -> 0 <= eps ->
  sum P (fun i => nrm (z i) ^ 2) = INR P * (S_rms P eps z ^ 2 - eps).
Proof. intros HP%lt_0_INR He; rewrite S_rms_sq by easy; field; lra. Qed.

(** ** Channels in pairs *)

Lemma channels_even z i : channels z (2 * i) = fst (z i).
Proof.
  unfold channels; replace (Nat.even (2 * i)) with true by (rewrite Nat.even_mul; reflexivity).
  now rewrite Nat.div2_double.
Qed.

Lemma channels_odd z i : channels z (2 * i + 1) = snd (z i).
Proof.
  unfold channels; replace (Nat.even (2 * i + 1)) with false
    by (rewrite Nat.even_add, Nat.even_mul; reflexivity).
  rewrite Nat.add_1_r, Nat.div2_succ_double; reflexivity.
Qed.

Lemma sum_channels_sq P z :
  sum (2 * P) (fun n => channels z n ^ 2) = sum P (fun i => nrm (z i) ^ 2).
Proof.
  rewrite sum_pairs; apply sum_ext; intros i _.
  rewrite channels_even, channels_odd, nrm_sq; unfold dot; ring.
Qed.

(** ** The layer *)

Lemma out_zhat P eps gam z i : out gam (S_mean P eps z) z i = vscal (gam i) (zhat P eps z i).
Proof. unfold out, zhat, Rdiv; components; ring. Qed.

Lemma dot_zhat P eps v z i : dot v (zhat P eps z i) = dot v (z i) / S_mean P eps z.
Proof. unfold zhat, dot, vscal, Rdiv; simpl; ring. Qed.

Lemma loss_div P eps gam g z :
  loss P eps gam g z = sum P (fun i => gam i * dot (g i) (z i)) / S_mean P eps z.
Proof.
  unfold loss, Rdiv; rewrite <- sum_scal_r.
  apply sum_ext; intros i _; unfold out, dot, vscal, Rdiv; simpl; ring.
Qed.

Lemma Omega_loss P eps gam g z : Omega P eps gam g z = / INR P * loss P eps gam g z.
Proof.
  unfold Omega, loss; f_equal.
  apply sum_ext; intros i _; rewrite out_zhat; unfold dot, vscal; simpl; ring.
Qed.

Lemma Omega_div P eps gam g z :
  Omega P eps gam g z = / INR P * sum P (fun i => gam i * dot (g i) (z i)) / S_mean P eps z.
Proof. rewrite Omega_loss, loss_div; unfold Rdiv; ring. Qed.
