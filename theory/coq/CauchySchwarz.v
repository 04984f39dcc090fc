(** Eqs. 9 and 17: the score in magnitudes and angles, and the Cauchy-Schwarz chain that bounds it.

    Nothing here depends on how the two scales are computed, only on their being positive.
    Source: section 5.3, Eqs. 9-10; appendix A, Eqs. 12-14; appendix B, Eq. 17.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Scales.
Local Open Scope R_scope.

Implicit Types (P i : nat) (Sq Sk : R) (q k : nat -> vec).

Lemma contribution_div Sq Sk q k i :
  contribution Sq Sk q k i = dot (q i) (k i) * / (Sq * Sk).
Proof. unfold contribution; rewrite dot_vscal, Rinv_mult; ring. Qed.

Lemma score_div P Sq Sk q k :
  score P Sq Sk q k = sum P (fun i => dot (q i) (k i)) * / (Sq * Sk).
Proof. unfold score; rewrite <- sum_scal_r; apply sum_ext; intros; apply contribution_div. Qed.

Lemma scales_inv_pos Sq Sk : 0 < Sq -> 0 < Sk -> 0 < / (Sq * Sk).
Proof. intros; apply Rinv_0_lt_compat; nra. Qed.

(** Eq. 9: energies times the cosine of the difference of the phases. *)
Theorem score_cosines P Sq Sk (rq thq rk thk : nat -> R) :
  score P Sq Sk (fun i => polar (rq i) (thq i)) (fun i => polar (rk i) (thk i)) =
  sum P (fun i => rq i * rk i / (Sq * Sk) * cos (thq i - thk i)).
Proof.
  unfold score; apply sum_ext; intros i _.
  rewrite contribution_div, cos_minus; unfold polar, dot, Rdiv; simpl; ring.
Qed.

(** Orthogonal phases add nothing, whatever the magnitudes (appendix B). *)
Theorem orthogonal_adds_nothing Sq Sk q k i : dot (q i) (k i) = 0 -> contribution Sq Sk q k i = 0.
Proof. intros H; rewrite contribution_div, H; ring. Qed.

(** Eq. 15: one block. *)
Theorem block_bound Sq Sk q k i : 0 < Sq -> 0 < Sk ->
  Rabs (contribution Sq Sk q k i) <= nrm (q i) * nrm (k i) / (Sq * Sk).
Proof.
  intros Hq Hk; assert (HS := scales_inv_pos Sq Sk Hq Hk).
  rewrite contribution_div, Rabs_mult, (Rabs_pos_eq (/ _)) by lra.
  apply Rmult_le_compat_r; [lra|apply dot_le].
Qed.

(** Eq. 17: the sum of the blocks. *)
Theorem chain_blocks P Sq Sk q k : 0 < Sq -> 0 < Sk ->
  Rabs (score P Sq Sk q k) <= sum P (fun i => nrm (q i) * nrm (k i)) / (Sq * Sk).
Proof.
  intros Hq Hk; unfold score; eapply Rle_trans; [apply sum_abs|].
  unfold Rdiv; rewrite <- sum_scal_r; apply sum_le; intros i _; now apply block_bound.
Qed.

Theorem chain_energies P Sq Sk q k : 0 < Sq -> 0 < Sk ->
  sum P (fun i => nrm (q i) * nrm (k i)) / (Sq * Sk) <=
  sqrt (sum P (fun i => nrm (q i) ^ 2) * sum P (fun i => nrm (k i) ^ 2)) / (Sq * Sk).
Proof.
  intros Hq Hk; apply Rmult_le_compat_r; [left; now apply scales_inv_pos|].
  apply Rsqr_incr_0_var; [|apply sqrt_pos].
  rewrite Rsqr_sqrt by (apply Rmult_le_pos; apply (sum_sq_ge0 P (fun i => nrm _))).
  rewrite Rsqr_pow2; apply (sum_cauchy P (fun i => nrm (q i)) (fun i => nrm (k i))).
Qed.

(** What is left to do for a given scale: bound the energy by the square of the scale. *)
Lemma root_of_energies P Sq Sk q k C : 0 <= C -> 0 < Sq -> 0 < Sk ->
  sum P (fun i => nrm (q i) ^ 2) <= C * Sq ^ 2 -> sum P (fun i => nrm (k i) ^ 2) <= C * Sk ^ 2 ->
  sqrt (sum P (fun i => nrm (q i) ^ 2) * sum P (fun i => nrm (k i) ^ 2)) / (Sq * Sk) <= C.
Proof.
  intros HC Hq Hk Eq Ek; apply (Rmult_le_reg_r (Sq * Sk)); [nra|]; unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
  rewrite <- (sqrt_pow2 (C * (Sq * Sk))) by (apply Rmult_le_pos; nra).
  apply sqrt_le_1_alt; replace ((C * (Sq * Sk)) ^ 2) with ((C * Sq ^ 2) * (C * Sk ^ 2)) by ring.
  apply Rmult_le_compat; try easy; apply (sum_sq_ge0 P (fun i => nrm _)).
Qed.

Lemma score_from_energies P Sq Sk q k C : 0 <= C -> 0 < Sq -> 0 < Sk ->
  sum P (fun i => nrm (q i) ^ 2) <= C * Sq ^ 2 -> sum P (fun i => nrm (k i) ^ 2) <= C * Sk ^ 2 ->
  Rabs (score P Sq Sk q k) <= C.
Proof.
  intros HC Hq Hk Eq Ek; eapply Rle_trans; [now apply chain_blocks|].
  eapply Rle_trans; [now apply chain_energies|]; now apply root_of_energies.
Qed.

Lemma score_self P S q : score P S S q q = sum P (fun i => nrm (q i) ^ 2) * / (S * S).
Proof. rewrite score_div; f_equal; apply sum_ext; intros; now rewrite nrm_sq. Qed.
