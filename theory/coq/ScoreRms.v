(** Eqs. 16 and 18 under Eq. 11: with the root mean square of the magnitudes, a block and the whole score are at most
    P = d/2 in size; at eps = 0 every non-zero vector reaches that with itself.

    Source: appendix B, Eqs. 15-18; the scale is that of appendix A, Eq. 11, with eps inside the root.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export CauchySchwarz Spike.
Local Open Scope R_scope.

Implicit Types (P i : nat) (eps : R) (q k z : nat -> vec).

(** Appendix B: the energy of a vector in terms of its scale. *)
Theorem energy_identity P eps z : (0 < P)%nat -> 0 <= eps ->
  sum P (fun i => nrm (z i) ^ 2) = INR P * (S_rms P eps z ^ 2 - eps).
Proof. apply sum_nrm_sq. Qed.

Theorem energy_identity_eps0 P z : (0 < P)%nat ->
  sum P (fun i => nrm (z i) ^ 2) = INR P * S_rms P 0 z ^ 2.
Proof. intros HP; rewrite (energy_identity P 0) by (easy || lra); ring. Qed.

Theorem energy_below P eps z : (0 < P)%nat -> 0 < eps ->
  sum P (fun i => nrm (z i) ^ 2) < INR P * S_rms P eps z ^ 2.
Proof. intros HP He; rewrite (energy_identity P eps) by (easy || lra); apply lt_0_INR in HP; nra. Qed.

Lemma energy_le P eps z : (0 < P)%nat -> 0 <= eps ->
  sum P (fun i => nrm (z i) ^ 2) <= INR P * S_rms P eps z ^ 2.
Proof. intros HP He; rewrite (energy_identity P eps) by easy; apply lt_0_INR in HP; nra. Qed.

(** Eq. 16. *)
Theorem block_rms P eps q k i : (i < P)%nat -> 0 <= eps -> 0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (contribution (S_rms P eps q) (S_rms P eps k) q k i)
    <= nrm (q i) * nrm (k i) / (S_rms P eps q * S_rms P eps k) <= INR P.
Proof.
  intros Hi He Hq Hk; split; [now apply block_bound|].
  assert (HP : (0 < P)%nat) by lia.
  eapply Rle_trans;
    [|apply (root_of_energies P (S_rms P eps q) (S_rms P eps k) q k (INR P)); auto using pos_INR, energy_le].
  eapply Rle_trans; [|now apply chain_energies].
  apply Rmult_le_compat_r; [left; now apply scales_inv_pos|].
  apply (sum_ge_term P i (fun j => nrm (q j) * nrm (k j)) Hi).
  intros; apply Rmult_le_pos; apply nrm_ge0.
Qed.

(** Eq. 18. *)
Theorem score_rms_bound P eps q k : (0 < P)%nat -> 0 <= eps -> 0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) <= INR P.
Proof.
  intros HP He Hq Hk; apply score_from_energies; auto using pos_INR, energy_le.
Qed.

Lemma score_rms_self P eps q : (0 < P)%nat -> 0 <= eps -> 0 < S_rms P eps q ->
  score P (S_rms P eps q) (S_rms P eps q) q q = INR P * (1 - eps / S_rms P eps q ^ 2).
Proof.
  intros HP He HS; rewrite score_self, (energy_identity P eps) by easy; field; lra.
Qed.

(** The bound is reached, at eps = 0 only. *)
Theorem score_rms_tight P q : (0 < P)%nat -> 0 < S_rms P 0 q ->
  score P (S_rms P 0 q) (S_rms P 0 q) q q = INR P.
Proof. intros HP HS; rewrite score_rms_self by (easy || lra); field; lra. Qed.

Theorem score_rms_strict P eps q k : (0 < P)%nat -> 0 < eps ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) < INR P.
Proof.
  intros HP He.
  assert (HS : forall z, 0 < S_rms P eps z /\ 0 <= S_rms P eps z ^ 2 - eps).
  { intros z; assert (D := mean_sq_ge0 P (fun i => nrm (z i))); split.
    - unfold S_rms; apply sqrt_lt_R0; lra.
    - rewrite S_rms_sq; lra. }
  destruct (HS q) as [Hq Gq], (HS k) as [Hk Gk]; assert (HP' := lt_0_INR P HP).
  eapply Rle_lt_trans; [now apply chain_blocks|]; eapply Rle_lt_trans; [now apply chain_energies|].
  rewrite !(energy_identity P eps) by (easy || lra).
  set (Sq := S_rms P eps q) in *; set (Sk := S_rms P eps k) in *.
  apply (Rmult_lt_reg_r (Sq * Sk)); [nra|]; unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
  rewrite <- (sqrt_pow2 (INR P * (Sq * Sk))) by (apply Rmult_le_pos; nra).
  apply sqrt_lt_1_alt; split; [apply Rmult_le_pos; apply Rmult_le_pos; lra|].
  replace ((INR P * (Sq * Sk)) ^ 2) with (INR P * INR P * (Sq ^ 2 * Sk ^ 2)) by ring.
  replace (INR P * (Sq ^ 2 - eps) * (INR P * (Sk ^ 2 - eps)))
    with (INR P * INR P * ((Sq ^ 2 - eps) * (Sk ^ 2 - eps))) by ring.
  apply Rmult_lt_compat_l; nra.
Qed.

(** A block reaches it alone, if no other phasor is non-zero. *)
Theorem block_rms_tight P : (0 < P)%nat ->
  exists q, 0 < S_rms P 0 q /\ contribution (S_rms P 0 q) (S_rms P 0 q) q q 0 = INR P.
Proof.
  intros HP; exists (spike 1); assert (E := S_rms_spike P 1 HP Rle_0_1); apply lt_0_INR in HP.
  assert (I := Rinv_0_lt_compat _ HP); assert (G : 0 <= S_rms P 0 (spike 1)) by apply sqrt_pos.
  split; [nra|]; rewrite contribution_div, spike_0.
  replace (S_rms P 0 (spike 1) * S_rms P 0 (spike 1)) with (S_rms P 0 (spike 1) ^ 2) by ring.
  rewrite E; unfold dot; cbn [fst snd]; field; lra.
Qed.

(** In channels: d = 2P. *)
Corollary score_rms_bound_d P d eps q k : (0 < P)%nat -> d = (2 * P)%nat -> 0 <= eps ->
  0 < S_rms P eps q -> 0 < S_rms P eps k ->
  Rabs (score P (S_rms P eps q) (S_rms P eps k) q k) <= INR d / 2.
Proof.
  intros HP -> He Hq Hk; rewrite mult_INR.
  assert (B := score_rms_bound P eps q k HP He Hq Hk); simpl; lra.
Qed.
