(** Eqs. 16 and 18 under Eq. 1: with the mean of the magnitudes the bound P = d/2 is false for every P >= 2 and every
    eps >= 0; what holds is P^2 = (d/2)^2, reached at eps = 0 by a single non-zero phasor.

    Source: appendix B, Eqs. 15-18; the scale is that of section 3, Eq. 1.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export CauchySchwarz Spike.
Local Open Scope R_scope.

Implicit Types (P i : nat) (eps : R) (q k z : nat -> vec).

(** ** What holds *)

(** Eq. 16, corrected: a magnitude is at most P times the mean. *)
Theorem block_mean P eps q k i : (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (contribution (S_mean P eps q) (S_mean P eps k) q k i)
    <= nrm (q i) * nrm (k i) / (S_mean P eps q * S_mean P eps k) <= INR P ^ 2.
Proof.
  intros Hi He Hq Hk; split; [now apply block_bound|].
  assert (Bq := nrm_le_S_mean P eps q i Hi); assert (Bk := nrm_le_S_mean P eps k i Hi).
  assert (HP := INR_pos P i Hi); assert (Nq := nrm_ge0 (q i)); assert (Nk := nrm_ge0 (k i)).
  set (Sq := S_mean P eps q) in *; set (Sk := S_mean P eps k) in *.
  apply (Rmult_le_reg_r (Sq * Sk)); [nra|]; unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
  replace (INR P ^ 2 * (Sq * Sk)) with ((INR P * Sq) * (INR P * Sk)) by ring.
  apply Rmult_le_compat; nra.
Qed.

(** Eq. 18, corrected: the sum of products is at most the product of the sums. *)
Theorem score_mean_bound P eps q k : (0 < P)%nat -> 0 <= eps -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR P ^ 2.
Proof.
  intros HP He Hq Hk; eapply Rle_trans; [now apply chain_blocks|].
  assert (B := sum_mult_le P (fun i => nrm (q i)) (fun i => nrm (k i))
                 (fun i _ => nrm_ge0 (q i)) (fun i _ => nrm_ge0 (k i))); cbv beta in B.
  rewrite !(sum_nrm P eps) in B by easy.
  assert (Gq := S_mean_ge_eps P eps q HP); assert (Gk := S_mean_ge_eps P eps k HP).
  set (Sq := S_mean P eps q) in *; set (Sk := S_mean P eps k) in *; apply lt_0_INR in HP.
  apply (Rmult_le_reg_r (Sq * Sk)); [nra|]; unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
  eapply Rle_trans; [exact B|].
  replace (INR P ^ 2 * (Sq * Sk)) with ((INR P * Sq) * (INR P * Sk)) by ring.
  apply Rmult_le_compat; nra.
Qed.

(** ** A single non-zero phasor *)

Lemma contribution_spike P eps A : (0 < P)%nat -> 0 < A -> 0 <= eps ->
  contribution (S_mean P eps (spike A)) (S_mean P eps (spike A)) (spike A) (spike A) 0
  = (INR P * A / (A + INR P * eps)) ^ 2.
Proof.
  intros HP HA He; rewrite contribution_div, S_mean_spike by (easy || lra).
  rewrite spike_0; unfold dot; cbn [fst snd]; apply lt_0_INR in HP.
  field; split; nra.
Qed.

Lemma score_spike P eps A : (0 < P)%nat -> 0 < A -> 0 <= eps ->
  score P (S_mean P eps (spike A)) (S_mean P eps (spike A)) (spike A) (spike A)
  = (INR P * A / (A + INR P * eps)) ^ 2.
Proof.
  intros HP HA He; rewrite <- contribution_spike by easy; unfold score.
  apply (sum_single P 0); [easy|intros j _ Hj].
  rewrite contribution_div, spike_other by easy; unfold dot, vzero; simpl; ring.
Qed.

(** Both corrected bounds are reached at eps = 0. *)
Theorem score_mean_tight P : (0 < P)%nat ->
  exists q, 0 < S_mean P 0 q /\
    score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P ^ 2 /\
    contribution (S_mean P 0 q) (S_mean P 0 q) q q 0 = INR P ^ 2.
Proof.
  intros HP; exists (spike 1); rewrite score_spike, contribution_spike by (easy || lra).
  rewrite S_mean_spike by (easy || lra); apply lt_0_INR in HP.
  assert (I := Rinv_0_lt_compat _ HP); repeat split; [lra|field..]; lra.
Qed.

(** ** What is refuted *)

(** For every eps > 0 a magnitude of 4 P eps is enough: the score is 16 P^2 / 25. *)
Theorem score_mean_above_eps P eps : (2 <= P)%nat -> 0 < eps ->
  exists q, 0 < S_mean P eps q /\
    score P (S_mean P eps q) (S_mean P eps q) q q = 16 * INR P ^ 2 / 25 /\
    contribution (S_mean P eps q) (S_mean P eps q) q q 0 = 16 * INR P ^ 2 / 25 /\
    INR P < 16 * INR P ^ 2 / 25.
Proof.
  intros HP He; assert (H := le_INR _ _ HP); simpl in H.
  exists (spike (4 * INR P * eps)).
  rewrite score_spike, contribution_spike, S_mean_spike by (lia || nra).
  repeat split; [|field; nra..|nra].
  replace (4 * INR P * eps / INR P) with (4 * eps) by (field; lra); lra.
Qed.

(** The value P^2 itself exceeds P for every P >= 2. *)
Theorem score_mean_above P : (2 <= P)%nat ->
  exists q, 0 < S_mean P 0 q /\
    score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P ^ 2 /\
    contribution (S_mean P 0 q) (S_mean P 0 q) q q 0 = INR P ^ 2 /\
    INR P < INR P ^ 2.
Proof.
  intros HP; assert (H := le_INR _ _ HP); simpl in H.
  destruct (score_mean_tight P) as (q & Hq & Es & Ec); [lia|].
  exists q; repeat split; [easy..|nra].
Qed.

(** Eq. 18 as printed fails for every P >= 2 and every eps >= 0; so does Eq. 16. *)
Theorem eq18_refuted P eps : (2 <= P)%nat -> 0 <= eps ->
  ~ (forall q k, 0 < S_mean P eps q -> 0 < S_mean P eps k ->
       Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR P).
Proof.
  intros HP He H.
  assert (W : exists q, 0 < S_mean P eps q /\ INR P < score P (S_mean P eps q) (S_mean P eps q) q q).
  { destruct He as [He|<-].
    - destruct (score_mean_above_eps P eps HP He) as (q & Hq & Es & _ & L); exists q; split; lra.
    - destruct (score_mean_above P HP) as (q & Hq & Es & _ & L); exists q; split; lra. }
  destruct W as (q & Hq & L); specialize (H q q Hq Hq).
  assert (D := Rle_abs (score P (S_mean P eps q) (S_mean P eps q) q q)); lra.
Qed.

Theorem eq16_refuted P eps : (2 <= P)%nat -> 0 <= eps ->
  ~ (forall q k i, (i < P)%nat -> 0 < S_mean P eps q -> 0 < S_mean P eps k ->
       Rabs (contribution (S_mean P eps q) (S_mean P eps k) q k i) <= INR P).
Proof.
  intros HP He H.
  assert (W : exists q, 0 < S_mean P eps q /\ INR P < contribution (S_mean P eps q) (S_mean P eps q) q q 0).
  { destruct He as [He|<-].
    - destruct (score_mean_above_eps P eps HP He) as (q & Hq & _ & Ec & L); exists q; split; lra.
    - destruct (score_mean_above P HP) as (q & Hq & _ & Ec & L); exists q; split; lra. }
  destruct W as (q & Hq & L); specialize (H q q 0%nat); specialize (H ltac:(lia) Hq Hq).
  assert (D := Rle_abs (contribution (S_mean P eps q) (S_mean P eps q) q q 0)); lra.
Qed.

(** In channels: d = 2P. *)
Corollary score_mean_bound_d P d eps q k : (0 < P)%nat -> d = (2 * P)%nat -> 0 <= eps ->
  0 < S_mean P eps q -> 0 < S_mean P eps k ->
  Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) <= INR d ^ 2 / 4.
Proof.
  intros HP -> He Hq Hk; rewrite mult_INR.
  assert (B := score_mean_bound P eps q k HP He Hq Hk); simpl in *; lra.
Qed.
